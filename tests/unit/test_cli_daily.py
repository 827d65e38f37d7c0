"""The command line in daily use: several reports, suppressions, statistics."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from auditor.cli import main
from auditor.config import AuditOptions
from auditor.findings import FileResult, Finding, Level
from auditor.output.junit import write_junit
from auditor.reproduce import command
from auditor.source import Loc
from tests.unit.stand_in_pipeline import RING, Pipeline, finding

pytestmark = pytest.mark.usefixtures("stand_in_rules")


def test_several_reports_at_once(pipeline: Pipeline, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipeline.findings = [finding()]
    words = ["--format", "sarif:out.sarif", "--format", "junit:out.xml", "--format", "concise"]
    assert main([RING, *words, "-q"]) == 1
    assert capsys.readouterr().out == "src/ring.cu:6:3: error[BW202] a message\n"
    assert len(json.loads((repository / "out.sarif").read_text())["runs"][0]["results"]) == 1
    assert ElementTree.parse(repository / "out.xml").getroot().get("failures") == "1"


def test_summary_when_all_reports_go_to_files(pipeline: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([RING, "--format", "json:out.json"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "bw-audit: no findings in 1 file" in captured.err


@pytest.mark.parametrize(
    "words",
    [
        ["--format", "text", "--format", "json"],
        ["--format", "json:out.json", "-o", "other.json"],
        ["--format", "json:"],
        ["--format", "pdf:out.pdf"],
    ],
)
def test_reports_that_contradict_each_other(pipeline: Pipeline, words: list[str]) -> None:
    assert main([RING, *words]) == 2
    assert pipeline.calls == []


def test_junit() -> None:
    bad = Finding(
        "BW202", Level.ERROR, "a <tag> & \x01 control", Loc("a.cu", 3, 1), "ring", inputs=(("k", "3"),), hint="wait"
    )
    results = [FileResult("a.cu", [bad], seconds=0.5), FileResult("b.cu"), FileResult("c.cu", failure="file is empty")]
    root = ElementTree.fromstring(write_junit(results))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "1")
    failure = root.find("./testsuite[@name='a.cu']/testcase/failure")
    assert failure is not None
    assert failure.get("message") == "a <tag> & \ufffd control"
    assert "with k = 3" in str(failure.text)
    assert root.find("./testsuite[@name='c.cu']/testcase/error") is not None
    assert len(root.findall("./testsuite[@name='b.cu']/testcase/*")) == 0


def test_add_ignores_then_audit_again(pipeline: Pipeline, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipeline.findings = [finding()]
    assert main([RING, "--add-ignores", "reviewed"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "bw-audit: src/ring.cu: suppressed 1 finding\n")
    source = (repository / RING).read_text(encoding="utf-8")
    assert "load_tile(tile[k % 2], in, k);  // bw-audit: ignore[BW202] reviewed\n" in source
    assert main([RING]) == 0
    assert "no findings in 1 file; 1 suppressed" in capsys.readouterr().out


@pytest.mark.parametrize("reason", ["", "  ", "two\nlines", "end */ of it"])
def test_add_ignores_needs_a_reason(pipeline: Pipeline, repository: Path, reason: str) -> None:
    pipeline.findings = [finding()]
    before = (repository / RING).read_bytes()
    assert main([RING, "--add-ignores", reason]) == 2
    assert (repository / RING).read_bytes() == before


def test_settings_of_a_file_reach_its_audit(
    pipeline: Pipeline, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "bw-audit.toml").write_text('std = "c++17"\nfail-on = "error"\n[levels]\nBW202 = "warning"\n')
    pipeline.findings = [finding()]
    assert main([RING]) == 0
    assert pipeline.options.std == "c++17"
    assert "warning[BW202]" in capsys.readouterr().out
    assert main([RING, "--fail-on", "warning"]) == 1


def test_statistics_and_timing_go_to_standard_error(
    pipeline: Pipeline, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipeline.findings = [finding(), finding(line=4), finding(Level.WARNING, "BW999", line=3)]
    assert main([RING, "--statistics", "--timing", "--format", "concise", "-q"]) == 1
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 3
    lines = captured.err.splitlines()
    assert lines[:2] == ["2  BW202  error    stage-refilled-while-read", "1  BW999  warning  "]
    assert lines[2].endswith(" s  whole run; 0 files of 1 from the cache")
    assert lines[-1].endswith(f" s  {RING}")


def test_an_interruption_prints_what_is_known(
    pipeline: Pipeline, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "z.cu").write_text("int x;\n")

    def interrupt(path: str) -> None:
        if path == "z.cu":
            raise KeyboardInterrupt

    pipeline.act = interrupt
    pipeline.findings = [finding()]
    assert main([RING, "z.cu", "-q", "--format", "concise", "--format", "json:out.json"]) == 130
    captured = capsys.readouterr()
    assert captured.out == "src/ring.cu:6:3: error[BW202] a message\n"
    assert captured.err == "bw-audit: interrupted: 1 of 2 files audited\n"
    assert json.loads((repository / "out.json").read_text())["summary"]["files"] == 1


def test_command_that_reproduces() -> None:
    options = AuditOptions(
        arches=("sm_90a",), includes=("a b",), values=(("k", 3),), grid=(4, 2, 1), smem=0, extra=("-UX",), budget=5.0
    )
    line = command("k.cu", options)
    assert line == (
        "bw-audit --jobs 1 --no-cache --isolated --arch sm_90a -I 'a b' --set k=3 --grid 4,2,1 --smem 0 --budget 5"
        " -UX k.cu"
    )
    assert "--isolated" not in command("k.cu", AuditOptions(levels=(("BW202", "note"),)))
    assert command("k.cu", AuditOptions(fixes=True)) == "bw-audit --jobs 1 --no-cache --isolated --diff k.cu"
