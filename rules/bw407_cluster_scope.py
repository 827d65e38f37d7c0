"""BW407: data of one CTA handed to another with a synchronisation of CTA scope."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import context, line
from auditor.source import Stack
from auditor.trace import Event


class ClusterScope(Rule):
    code = "BW407"
    name = "cluster-scope"
    level = Level.WARNING
    confidence = "medium"
    entries = ("MB-21", "MB-22")

    def check(self, audit: Audit) -> Iterator[Finding]:
        if audit.trace.ctas < 2:
            return
        told: set[Stack] = set()
        for arrive, wait, data in _handed(audit):
            for e, verb in ((arrive, "releases"), (wait, "acquires")):
                if e.data["scope"] != "cluster" and e.where not in told:
                    told.add(e.where)
                    yield self._finding(audit, e, verb, arrive, wait, data)

    def _finding(self, audit: Audit, e: Event, verb: str, arrive: Event, wait: Event, data: Event) -> Finding:
        story = audit.story
        name = story.barrier(e.data["bar"])
        form = "mbarrier.arrive.release.cluster" if verb == "releases" else "mbarrier.try_wait.acquire.cluster"
        return audit.finding(
            type(self), e.where,
            f"{story.thread(e)} {verb} on {name} at CTA scope, which is the default, but hands over data between CTA "
            f"{arrive.cta} and CTA {wait.cta}: the {story.what(data)} at {line(audit, data.where)}",
            related=[(data.where, f"{story.who(data)}, in the other CTA's memory"),
                     (arrive.where, f"{story.thread(arrive)} arrives"), (wait.where, f"{story.thread(wait)} waits")],
            hint=f"use {form}, on both sides",
            context=context(audit, e),
        )


def _handed(audit: Audit) -> Iterator[tuple[Event, Event, Event]]:
    """(arrival, wait, access): an ordinary access of the arriving thread, in the waiting CTA's memory, before its
    arrival there; or one of the waiting thread, in the arriving CTA's memory, after its wait."""
    waits: dict[tuple[int, int], list[Event]] = {}
    for e in audit.trace.events:
        if e.kind == "mbar.wait":
            waits.setdefault((e.data["bar"], e.data["phase"]), []).append(e)
    last: dict[tuple[int, int], Event] = {}  # (warp, CTA that it reached into) -> its last access there
    arrivals: dict[tuple[int, int], list[Event]] = {}
    for e in audit.trace.events:
        if e.kind == "mbar.arrive" and e.data.get("remote"):
            owner = audit.trace.barriers[e.data["bar"]].cta
            arrivals.setdefault((owner, e.cta), []).append(e)
            access = last.pop((e.warp, owner), None)
            wait = next(iter(waits.get((e.data["bar"], e.data["phase"]), ())), None)
            if access is not None and access.lanes & e.lanes and wait is not None:
                yield e, wait, access
        elif e.kind in ("ld", "st"):
            for a in e.accesses:
                if a.space != "shared" or a.cta == e.cta:
                    continue
                if a.write:
                    last[e.warp, a.cta] = e
                for arrive in arrivals.get((e.cta, a.cta), ())[-1:]:
                    wait = next((w for w in waits.get((arrive.data["bar"], arrive.data["phase"]), ())
                                 if w.warp == e.warp and w.lanes & e.lanes and w.id < e.id), None)
                    if wait is not None:
                        yield arrive, wait, e
