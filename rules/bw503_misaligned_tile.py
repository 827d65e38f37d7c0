"""BW503: an MMA operand that does not start where its swizzle pattern does."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import context, shared_name
from auditor.trace import Event

# Bytes after which the pattern of a swizzle code repeats: 8 rows of the span (rulebook TC-62).
PERIOD = {"mma": {1: 1024, 2: 1024, 4: 512, 6: 256}, "wgmma": {1: 1024, 2: 512, 3: 256}}


class MisalignedTile(Rule):
    code = "BW503"
    name = "misaligned-tile"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-11", "TC-62")

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("mma", "mma.ws", "wgmma"):
            return
        reported = set()
        for e in audit.trace.events:
            if e.kind != "async" or e.data["instr"] not in ("mma", "mma.ws", "wgmma"):
                continue
            for name in "AB":
                if f"{name}_start" in e.data and (e.where, name) not in reported and self._wrong(e, name):
                    reported.add((e.where, name))
                    if (e.where, "AB") not in reported:
                        reported.add((e.where, "AB"))
                        yield self._finding(audit, e, name)

    def _wrong(self, e: Event, name: str) -> bool:
        period = PERIOD["wgmma" if e.data["instr"] == "wgmma" else "mma"].get(e.data[f"{name}_swizzle"])
        if period is None:
            return False
        # The hardware takes the row of the pattern from address bits 7 to 9; a K step moves within the first row only.
        row = e.data[f"{name}_start"] % period >> 7
        return bool(row != e.data[f"{name}_base"] % max(period >> 7, 1))

    def _finding(self, audit: Audit, e: Event, name: str) -> Finding:
        start, base = e.data[f"{name}_start"], e.data[f"{name}_base"]
        period = PERIOD["wgmma" if e.data["instr"] == "wgmma" else "mma"][e.data[f"{name}_swizzle"]]
        off = start % period
        return audit.finding(
            type(self), e.where,
            f"operand {name} of the {audit.story.what(e)} starts at {shared_name(audit, start)}, {off} bytes into the "
            f"{period}-byte pattern of its swizzle, and its descriptor says base offset {base}: the hardware unswizzles "
            "other rows than were written",
            hint=f"align the tile and the stride of its stages to {period} bytes"
                 + (f", or put {start % 1024 >> 7} into the descriptor's base offset" if period == 1024 else ""),
            context=context(audit, e),
        )
