"""BW104: a waiter can find itself two phases behind."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case, Diagnosis
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import context, incident_context, initialised, line, thread
from auditor.trace import Event


class PhaseOverrun(Rule):
    code = "BW104"
    name = "phase-overrun"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-19",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for case in audit.diagnosis.cases(Diagnosis.OVERRUN):
            yield self._finding(audit, case) if case.incident is None else self._hang(audit, case)

    def _hang(self, audit: Audit, case: Case) -> Finding:
        """The run itself came to a wait that was too late."""
        i, later, phase = case.incident, case.data["phase_event"], case.data["phase"]
        assert i is not None and isinstance(later, Event)
        name, who = audit.story.barrier(i.data["bar"]), thread(audit, i)
        return audit.finding(
            type(self), case.where,
            f"{who} waits for phase {phase} of {name} when phase {phase + 1} is over as well (completed at "
            f"{line(audit, later.where)}): its parity {phase & 1} names a phase that is not over, and the wait hangs",
            related=[(later.where, f"{name} completes phase {phase + 1} here, whether {who} has looked or not"),
                     *initialised(audit, i.data["bar"])],
            flow=[(later.where, f"phases {phase} and {phase + 1} of {name} complete before {who} has looked"),
                  (i.where, f"the wait for parity {phase & 1} does not see that phase {phase} is over")],
            hint=f"let every waiter answer (an empty barrier, or a CTA barrier) before {name} can complete its next "
                 "phase, or use a barrier of its own for each purpose",
            context=incident_context(audit, i, i.data["bar"]),
        )

    def _finding(self, audit: Audit, case: Case) -> Finding:
        wait, later = case.wait, case.data["phase_event"]
        assert wait is not None and isinstance(later, Event)
        story, bar, phase = audit.story, wait.data["bar"], wait.data["phase"]
        name = story.barrier(bar)
        completes = f"{name} completes phase {phase + 1} here, whether {story.thread(wait)} has looked or not"
        return audit.finding(
            type(self), case.where,
            f"{story.thread(wait)} waits for phase {phase} of {name}, but nothing keeps phase {phase + 1} (completed "
            f"at {line(audit, later.where)}) from ending before it looks; parity {phase & 1} then names a phase that "
            f"is not over, and the wait hangs or waits for the wrong one",
            related=[(later.where, completes), *initialised(audit, bar)],
            flow=[(wait.where, f"{story.thread(wait)} is late and has not looked at {name} yet"),
                  (later.where, f"phases {phase} and {phase + 1} complete meanwhile"),
                  (wait.where, f"the wait for parity {phase & 1} does not see that phase {phase} is over")],
            hint=f"let every waiter answer (an empty barrier, or a CTA barrier) before {name} can complete its next "
                 "phase, or use a barrier of its own for each purpose",
            context=context(audit, wait, bar),
        )
