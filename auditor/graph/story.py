"""What stood, or did not stand, between two accesses: the events that explain a conflict."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from auditor.graph.columns import issuer_id
from auditor.graph.conflicts import Conflict
from auditor.trace import Event, Trace

# Events after which a lane knows more, and events with which it lets others know.
ACQUIRES = frozenset(
    ("mbar.wait", "bar.sync", "cluster.wait", "warp.sync", "bulk.wait", "cpasync.wait", "wgmma.wait", "wait.ld",
     "wait.st", "griddep.wait")
)  # fmt: skip
RELEASES = frozenset(
    ("mbar.arrive", "bar.sync", "bar.arrive", "cluster.arrive", "warp.sync", "commit", "bulk.commit",
     "cpasync.commit", "wgmma.commit", "griddep.launch")
)  # fmt: skip


class Past:
    """What an event depends on: the ids that the search met, and of each strand the latest, which stands for what it
    did before."""

    def __init__(self, reached: set[int], latest: dict[int, int]) -> None:
        self._reached = reached
        self._latest = latest

    def holds(self, event: Event) -> bool:
        if event.id in self._reached:
            return True
        return event.warp >= 0 and self._latest.get(event.strand, -1) >= event.id


class Story:
    """Looks up the surroundings of events."""

    def __init__(self, trace: Trace, events: dict[int, Event]) -> None:
        self._events = events
        self._previous: dict[int, int] = {}
        self._joined: dict[int, int] = {}  # the last event before in the strand that has predecessors outside it
        self._acquires: dict[int, list[Event]] = {}
        self._releases: dict[int, list[Event]] = {}
        last: dict[int, int] = {}
        for event in trace.events:
            if event.warp < 0:
                continue
            if event.strand in last:
                before = last[event.strand]
                self._previous[event.id] = before
                joined = before if self._events[before].preds else self._joined.get(before)
                if joined is not None:
                    self._joined[event.id] = joined
            last[event.strand] = event.id
            if event.kind in ACQUIRES:
                self._acquires.setdefault(event.warp, []).append(event)
            if event.kind in RELEASES:
                self._releases.setdefault(event.warp, []).append(event)

    def previous(self, event: Event) -> int | None:
        """Id of the event before this one in its strand."""
        return self._previous.get(event.id)

    def issuer(self, event: Event) -> Event:
        """The strand event behind an asynchronous one; any other event itself."""
        issuer = issuer_id(event) if event.kind == "async" else None
        return event if issuer is None else self._events[issuer]

    def acquires_before(self, event: Event, n: int) -> list[Event]:
        """The last ``n`` acquiring events of the event's lanes before it, the nearest first."""
        event = self.issuer(event)
        found = [e for e in self._acquires.get(event.warp, ()) if e.time < event.time and e.lanes & event.lanes]
        return found[: -n - 1 : -1]

    def releases_after(self, event: Event, n: int) -> list[Event]:
        """The first ``n`` releasing events of the event's lanes after it, the nearest first."""
        event = self.issuer(event)
        found = [e for e in self._releases.get(event.warp, ()) if e.time > event.time and e.lanes & event.lanes]
        return found[:n]

    def predecessors(self, event: Event) -> list[int]:
        """Ids of all direct predecessors, program order included."""
        previous = self.previous(event)
        found = [pred for pred, _ in event.preds]
        return found if previous is None else [previous, *found]

    def follow(self, starts: Iterable[int], other: Event) -> bool:
        """Whether one of some events, by id, depends on another event by any chain of events, or is that one."""
        return self.past(starts, other.id).holds(other)

    def past(self, starts: Iterable[int], lowest: int) -> Past:
        """What some events, by id, depend on by any chain of events, themselves included, down to an event."""
        todo = [start for start in starts if start >= lowest]
        reached = set(todo)
        latest: dict[int, int] = {}
        events, joined = self._events, self._joined
        while todo:
            event = events[todo.pop()]
            number = event.id
            if event.warp >= 0 and latest.get(event.strand, -1) < number:
                latest[event.strand] = number
            before = joined.get(number, -1)
            if before >= lowest and before not in reached:
                reached.add(before)
                todo.append(before)
            for pred, _ in event.preds:
                if pred >= lowest and pred not in reached:
                    reached.add(pred)
                    todo.append(pred)
        return Past(reached, latest)

    def learned_from(self, event: Event) -> list[int]:
        """Ids of the direct predecessors that pass on all they know."""
        previous = self.previous(event)
        found = [p for p, reason in event.preds if reason != "relaxed" and self._events[p].kind != "async"]
        return found if previous is None else [previous, *found]

    def common_ancestor(self, a: Event, b: Event) -> Event | None:
        """The latest event on which both depend (or one of the two)."""
        # Ids ascend in topological order, so the first id reached from both sides, going down, is the latest.
        sides = {a.id: 1}
        sides[b.id] = sides.get(b.id, 0) | 2
        heap = [-i for i in sides]
        heap.sort()
        while heap:
            current = -heappop(heap)
            side = sides[current]
            if side == 3:
                return self._events[current]
            for pred in self.predecessors(self._events[current]):
                if pred not in sides:
                    heappush(heap, -pred)
                sides[pred] = sides.get(pred, 0) | side
        return None

    def slice(self, conflict: Conflict) -> list[Event]:
        """The events that tell the story of a conflict, in order.

        Both accesses and what issued them, the nearest release after the first and the nearest acquire before the
        second, and the latest event that precedes both.
        """
        first, second = conflict.first, conflict.second
        chosen = {e.id: e for e in (first, self.issuer(first), second, self.issuer(second))}
        for event in self.releases_after(first, 1) + self.acquires_before(second, 1):
            chosen[event.id] = event
        ancestor = self.common_ancestor(first, second)
        if ancestor is not None:
            chosen[ancestor.id] = ancestor
        return [chosen[i] for i in sorted(chosen)]
