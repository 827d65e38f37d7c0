"""The README, followed by someone who has nothing but Python and a clone. Slow: installs into an empty environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None or not (ROOT / ".git").exists(), reason="needs a git checkout")
def test_installed_first_finding_and_first_suppression(tmp_path: Path) -> None:
    clone, environment = tmp_path / "clone", tmp_path / "environment"
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(clone)], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    tools = environment / ("Scripts" if os.name == "nt" else "bin")
    keep = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name in ("TMPDIR", "LANG")}
    clean = {**keep, "HOME": str(tmp_path), "PATH": f"{tools}{os.pathsep}{os.defpath}"}

    def shell(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, shell=True, cwd=clone, env=clean, capture_output=True, text=True, check=False)

    install, audit = blocks("sh")[0].splitlines()
    installed = shell(install)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    found = shell(audit)
    assert found.returncode == 1, found.stdout + found.stderr
    assert re.search(r"bad_barrier_before_the_read\.cu:\d+:\d+: error\[BW202\]", found.stdout)
    kernel = clone / audit.split()[1]
    kernel.write_text(kernel.read_text().replace("// expect[BW202]", "// bw-audit: ignore[BW202] an example"))
    accepted = shell(audit)
    assert (accepted.returncode, "1 suppressed" in accepted.stdout) == (0, True), accepted.stdout
    assert shell("bw-audit explain BW202").stdout.startswith("BW202 ")


def test_the_report_shown_is_what_the_command_prints() -> None:
    _, command = blocks("sh")[0].splitlines()
    run = [sys.executable, "-m", "auditor", "--no-cache", *command.split()[1:]]
    result = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.stdout == blocks("text")[0]


def test_the_examples_of_pre_commit_and_the_action_name_what_exists() -> None:
    hook, workflow = (yaml.safe_load(block) for block in blocks("yaml"))
    assert hook[0]["id"] in {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    (step,) = [step for step in workflow["steps"] if "bw-audit" in step["uses"]]
    assert set(step["with"]) <= set(yaml.safe_load((ROOT / "action.yml").read_text())["inputs"])
    assert workflow["permissions"]["security-events"] == "write"


def test_every_link_leads_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(targets) > 5
    assert [target for target in targets if "://" not in target and not (ROOT / target).exists()] == []
