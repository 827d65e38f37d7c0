"""BW307: a warp loads or stores tensor-memory lanes of another warp's quarter."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context


class TmemWrongLanes(Rule):
    code = "BW307"
    name = "tmem-wrong-lanes"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-40",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for incident in audit.incidents("tmem_lanes"):
            data = incident.data
            first, warp = data["first"], data["warp"]
            inside = first < data["lane"] < first + 32
            text = (f"warp {warp} reaches beyond its quarter from lane {data['lane']}" if inside
                    else f"warp {warp} names lane {data['lane']}")
            yield audit.finding(
                type(self), incident.where,
                f"{data['instr']} by {text}, but it can only reach lanes {first} to {first + 31} of tensor memory: a "
                "warp owns "
                f"the quarter of its index in the CTA modulo 4",
                hint="put (threadIdx.x / 32 % 4) << 21 into the lane part of the address, from the warp's index in "
                     "the CTA and "
                     "not from its index within the role",
                context=incident_context(audit, incident),
            )
