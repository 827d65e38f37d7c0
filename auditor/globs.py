"""Patterns for paths, as in configuration files."""

from __future__ import annotations

import re
from functools import cache
from pathlib import PurePosixPath

_MEANING = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}


def matches(pattern: str, path: str) -> bool:
    """Whether a path (relative, with "/") is meant by a pattern.

    ``*`` and ``?`` stay within one folder, ``**`` crosses folders. A pattern without "/" may match the name of the file
    or of any folder above it; one with "/" is matched from the start. One that matches
    a folder means all that is in it.
    """
    whole = PurePosixPath(path)
    if "/" not in pattern.strip("/"):
        return any(_regex(pattern.strip("/")).fullmatch(part) for part in whole.parts)
    wanted = _regex(pattern.strip("/").removeprefix("./"))
    return any(wanted.fullmatch(str(part)) for part in (whole, *whole.parents))


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(_MEANING.get(part, re.escape(part)) for part in parts))
