"""The GitHub action: its shell steps are run with a stand-in for the installed tool."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def load(name: str) -> dict[str, Any]:
    document = yaml.safe_load((ROOT / name).read_text())
    assert isinstance(document, dict)
    return document


def step(name: str) -> dict[str, Any]:
    (found,) = [step for step in load("action.yml")["runs"]["steps"] if step.get("name") == name]
    assert isinstance(found, dict)
    return found


def audit(folder: Path, code: int, **env: str) -> tuple[list[str], str]:
    """What the step "Audit" calls the tool with, and what it tells later steps."""
    tools = folder / "bw-audit" / "bin"
    tools.mkdir(parents=True)
    (tools / "python").symlink_to(sys.executable)
    (tools / "bw-audit").write_text(f'#!/bin/sh\nfor word; do echo "<$word>"; done\nexit {code}\n')
    (tools / "bw-audit").chmod(0o755)
    defaults = {"AUDIT_PATHS": ".", "AUDIT_ARGS": "", "SARIF_FILE": "", "FAIL_ON": "warning"}
    output = folder / "output"
    variables = {**os.environ, **defaults, "RUNNER_TEMP": str(folder), "GITHUB_OUTPUT": str(output), **env}
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step("Audit")["run"]]
    done = subprocess.run(script, env=variables, capture_output=True, text=True, check=True, cwd=folder)
    return [line.strip("<>") for line in done.stdout.splitlines()], output.read_text()


def test_the_step_goes_on_after_findings_and_tells_the_code(tmp_path: Path) -> None:
    words, told = audit(tmp_path, 1)
    assert words == ["--format", "github", "--fail-on", "warning", "."]
    assert told == "exit-code=1\n"


def test_inputs_are_words_and_never_code(tmp_path: Path) -> None:
    (tmp_path / "x.cu").write_text("")
    paths, args = "src/*.cu\n$(touch evil) b", "--set 'a b=1' --select \"BW1;touch evil\" ''"
    words, _ = audit(tmp_path, 0, AUDIT_PATHS=paths, AUDIT_ARGS=args, SARIF_FILE="a b.sarif", FAIL_ON="error")
    assert words == [
        *("--format", "github", "--fail-on", "error"),
        *("--set", "a b=1", "--select", "BW1;touch evil", ""),
        *("--sarif-file", "a b.sarif"),
        *("src/*.cu", "$(touch", "evil)", "b"),
    ]
    assert not (tmp_path / "evil").exists()


def test_arguments_that_cannot_be_split_fail_the_step(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        audit(tmp_path, 0, AUDIT_ARGS="--set 'k=1")


@pytest.mark.parametrize("code", [0, 1, 2])
def test_the_last_step_fails_by_the_code(code: int) -> None:
    assert load("action.yml")["runs"]["steps"][-1] == step("Outcome")
    done = subprocess.run(["bash", "-c", step("Outcome")["run"]], env={**os.environ, "CODE": str(code)}, check=False)
    assert done.returncode == code


def test_no_expression_is_part_of_a_script() -> None:
    for each in load("action.yml")["runs"]["steps"]:
        assert "${{" not in each.get("run", "")


def test_workflows_name_inputs_that_exist() -> None:
    inputs = set(load("action.yml")["inputs"])
    used = []
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        for job in yaml.safe_load(file.read_text())["jobs"].values():
            used += [s for s in job.get("steps", ()) if s.get("uses", "").startswith("./")]
    assert len(used) == 2
    assert all(set(each["with"]) <= inputs for each in used)
