"""BW319: a shared-memory matrix descriptor that is not valid, or that reads another layout than the copy wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.machine.launch import SWIZZLE_SPAN
from auditor.rule import Rule
from auditor.rulekit import context, incident_context
from auditor.source import Stack
from auditor.trace import Event

# CUtensorMapSwizzle of the swizzle codes of the two kinds of descriptor (rulebook TC-61).
TCGEN05 = {0: 0, 6: 1, 4: 2, 2: 3, 1: 4}
WGMMA = {0: 0, 3: 1, 2: 2, 1: 3}
NAMES = {0: "no swizzle", 1: "the 32-byte swizzle", 2: "the 64-byte swizzle", 3: "the 128-byte swizzle",
         4: "the 128-byte swizzle of 32-byte atoms"}


@dataclass(frozen=True)
class _Operand:
    """An operand of an MMA in a tile that a tensor copy filled. ``swizzle`` is the descriptor's, as a map counts it."""

    mma: Event
    name: str
    swizzle: int
    copy: Event


class MatrixDescriptor(Rule):
    code = "BW319"
    name = "matrix-descriptor"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-60", "TC-61", "TC-62", "TC-63", "TC-64", "TC-65")

    def check(self, audit: Audit) -> Iterator[Finding]:
        invalid = set()
        for incident in audit.incidents("descriptor"):
            what = str(incident.data["what"])
            if not what.startswith(("matrix descriptor", "wgmma descriptor")):
                continue
            invalid.add(incident.where)
            yield audit.finding(
                type(self), incident.where,
                f"{what} {incident.data['value']:#018x} is not valid: " + "; ".join(incident.data["problems"]),
                hint="build it from its fields: address, leading and stride offset in units of 16 bytes"
                     + (", 0b001 in bits 46-48, and the swizzle code (0, 1, 2, 4 or 6) in bits 61-63"
                        if what.startswith("matrix") else ", and the swizzle code in bits 62-63"),
                context=incident_context(audit, incident),
            )
        if not audit.has("mma", "mma.ws", "wgmma") or not audit.has("tma.load"):
            return
        told: set[Stack] = set(invalid)
        for operand in _operands(audit):
            finding = self._judge(audit, operand) if operand.mma.where not in told else None
            if finding is not None:
                told.add(operand.mma.where)
                yield finding

    def _judge(self, audit: Audit, operand: _Operand) -> Finding | None:
        written = operand.copy.data.get("swizzle")
        if not isinstance(written, int):
            return None
        if written != operand.swizzle:
            return self._differs(audit, operand.mma, operand.name, operand.copy, operand.swizzle, written)
        problem = _misread(operand)
        return self._misread(audit, operand, *problem) if problem is not None else None

    def _misread(self, audit: Audit, operand: _Operand, what: str, hint: str) -> Finding:
        copy = operand.copy
        return audit.finding(
            type(self), operand.mma.where,
            f"the matrix descriptor of {operand.name} does not fit the tile that the TMA load wrote: {what}",
            level=Level.WARNING, hint=hint,
            related=[(copy.where, f"{audit.story.who(copy)} fills {audit.story.place(copy.accesses[0])}")],
            context=context(audit, operand.mma),
        )

    def _differs(self, audit: Audit, mma: Event, name: str, copy: Event, used: int, written: int) -> Finding:
        story = audit.story
        tensor_map = copy.data.get("map")
        of_map = f"tensor map {tensor_map}" if tensor_map else "tensor map"
        return audit.finding(
            type(self), mma.where,
            f"the matrix descriptor of {name} reads {NAMES.get(used, used)}, but the {of_map} of the TMA load that "
            "filled these "
            f"bytes writes {NAMES.get(written, 'another swizzle')}",
            related=[(copy.where, f"{story.who(copy)} fills {story.place(copy.accesses[0])}")],
            flow=[(copy.where, f"{story.who(copy)} writes the tile with {NAMES.get(written, 'another swizzle')}"),
                  (mma.where, f"{story.who(mma)} reads it as {NAMES.get(used, used)}")],
            hint="use one swizzle on both sides: the code of the descriptor has to be that of the map's "
                 "CU_TENSOR_MAP_SWIZZLE_*",
            context=context(audit, mma),
        )


def _operands(audit: Audit) -> Iterator[_Operand]:
    """Each operand once a place and start, with the newest tensor copy that its first byte comes from."""
    filled: dict[tuple[int, int, int], Event] = {}
    seen: set[object] = set()
    for e in audit.trace.events:
        if e.kind == "st":
            for a in e.accesses:  # what threads wrote need not have the map's layout
                if a.space == "shared":
                    for key in [k for k in filled if k[0] == a.cta and k[1] < a.hi and a.lo < k[2]]:
                        del filled[key]
        elif e.kind == "async" and e.data["instr"] == "tma.load":
            a = e.accesses[0]
            filled.pop((a.cta, a.lo, a.hi), None)
            filled[a.cta, a.lo, a.hi] = e
        elif e.kind == "async" and e.data["instr"] in ("mma", "mma.ws", "wgmma"):
            codes = WGMMA if e.data["instr"] == "wgmma" else TCGEN05
            for name in "AB":
                start, code = e.data.get(f"{name}_start"), codes.get(e.data.get(f"{name}_swizzle", -1))
                if start is None or code is None or (e.where, name, start, code) in seen:
                    continue
                seen.add((e.where, name, start, code))
                copy = next((c for (cta, lo, hi), c in reversed(filled.items())
                             if cta == e.cta and lo <= start < hi), None)
                if copy is not None:
                    yield _Operand(e, name, code, copy)


def _misread(operand: _Operand) -> tuple[str, str] | None:
    """What a descriptor with the right swizzle gets wrong about its tile, and the repair.

    In a swizzled tile a row is as long as the swizzle's span, and eight rows make a group (PTX ISA 9.1, 9.7.16.4.1 and
    9.7.15.5.1). Along K the start moves within a row.
    """
    span = SWIZZLE_SPAN.get(operand.swizzle, 0)
    layout, row = operand.mma.data.get(f"{operand.name}_layout"), operand.copy.data.get("row")
    if not span or layout is None:
        return None
    if isinstance(row, int) and row != span:
        return (f"its rows are {row} bytes apart, the box's inner side, and the swizzle of {span} bytes is for rows of "
                f"{span}", f"make the inner side of the box {span} bytes, or use the swizzle of the box's rows")
    major, rows, k_bytes, stride = layout
    if major != "K":
        return None
    start = operand.mma.data[f"{operand.name}_start"]
    if start % span + k_bytes > span:
        return (f"a K step of {k_bytes} bytes from byte {start % span} of a row reaches past its {span} bytes",
                f"advance the start by {k_bytes} bytes a step, and by a whole tile after {span // k_bytes} steps")
    second = start - start % span + 8 * span  # where the next eight rows are, if the copy wrote them too
    if rows > 8 and stride != 8 * span and second + 8 * span <= operand.copy.accesses[0].hi:
        return (f"its groups of eight rows are {8 * span} bytes apart, and the stride offset says {stride}",
                f"put {8 * span} bytes ({8 * span >> 4} in units of 16) into the stride byte offset")
    return None
