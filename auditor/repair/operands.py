"""Repairs that change an operand which the source writes as a constant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from auditor.audit import Audit
from auditor.findings import Edit, Fix
from auditor.repair.constants import Constants
from auditor.repair.insert import source_layout
from auditor.repair.layout import Layout
from auditor.source import Stack

_MOST = 3  # spellings that are tried
_NAME = re.compile(r"[A-Za-z_]\w*")


@lru_cache(maxsize=4)
def _constants(layout: Layout) -> Constants:
    return Constants(layout)


def replace_constant(audit: Audit, where: Stack, old: int, new: int, spellings: Iterable[str] = ()) -> tuple[Fix, ...]:
    """Repairs that make the one operand with the constant value ``old`` in the statement of ``where`` ``new``.

    ``spellings`` are expressions that may be written for the new value; those that have another value are passed over.
    """
    path = audit.program.path
    loc = audit.user(where)
    if loc.file != path:
        return ()
    layout = source_layout(audit)
    constants = _constants(layout)
    found = [slot for slot in _slots(layout, layout.offset(loc)) if constants.value(layout.text[slice(*slot)]) == old]
    innermost = [a for a in found if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in found)]
    if len(innermost) != 1:
        return ()
    start, end = innermost[0]
    was = layout.text[start:end]
    texts = [text for text in spellings if constants.value(text) == new]
    if _NAME.fullmatch(was) and new % old == 0:
        texts.append(f"{new // old} * {was}")
    texts.append(str(new))
    place = layout.loc(path, start, end)
    return tuple(Fix(f"{was} becomes {text}", (Edit(place, text),)) for text in dict.fromkeys(texts))[:_MOST]


def constant_texts(audit: Audit, where: Stack, value: int) -> list[str]:
    """How the statement of ``where`` writes a constant of this value."""
    loc = audit.user(where)
    if loc.file != audit.program.path:
        return []
    layout = source_layout(audit)
    constants = _constants(layout)
    texts = [layout.text[start:end] for start, end in _slots(layout, layout.offset(loc))]
    return list(dict.fromkeys(text for text in texts if constants.value(text) == value))


def _slots(layout: Layout, offset: int | None) -> Iterator[tuple[int, int]]:
    """The arguments of the calls in a statement, asm operands and template arguments included, as ranges."""
    path = layout.path(offset) if offset is not None else []
    if not path or offset is None:
        return
    start = max(path[-1].start, layout.code.rfind(";", 0, offset) + 1, layout.code.rfind("{", 0, offset) + 1)
    end = path[-1].end
    semicolon = layout.code.find(";", offset, end)
    end = semicolon if semicolon >= 0 else end
    for opening in (at for at in range(start, end) if layout.code[at] == "("):
        closing = layout.partner.get(opening)
        if closing is not None:
            yield from _split(layout, opening + 1, closing)
    for match in re.compile(r"\w<([^<>;(){}]+)>(?=\s*\()").finditer(layout.code, start, end):
        yield from _split(layout, *match.span(1))


def _split(layout: Layout, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts between the commas of a bracket, and for an asm statement between its colons, without blanks."""
    at = begin = start
    while at <= end:
        char = layout.code[at] if at < end else ","
        if char in "([{" and at in layout.partner:
            at = layout.partner[at]
        elif char == ",":
            part = layout.text[begin:at]
            first, last = begin + len(part) - len(part.lstrip()), begin + len(part.rstrip())
            if first < last:
                yield first, last
            begin = at + 1
        at += 1
