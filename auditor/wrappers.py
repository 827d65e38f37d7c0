"""Which places of a program are inside wrappers: device functions around a few instructions."""

from __future__ import annotations

import re
from collections.abc import Container
from itertools import zip_longest
from typing import TYPE_CHECKING

from auditor.source import Loc

if TYPE_CHECKING:
    from auditor.program import Program

MOST_WRAPPED = 2  # machine calls

_LOOP_HEAD = re.compile(r"\bS\.loop\(|\.round\(")
_ASM_CALLS = frozenset(("S.asm", "S.wait_asm"))
_MACHINE_CALL = re.compile(r"\b(S\.asm|S\.wait_asm|f\d+_\w+)(?=\()")


def wrapper_places(program: Program) -> frozenset[Loc]:
    """Places inside device functions that only wrap a few instructions.

    Decided on the translated function: it makes at most two machine calls (asm statements, or calls of functions that
    reach one), it is not a kernel, and it has no loop around both of them: such a loop is a role, not a wrapper.
    """
    entries = {k.entry for k in program.kernels}
    bodies = _bodies(program, entries)  # none of which they call
    calls = {name: [c for _, line in body for c in _MACHINE_CALL.findall(line)] for name, body in bodies.items()}
    reaching: set[str] = {name for name, called in calls.items() if not _ASM_CALLS.isdisjoint(called)}
    while more := {name for name, called in calls.items() if name not in reaching and not reaching.isdisjoint(called)}:
        reaching |= more
    return frozenset(
        loc
        for name, body in bodies.items()
        if sum(c in reaching or c in _ASM_CALLS for c in calls[name]) <= MOST_WRAPPED
        and not _loops_over_several(body, reaching | _ASM_CALLS)
        for loc, _ in body
        if loc is not None
    )


def _loops_over_several(body: list[tuple[Loc | None, str]], machine_calls: set[str] | frozenset[str]) -> bool:
    """Whether a loop makes more than one machine call in a round, sleeping between polls aside."""
    for n, (_, line) in enumerate(body):
        if not _LOOP_HEAD.search(line):
            continue
        depth = _depth(line)
        rest = [text for _, text in body[n + 1 :]]
        end = next((k for k, text in enumerate(rest) if _depth(text) < depth), len(rest))
        called = [c for text in rest[:end] for c in _MACHINE_CALL.findall(text) if not c.endswith("_nanosleep")]
        if sum(c in machine_calls for c in called) > 1:
            return True
    return False


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _bodies(program: Program, left_out: Container[str]) -> dict[str, list[tuple[Loc | None, str]]]:
    """The lines of each translated function that is not left out, with their places."""
    lines = program.python.split("\n")
    heads = [n for n, line in enumerate(lines) if line.startswith("def ")]
    out: dict[str, list[tuple[Loc | None, str]]] = {}
    for head, end in zip(heads, [*heads[1:], len(lines)]):
        name = lines[head][4 : lines[head].index("(")]
        if name not in left_out:  # the place of line n, which is counted from one, is at n
            out[name] = list(zip_longest(program.line_locs[head + 2 : end + 1], lines[head + 1 : end]))
    return out
