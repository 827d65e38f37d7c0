"""BW110: an mbarrier is used by a thread that nothing ordered after its init."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.repair.insert import insert_between
from auditor.rule import Rule
from auditor.rulekit import at_offset, cluster_met, context, incident_context, meets, strand_event, thread, who
from auditor.source import Stack
from auditor.trace import Incident

IN_CTA = ("put __syncthreads() (or another barrier of both) between the init and the first use, also where both stand "
          "in one warp's branches")
IN_CLUSTER = ("after the init: fence.mbarrier_init.release.cluster, then barrier.cluster.arrive.relaxed and "
              "barrier.cluster.wait in all CTAs of the cluster; __syncthreads reaches only the own CTA")


class InitNotPublished(Rule):
    code = "BW110"
    name = "init-not-published"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-07", "MB-08", "MB-09")

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.trace.barriers:
            return
        reported: set[Stack] = set()
        for case in audit.diagnosis.cases(Meaning.INIT_UNPUBLISHED):
            reported.add(case.where)
            yield self._finding(audit, case, IN_CTA)
        for case in audit.diagnosis.cases(Meaning.PEER_EARLY):
            if case.conflict is not None and cluster_met(audit, case.conflict.second):
                reported.add(case.where)
                yield self._finding(audit, case, IN_CLUSTER)
        seen: set[int] = set()
        for i in audit.incidents("use_before_init"):
            bar = at_offset(audit, i.data["owner"], i.data["offset"])
            if bar is None or bar in seen or i.where in reported or not _started(audit, i):
                continue
            seen.add(bar)
            init = audit.event(audit.trace.barriers[bar].init_event)
            yield audit.finding(
                type(self), i.where,
                f"{i.data['what']} by {thread(audit, i)} comes before {audit.story.barrier(bar)} is initialised by "
                f"{audit.story.thread(init)}: nothing makes it wait for that",
                related=[(init.where, "initialised here")],
                flow=[(i.where, f"{thread(audit, i)} uses the mbarrier"),
                      (init.where, f"{audit.story.thread(init)} initialises it, too late")],
                hint=IN_CTA if i.cta == i.data["owner"] else IN_CLUSTER,
                context=incident_context(audit, i, bar),
            )

    def _finding(self, audit: Audit, case: Case, hint: str) -> Finding:
        assert case.conflict is not None
        init, use = case.conflict.first, case.conflict.second
        bar = init.data.get("bar")
        bar = bar if isinstance(bar, int) else None
        story, name = audit.story, audit.story.barrier(bar)
        met = meets(audit, use)
        return audit.finding(
            type(self), case.where,
            f"{who(audit, use)} uses {name} with nothing that orders it after the init by {story.thread(init)}"
            + (f": {met} does not follow from it" if met else ": its thread has waited for nothing before"),
            related=[(init.where, f"{name} is initialised here by {story.thread(init)}")],
            flow=[(init.where, f"{story.thread(init)} initialises {name}"),
                  (strand_event(audit, use).where, f"{story.thread(use)} uses it: its bits may be the old ones")],
            hint=hint, context=context(audit, use, bar),
            repair=lambda: insert_between(audit, init.where, strand_event(audit, use).where, "__syncthreads")
            if hint is IN_CTA else (),
        )


def _started(audit: Audit, i: Incident) -> bool:
    """Whether the CTA of the barrier is known to run: the thread's own, or a cluster barrier lies behind the thread."""
    if i.data["owner"] == i.cta:
        return True
    before = audit.trace.events[: i.data.get("events", len(audit.trace.events))]
    return any(e.kind == "cluster.wait" and e.warp == i.warp and e.lanes & i.lanes for e in before)
