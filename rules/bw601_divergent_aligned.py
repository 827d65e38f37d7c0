"""BW601: an operation of the whole warp is executed by some of its lanes."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Diagnosis
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import aligned, incident_context, plural
from auditor.source import Stack
from auditor.trace import Incident


class DivergentAligned(Rule):
    code = "BW601"
    name = "divergent-aligned"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-03", "TC-42", "OT-02")

    def check(self, audit: Audit) -> Iterator[Finding]:
        told: set[Stack] = set()
        for incident in audit.incidents("divergent_aligned"):
            told.add(incident.where)
            yield self._finding(audit, incident, incident.data["missing"], incident.data["exited"])
        if told:
            return
        for case in audit.diagnosis.cases(Diagnosis.NOT_REACHED):
            stuck = case.incident
            if stuck is not None and stuck.data["waiting"] == "lanes" and aligned(str(stuck.data["instr"])):
                yield self._finding(audit, stuck, stuck.data["need"] & ~stuck.lanes, 0)

    def _finding(self, audit: Audit, incident: Incident, missing: int, exited: int) -> Finding:
        gone = " (they have exited)" if missing and missing == exited else ""
        few = incident.lanes.bit_count()
        if incident.data.get("elsewhere"):
            return audit.finding(
                type(self), incident.where,
                f"{plural(few, 'lane')} of warp {incident.warp % audit.trace.warps_per_cta} come to the barrier here "
                f"and {missing.bit_count()} at another place: {incident.data['instr']} is the aligned form, which "
                "the warp has to execute as one",
                related=incident.related,
                hint="let the branches join before the barrier, or use barrier.sync without .aligned",
                context=incident_context(audit, incident),
            )
        return audit.finding(
            type(self), incident.where,
            f"{incident.data['instr']} is .sync.aligned, an operation of the whole warp, but only "
            f"{plural(few, 'lane')} of warp "
            f"{incident.warp % audit.trace.warps_per_cta} execute{'s' if few == 1 else ''} it; {missing.bit_count()} "
            "do "
            f"not{gone}",
            hint="keep it out of branches that single lanes take (threadIdx.x == 0, elect): choose the warp by a "
                 "condition "
                 "that is the same for its 32 lanes" + (", and let no lane return before it" if gone else ""),
            context=incident_context(audit, incident),
        )
