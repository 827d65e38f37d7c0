"""BW603: a barrier of the whole CTA that some of its threads never reach."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case, Diagnosis
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import aligned, incident_context, line, thread
from auditor.trace import Incident

WAITS = {"mbarrier": "an mbarrier", "barrier": "another barrier", "lanes": "lanes of its "
                                                                           "warp", "cluster": "the cluster barrier",
         "tmem": "TMEM columns"}


class BarrierNotReached(Rule):
    code = "BW603"
    name = "barrier-not-reached"
    level = Level.ERROR
    confidence = "high"
    entries = ("OT-09", "OT-02")

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not any(audit.incidents("deadlock")) or any(audit.incidents("divergent_aligned")):
            return
        for case in audit.diagnosis.cases(Diagnosis.NOT_REACHED):
            if case.incident is not None and case.incident.data.get("count") is None and not aligned(
                    str(case.incident.data.get("instr", ""))):
                yield self._finding(audit, case, case.incident)

    def _finding(self, audit: Audit, case: Case, incident: Incident) -> Finding:
        lanes = incident.data.get("waiting") == "lanes"
        others = [i for i in case.data["all"] if i.where != incident.where]
        what = (f"{incident.data.get('instr', 'a warp-wide operation')} waits for lanes of the warp that never "
                "come" if lanes
                else "__syncthreads() waits for threads that never come")
        stuck = "; ".join(dict.fromkeys(
            f"{thread(audit, i)} waits for {self._waits(audit, i)} at {line(audit, i.where)}" for i in others[:2]))
        return audit.finding(
            type(self), case.where,
            f"{what}: {thread(audit, incident)} hangs" + (f" ({stuck})" if stuck else ""),
            related=[(i.where, f"{thread(audit, i)} is stuck here") for i in others[:2]],
            flow=[(incident.where, f"{thread(audit, incident)} waits for all threads"),
                  *((i.where, f"{thread(audit, i)} waits for {self._waits(audit, i)} and does not "
                              "come") for i in others[:2])],
            hint="keep __syncthreads() out of role branches and loops with different trip counts; give the threads "
                 "of a role a "
                 "named barrier with their own count (bar.sync id, count)" if not lanes else
                 "let all lanes that the operation names reach it",
            context=incident_context(audit, incident),
        )

    def _waits(self, audit: Audit, incident: Incident) -> str:
        if incident.data.get("waiting") == "mbarrier":
            return audit.story.barrier(incident.data["bar"])
        return WAITS.get(str(incident.data.get("waiting")), "something else")
