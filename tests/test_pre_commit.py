"""pre-commit installs the hook from a clone and runs it on staged files. Slow: it builds an environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GOOD = ROOT / "fixtures" / "BW202" / "good_barrier_behind_the_read.cu"
BAD = ROOT / "fixtures" / "BW202" / "bad_barrier_before_the_read.cu"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("git") is None or not (ROOT / ".git").exists(), reason="needs a git checkout"),
]


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of this repository as it was last committed."""
    folder = tmp_path_factory.mktemp("clone")
    git(folder, "clone", "-q", "--no-hardlinks", str(ROOT), "bw-audit")
    return folder / "bw-audit"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pre-commit")


def try_repo(tree: Path, clone: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the hook of the clone on what is staged in ``tree``."""
    return pre_commit(tree, home, "try-repo", str(clone), "bw-audit", "--color", "never", "--verbose", *words)


def pre_commit(tree: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PRE_COMMIT_HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *words], cwd=tree, env=env, capture_output=True, text=True, check=False
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    return tmp_path


def test_staged_kernels_are_audited_and_nothing_else(tree: Path, clone: Path, home: Path) -> None:
    shutil.copy(GOOD, tree / "good.cu")
    (tree / "notes.md").write_text("no kernel\n")
    git(tree, "add", "good.cu", "notes.md")
    shutil.copy(BAD, tree / "not_staged.cu")
    done = try_repo(tree, clone, home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout
    git(tree, "rm", "-q", "--cached", "good.cu")
    shutil.copy(BAD, tree / "bad.cuh")
    git(tree, "add", "bad.cuh")
    done = try_repo(tree, clone, home)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "bad.cuh:44:13: error[BW202]" in done.stdout
    assert "not_staged" not in done.stdout


def configure(tree: Path, clone: Path, hook: str) -> None:
    """Write a configuration with the hook of the clone and these lines under it."""
    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=clone, capture_output=True, text=True, check=True)
    (tree / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {clone}\n  rev: {revision.stdout.strip()}\n  hooks:\n  - id: bw-audit\n{hook}"
    )


def test_override_for_headers(tree: Path, clone: Path, home: Path) -> None:
    configure(tree, clone, "    types_or: [cuda, c++, c, header]\n    files: ^csrc/\n")
    (tree / "csrc").mkdir()
    shutil.copy(BAD, tree / "csrc" / "bad.hpp")
    shutil.copy(BAD, tree / "elsewhere.hpp")
    git(tree, "add", ".")
    done = pre_commit(tree, home, "run", "--color", "never")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "csrc/bad.hpp:44:13: error[BW202]" in done.stdout
    assert "elsewhere" not in done.stdout


def test_override_for_python_files(tree: Path, clone: Path, home: Path) -> None:
    configure(tree, clone, "    types_or: [cuda, python]\n")
    (tree / "__init__.py").write_text("")
    (tree / "plain.py").write_text("print('no kernel')\n")
    git(tree, "add", ".")
    done = pre_commit(tree, home, "run", "--color", "never")
    assert done.returncode == 0, done.stdout + done.stderr
    (tree / "inline.py").write_text(f'CUDA = r"""{BAD.read_text()}"""\n')
    git(tree, "add", ".")
    done = pre_commit(tree, home, "run", "--color", "never")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "inline.py:44:13: error[BW202]" in done.stdout
