"""BW201: the data of a copy is used with no wait that covers it."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule


class ReadBeforeCopyLanded(Rule):
    code = "BW201"
    name = "read-before-copy-landed"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-24",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for case in audit.diagnosis.cases(Meaning.READ_EARLY):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        assert case.conflict is not None
        copy, read = case.conflict.first, case.conflict.second
        story = audit.story
        bar = copy.data.get("bar")
        waited = story.barrier(bar) if isinstance(bar, int) else "its group"
        related = [(copy.where, f"{story.who(copy)} is in flight to the same bytes")]
        if isinstance(bar, int):
            related.append((audit.event(audit.trace.barriers[bar].init_event).where, f"{waited} is initialised here"))
        return audit.finding(
            type(self), case.where,
            f"{story.who(read)} reads {story.place(case.conflict.second_access)} before the {story.what(copy)} has landed: "
            f"no wait on {waited} lies between them",
            related=related,
            flow=[(copy.where, f"{story.who(copy)} starts, to complete on {waited}"),
                  (read.where, f"{story.who(read)} uses the data; nothing that it waited for covers the copy")],
            hint=f"wait for the phase of {waited} that the copy completes before the first use of its data",
            context=[("role", story.thread(read)), ("iteration", str(story.iteration(read)))],
        )
