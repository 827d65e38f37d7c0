"""BW108: an mbarrier is initialised again while it is live."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import context, incident_context, plural, shared_name, story_of, thread, who


class BarrierReinit(Rule):
    code = "BW108"
    name = "barrier-reinit"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-03",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for i in audit.incidents("reinit_live"):
            if i.data["several"]:
                message = (f"{plural(i.data['lanes'], 'lane')} of {thread(audit, i).split(' (')[0]} initialise the "
                           f"mbarrier at {shared_name(audit, i.data['offset'], 8)}: exactly one thread may")
            else:
                message = (f"{thread(audit, i)} initialises {audit.story.barrier(i.data['bar'])} again while it is "
                           f"live, in phase {i.data['phase']}: arrivals and bytes of that phase are lost, and waiters "
                           "start over")
            yield audit.finding(
                type(self), i.where, message, related=i.related,
                hint="initialise once, by one thread, before all roles start; mbarrier.inval must come before another "
                     "init",
                context=incident_context(audit, i, i.data.get("bar")),
            )
        if not audit.trace.barriers:
            return
        for case in audit.diagnosis.cases(Meaning.REINIT):
            assert case.conflict is not None
            first, second = case.conflict.first, case.conflict.second
            if "mbar.inval" in (first.kind, second.kind):
                continue
            yield audit.finding(
                type(self), case.where,
                f"{who(audit, second)} is not ordered after {who(audit, first)} at the same place: both act on one "
                "live mbarrier",
                related=[(first.where, f"{audit.story.who(first)}, which may happen at the same time")],
                flow=story_of(audit, case.conflict, audit.story.who(first), audit.story.who(second)),
                hint="initialise once, by one thread, before all roles start",
                context=context(audit, second),
            )
