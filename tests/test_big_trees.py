"""Many files in one run, by the real command. Slow: audits some dozen kernels twice."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from auditor.config import AuditOptions
from auditor.engine import audit_file
from auditor.output.json_report import write_json

ROOT = Path(__file__).parents[1]
FOLDERS = ["fixtures/BW105", "fixtures/BW202", "fixtures/BW209", "fixtures/BW308"]

pytestmark = pytest.mark.slow


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    """A folder with a copy of the tool: a change of its files, as by someone who works on it, empties the cache."""
    shutil.copytree(ROOT / "auditor", tmp_path / "tool" / "auditor", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "rules", tmp_path / "tool" / "auditor" / "rules")
    return tmp_path / "tool"


def run(tool: Path, cache: Path, output: Path) -> float:
    """One run over the folders; its wall time in seconds, without the start of Python."""
    words = [sys.executable, "-m", "auditor", *(str(ROOT / folder) for folder in FOLDERS), "--isolated", "--timing"]
    words += ["--quiet", "--cache-dir", str(cache), "--format", f"json:{output}"]
    done = subprocess.run(words, cwd=tool, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    match = re.search(r"([\d.]+) s  whole run", done.stderr)
    assert match is not None
    return float(match[1])


def findings(report: str) -> list[tuple[str, object]]:
    return [(file["path"], file["findings"]) for file in json.loads(report)["files"]]


def test_the_second_run_is_quick_and_both_equal_single_runs(tmp_path: Path, tool: Path) -> None:
    first = run(tool, tmp_path / "cache", tmp_path / "first.json")
    second = run(tool, tmp_path / "cache", tmp_path / "second.json")
    assert first / second >= 20
    reports = [(tmp_path / name).read_text() for name in ("first.json", "second.json")]
    assert all(file["cached"] for file in json.loads(reports[1])["files"])
    options = AuditOptions(fixes=True)  # as for any JSON report
    single = write_json([audit_file(file["path"], options) for file in json.loads(reports[0])["files"]])
    assert findings(reports[0]) == findings(reports[1]) == findings(single)
