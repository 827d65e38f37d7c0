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
    entries = ("TC-40", "TC-42", "TC-45", "TC-46")

    def check(self, audit: Audit) -> Iterator[Finding]:
        for incident in audit.incidents("tmem_base_lane"):
            data = incident.data
            need = ("a multiple of 32" if not data["m"] else "0 or 16" if data["half"] else "0")
            subject = f"the {data['what']} of {data['instr']} with M = {data['m']}" if data["m"] else data["instr"]
            yield audit.finding(
                type(self), incident.where,
                f"{subject} begins at lane {data['lane']} of tensor memory; it has to begin at lane {need}",
                hint="keep the lane part of the address (bits 16 and above) apart from that of loads and stores",
                context=incident_context(audit, incident),
            )
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
        for incident in audit.incidents("tmem_addresses"):
            data = incident.data
            (first, last), (low, high) = data["lanes"], data["given"]
            yield audit.finding(
                type(self), incident.where,
                f"the lanes of warp {data['warp']} give {data['instr']} different addresses, from {low:#x} by lane "
                f"{first} to {high:#x} by lane {last}: all lanes of a warp have to give the same one",
                level=Level.WARNING,
                hint="leave the lane of the thread out of the address: lane i of a warp gets lane i of its quarter",
                context=incident_context(audit, incident),
            )
