"""SARIF as GitHub reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditor.findings import FileResult, Finding, Level
from auditor.output.fingerprint import line_hashes
from auditor.output.sarif import write_sarif
from auditor.output.tool import VERSION
from auditor.source import UNKNOWN, Loc

pytestmark = pytest.mark.usefixtures("stand_in_rules")


def run_of(results: list[FileResult]) -> dict[str, Any]:
    log = json.loads(write_sarif(results))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def test_golden(results: list[FileResult], repository: Path, golden: Callable[[str, str], None]) -> None:
    text = write_sarif(results).replace(repository.resolve().as_uri(), "file:///ROOT")
    golden("report.sarif", text.replace(f'ersion": "{VERSION}"', 'ersion": "VERSION"'))


def test_results_are_present_even_when_empty(repository: Path) -> None:
    run = run_of([FileResult("src/ring.cu")])
    assert run["results"] == []
    assert run["automationDetails"] == {"id": "bw-audit/"}
    assert run["invocations"] == [{"executionSuccessful": True}]


def test_warning_level_is_written(results: list[FileResult], repository: Path) -> None:
    levels = {result["ruleId"]: result["level"] for result in run_of(results)["results"]}
    assert levels == {"BW999": "warning", "BW202": "error"}


def test_rule_is_described(results: list[FileResult], repository: Path) -> None:
    driver = run_of(results)["tool"]["driver"]
    rule = next(rule for rule in driver["rules"] if rule["id"] == "BW202")
    assert rule["name"] == "StageRefilledWhileRead"
    assert rule["shortDescription"]["text"] == "Reports a copy into tile memory that is still being read."
    assert rule["fullDescription"]["text"].endswith("The reader may be a thread or an MMA.")
    assert "## Why it matters" in rule["help"]["markdown"]
    assert not re.search(r"[`#]|\]\(", rule["help"]["text"])
    assert rule["properties"] == {
        "precision": "very-high",
        "problem.severity": "error",
        "tags": ["cuda", "correctness", "bulk-copy", "TL-24", "TC-29"],
    }


def test_region_has_all_four_coordinates_in_utf16(repository: Path) -> None:
    loc = Loc("src/ring.cu", 1, len("// Größe 𝟙: ".encode()) + 1)  # the end is not known
    run = run_of([FileResult("src/ring.cu", [Finding("BW202", Level.ERROR, "m", loc)])])
    physical = run["results"][0]["locations"][0]["physicalLocation"]
    start = len("// Größe 𝟙: ".encode("utf-16-le")) // 2 + 1
    assert run["columnKind"] == "utf16CodeUnits"
    assert physical["region"] == {
        "startLine": 1,
        "startColumn": start,
        "endLine": 1,
        "endColumn": start + len("columns"),
    }
    assert physical["artifactLocation"] == {"uri": "src/ring.cu", "uriBaseId": "%SRCROOT%"}


def test_every_related_location_is_linked(results: list[FileResult], repository: Path) -> None:
    result = next(result for result in run_of(results)["results"] if result["ruleId"] == "BW202")
    linked = [int(n) for n in re.findall(r"(?<!\\)\]\((\d+)\)", result["message"]["text"])]
    assert linked == [location["id"] for location in result["relatedLocations"]] == [1, 2]
    assert "tile\\[0\\]" in result["message"]["text"]  # not a link
    assert len(result["codeFlows"][0]["threadFlows"][0]["locations"]) == 3


def test_fingerprint_is_githubs(results: list[FileResult], repository: Path) -> None:
    hashes = line_hashes((repository / "src/ring.cu").read_text(encoding="utf-8"))
    for result in run_of(results)["results"]:
        line = result["locations"][0]["physicalLocation"]["region"]["startLine"]
        assert result["partialFingerprints"] == {"primaryLocationLineHash": hashes[line - 1]}


def test_uris(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("elsewhere") / "b c.cu"
    outside.write_text("x\n")
    found = [
        Finding("BW202", Level.ERROR, "m", Loc(str(repository / "src/a b#1.cu"), 1)),
        Finding("BW202", Level.ERROR, "m", Loc(str(outside), 1)),
    ]
    run = run_of([FileResult("src/ring.cu", found)])
    places = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in run["results"]]
    assert places[0] == {"uri": "src/a%20b%231.cu", "uriBaseId": "%SRCROOT%"}
    assert places[1] == {"uri": outside.resolve().as_uri()}
    assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"] == repository.resolve().as_uri() + "/"


def test_failure_and_notes_are_notifications(results: list[FileResult], repository: Path) -> None:
    (invocation,) = run_of(results)["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [(note["level"], note["message"]["text"]) for note in invocation["toolExecutionNotifications"]] == [
        ("error", "binary file, not source text"),
        ("note", "opaque call: helper() has no body"),
        ("note", "missing include: cute/tensor.hpp"),
    ]


def test_finding_without_a_place(repository: Path) -> None:
    run = run_of([FileResult("src/ring.cu", [Finding("BW202", Level.ERROR, "m", UNKNOWN)])])
    assert "region" not in run["results"][0]["locations"][0]["physicalLocation"]
