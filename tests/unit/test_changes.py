"""Findings that concern changed lines, in a real git repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from auditor.changes import UNTOUCHED, ChangesError, changes_since
from auditor.cli import main
from auditor.findings import FileResult, Finding, Level, Related
from auditor.source import Loc
from tests.unit.stand_in_pipeline import Pipeline, finding

LINES = [f"line{n};" for n in range(1, 21)]


def git(*words: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose main branch has ``a.cu`` of 20 lines, with a branch checked out."""
    tmp_path = tmp_path / "tree"
    tmp_path.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    git("init", "-q", "-b", "main")
    (tmp_path / "a.cu").write_text("\n".join(LINES) + "\n")
    (tmp_path / 'gr\u00f6\u00dfe "1".cu').write_text("x;\n")
    git("add", ".")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "work")
    return tmp_path


def write(tree: Path, lines: list[str]) -> None:
    (tree / "a.cu").write_text("\n".join(lines) + "\n")


def concerned(line: int, end: int = 0, file: str = "a.cu", flow: int = 0, related: int = 0) -> bool:
    steps = (Related(Loc("a.cu", flow), "s"), Related(Loc("a.cu", 20), "s")) if flow else ()
    places = (Related(Loc("a.cu", related), "r"),) if related else ()
    found = Finding("BW202", Level.ERROR, "m", Loc(file, line, 1, end, 1), flow=steps, related=places)
    return changes_since("main").concern(found)


def test_changed_added_and_removed_lines(tree: Path) -> None:
    write(tree, [*LINES[:4], "changed;", *LINES[5:9], "added;", *LINES[9:14], *LINES[15:]])
    touched = [line for line in range(1, 21) if concerned(line)]
    assert touched == [5, 10, 15, 16]  # line 15 was removed: its neighbours count


def test_statement_flow_and_related_places(tree: Path) -> None:
    write(tree, [*LINES[:4], "changed;", *LINES[5:]])
    assert concerned(3, end=6)
    assert not concerned(3)
    assert concerned(3, flow=5)
    assert not concerned(3, flow=6)
    assert concerned(3, related=5)


def test_what_main_did_meanwhile_is_no_change_of_ours(tree: Path) -> None:
    git("checkout", "-q", "main")
    write(tree, ["changed;", *LINES[1:]])
    git("commit", "-qam", "two")
    git("checkout", "-q", "work")
    write(tree, [*LINES[:4], "changed;", *LINES[5:]])
    git("commit", "-qam", "three")
    assert [line for line in range(1, 21) if concerned(line)] == [5]


def test_names_and_contents_that_look_like_a_patch(tree: Path) -> None:
    (tree / 'gr\u00f6\u00dfe "1".cu').write_text("y;\n")
    write(tree, [*LINES[:4], "++ b/fake.cu", "@@ -1 +1,20 @@", *LINES[4:]])
    assert concerned(1, file='gr\u00f6\u00dfe "1".cu')
    assert [line for line in range(1, 21) if concerned(line)] == [5, 6]


def test_untracked_file_is_changed_as_a_whole(tree: Path) -> None:
    (tree / "new.cu").write_text("x;\n")
    assert concerned(1, file="new.cu")
    assert not concerned(1)


def test_hidden_findings_are_counted(tree: Path) -> None:
    write(tree, [*LINES[:4], "changed;", *LINES[5:]])
    found = [Finding("BW202", Level.ERROR, "m", Loc("a.cu", line)) for line in (4, 5)]
    result = changes_since("main").only_touched(FileResult("a.cu", found))
    assert ([f.loc.line for f in result.findings], result.hidden) == ([5], {UNTOUCHED: 1})


@pytest.mark.parametrize("revision", ["nowhere", "--output=x", "", "HEAD:a.cu"])
def test_wrong_revision(tree: Path, revision: str) -> None:
    with pytest.raises(ChangesError):
        changes_since(revision)
    assert not (tree / "x").exists()


def test_no_program_of_the_repository_is_run(tree: Path) -> None:
    script = tree / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {tree}/ran\n")
    script.chmod(0o755)
    for key in ("diff.external", "core.fsmonitor", "diff.x.textconv", "diff.x.command"):
        git("config", key, str(script))
    (tree / ".gitattributes").write_text("*.cu diff=x\n")
    write(tree, ["changed;", *LINES[1:]])
    assert concerned(1)
    assert not (tree / "ran").exists()


def test_on_the_command_line(
    pipeline: Pipeline,
    tree: Path,
    stand_in_rules: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tree)
    write(tree, [*LINES[:4], "changed;", *LINES[5:]])
    pipeline.findings = [finding(file="a.cu", line=6)]
    assert main(["a.cu", "--diff-base", "main"]) == 0
    assert "no findings in 1 file; 1 outside the changes" in capsys.readouterr().out
    pipeline.findings = [finding(file="a.cu", line=5)]
    assert main(["a.cu", "--diff-base", "main"]) == 1
    assert main(["a.cu", "--diff-base", "nowhere"]) == 2
    assert "git rev-parse: no such revision" in capsys.readouterr().err
