"""Repairs of tests of an mbarrier whose answer is ignored."""

from __future__ import annotations

from auditor.audit import Audit
from auditor.findings import Edit, Fix
from auditor.repair.insert import source_layout
from auditor.source import Stack


def repeat_until_true(audit: Audit, where: Stack) -> tuple[Fix, ...]:
    """The repair that makes a loop of a statement that does nothing but call a test and drop what it returns."""
    path, layout, loc = audit.program.path, source_layout(audit), audit.user(where)
    offset = layout.offset(loc) if loc.file == path else None
    around = layout.path(offset) if offset is not None else []
    if offset is None or not around:
        return ()
    place = layout.lone_body(around[-1], offset) or around[-1]
    opening = layout.code.find("(", offset)
    end = layout.partner.get(opening, -1) + 1
    if place.start != offset or not end or layout.code[end : place.end].strip() != ";":
        return ()
    before, behind = layout.loc(path, offset, offset), layout.loc(path, end, place.end)
    return (Fix("repeat the test until it returns true", (Edit(before, "while (!"), Edit(behind, ") {}"))),)
