"""Runs one case in this process and says what is wrong with how it ended."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path

from auditor.cli import main
from tests.fuzz.cases import Case

_ORDERLY = (0, 1, 2)
_SIGNS = ("Traceback (most recent call last)", "internal error", "the process that audited it died")


def write(case: Case, folder: Path) -> None:
    """The files of a case."""
    for name, content in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def judge(case: Case) -> str:
    """What is wrong, in a few lines; nothing when the tool ended in an orderly way."""
    errors = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, _inside(folder):
        write(case, Path())
        output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(case.stdin), encoding="utf-8")
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
                code = main([*case.words])
        except BaseException:  # whatever it is, it is wrong
            return traceback.format_exc()
        finally:
            sys.stdin = stdin
    if code not in _ORDERLY:
        return f"exit code {code}\n{errors.getvalue()}"
    return errors.getvalue() if any(sign in errors.getvalue() for sign in _SIGNS) else ""


@contextlib.contextmanager
def _inside(folder: str) -> Iterator[None]:
    """With another working folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
