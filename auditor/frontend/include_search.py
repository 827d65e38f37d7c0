"""Include folders that a build would have named: found by looking for missing includes above the source file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

LEVELS = 6  # folders above the source that are looked into
SUBFOLDERS = ("", "include", "src", "csrc")

_MISSING = re.compile(r"'(.+)' file not found")


def missing_include(message: str) -> str | None:
    """The name in clang's complaint about an include that it cannot find."""
    match = _MISSING.search(message)
    return match[1] if match else None


def folders_for(path: str, messages: Iterable[str]) -> tuple[str, ...]:
    """Folders, nearest first, that hold includes which clang could not find."""
    names = {name for name in map(missing_include, messages) if name is not None and not Path(name).is_absolute()}
    found: dict[str, None] = {}
    for name in sorted(names):
        folder = next((str(f) for f in _candidates(path) if (f / name).is_file()), None)
        if folder is not None:
            found[folder] = None
    return tuple(found)


def _candidates(path: str) -> Iterable[Path]:
    start = Path(path).absolute().parent
    for folder in (start, *list(start.parents)[:LEVELS]):
        if folder == Path(folder.anchor):
            return
        for sub in SUBFOLDERS:
            yield folder / sub if sub else folder
