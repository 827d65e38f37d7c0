"""Buffers in shared memory: what copies fill or drain, by the name that the source gives the address."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from auditor.reports.facts import Facts
from auditor.reports.groups import Group
from auditor.trace import Event

LOADS = ("tma.load", "bulk.load", "bulk.dsmem", "st.async")
_GENERIC = frozenset(("dst", "dest", "to", "ptr", "p", "smem", "buf", "buffer", "out", "address"))
_SIZE = re.compile(r"BYTES|SIZE", re.IGNORECASE)
STORES = ("tma.store", "tma.reduce", "bulk.store", "bulk.reduce")


@dataclass
class Buffer:
    """A buffer with its stages: byte offsets of the starts, and the bytes that the operations move in one stage.

    ``group``: the barriers on which the copies complete. ``maps``: names of the tensor maps that are used.
    """

    name: str
    stages: list[tuple[int, int]]  # [lo, hi) of each stage
    group: Group | None
    maps: set[str] = field(default_factory=set)
    ops: list[Event] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        return max(hi - lo for lo, hi in self.stages)

    @property
    def stride(self) -> int:
        return self.stages[1][0] - self.stages[0][0] if len(self.stages) > 1 else 0

    def touches(self, lo: int, hi: int) -> bool:
        return any(a < hi and lo < b for a, b in self.stages)


def loaded(facts: Facts) -> list[Buffer]:
    """Buffers that copies fill, in the order of their addresses."""
    return _collect(facts, LOADS, 0)


def stored(facts: Facts) -> list[Buffer]:
    """Buffers from which copies to global memory read."""
    return _collect(facts, STORES, 1)


def _collect(facts: Facts, instrs: tuple[str, ...], position: int) -> list[Buffer]:
    """Operations by name and barriers; within one name, pieces that fill a stage together are merged."""
    found: dict[tuple[str, int], Buffer] = {}
    pieces: dict[tuple[str, int], dict[int, list[tuple[int, int]]]] = {}
    for op in facts.ops:
        if op.data["instr"] not in instrs or not op.accesses:
            continue
        instruction = "st.async" if op.data["instr"] == "st.async" else "cp."
        name = facts.names.base(op.where, instruction, position) or str(op.data.get("map") or "buffer")
        bar = op.data.get("bar")
        group = facts.group_of.get(bar) if bar is not None else None
        key = (name, id(group))
        buffer = found.setdefault(key, Buffer(name, [], group))
        buffer.ops.append(op)
        if op.data.get("map"):
            buffer.maps.add(str(op.data["map"]))
        access = op.accesses[0]
        stage = facts.trace.barriers[bar].offset if bar is not None else 0
        pieces.setdefault(key, {}).setdefault(stage, []).append((access.lo, access.hi))
    for key, buffer in found.items():
        if len(buffer.maps) == 1 and (buffer.name in _GENERIC or _SIZE.search(buffer.name)):
            buffer.name = f"tile of {next(iter(buffer.maps))}"
        for ranges in pieces[key].values():
            buffer.stages += merged(ranges) if buffer.group is not None else sorted(set(ranges))
        buffer.stages = sorted(set(buffer.stages))
    return sorted(found.values(), key=lambda b: b.stages[0])


def merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Disjoint ranges; those of different operations that touch are one, repeated ones count once."""
    out: list[tuple[int, int]] = []
    for lo, hi in sorted(set(ranges)):
        if out and lo <= out[-1][1]:
            out[-1] = (out[-1][0], max(hi, out[-1][1]))
        else:
            out.append((lo, hi))
    return out
