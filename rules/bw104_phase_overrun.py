"""BW104: a waiter can find itself two phases behind."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case, Diagnosis
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import context, initialised, line
from auditor.trace import Event


class PhaseOverrun(Rule):
    code = "BW104"
    name = "phase-overrun"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-19",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for case in audit.diagnosis.cases(Diagnosis.OVERRUN):
            yield self._finding(audit, case)

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
