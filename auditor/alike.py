"""Sources with the same text, such as a kernel that is kept once for each architecture: one of them is audited."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from auditor.analysis import Analysis
from auditor.cache import wanted
from auditor.codec import decode, encode
from auditor.config import STDIN, is_utf_8
from auditor.frontend.include_search import libraries_at
from auditor.includes import found_by
from auditor.parallel import Unit


def alike(units: Sequence[Unit], numbers: Iterable[int], read: Callable[[str], str | None]) -> dict[int, list[int]]:
    """The numbers of units that need an audit, each with those of other units that will have the same outcome.

    ``read`` gives the text of a source, None when it has none.
    """
    same_text = defaultdict[Any, list[int]](list)
    for number in numbers:
        same_text[_text_key(units[number], number, read)].append(number)
    found: dict[int, list[int]] = {}
    for group in same_text.values():
        first = dict[Any, int]()
        for number in group:
            leader = first.setdefault(_headers(units[number], read) if len(group) > 1 else None, number)
            found.setdefault(leader, [])
            if leader != number:
                found[leader].append(number)
    return found


def _text_key(unit: Unit, number: int, read: Callable[[str], str | None]) -> Any:
    text = read(unit.path) if unit.text is None and unit.path != STDIN else None
    if text is None or not is_utf_8(unit.path):
        return number
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return digest, Path(unit.path).suffix, wanted(unit.options)


def _headers(unit: Unit, read: Callable[[str], str | None]) -> Any:
    """What the includes of a source mean where it lies, and which libraries are seen from there."""
    return found_by(unit.path, read(unit.path) or "", unit.options.includes), libraries_at(unit.path)


def moved(analysis: Analysis, path: str) -> Analysis | None:
    """The analysis of the same text in another file. None when what it says speaks of its own file by name."""
    try:
        data = _renamed(encode(analysis), analysis.path, path)
    except _NamedInText:
        return None
    other = decode(path, {**data, "seconds": 0.0, "stages": {}})
    other.cached = False
    other.headers = list(analysis.headers)
    other.sources = {path if name == analysis.path else name: text for name, text in analysis.sources.items()}
    return other


class _NamedInText(Exception):  # noqa: N818 - an outcome, not a defect
    """A message holds the name of the file."""


def _renamed(data: Any, old: str, new: str) -> Any:
    if isinstance(data, str):
        if data != old and old in data:
            raise _NamedInText
        return new if data == old else data
    if isinstance(data, dict):
        return {key: _renamed(value, old, new) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_renamed(item, old, new) for item in data]
    return data
