"""Which files a command line names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from auditor.config import is_python

SUFFIXES = (".cu", ".cuh")
_KERNEL_MARK = b"__global__"
_READ_AT_ONCE = 1 << 20
_BUILD_FOLDERS = frozenset(("build", "_build", "dist", "out", "node_modules", "venv", "env", "__pycache__", "target"))
_BUILD_PREFIXES = ("cmake-build", "build-", "build_", "bazel-")


def find_sources(
    paths: Iterable[str], complain: Callable[[str, str], None], excluded: Callable[[str], bool] = lambda path: False
) -> list[str]:
    """Files to audit, each once: named files as they are, folders searched for CUDA sources, and for Python files that
    may have some in a string.

    Hidden and build folders inside a named folder are skipped, and files that are ``excluded``. ``complain(path, why)``
    is told of folders that cannot be read or hold no CUDA source.
    """
    found: dict[str, None] = {}
    for path in paths:
        if not Path(path).is_dir():
            found[path] = None
            continue
        before = len(found)
        errors: list[OSError] = []
        for folder, folders, files in os.walk(path, onerror=errors.append):
            folders[:] = sorted(name for name in folders if not _skipped(name))
            for name in sorted(files):
                if name.endswith((*SUFFIXES, ".py")) and not name.startswith("."):
                    file = os.path.normpath(Path(folder) / name)
                    if not excluded(file) and (not is_python(name) or _may_hold_kernel(file)):
                        found[file] = None
        for error in errors:
            complain(str(error.filename or path), error.strerror or str(error))
        if len(found) == before and not errors:
            complain(path, f"no {' or '.join(SUFFIXES)} files in this folder")
    return list(found)


def _may_hold_kernel(file: str) -> bool:
    """Whether a Python file names kernels anywhere. Pipes and devices are not opened: they may block."""
    try:
        if not Path(file).is_file():
            return True
        with Path(file).open("rb") as stream:
            tail = b""
            while block := stream.read(_READ_AT_ONCE):
                if _KERNEL_MARK in tail + block:
                    return True
                tail = block[-len(_KERNEL_MARK) :]
    except OSError:
        return True  # the audit will say what is wrong with it
    return False


def _skipped(folder: str) -> bool:
    return folder.startswith(".") or folder in _BUILD_FOLDERS or folder.startswith(_BUILD_PREFIXES)
