"""What the cluster rules share: who reaches into another CTA, and what is known of that CTA then and afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from auditor.quick_dataclass import dataclass
from auditor.rulekit import strand_event
from auditor.trace import Event

if TYPE_CHECKING:
    from auditor.audit import Audit


RELAXED = "the cluster barrier between them is .relaxed, which orders no memory accesses"


@dataclass(frozen=True)
class Touch:
    """An operation of one CTA's thread in the shared or tensor memory of another, ``cta``.

    ``done`` is the event that shows that it is over: itself, or the arrival of a commit.
    """

    event: Event
    thread: Event
    cta: int
    done: int


def touches(audit: Audit) -> Iterator[Touch]:
    """Every operation that reaches into another CTA, in order; each CTA that it reaches once."""
    if audit.trace.ctas < 2:
        return
    arrivals = {(pred, audit.trace.barriers[e.data["bar"]].cta): e.id
                for e in audit.trace.events if e.kind == "committed" for pred, reason in e.preds if reason == "commit"}
    for e in audit.trace.events:
        if not e.accesses or (e.warp < 0 and e.kind != "async"):
            continue
        thread = strand_event(audit, e)
        for cta in sorted({a.cta for a in e.accesses if a.space != "global" and a.cta != thread.cta}):
            yield Touch(e, thread, cta, arrivals.get((e.id, cta), e.id))


class Known:
    """Which CTAs an event can know to have started: something that they did comes before it, in whatever way."""

    def __init__(self, audit: Audit) -> None:
        self._masks: list[int] = []
        self._trace = audit.trace
        last: dict[int, int] = {}
        for e in audit.trace.events:
            mask = 0
            if e.warp >= 0:
                mask = 1 << e.cta | (self._masks[last[e.strand]] if e.strand in last else 0)
                last[e.strand] = e.id
            for pred, _ in e.preds:
                mask |= self._masks[pred]
            self._masks.append(mask)

    def at(self, event: Event, cta: int) -> bool:
        """Whether the event comes after something that a thread of that CTA did."""
        return bool(self._masks[event.id] >> cta & 1)

    def by(self, warp: int, lanes: int, before: int, cta: int) -> bool:
        """The same for a warp's lanes, at the last event of theirs before the event of that number."""
        last = next((e for e in reversed(self._trace.events[:before]) if e.warp == warp and e.lanes & lanes), None)
        return last is not None and self.at(last, cta)


def ancestors(audit: Audit, events: list[Event]) -> set[int]:
    """Ids of everything that comes before one of these events, in whatever way, themselves included."""
    story = audit.hb.story
    seen = {e.id for e in events}
    stack = list(events)
    while stack:
        for pred in story.predecessors(stack.pop()):
            if pred not in seen:
                seen.add(pred)
                stack.append(audit.event(pred))
    return seen


def relaxed_barrier_between(audit: Audit, first: Event, second: Event) -> bool:
    """Whether a cluster barrier that orders no memory accesses (``.relaxed``) still keeps two operations apart in time.

    Libraries publish tensor memory that way, and give it up so (CUTLASS's cluster_arrive_relaxed, DeepGEMM). An
    asynchronous operation is not over when its issuer meets the barrier.
    """
    if first.kind == "async":
        return False
    behind: set[int] = {second.id}
    lanes: dict[int, int] = {}
    crossed = False
    for event in reversed(audit.trace.events[first.id : second.id + 1]):
        if event.id not in behind and not lanes.get(event.warp, 0) & event.lanes:
            continue
        if event is first:
            return crossed
        if event.warp >= 0:
            lanes[event.warp] = lanes.get(event.warp, 0) | event.lanes
        crossed |= event.kind == "cluster" and any(reason == "relaxed" for _, reason in event.preds)
        behind.update(pred for pred, _ in event.preds)
    return False
