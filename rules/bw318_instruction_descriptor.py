"""BW318: a value of the instruction descriptor that the MMA does not define."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context


class InstructionDescriptor(Rule):
    code = "BW318"
    name = "instruction-descriptor"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-50",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for incident in audit.incidents("descriptor"):
            if incident.data["what"] != "instruction descriptor":
                continue
            yield audit.finding(
                type(self), incident.where,
                f"instruction descriptor {incident.data['value'] & 0xFFFFFFFF:#010x} is not valid for this "
                "tcgen05.mma: "
                + "; ".join(incident.data["problems"]),
                hint="build the descriptor from its fields: D type in bits 4-5, A and B types in 7-9 and 10-12, N / "
                     "8 from bit "
                     "17, M / 16 from bit 24 (block-scaled kinds differ); with cta_group::2 M and N are those of the "
                     "pair",
                context=incident_context(audit, incident),
            )
