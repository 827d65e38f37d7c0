"""BW113: a try_wait or test_wait that is not repeated until it succeeds."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case, Diagnosis
from auditor.findings import Finding, Level
from auditor.repair.polls import repeat_until_true
from auditor.rule import Rule
from auditor.rulekit import context, initialised


class IgnoredTryWait(Rule):
    code = "BW113"
    name = "ignored-try-wait"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-20",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for case in audit.diagnosis.cases(Diagnosis.IGNORED_POLL):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        assert case.conflict is not None
        copy, use = case.conflict.first, case.conflict.second
        story, name = audit.story, audit.story.barrier(case.barrier)
        return audit.finding(
            type(self), case.where,
            f"{story.thread(use)} polls {name} and goes on although the answer may be no: {story.what(use)} of "
            f"{story.place(case.conflict.second_access)} then meets the {story.what(copy)} in flight",
            related=[(use.where, f"{story.who(use)} relies on the data"),
                     (copy.where, f"{story.who(copy)} may still be in flight"), *initialised(audit, case.barrier)],
            flow=[(copy.where, f"{story.who(copy)} starts, to complete on {name}"),
                  (case.where, "the poll answers no: the phase is not over, or its time limit has passed"),
                  (use.where, f"{story.who(use)} goes on all the same")],
            hint=f"repeat try_wait on {name} until it returns true",
            context=context(audit, use, case.barrier),
            repair=lambda: repeat_until_true(audit, case.where),
        )
