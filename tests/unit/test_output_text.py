"""Text, concise, JSON and GitHub reports of hand-made results."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import jsonschema
import pytest

from auditor.findings import Coverage, FileResult
from auditor.output.github import write_github
from auditor.output.json_report import write_json
from auditor.output.style import Style, wants_colour
from auditor.output.summary import coverage, verdict
from auditor.output.text import NOTES_SHOWN, write_concise, write_text
from auditor.output.tool import VERSION
from auditor.source import UNKNOWN

Golden = Callable[[str, str], None]


def test_text(results: list[FileResult], repository: Path, golden: Golden) -> None:
    golden("report.txt", write_text(results, Style()))


def test_text_in_colour_differs_only_by_colour(results: list[FileResult], repository: Path) -> None:
    import re

    coloured = write_text(results, Style(colour=True))
    assert "\x1b[1;31merror[BW202]\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == write_text(results, Style())


def test_concise(results: list[FileResult]) -> None:
    assert write_concise(results, Style()).splitlines() == [
        "src/ring.cu:4:3: warning[BW999] a wait, 100% late",
        "src/ring.cu:6:3: error[BW202] the copy of iteration 2 refills tile[0] while warp 1 still reads it",
    ]
    assert write_concise([], Style()) == ""


def test_json(results: list[FileResult], golden: Golden) -> None:
    text = write_json(results)
    document = json.loads(text)
    assert document["summary"]["findings"] == {"error": 1, "warning": 1, "note": 0}
    golden("report.json", text.replace(f'"version": "{VERSION}"', '"version": "VERSION"'))


def test_json_agrees_with_its_schema(results: list[FileResult]) -> None:
    schema = json.loads((Path(__file__).parents[2] / "docs" / "json.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    results[0].hidden["suppressed"] = 2
    document = json.loads(write_json(results))
    jsonschema.validate(document, schema)
    described = set(schema["$defs"]["finding"]["properties"]), set(schema["$defs"]["file"]["properties"])
    assert described == (set(document["files"][0]["findings"][0]), set(document["files"][0]))


def test_github(results: list[FileResult], repository: Path) -> None:
    assert write_github(results).splitlines() == [
        "::warning file=src/ring.cu,line=4,endLine=5,title=BW999 in ring::a wait, 100%25 late%0Afix: move it%0Aup",
        "::error file=src/ring.cu,line=6,endLine=6,col=3,endColumn=32,title=BW202 in ring::"
        "the copy of iteration 2 refills tile[0] while warp 1 still reads it"
        "%0Afix: wait for an empty barrier before the copy",
    ]


def test_notes_are_cut_unless_strict() -> None:
    notes = [("opaque call", f"f{n}()", UNKNOWN) for n in range(NOTES_SHOWN + 2)]
    result = FileResult("a.cu", coverage=Coverage(1, 1, notes))
    brief = write_text([result], Style())
    assert brief.count("opaque call:") == NOTES_SHOWN
    assert "a.cu: 2 more such lines with --strict" in brief
    assert write_text([result], Style(), strict=True).count("opaque call:") == NOTES_SHOWN + 2


def test_verdict_and_coverage_lines(results: list[FileResult]) -> None:
    clean = FileResult("b.cu", coverage=Coverage(kernels=1, executed=1))
    assert verdict([*results, clean]) == "1 error, 1 warning in 1 file of 2; 1 file could not be audited"
    assert verdict([clean]) == "no findings in 1 file"
    assert coverage([clean]) == "coverage: 1 kernel executed to the end"
    assert coverage(results) == ("coverage: 1 of 2 kernels executed to the end; 1 x missing include, 1 x opaque call")
    assert coverage([FileResult("c.cuh")]) == "coverage: no kernels"


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_follows_terminal_and_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal(), "auto")
    assert not wants_colour(StringIO(), "auto")
    assert wants_colour(StringIO(), "always")
    assert not wants_colour(Terminal(), "never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal(), "auto")
    assert wants_colour(Terminal(), "always")
