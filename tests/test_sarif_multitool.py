"""SARIF before a validator of its own kind, with the rules of GitHub code scanning.

BW_AUDIT_SARIF_MULTITOOL names the program in ``@microsoft/sarif-multitool-linux``: the npm command hands its words to
a shell, which takes the semicolon between kinds of rules for its own. Without it there is nothing to ask.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from auditor.cli import main

ROOT = Path(__file__).parents[1]
COMMAND = os.environ.get("BW_AUDIT_SARIF_MULTITOOL", "")
FOLDERS = ("BW104", "BW106", "BW214", "BW308", "BW503", "BW602")
NO_HOME_PAGE = "SARIF2005"  # the log names no address of the tool, because each copy of the project has its own

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not COMMAND, reason="BW_AUDIT_SARIF_MULTITOOL is not set")]


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log with errors, warnings, related places, flows, fixes, letters of several bytes and a file that failed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BW_AUDIT_CACHE", "off")
    (tmp_path / ".git").mkdir()
    for name in FOLDERS:
        shutil.copytree(ROOT / "fixtures" / name, tmp_path / "kernels größe" / name)
    (tmp_path / "broken.cu").write_bytes(b"\0")
    assert main([".", "--format", "sarif:out.sarif", "-q"]) == 1
    return tmp_path / "out.sarif"


def complaints(log: Path) -> set[tuple[str, str]]:
    """(rule, message) of everything that the validator finds worse than a note."""
    told = log.with_suffix(".validation")
    words = ["validate", str(log), "--rule-kind", "Sarif;Gh", "--output", str(told), "--log", "ForceOverwrite"]
    environment = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False, env=environment)
    assert told.exists(), done.stdout + done.stderr
    (run,) = json.loads(told.read_text(encoding="utf-8-sig"))["runs"]
    levels = {rule["id"]: _level(rule) for rule in run["tool"]["driver"].get("rules", [])}
    return {
        (result["ruleId"], json.dumps(result["message"]))
        for result in run.get("results", [])
        if result.get("level", levels.get(result["ruleId"], "warning")) in ("warning", "error")
    }


def _level(rule: dict[str, Any]) -> str:
    return str(rule.get("defaultConfiguration", {}).get("level", "warning"))


def test_nothing_to_complain_about(log: Path) -> None:
    results = json.loads(log.read_text(encoding="utf-8"))["runs"][0]["results"]
    assert any("fixes" in result for result in results)
    assert any("codeFlows" in result for result in results)
    assert {rule for rule, _ in complaints(log)} <= {NO_HOME_PAGE}


def test_the_validator_sees_what_github_would_reject(log: Path) -> None:
    document = json.loads(log.read_text(encoding="utf-8"))
    del document["runs"][0]["results"][0]["locations"]
    log.write_text(json.dumps(document), encoding="utf-8")
    assert {rule for rule, _ in complaints(log)} > {NO_HOME_PAGE}
