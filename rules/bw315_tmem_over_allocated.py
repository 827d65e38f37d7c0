"""BW315: allocations of one CTA that do not fit, or that grow."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context


class TmemOverAllocated(Rule):
    code = "BW315"
    name = "tmem-over-allocated"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-06", "TC-70")

    def check(self, audit: Audit) -> Iterator[Finding]:
        full = {i.where for i in audit.incidents("alloc_overflow")}
        for incident in audit.incidents("alloc_overflow", "alloc_grows"):
            columns = incident.data["columns"]
            if incident.kind == "alloc_overflow":
                live = incident.data["live"]
                if not live:
                    continue  # more than 512 in one go is a wrong count: BW301
                text = (f"tcgen05.alloc of {columns} columns while this CTA still holds {live}: there are 512, so it "
                        "waits for itself forever")
                hint = ("free columns before they are allocated again, or plan all uses into one allocation of at most "
                        "512")
            elif incident.where in full:
                continue
            else:
                text = (f"tcgen05.alloc of {columns} columns after one of {incident.data['earlier']}: allocations of a "
                        "CTA must not grow")
                hint = "allocate the largest part first, or everything at once"
            yield audit.finding(type(self), incident.where, text, related=incident.related, hint=hint,
                                context=incident_context(audit, incident))
