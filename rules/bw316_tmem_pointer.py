"""BW316: an ordinary load or store through an address of tensor memory."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import Places
from auditor.source import Stack
from auditor.values import SHARED_RESERVED

QUARTERS = (0, 32, 64, 96)


class TmemPointer(Rule):
    code = "BW316"
    name = "tmem-pointer"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-42",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("tcgen05.alloc"):
            return
        taken = [(e.data["base"], e.data["base"] + e.data["cols"], e.where)
                 for e in audit.trace.events if e.kind == "tcgen05.alloc"]
        null = any(p.kind == "pointer" and a == 0 and isinstance(a, int)
                   for p, a in zip(audit.kernel.params, audit.launch.args))
        for where, address, how in self._accesses(audit):
            lane, column = address >> 16, address & 0xFFFF
            owner = next((w for lo, hi, w in taken if lo <= column < hi), None)
            if owner is None or lane not in QUARTERS or (how == "generic" and null and not lane):
                continue
            related: Places = [(owner, "the address comes from this allocation")]
            yield audit.finding(
                type(self), where,
                f"ordinary {how} access through {address:#x}, an address of tensor memory (lane {lane}, column "
                f"{column}): "
                "tensor memory is not in the address space of loads and stores",
                related=related,
                hint="move the data with tcgen05.ld and tcgen05.st (or tcgen05.cp); the address itself is a plain "
                     "number",
            )

    def _accesses(self, audit: Audit) -> Iterator[tuple[Stack, int, str]]:
        for incident in audit.incidents("tmem_generic"):
            yield incident.where, incident.data["address"], "generic"
        seen = set()
        for incident in audit.incidents("smem_range"):
            if incident.data["proxy"] == "generic":
                seen.add(incident.where)
                yield incident.where, incident.data["lo"], "shared-memory"
        for e in audit.trace.events:
            if e.kind in ("ld", "st", "atom") and e.where not in seen:
                for a in e.accesses:
                    if a.space == "shared" and a.what == "data" and a.lo < SHARED_RESERVED:
                        seen.add(e.where)
                        yield e.where, a.lo, "shared-memory"
                        break
