"""BW317: an MMA adds to an accumulator that nothing has written."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context


class FirstMmaAccumulates(Rule):
    code = "BW317"
    name = "first-mma-accumulates"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-30",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for incident in audit.incidents("first_accumulate"):
            lo = incident.data["column"]
            yield audit.finding(
                type(self), incident.where,
                f"tcgen05.mma adds to TMEM columns {lo}-{lo + incident.data['columns'] - 1} (enable-input-d is "
                "true), but nothing "
                "has been written there since the allocation",
                hint="pass enable-input-d as false for the first MMA of each output tile and true for the others (k "
                     "> 0), or "
                     "clear the accumulator with tcgen05.st and tcgen05.wait::st first",
                context=incident_context(audit, incident),
            )
