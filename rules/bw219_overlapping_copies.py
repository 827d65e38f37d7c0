"""BW219: two copies in flight write the same bytes."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import context, initialised, story_of, who


class OverlappingCopies(Rule):
    code = "BW219"
    name = "overlapping-copies"
    level = Level.ERROR
    confidence = "high"
    entries = ("TS-07", "TL-24")

    def check(self, audit: Audit) -> Iterator[Finding]:
        for case in audit.diagnosis.cases(Meaning.OVERLAPPING_COPIES):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        assert case.conflict is not None
        first, second = case.conflict.first, case.conflict.second
        a, b = case.conflict.first_access, case.conflict.second_access
        story, bar = audit.story, first.data.get("bar")
        lo, hi = max(a.lo, b.lo), min(a.hi, b.hi)
        stage = bar if isinstance(bar, int) else None
        until = "in any order" if stage is None else f"before {story.barrier(bar)} says that the first has landed"
        same = "" if (a.lo, a.hi) == (b.lo, b.hi) else f" ({hi - lo:,} bytes in common with {story.place(a)})"
        return audit.finding(
            type(self), case.where,
            f"{who(audit, second)} writes {story.place(b)}{same} while the {who(audit, first)} is in flight to it, "
            f"{until}: either may win",
            related=[(first.where, f"{who(audit, first)}, still in flight"),
                     *initialised(audit, stage)],
            flow=story_of(audit, case.conflict, f"{story.who(first)} starts",
                          f"{story.who(second)} starts into the same bytes"),
            hint="give each copy in flight bytes of its own (check offsets and the number of stages), or wait for the "
                 "first before the second is issued",
            context=context(audit, second, stage),
        )
