"""BW112: the parity operand of a wait is neither 0 nor 1."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context, initialised, thread


class ParityRange(Rule):
    code = "BW112"
    name = "parity-range"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-16",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for i in audit.incidents("parity_range"):
            bar, value = i.data["bar"], i.data["parity"]
            yield audit.finding(
                type(self), i.where,
                f"wait by {thread(audit, i)} on {audit.story.barrier(bar)} has parity operand {value}: only 0 and 1 "
                "are defined",
                related=initialised(audit, bar),
                hint="pass one bit: (iteration / stages) & 1 of a counter, (word >> stage) & 1 of a bit set",
                context=incident_context(audit, i, bar),
            )
