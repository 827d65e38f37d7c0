"""BW312: several lanes issue a tcgen05 operation that one thread has to issue."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context


class NonElectedMma(Rule):
    code = "BW312"
    name = "non-elected-mma"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-20",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for incident in audit.incidents("multi_issue"):
            instr, lanes = incident.data["instr"], incident.data["lanes"]
            if not str(instr).startswith("tcgen05."):
                continue
            if instr == "tcgen05.commit":
                effect = (f"each lane commits for itself: {lanes} arrivals in place of one, and those of lanes that "
                          "issued "
                          "no MMA come at once")
            elif instr == "tcgen05.mma":
                effect = f"the product is added {lanes} times"
            else:
                effect = f"it is executed {lanes} times, in no order"
            yield audit.finding(
                type(self), incident.where,
                f"{instr} is issued by {lanes} lanes of a warp, and is an operation of one thread: {effect}",
                hint="let one lane issue the MMAs, copies and commits: behind elect.sync with the warp's full mask, "
                     "or one "
                     "thread chosen by its index, and the same one for all of them",
                context=incident_context(audit, incident),
            )
