"""BW601: an operation of the whole warp is executed by some of its lanes."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context, plural


class DivergentAligned(Rule):
    code = "BW601"
    name = "divergent-aligned"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-03", "TC-42", "OT-02")

    def check(self, audit: Audit) -> Iterator[Finding]:
        for incident in audit.incidents("divergent_aligned"):
            missing, exited = incident.data["missing"], incident.data["exited"]
            gone = " (they have exited)" if missing and missing == exited else ""
            yield audit.finding(
                type(self), incident.where,
                f"{incident.data['instr']} is .sync.aligned, an operation of the whole warp, but only "
                f"{plural(incident.lanes.bit_count(), 'lane')} of warp {incident.warp % audit.trace.warps_per_cta} "
                f"execute{'s' if incident.lanes.bit_count() == 1 else ''} it; {missing.bit_count()} do not{gone}",
                hint="keep it out of branches that single lanes take (threadIdx.x == 0, elect): choose the warp by a condition "
                     "that is the same for its 32 lanes" + (", and let no lane return before it" if gone else ""),
                context=incident_context(audit, incident),
            )
