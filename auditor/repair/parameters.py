"""Repairs of a kernel's parameter list."""

from __future__ import annotations

import re

from auditor.audit import Audit
from auditor.findings import Edit, Fix
from auditor.program import Param
from auditor.repair.insert import source_layout
from auditor.repair.layout import Layout

_CONST = re.compile(r"const\b\s*")


def make_grid_constant(audit: Audit, param: Param) -> tuple[Fix, ...]:
    """The repair that declares a by-value parameter ``const __grid_constant__``.

    None is offered for a kernel that is declared more than once: all its declarations must agree.
    """
    path = audit.program.path
    layout = source_layout(audit)
    offset = layout.offset(param.loc) if param.loc.file == path else None
    declarations = re.findall(rf"\b{re.escape(audit.kernel.name)}\s*\([^;{{}}]*[;{{]", layout.code)
    if offset is None or len([text for text in declarations if param.name in text]) != 1:
        return ()
    start = _parameter_start(layout, offset)
    if start is None or re.search(r"[*&=]", layout.code[start:offset]):
        return ()
    const = _CONST.match(layout.code, start)
    at = const.end() if const else start
    new = "__grid_constant__ " if re.search(r"\bconst\b", layout.code[start:offset]) else "const __grid_constant__ "
    return (Fix(f"declare {param.name} __grid_constant__", (Edit(layout.loc(path, at, at), new),)),)


def _parameter_start(layout: Layout, offset: int) -> int | None:
    """Where the declaration of the parameter begins whose name stands at an offset."""
    opening = next(layout.around(offset, "("), None)
    if opening is None:
        return None
    depth, begin = 0, opening + 1
    for at in range(opening + 1, offset):
        char = layout.code[at]
        depth += (char in "(<[{") - (char in ")>]}")
        if char == "," and depth == 0:
            begin = at + 1
    while begin < offset and layout.code[begin].isspace():
        begin += 1
    return begin
