"""BW114: memory of a live mbarrier is used as data."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import context, initialised, who
from auditor.source import Stack
from auditor.trace import Access, Event

OBJECT = 8  # bytes of an mbarrier


class BarrierMemoryReuse(Rule):
    code = "BW114"
    name = "barrier-memory-reuse"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-05",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.trace.barriers:
            return
        seen: set[Stack] = set()
        for event, access, bar in _overwritten(audit):
            if event.where not in seen:
                seen.add(event.where)
                yield self._finding(audit, event, access, bar)
        for case in audit.diagnosis.cases(Meaning.BARRIER_MEMORY):
            assert case.conflict is not None
            c = case.conflict
            data = (c.first, c.first_access) if c.first_access.what == "data" else (c.second, c.second_access)
            if data[1].write and data[0].where not in seen:
                seen.add(data[0].where)
                other = c.second if data[0] is c.first else c.first
                named = other.data.get("bar")
                yield self._finding(audit, *data, named if isinstance(named, int) else None)

    def _finding(self, audit: Audit, event: Event, access: Access, bar: int | None) -> Finding:
        name = audit.story.barrier(bar)
        return audit.finding(
            type(self), event.where,
            f"{who(audit, event)} writes {audit.story.place(access)}, where {name} lives: its counts and phase are "
            "lost",
            related=initialised(audit, bar),
            flow=[*initialised(audit, bar), (event.where, f"{audit.story.who(event)} overwrites it")],
            hint=f"keep the data off the 8 bytes of {name}, or run mbarrier.inval after its last use and a barrier of "
                 "all its users",
            context=context(audit, event, bar),
        )


def _overwritten(audit: Audit) -> Iterator[tuple[Event, Access, int]]:
    """Data writes over an mbarrier between its init and its inval, in the order of the run."""
    live: dict[int, dict[int, int]] = {}  # CTA -> offset -> barrier
    offsets: dict[int, list[int]] = {}
    for e in audit.trace.events:
        if e.kind == "mbar.init":
            record = audit.trace.barriers[e.data["bar"]]
            if record.offset not in live.setdefault(record.cta, {}):
                insort(offsets.setdefault(record.cta, []), record.offset)
            live[record.cta][record.offset] = e.data["bar"]
        elif e.kind == "mbar.inval":
            record = audit.trace.barriers[e.data["bar"]]
            if live.get(record.cta, {}).pop(record.offset, None) is not None:
                offsets[record.cta].remove(record.offset)
        else:
            for a in (part for whole in e.accesses if whole.write for part in whole.rounds()):
                if a.cta in offsets and a.space == "shared" and a.what == "data":
                    at = offsets[a.cta]
                    first = bisect_left(at, a.lo - OBJECT + 1)
                    for offset in at[first: bisect_left(at, a.hi)]:
                        if a.lanes is None or any(lo < offset + OBJECT and offset < hi for _, lo, hi in a.by_lane()):
                            yield e, a, live[a.cta][offset]
