"""Names that a source gives to addresses: a base and a constant, as ``#define full_addr (base + 64)`` does.

Code of this kind uses one array for all barriers. Its names tell where each array begins, also for barriers that a run
does not come to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from auditor.reports import expressions as ex

Place = tuple[str, int]  # a base that is not defined as another one and a constant, and the distance in bytes

_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_DEFINITION = re.compile(
    r"^[ \t]*(?:#[ \t]*define[ \t]+(?P<macro>[A-Za-z_]\w*)[ \t]+(?P<body>[^\n]*?)"
    r"|(?:static |constexpr |const )*(?:auto|(?:u?int(?:32_t)?|unsigned(?: int)?))(?: const)? (?P<name>[A-Za-z_]\w*)"
    r"[ ]*=[ ]*(?P<value>[^;\n]*);)[ \t]*(?://[^\n]*)?$",
    re.MULTILINE,
)


class Symbols:
    """The definitions of one kernel: of its body, and of what stands before it."""

    def __init__(self, source: str, first: int, last: int) -> None:
        """``first`` and ``last``: lines of the kernel, 1-based."""
        lines = source.split("\n")
        self._defined: dict[str, str] = {}
        for text in ("\n".join(lines[: first - 1]), "\n".join(lines[first - 1 : last])):
            for match in _DEFINITION.finditer(text):
                self._defined[match["macro"] or match["name"]] = match["body"] or match["value"]

    def place(self, expression: str, depth: int = 8) -> Place | None:
        """An address that is a base and constants; None for any other."""
        base, total = "", 0
        terms = [t for part in ex.split(ex.plain(expression), " + ") for t in ex.split(part, "+")]
        for term in (ex.plain(t) for t in terms):
            if number := _NUMBER.fullmatch(term):
                total += int(number[1], 0)
            elif base or not re.fullmatch(r"[A-Za-z_]\w*", term):
                return None
            else:
                base = term
        inner = self.place(self._defined[base], depth - 1) if depth and base in self._defined else None
        if inner is not None:
            return inner[0], inner[1] + total
        return (base, total) if base else None

    def starts(self, seen: Iterable[tuple[str, int]]) -> dict[int, str]:
        """Name by address, for all names with the base to which most of the ``seen`` (expression, address) belong."""
        bases: Counter[tuple[str, int]] = Counter()
        for expression, address in seen:
            place = self.place(expression)
            if place is not None:
                bases[place[0], address - place[1]] += 1
        if not bases:
            return {}
        (base, at), _ = bases.most_common(1)[0]
        found: dict[int, str] = {}
        for name in self._defined:
            place = self.place(name)
            if place is not None and place[0] == base and place != (base, 0):
                found.setdefault(at + place[1], name)
        for name in self._defined:  # the base itself only where nothing else begins
            if self.place(name) == (base, 0) and ex.plain(self._defined[name]) != base:
                found.setdefault(at, name)
        return found
