"""The line hash by which GitHub code scanning recognises an alert after lines have moved.

GitHub computes it for tools that do not, from the checked-out file. Ours has the same value, so that an alert keeps
its identity whoever uploads it. The hash of a line is a polynomial (base 37, modulo 2^64) over 100 UTF-16 units:
those from the line's start on, blanks left out and line ends made alike, so that it also covers what follows.
"""

from __future__ import annotations

import re
from collections import Counter

_WINDOW = 100
_BASE = 37
_MASK = (1 << 64) - 1
_DROPPED = pow(_BASE, _WINDOW, 1 << 64)
_END_OF_FILE = 0xFFFF


def line_hashes(text: str) -> list[str]:
    """Hash of each line, in order, as "hex:n": n counts the lines that have had the same hash so far."""
    units, starts = _units(text)
    seen: Counter[int] = Counter()
    hashes = []
    value = 0
    following = iter(starts)
    wanted = next(following)
    padded = units + [0] * _WINDOW
    for at, unit in enumerate(padded):
        leaving = padded[at - _WINDOW] if at >= _WINDOW else 0
        value = (value * _BASE + unit - leaving * _DROPPED) & _MASK
        if at - _WINDOW + 1 == wanted:
            seen[value] += 1
            hashes.append(f"{value:x}:{seen[value]}")
            wanted = next(following, -1 - len(padded))
    return hashes


def _units(text: str) -> tuple[list[int], list[int]]:
    """UTF-16 units that count, with the end-of-file mark, and the index at which each line starts."""
    kept = re.sub(r"[ \t]", "", re.sub(r"\r\n?", "\n", text)) + chr(_END_OF_FILE)
    raw = kept.encode("utf-16-le", "surrogatepass")
    units = [low | high << 8 for low, high in zip(raw[::2], raw[1::2], strict=True)]
    starts = [0] + [at + 1 for at, unit in enumerate(units) if unit == ord("\n")]
    return units, starts
