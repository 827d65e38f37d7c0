"""BW305: an allocation after the CTA gave up its right to allocate."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context, line


class AllocAfterRelinquish(Rule):
    code = "BW305"
    name = "alloc-after-relinquish"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-05",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for incident in audit.incidents("alloc_after_relinquish"):
            given_up = incident.related[0][0]
            yield audit.finding(
                type(self), incident.where,
                "tcgen05.alloc after tcgen05.relinquish_alloc_permit: the CTA gave up its right to allocate at "
                f"{line(audit, given_up)}",
                related=incident.related,
                flow=[(given_up, "the permit is given up, for all warps of the CTA"),
                      (incident.where, "and here the CTA allocates again")],
                hint="move tcgen05.relinquish_alloc_permit behind the last alloc, or leave it out: it is optional",
                context=incident_context(audit, incident),
            )
