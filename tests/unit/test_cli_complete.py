"""Shell completion, as the shells ask for it."""

from __future__ import annotations

import sys

import pytest

from auditor.cli import main


def completions(words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What bash is offered for the last of ``words``."""
    monkeypatch.setenv("_BW_AUDIT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    monkeypatch.setattr(sys, "argv", ["bw-audit"])
    assert main() == 0
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("words", "some"),
    [
        ("bw-audit --stat", "plain,--statistics"),
        ("bw-audit exp", "plain,explain"),
        ("bw-audit src", "file,src"),
        ("bw-audit --fail-on e", "plain,error"),
        ("bw-audit a.cu --select BW20", "plain,BW202"),
        ("bw-audit a.cu --select BW101,bw20", "plain,BW101,BW202"),
        ("bw-audit explain BW2", "plain,BW202"),
        ("bw-audit rules --for", "plain,--format"),
        ("bw-audit report --for", "plain,--format"),
    ],
)
def test_completions(
    words: str, some: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert some in completions(words, monkeypatch, capsys)


def test_commands_are_offered_first_only(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert "plain,explain" not in completions("bw-audit a.cu exp", monkeypatch, capsys)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_scripts(shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("_BW_AUDIT_COMPLETE", f"{shell}_source")
    assert main() == 0
    assert "bw-audit" in capsys.readouterr().out
    monkeypatch.setenv("_BW_AUDIT_COMPLETE", f"{shell}_nothing")
    assert main() == 1


def test_a_given_command_line_is_no_completion(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_BW_AUDIT_COMPLETE", "bash_complete")
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("bw-audit ")
