"""BW319: a shared-memory matrix descriptor that is not valid, or that reads another layout than the copy wrote."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import context, incident_context
from auditor.trace import Event

# CUtensorMapSwizzle of the swizzle codes of the two kinds of descriptor (rulebook TC-61).
TCGEN05 = {0: 0, 6: 1, 4: 2, 2: 3, 1: 4}
WGMMA = {0: 0, 3: 1, 2: 2, 1: 3}
NAMES = {0: "no swizzle", 1: "the 32-byte swizzle", 2: "the 64-byte swizzle", 3: "the 128-byte swizzle",
         4: "the 128-byte swizzle of 32-byte atoms"}


class MatrixDescriptor(Rule):
    code = "BW319"
    name = "matrix-descriptor"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-60", "TC-61", "TC-62")

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
        if audit.has("mma", "mma.ws", "wgmma") and audit.has("tma.load"):
            for finding in self._layouts(audit):
                if finding[0].where not in invalid:
                    yield self._differs(audit, *finding)

    def _layouts(self, audit: Audit) -> Iterator[tuple[Event, str, Event, int, int]]:
        """(MMA, operand, copy, swizzle of the descriptor, swizzle of the map), where the two differ."""
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
                    if copy is not None and isinstance(copy.data.get("swizzle"), int) and copy.data["swizzle"] != code:
                        seen |= {(e.where, name, s, code) for s in range(start, start + 1024, 16)}
                        yield e, name, copy, code, copy.data["swizzle"]

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
