"""BW503: an MMA operand that does not start where its swizzle pattern does."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.machine.shared_layout import shared_layout
from auditor.rule import Rule
from auditor.rulekit import context, shared_name
from auditor.source import Stack
from auditor.trace import Event

# Bytes after which the pattern of a swizzle code repeats: 8 rows of the span (rulebook TC-62).
PERIOD = {"mma": {1: 1024, 2: 1024, 4: 512, 6: 256}, "wgmma": {1: 1024, 2: 512, 3: 256}}
PERIODS_LEAST = 256  # a tile off by less is off for every swizzle


class MisalignedTile(Rule):
    code = "BW503"
    name = "misaligned-tile"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-11", "TC-62")

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("mma", "mma.ws", "wgmma"):
            return
        reported: set[Stack] = set()
        judged: set[object] = set()
        copied = {(a.cta, a.lo, a.hi) for e in audit.trace.events
                  if e.kind == "async" and e.data["instr"] == "tma.load" for a in e.accesses if a.write}
        for e in audit.trace.events:
            if e.kind != "async" or e.data["instr"] not in ("mma", "mma.ws", "wgmma") or e.where in reported:
                continue
            for name in "AB":
                start = e.data.get(f"{name}_start")
                if start is None or (e.where, name, start) in judged:
                    continue
                judged.add((e.where, name, start))
                wrong = self._wrong(e, name)
                # Copies and wgmma both take the pattern from the address: measured right on an H200 for each row of it.
                agree = e.data["instr"] == "wgmma" and not e.data[f"{name}_base"]
                if any(cta == e.cta and lo <= start < hi and (not wrong or agree or lo % PERIODS_LEAST)
                       for cta, lo, hi in copied):
                    continue  # where the copy into this tile is misaligned as well: BW218, when its map is known
                finding = self._finding(audit, e, name) if self._wrong(e, name) else self._by_chance(audit, e, name)
                if finding is not None:
                    reported.add(e.where)
                    yield finding
                    break

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
            f"{period}-byte pattern of its swizzle, and its descriptor says base offset {base}: the hardware "
            "unswizzles "
            "other rows than were written",
            hint=f"align the tile and the stride of its stages to {period} bytes"
                 + (f", or put {start % 1024 >> 7} into the descriptor's base offset" if period == 1024 else ""),
            context=context(audit, e),
        )

    def _by_chance(self, audit: Audit, e: Event, name: str) -> Finding | None:
        """An operand that is aligned here, in a variable whose declaration does not say so: the compiler chooses the
        order of static variables."""
        period = PERIOD["wgmma" if e.data["instr"] == "wgmma" else "mma"].get(e.data[f"{name}_swizzle"])
        if period is None or len(audit.kernel.shared) < 2 or e.data[f"{name}_base"]:
            return None
        offsets, _ = shared_layout(audit.kernel, audit.launch)
        start = e.data[f"{name}_start"]
        var = next((v for v in audit.kernel.shared
                    if not v.dynamic and offsets[v.key] <= start < offsets[v.key] + v.size), None)
        if var is None or var.align >= period:
            return None
        return audit.finding(
            type(self), e.where,
            f"operand {name} of the {audit.story.what(e)} lies in {var.name}, which is only aligned to {var.align} "
            "bytes; its "
            f"swizzle needs {period}, and here it is so by chance",
            level=Level.WARNING, related=[((var.loc,), f"{var.name} is declared here")],
            hint=f"declare {var.name} with alignas({period})", context=context(audit, e),
        )
