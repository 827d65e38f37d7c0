"""Columns. Clang counts UTF-8 bytes from 1, SARIF is told UTF-16 units from 1, a terminal counts cells from 0."""

from __future__ import annotations

import unicodedata

TAB = 4


def characters(line: str, column: int) -> int:
    """Number of characters of ``line`` before a 1-based byte column. A column past the end counts the whole line."""
    return len(line.encode("utf-8", "replace")[: max(column - 1, 0)].decode("utf-8", "ignore"))


def utf16_column(line: str, column: int) -> int:
    """A 1-based byte column as a 1-based column in UTF-16 units."""
    before = line[: characters(line, column)]
    return len(before) + sum(1 for char in before if ord(char) > 0xFFFF) + 1


def cells(text: str) -> int:
    """Terminal cells that a text without tabs takes."""
    return sum(_width(char) for char in text)


def expand(line: str) -> tuple[str, list[int]]:
    """The line as a terminal shows it, and the cell at which each character starts (one more entry for the end).

    Tabs become spaces; control characters and lone surrogates become a visible replacement.
    """
    shown: list[str] = []
    starts: list[int] = []
    at = 0
    for char in line:
        starts.append(at)
        if char == "\t":
            char = " " * (TAB - at % TAB)
        elif unicodedata.category(char) in ("Cc", "Cs"):
            char = "\N{REPLACEMENT CHARACTER}"
        shown.append(char)
        at += cells(char)
    starts.append(at)
    return "".join(shown), starts


def _width(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
