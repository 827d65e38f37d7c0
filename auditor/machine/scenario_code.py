"""What the code of a kernel itself tells about how it must be launched."""

from __future__ import annotations

import re

from auditor.program import Program
from auditor.ptx.grammar import Instr

_DEFINITION = re.compile(r"^def (\w+)\(", re.MULTILINE)
_CALL = re.compile(r"\b([A-Za-z_]\w*)\(")
_ASM = re.compile(r"\bS\.(?:wait_)?asm\((\d+)")


def instructions(program: Program, entry: str) -> list[Instr]:
    """The PTX instructions of all asm statements that a kernel contains, in its callees too."""
    starts = list(_DEFINITION.finditer(program.python))
    bodies = {}
    for here, after in zip(starts, [*starts[1:], None]):
        bodies[here[1]] = program.python[here.end() : after.start() if after is not None else None]
    found: list[Instr] = []
    seen: set[str] = set()
    work = [entry]
    while work:
        name = work.pop()
        if name in seen or name not in bodies:
            continue
        seen.add(name)
        work += _CALL.findall(bodies[name])
        for number in _ASM.findall(bodies[name]):
            found += program.asm[int(number)].instrs
    return found


def wants_cluster(program: Program, entry: str) -> bool:
    """Whether a kernel addresses a peer CTA, so that it cannot be meant for clusters of one CTA."""
    return any(
        i.opcode in ("mapa", "barrier.cluster")
        or i.has("cta_group::2")
        or i.has("multicast::cluster")
        or (i.opcode == "cp.async.bulk" and i.has("shared::cluster", "shared::cta"))
        for i in instructions(program, entry)
    )
