"""BW207: a bulk group wait by a thread that has no groups."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context, listing, thread
from auditor.trace import Event, Incident


class GroupOfOtherThread(Rule):
    code = "BW207"
    name = "group-of-other-thread"
    level = Level.ERROR
    confidence = "high"
    entries = ("TS-02",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        waits = [i for i in audit.incidents("empty_group_wait") if i.data["kind"] == "bulk"]
        if not waits:
            return
        events = audit.trace.events
        stores = [audit.event(e.data["issuer"]) for e in events
                  if e.kind == "async" and e.data.get("bar") is None
                  and str(e.data["instr"]) in ("bulk.store", "tma.store", "bulk.reduce", "tma.reduce")]
        for i in waits:
            foreign = [e for e in stores if e.cta == i.cta]
            if foreign and not _own_groups(audit, i, stores):
                yield self._finding(audit, i, foreign)

    def _finding(self, audit: Audit, i: Incident, stores: list[Event]) -> Finding:
        role = thread(audit, i)
        owners = listing(audit.story.thread(e) for e in stores)
        places = {e.where: e for e in stores}
        return audit.finding(
            type(self), i.where,
            f"bulk wait_group by {role} waits for nothing: the stores are in groups of {owners}, and groups belong to "
            "the thread that commits them",
            related=[(e.where, f"{audit.story.who(e)}, in a group of its own thread") for e in places.values()][:3],
            flow=[(stores[0].where, f"{audit.story.thread(stores[0])} issues the store"),
                  (i.where, f"{role}, which has no group, does not wait")],
            hint=f"let {owners} wait, then tell the others with a barrier",
            context=incident_context(audit, i),
        )


def _own_groups(audit: Audit, i: Incident, stores: list[Event]) -> bool:
    """Whether the waiting thread issues stores itself at some time, or a thread that does comes by the same wait."""
    if any(e.warp == i.warp and e.lanes & i.lanes for e in stores):
        return True
    here = [e for e in audit.trace.events if e.kind == "bulk.wait" and e.where == i.where]
    return any(s.warp == e.warp and s.lanes & e.lanes for e in here for s in stores)
