"""BW607: the mask of an election or warp barrier does not name the lanes that take part."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context, plural


class ElectMask(Rule):
    code = "BW607"
    name = "elect-mask"
    level = Level.ERROR
    confidence = "high"
    entries = ("OT-01",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for incident in audit.incidents("elect_mask"):
            mask, lanes, instr = incident.data["mask"], incident.lanes, incident.data["instr"]
            outside, absent = lanes & ~mask, mask & ~lanes
            if outside:
                text = f"{plural(outside.bit_count(), 'lane')} that execute it are not in its mask {mask:#010x}"
            else:
                gone = " (they have exited)" if incident.data.get("exited") else ""
                text = f"{plural(absent.bit_count(), 'lane')} of its mask {mask:#010x} never come{gone}"
            yield audit.finding(
                type(self), incident.where, f"{instr}: {text}",
                hint="name exactly the lanes that execute it: 0xffffffff only where the whole warp comes, "
                     "__ballot_sync or "
                     "__activemask() of the branch before it otherwise",
                context=incident_context(audit, incident),
            )
