"""BW115: expect_tx after the arrival that completes the phase."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case, Diagnosis
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import context, initialised, line, plural


class LateExpect(Rule):
    code = "BW115"
    name = "late-expect"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-15",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for case in audit.diagnosis.cases(Diagnosis.LATE_EXPECT):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        arrive, expect = audit.event(case.data["arrive"]), audit.event(case.data["event"])
        story, name = audit.story, audit.story.barrier(case.barrier)
        phase = arrive.data["phase"]
        return audit.finding(
            type(self), case.where,
            f"expect_tx of {plural(expect.data['tx'], 'byte')} by {story.thread(expect)} comes after the arrive at "
            f"{line(audit, arrive.where)} has completed phase {phase} of {name}: waiters pass before the data is "
            f"there, and the bytes count for phase {phase + 1}",
            related=[(arrive.where, f"this arrive by {story.thread(arrive)} completes phase {phase}"),
                     *initialised(audit, case.barrier)],
            flow=[(arrive.where, f"{story.thread(arrive)} arrives: phase {phase} is complete"),
                  (expect.where, f"{story.thread(expect)} expects the bytes, in phase {phase + 1}")],
            hint="use arrive.expect_tx, or expect_tx before the arrive",
            context=context(audit, expect, case.barrier),
        )
