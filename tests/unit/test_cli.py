"""The command line: options, exit codes, reports and streams. The pipeline is a stand-in."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from auditor.cli import main
from auditor.cli_commands import audit
from auditor.config import AuditOptions, InputError
from auditor.findings import Level
from auditor.output.tool import VERSION
from tests.unit.stand_in_pipeline import RING, Pipeline, finding

pytestmark = pytest.mark.usefixtures("stand_in_rules")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"bw-audit {VERSION}\n"
    assert main(["-q", "--version"]) == 0
    assert capsys.readouterr().out == f"bw-audit {VERSION}\n"


@pytest.mark.parametrize(
    ("level", "words", "code"),
    [
        (None, [], 0),
        (Level.ERROR, [], 1),
        (Level.WARNING, [], 1),
        (Level.WARNING, ["--fail-on", "error"], 0),
        (Level.ERROR, ["--fail-on", "error"], 1),
        (Level.NOTE, [], 0),
        (Level.NOTE, ["--fail-on", "note"], 0),  # notes are reported only with --strict
        (Level.NOTE, ["--fail-on", "note", "--strict"], 1),
        (Level.NOTE, ["--strict"], 0),
        (Level.ERROR, ["--fail-on", "never"], 0),
        (Level.ERROR, ["--exit-zero"], 0),
        (Level.ERROR, ["--ignore", "BW2"], 0),
    ],
)
@pytest.mark.parametrize("format_", ["text", "concise", "json", "sarif", "github"])
def test_exit_code(pipeline: Pipeline, level: Level | None, words: list[str], code: int, format_: str) -> None:
    pipeline.findings = [finding(level)] if level else []
    assert main([RING, "--format", format_, *words]) == code


@pytest.mark.parametrize(
    "words",
    [
        [],
        [RING, "--formt", "json"],
        [RING, "--format", "yaml"],
        [RING, "--arch", "hopper"],
        [RING, "--block", "0"],
        [RING, "--block", "1,2,3,4"],
        [RING, "--set", "n"],
        [RING, "--set", "n=many"],
        [RING, "--select", "BW9"],
        [RING, "--budget", "0"],
        [RING, "-o", "no/such/folder/out.json"],
        ["explain", "BW777"],
        ["explain"],
    ],
)
def test_wrong_usage(pipeline: Pipeline, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.err.strip()
    assert "Traceback" not in captured.err


def test_options_reach_the_audit(pipeline: Pipeline) -> None:
    words = ["-Iinc", "-I", "more", "-D", "N=4", "--std", "c++17", "--set", "k=0x10", "--set", "fast=true", "--set"]
    words += ["eps=1e-5", "--block", "128", "--grid", "4x2", "--cluster", "2,1,1", "--smem", "65536", "--budget", "3"]
    words += ["--instantiate", "kernel<128,64>", "--select", "bw202,BW2", "--ignore", "BW20", "--strict", "-UX"]
    assert main([RING, *words]) == 0
    assert pipeline.options == AuditOptions(
        includes=("inc", "more"),
        defines=("N=4",),
        std="c++17",
        extra=("-UX",),
        instantiate=("kernel<128,64>",),
        values=(("k", 16), ("fast", 1), ("eps", 1e-5)),
        block=(128, 1, 1),
        grid=(4, 2, 1),
        cluster=(2, 1, 1),
        smem=65536,
        budget=3.0,
        select=("BW202", "BW2"),
        ignore=("BW20",),
        strict=True,
    )


def test_architectures(pipeline: Pipeline, repository: Path) -> None:
    main([RING, "--arch", "sm_90a", "--arch", "100a"])
    assert pipeline.arches == ["sm_90a", "sm_100a"]
    pipeline.calls.clear()
    main([RING, "-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90a,code=sm_90a"])
    assert pipeline.arches == ["sm_90a"]  # what has no asynchronous copies is not audited
    pipeline.calls.clear()
    (repository / "h.cu").write_text('asm("wgmma.fence.sync.aligned;");')
    main([RING, "h.cu"])
    assert pipeline.arches == ["sm_100a", "sm_90a"]


def test_selection_by_prefix() -> None:
    options = AuditOptions(select=("BW2", "BW101"), ignore=("BW20",))
    assert [code for code in ("BW101", "BW102", "BW201", "BW210") if options.selects(code)] == ["BW101", "BW210"]
    assert AuditOptions(select=("BW201",), ignore=("BW2",)).selects("BW201")
    assert not AuditOptions(select=("BW2",), ignore=("BW2",)).selects("BW201")
    assert AuditOptions().selects("BW001")


def test_report_goes_to_a_file(pipeline: Pipeline, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipeline.findings = [finding()]
    assert main([RING, "--format", "json", "-o", "out.json", "--sarif-file", "out.sarif"]) == 1
    assert capsys.readouterr().out == ""
    assert json.loads((repository / "out.json").read_text())["summary"]["findings"]["error"] == 1
    assert len(json.loads((repository / "out.sarif").read_text())["runs"][0]["results"]) == 1


def test_text_report_and_colour(
    pipeline: Pipeline, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline.findings = [finding()]
    main([RING])
    plain = capsys.readouterr()
    assert plain.err == ""
    assert plain.out.startswith("src/ring.cu:6:3: error[BW202] a message\n")
    assert "load_tile(tile[k % 2], in, k);" in plain.out
    assert plain.out.endswith("1 error in 1 file\ncoverage: 1 kernel executed to the end\n")
    main([RING, "--color", "always"])
    assert "\x1b[1;31m" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--format", "github"], ["--format", "concise"], ["-o", "report.txt"]])
def test_summary_goes_to_standard_error_where_the_report_has_none(
    pipeline: Pipeline, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    main([RING, *words])
    summary = "bw-audit: no findings in 1 file\nbw-audit: coverage: 1 kernel executed to the end\n"
    assert capsys.readouterr().err == summary
    main([RING, *words, "--quiet"])
    assert capsys.readouterr().err == ""


def test_progress_for_several_files_only(
    pipeline: Pipeline, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "src/b.cu").write_text("int x;\n")
    main(["src"])
    err = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in err] == [
        "bw-audit: [1/2] src/b.cu: 0 findings",
        "bw-audit: [2/2] src/ring.cu: 0 findings",
    ]
    main(["src", "-q"])
    assert capsys.readouterr().err == ""


def test_folder_search(pipeline: Pipeline, repository: Path) -> None:
    for name in (
        "a.cu",
        "b.cuh",
        "c.cpp",
        ".hidden.cu",
        "build/d.cu",
        ".git/e.cu",
        "deep/down/f.cu",
        "cmake-build-x/g.cu",
    ):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(f"// {name}\n")
    main([".", "a.cu", "c.cpp"])
    assert [path for path, _, _ in pipeline.calls] == ["a.cu", "b.cuh", "deep/down/f.cu", RING, "c.cpp"]


def test_folder_without_sources(pipeline: Pipeline, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "empty").mkdir()
    assert main(["empty"]) == 2
    assert capsys.readouterr().err == "bw-audit: empty: no .cu or .cuh files in this folder\n"


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty.cu": (b"", "file is empty"),
    "blank.cu": (b" \n\n", "file is empty"),
    "junk.cu": (bytes(range(256)) * 8, "binary file, not source text"),
    "wide.cu": ("int x;".encode("utf-16"), "file is UTF-16; save it as UTF-8"),
    "line.cu": (b"int x;\n" + b"int y;" * 1_750_000, "line 2 is 10,500,000 bytes long (limit 1,048,576)"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file_is_one_line_and_costs_no_other_file(
    pipeline: Pipeline, repository: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    content, message = BAD_FILES[name]
    (repository / name).write_bytes(content)
    assert main([name]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"bw-audit: {name}: {message}\n")
    assert main([name, "--format", "sarif"]) == 2
    log = json.loads(capsys.readouterr().out)
    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is False
    pipeline.findings = [finding()]
    assert main(["-q", name, RING]) == 1
    captured = capsys.readouterr()
    assert captured.err == f"bw-audit: {name}: {message}\n"
    assert "error[BW202]" in captured.out


def test_missing_file(pipeline: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nowhere.cu"]) == 2
    assert capsys.readouterr().err == "bw-audit: nowhere.cu: No such file or directory\n"


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="needs permissions")
def test_unreadable_folder(pipeline: Pipeline, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "closed").mkdir(mode=0)
    assert main(["closed"]) == 2
    assert capsys.readouterr().err == "bw-audit: closed: Permission denied\n"


def deep(path: str) -> None:
    deep(path)


def fail(error: Exception) -> Callable[[str], None]:
    def act(path: str) -> None:
        if path != RING:
            raise error

    return act


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (fail(RecursionError()), "nested too deeply to be audited"),
        (fail(MemoryError()), "out of memory"),
        (fail(InputError("unbalanced braces")), "unbalanced braces"),
        (fail(ValueError("two\nlines")), "internal error: ValueError: two lines"),
    ],
)
def test_failure_inside_the_pipeline(
    pipeline: Pipeline,
    repository: Path,
    capsys: pytest.CaptureFixture[str],
    act: Callable[[str], None],
    message: str,
) -> None:
    (repository / "a.cu").write_text("int x;\n")
    pipeline.act = act
    pipeline.findings = [finding()]
    assert main(["a.cu", RING, "-q"]) == 1
    captured = capsys.readouterr()
    assert captured.err.splitlines()[0] == f"bw-audit: a.cu: {message}"
    assert ("to reproduce: BW_AUDIT_DEBUG=1 bw-audit " in captured.err) is message.startswith("internal error")
    assert "error[BW202]" in captured.out


def test_debugging_raises_internal_errors(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_(path: str) -> None:
        raise ValueError("broken")

    pipeline.act = break_
    monkeypatch.setenv("BW_AUDIT_DEBUG", "1")
    with pytest.raises(ValueError, match="broken"):
        main([RING])


def test_endless_recursion_is_caught_and_deep_recursion_is_not(
    pipeline: Pipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    pipeline.act = deep
    assert main([RING]) == 2
    assert capsys.readouterr().err == f"bw-audit: {RING}: nested too deeply to be audited\n"

    def descend(levels: int) -> None:
        if levels:
            descend(levels - 1)

    before = sys.getrecursionlimit()
    pipeline.act = lambda path: descend(8000)
    assert main([RING]) == 0
    assert sys.getrecursionlimit() == before


def test_interrupt(pipeline: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(path: str) -> None:
        raise KeyboardInterrupt

    pipeline.act = interrupt
    assert main([RING]) == 130
    assert capsys.readouterr().err == "bw-audit: interrupted: 0 of 1 file audited\n"


def test_standard_input(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = tmp_path / "in.cu"
    source.write_text("int x;\n")
    with source.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert main(["-"]) == 0
    assert pipeline.calls[0][0] == "-"


def test_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    assert capsys.readouterr().out == "BW202  error    high    stage-refilled-while-read\n"
    assert main(["rules", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {
            "code": "BW202",
            "name": "stage-refilled-while-read",
            "level": "error",
            "confidence": "high",
            "entries": ["TL-24", "TC-29"],
        }
    ]


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "bw202"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("BW202 stage-refilled-while-read: error, high confidence\n")
    assert "## Fix" in out


def test_every_option_is_documented() -> None:
    document = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
    options = [name for option in audit.params if isinstance(option, click.Option) for name in option.opts]
    assert [name for name in options if f"`{name}" not in document] == []
