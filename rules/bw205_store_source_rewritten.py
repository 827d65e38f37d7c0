"""BW205: the source of a bulk store is rewritten before the store has read it."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Case
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import Places, context, line, newest, story_of, strand_event, who
from auditor.trace import Event


class StoreSourceRewritten(Rule):
    code = "BW205"
    name = "store-source-rewritten"
    level = Level.ERROR
    confidence = "high"
    entries = ("TS-03", "TS-05", "TS-06")

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("bulk.store", "tma.store", "bulk.reduce", "tma.reduce", "bulk.dsmem"):
            return
        if any(i.data["kind"] == "bulk" for i in audit.incidents("uncommitted")):
            return  # the wait is there, but sees no group: that is the finding
        for case in audit.diagnosis.cases(Meaning.STORE_SOURCE):
            yield self._finding(audit, case)

    def _finding(self, audit: Audit, case: Case) -> Finding:
        assert case.conflict is not None
        store, write = case.conflict.first, case.conflict.second
        story = audit.story
        why, hint = _why(audit, store, write)
        return audit.finding(
            type(self), case.where,
            f"{who(audit, write)} rewrites {story.place(case.conflict.second_access)} while the {who(audit, store)} "
            f"may still read it: {why}",
            related=[(store.where, f"{who(audit, store)}, the source of which is rewritten"),
                     *_waits(audit, store, write)],
            flow=story_of(audit, case.conflict, f"{story.who(store)} starts to read its source",
                          f"{story.who(write)} writes the same bytes"),
            hint=hint, context=context(audit, write),
        )


def _waits(audit: Audit, store: Event, write: Event) -> Places:
    """The last group wait of the issuing thread between the store and the write."""
    issue, own = strand_event(audit, store), strand_event(audit, write)
    waits = [e for e in audit.trace.events[issue.id : own.id]
             if e.kind == "bulk.wait" and e.warp == issue.warp and e.lanes & issue.lanes]
    return [(e.where, f"{audit.story.thread(e)} waits for all but {newest(e.data['n'])} here") for e in waits[-1:]]


def _why(audit: Audit, store: Event, write: Event) -> tuple[str, str]:
    """Which wait is missing, too weak or not passed on."""
    issue, own = strand_event(audit, store), strand_event(audit, write)
    issuer = audit.story.thread(store)
    waits = [e for e in audit.trace.events[issue.id: own.id]
             if e.kind == "bulk.wait" and e.warp == issue.warp and e.lanes & issue.lanes]
    if not waits:
        return (f"{issuer} has not waited for its group",
                f"let {issuer} run cp.async.bulk.wait_group.read, then a barrier, before the buffer is written again")
    covering = [e for e in waits if store.id in e.data["ops"]]
    if not covering:
        left = newest(waits[-1].data["n"])
        return (f"the wait at {line(audit, waits[-1].where)} leaves {left} in flight, this store included",
                "leave one group fewer in flight: with S buffers, wait_group.read S-1 before the oldest is reused")
    return (f"only {issuer} waited for it, at {line(audit, covering[0].where)}; {audit.story.thread(write)} did not "
            "learn of that", "put a barrier behind the wait, for all threads that write the buffer")
