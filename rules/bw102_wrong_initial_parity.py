"""BW102: the first wait on a barrier uses the parity of the other side."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case, Diagnosis
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import clash, context, incident_context, initialised, thread


class WrongInitialParity(Rule):
    code = "BW102"
    name = "wrong-initial-parity"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-17",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for case in audit.diagnosis.cases(Diagnosis.INITIAL_PARITY):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        story = audit.story
        name = story.barrier(case.barrier)
        related = initialised(audit, case.barrier)
        flow = []
        if case.incident is not None:
            role, ctx = thread(audit, case.incident), incident_context(audit, case.incident, case.barrier)
        else:
            assert case.wait is not None
            role, ctx = story.thread(case.wait), context(audit, case.wait, case.barrier)
        if case.data["start"] < 0:
            message = (f"first wait of {role} on {name} uses parity 0 and hangs: it waits for the end of phase 0, "
                       "which only comes after this thread has gone on")
            hint = (f"start this side with parity 1, which a fresh {name} satisfies at once (the stage is free at "
                    "first), or arrive once on the barrier after its init")
            flow.append((case.where, f"{role} waits for phase 0 of {name}, which nobody can complete yet"))
        else:
            message = (f"first wait of {role} on {name} uses parity 1, which a fresh barrier satisfies at once: it "
                       "goes on before phase 0 is complete, and stays one phase early")
            hint = f"start this side with parity 0: the first phase of {name} has parity 0"
            flow.append((case.where, f"{role} passes its first wait on {name} at once"))
        if case.conflict is not None:
            text, places = clash(audit, case.conflict)
            message += f"; {text}"
            related += places
            flow.append((case.conflict.second.where, text))
        return audit.finding(type(self), case.where, message, related=related, flow=flow, hint=hint, context=ctx)
