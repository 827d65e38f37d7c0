"""Repairs of what an inline asm statement tells the compiler."""

from __future__ import annotations

import re

from auditor.audit import Audit
from auditor.findings import Edit, Fix
from auditor.repair.insert import source_layout
from auditor.source import Loc

_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b\s*(?:(?:volatile|__volatile__|inline)\s*)*(?=\()")
_CLOBBERS = 3  # colons before the list of clobbers


def clobber_memory(audit: Audit, place: Loc) -> tuple[Fix, ...]:
    """The repair that names "memory" among the clobbers of the asm statement at a place."""
    path = audit.program.path
    layout = source_layout(audit)
    offset = layout.offset(place) if place.file == path else None
    match = _ASM.match(layout.code, offset) if offset is not None else None
    closing = layout.partner.get(match.end()) if match else None
    if match is None or closing is None:
        return ()
    colons, at = [], match.end() + 1
    while at < closing:
        if layout.code[at] == ":":
            colons.append(at)
        at = layout.partner.get(at, at) + 1 if layout.code[at] in "([{" else at + 1
    if len(colons) > _CLOBBERS:
        return ()
    if len(colons) == _CLOBBERS:
        listed = layout.text[colons[-1] + 1 : closing].strip()
        new = ', "memory"' if listed else ' "memory"'
    else:
        new = " " + " ".join([":"] * (_CLOBBERS - len(colons))) + ' "memory"'
    end = len(layout.text[:closing].rstrip())
    return (Fix('name "memory" as clobbered', (Edit(layout.loc(path, end, end), new),)),)
