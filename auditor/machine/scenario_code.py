"""What the code of a kernel itself tells about how it must be launched."""

from __future__ import annotations

import re

from auditor.program import Program
from auditor.ptx.grammar import Instr

_DEFINITION = re.compile(r"^def (\w+)\(", re.MULTILINE)
_CALL = re.compile(r"\b([A-Za-z_]\w*)\(")
_ASM = re.compile(r"\bS\.(?:wait_)?asm\((\d+)")


def reached(program: Program, entry: str) -> list[str]:
    """The generated text of a kernel and of all functions that it calls."""
    starts = list(_DEFINITION.finditer(program.python))
    bodies = {}
    for here, after in zip(starts, [*starts[1:], None]):
        bodies[here[1]] = program.python[here.end() : after.start() if after is not None else None]
    seen: set[str] = set()
    work = [entry]
    while work:
        name = work.pop()
        if name not in seen and name in bodies:
            seen.add(name)
            work += _CALL.findall(bodies[name])
    return [bodies[name] for name in sorted(seen)]


def instructions(program: Program, entry: str) -> list[Instr]:
    """The PTX instructions of all asm statements that a kernel contains, in its callees too."""
    numbers = {int(n) for body in reached(program, entry) for n in _ASM.findall(body)}
    return [i for n in sorted(numbers) for i in program.asm[n].instrs]


def strides_over_grid(program: Program, entry: str) -> bool:
    """Whether a kernel asks how large its grid is, as persistent ones do to go from tile to tile."""
    return any("S.gdim" in body for body in reached(program, entry)) or any(
        "nctaid" in i.text for i in instructions(program, entry)
    )


def wants_cluster(program: Program, entry: str) -> bool:
    """Whether a kernel addresses a peer CTA, so that it cannot be meant for clusters of one CTA."""
    return any(
        i.opcode in ("mapa", "barrier.cluster")
        or i.has("cta_group::2")
        or i.has("multicast::cluster")
        or (i.opcode == "cp.async.bulk" and i.has("shared::cluster", "shared::cta"))
        for i in instructions(program, entry)
    )
