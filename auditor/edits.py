"""Edits of a source text, applied and traced back."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from auditor.findings import Edit
from auditor.output.columns import characters

_LINE_END = re.compile(r"\r\n|\n|\r")


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text after edits. Raises ValueError when they overlap or lie outside the text."""
    parts, at = [], 0
    for start, end, new in _ranges(text, edits):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def kept_lines(text: str, edits: Sequence[Edit]) -> dict[int, int]:
    """The old number of each line of the new text in which something of the old one stands."""
    new_text = apply_edits(text, edits)
    old_starts, new_starts = _line_starts(text), _line_starts(new_text)
    out: dict[int, int] = {}
    at = shift = 0
    for start, end, new in [*_ranges(text, edits), (len(text), len(text), "")]:
        for match in re.finditer(r"\S[^\r\n]*", text[at:start]):
            offset = at + match.start()
            out[bisect_right(new_starts, offset + shift)] = bisect_right(old_starts, offset)
        shift += len(new) - (end - start)
        at = end
    return out


def _ranges(text: str, edits: Sequence[Edit]) -> Iterator[tuple[int, int, str]]:
    """(start, end, new text) of each edit by characters, in order."""
    starts = _line_starts(text)
    at = 0
    for edit in sorted(edits, key=lambda edit: edit.loc):
        start = _offset(text, starts, edit.loc.line, edit.loc.column)
        end = _offset(text, starts, edit.loc.end_line, edit.loc.end_column)
        if not at <= start <= end:
            raise ValueError("edits overlap")
        yield start, end, edit.text
        at = end


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def _offset(text: str, starts: Sequence[int], line: int, column: int) -> int:
    if not 1 <= line <= len(starts):
        raise ValueError("an edit lies outside the text")
    start = starts[line - 1]
    match = _LINE_END.search(text, start)
    return start + characters(text[start : match.start() if match else len(text)], column)
