"""BW104: a waiter can find itself two phases behind."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case, Diagnosis
from auditor.causes_schedule import EarlyWait, Harm
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import context, incident_context, initialised, line, thread
from auditor.rulekit_schedule import outcome, slow_warps, step
from auditor.trace import Event


class PhaseOverrun(Rule):
    code = "BW104"
    name = "phase-overrun"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-19",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for case in audit.diagnosis.cases(Diagnosis.OVERRUN):
            if "harm" in case.data:
                yield self._early(audit, case)
            else:
                yield self._finding(audit, case) if case.incident is None else self._hang(audit, case)

    def _early(self, audit: Audit, case: Case) -> Finding:
        """A wait that can return on the phase of the same parity before the one that it is for."""
        harm: Harm = case.data["harm"]
        order, story = harm.order, audit.story
        assert isinstance(order, EarlyWait)
        wait, phase, bar = order.wait, order.phase, order.wait.data["bar"]
        name, who = story.barrier(bar), story.thread(wait)
        older = f"phase {phase - 2}" if phase > 1 else "the one before a fresh barrier's first"
        ended = f"{name} completes phase {phase - 1} here, whether {who} looks before or after"
        again = [(order.again.where, f"{who} waited for parity {phase & 1} here as well")] if order.again else []
        hint = (f"flip the parity after each wait on {name}, and carry it on from one round to the next" if again else
                f"let {who} wait for phase {phase - 1} too, or for something that follows from its end")
        return audit.finding(
            type(self), case.where,
            f"{who} waits for phase {phase} of {name}, but nothing keeps its look after the end of phase {phase - 1} "
            f"(completed at {line(audit, order.before.where)}): parity {phase & 1} is also that of {older}, so the "
            f"wait can return two phases early; where {slow_warps(audit, harm)}, {outcome(audit, harm)}",
            related=[(order.before.where, ended), *again, *initialised(audit, bar)],
            flow=[(wait.where, f"{who} looks while phase {phase - 1} is open, and goes on at once"),
                  (order.before.where, f"phase {phase - 1} ends later"), *step(audit, harm)],
            hint=hint,
            context=context(audit, wait, bar),
        )

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
