"""BW109: an mbarrier is used after, or while, it is invalidated."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import context, exchanged_between, incident_context, initialised, story_of, thread, who


class BarrierAfterInval(Rule):
    code = "BW109"
    name = "barrier-after-inval"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-04",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        seen: set[object] = set()
        # Of several uses, those that begin a phase come first: what waits for it follows from them.
        late = ("wait", "inval")
        for i in sorted(audit.incidents("use_after_inval"), key=lambda i: str(i.data["what"]).endswith(late)):
            bar = i.data.get("bar")
            if bar in seen:
                continue
            seen.add(bar)
            invals = [e for e in audit.trace.events if e.kind == "mbar.inval" and e.data["bar"] == bar]
            inval = invals[-1] if invals else None
            related = [(inval.where, f"{audit.story.thread(inval)} invalidates it here")] if inval is not None else []
            yield audit.finding(
                type(self), i.where,
                f"{i.data['what']} by {thread(audit, i)} on {audit.story.barrier(bar)}, which is invalidated"
                + (f" by {audit.story.thread(inval)}" if inval is not None else ""),
                related=related + initialised(audit, bar),
                flow=[*related, (i.where, f"{thread(audit, i)} uses it all the same")],
                hint="initialise it again before this use, or move mbarrier.inval behind the last use",
                context=incident_context(audit, i, bar),
            )
        if not audit.has("mbar.inval"):
            return
        for case in audit.diagnosis.cases(Meaning.REINIT):
            assert case.conflict is not None
            first, second = case.conflict.first, case.conflict.second
            if "mbar.inval" not in (first.kind, second.kind) or exchanged_between(audit, first, second):
                continue
            yield audit.finding(
                type(self), case.where,
                f"{who(audit, second)} and {who(audit, first)} act on one mbarrier with nothing to order them: it may "
                "be invalid when it is used",
                related=[(first.where, audit.story.who(first))],
                flow=story_of(audit, case.conflict, audit.story.who(first), audit.story.who(second)),
                hint="put a barrier of all its users between the last use and mbarrier.inval",
                context=context(audit, second),
            )
