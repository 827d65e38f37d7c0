"""BW401: an operation reaches into another CTA that need not have started, or initialised its barrier, yet."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import context, incident_context, strand_event, thread
from auditor.rulekit_cluster import Known, Touch, touches
from auditor.source import Stack
from auditor.trace import Event, Incident

HINT = ("let all CTAs of the cluster meet at a cluster barrier (barrier.cluster.arrive and barrier.cluster.wait) "
        "after the "
        "mbarriers are initialised and before the first remote operation; __syncthreads reaches only the own CTA")


class PeerNotStarted(Rule):
    code = "BW401"
    name = "peer-not-started"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-08", "MB-24", "OT-07")

    def check(self, audit: Audit) -> Iterator[Finding]:
        if audit.trace.ctas < 2:
            return
        known = Known(audit)
        reported: set[Stack] = set()
        for case in audit.diagnosis.cases(Meaning.PEER_EARLY):
            assert case.conflict is not None
            use = strand_event(audit, case.conflict.second)
            if not known.at(use, case.conflict.first_access.cta) and use.where not in reported:
                reported.add(use.where)
                yield self._barrier(audit, case)
        for i in audit.incidents("use_before_init"):
            if i.data["owner"] != i.cta and i.where not in reported and "events" in i.data and not known.by(
                    i.warp, i.lanes, i.data["events"], i.data["owner"]):
                reported.add(i.where)
                yield self._uninitialised(audit, i)
        if reported:
            return  # what follows has the same cause
        for touch in touches(audit):
            if not known.at(touch.thread, touch.cta):
                yield self._memory(audit, touch)
                return

    def _barrier(self, audit: Audit, case: Case) -> Finding:
        c, story = case.conflict, audit.story
        assert c is not None
        use = strand_event(audit, c.second)
        bar = c.first.data.get("bar")
        name = story.barrier(bar if isinstance(bar, int) else None)
        return audit.finding(
            type(self), use.where,
            f"{story.who(c.second)} reaches {name}, which nothing shows to be initialised yet: its CTA may not even "
            "have "
            "started",
            related=[(c.first.where, f"{name} is initialised here, by {story.thread(c.first)}"),
                     *_own_barrier(audit, use)],
            flow=[(c.first.where, f"{story.thread(c.first)} initialises {name}"),
                  (use.where, f"{story.thread(use)} uses it; no cluster barrier lies between the two")],
            hint=HINT, context=context(audit, use, bar if isinstance(bar, int) else None),
        )

    def _uninitialised(self, audit: Audit, incident: Incident) -> Finding:
        owner = incident.data["owner"]
        return audit.finding(
            type(self), incident.where,
            f"{incident.data['what']} by {thread(audit, incident)} reaches an mbarrier of CTA {owner} that is not "
            "initialised "
            "yet: nothing makes it wait for that CTA to start",
            hint=HINT, context=incident_context(audit, incident),
        )

    def _memory(self, audit: Audit, touch: Touch) -> Finding:
        story = audit.story
        access = next(a for a in touch.event.accesses if a.cta == touch.cta)
        place = story.place(access) if access.what == "data" else "an mbarrier"
        return audit.finding(
            type(self), touch.thread.where,
            f"{story.who(touch.event)} reaches {place} of CTA {touch.cta}, and nothing shows that this CTA has started",
            flow=[(touch.thread.where, f"{story.thread(touch.thread)} has waited for nothing of CTA {touch.cta} and "
                                       "uses its "
                                       "memory"),
                  ((audit.kernel.loc,), f"CTA {touch.cta} may start here, later")],
            hint=HINT, context=context(audit, touch.thread),
        )


def _own_barrier(audit: Audit, use: Event) -> list[tuple[Stack, str]]:
    """The last CTA barrier before the use, which may have been taken for one of the cluster."""
    before = [e for e in audit.trace.events[: use.id] if e.kind == "bar.sync" and e.warp == use.warp]
    return [(before[-1].where, "this barrier orders only the threads of one CTA")] if before else []
