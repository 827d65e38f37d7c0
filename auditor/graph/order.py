"""The happens-before graph of one trace: who is ordered after whom, and which accesses are not."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from auditor.collector import collector_at_rest
from auditor.graph.clocks import Clock, Clocks
from auditor.graph.columns import Columns
from auditor.graph.conflicts import Conflict
from auditor.graph.judge import Judge
from auditor.graph.overruns import Overruns
from auditor.graph.shadow import Shadow
from auditor.graph.story import Story
from auditor.trace import Event, Trace

if TYPE_CHECKING:
    import networkx as nx


class HappensBefore:
    """What a finished trace says about order. Everything is computed once, in one pass over the events.

    ``conflicts``: pairs of accesses with something missing between them. ``late_fences``: generic writes that only a
    proxy fence behind the writer's release makes visible (rulebook TS-01). ``overruns``: waits that could find
    themselves two phases behind. ``work``: vector joins and record comparisons made, a measure of cost.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._events = {event.id: event for event in trace.events}
        self._columns = Columns(trace, self._events)
        self._clocks = Clocks(self._columns, self._events)
        judge = Judge(self._columns, self._events, self._clocks.fences)
        shadow = Shadow(self._events, self._columns, judge)
        overruns = Overruns(self._columns)
        with collector_at_rest():
            for event in trace.events:
                clock = self._clocks.step(event)
                if event.accesses:
                    shadow.step(event, clock)
                overruns.step(event, clock)
        self.conflicts = judge.conflicts.found
        self.late_fences = judge.late.found
        self.overruns = overruns.found(self._events, lambda: self.story)
        self.work = self._clocks.joins + shadow.checks

    def clock(self, event: int) -> Clock:
        """What all lanes that execute an event know when it happens."""
        return self._clocks.at[event]

    def ordered(self, a: int, b: int) -> bool:
        """Whether event ``a`` (in all its lanes; of an asynchronous one its completion) happens before event ``b``.

        A lane that executes both follows its own order. An event is not ordered before itself.
        """
        if a >= b:
            return False
        first, second, clock = self._events[a], self._events[b], self._clocks.at[b]
        if first.kind == "async":
            return clock.done(a)
        if first.warp < 0:
            return self._reaches(a, second)
        own = second.lanes if first.warp == second.warp else 0  # a lane follows its own order
        return all(
            self._columns.masks[c] & own or clock.order[c] >= first.time  # type: ignore[operator]
            for c in self._columns.of(first)
        )

    def _reaches(self, a: int, event: Event) -> bool:
        """Whether the completion ``a`` of a barrier or phase is among what an event depends on, relaxed edges apart."""
        seen = set()
        stack = [event]
        while stack:
            current = stack.pop()
            if current.id == a:
                return True
            for pred in self.story.learned_from(current):
                if pred >= a and pred not in seen:
                    seen.add(pred)
                    stack.append(self._events[pred])
        return False

    @cached_property
    def story(self) -> Story:
        """Look-ups around events."""
        return Story(self.trace, self._events)

    def acquires_before(self, event: Event, n: int) -> list[Event]:
        """The last ``n`` acquiring events (waits, barriers) of the event's lanes before it, the nearest first."""
        return self.story.acquires_before(event, n)

    def releases_after(self, event: Event, n: int) -> list[Event]:
        """The first ``n`` releasing events (arrivals, commits, barriers) of its lanes after it, the nearest first."""
        return self.story.releases_after(event, n)

    def slice(self, conflict: Conflict) -> list[Event]:
        """The events that explain a conflict, in order."""
        return self.story.slice(conflict)

    @cached_property
    def nx(self) -> nx.DiGraph[int]:
        """The graph for networkx: nodes with kind, label, where and role; edges with their reason."""
        from auditor.graph import view

        return view.to_networkx(self.trace, self.story)

    def to_json(self) -> str:
        """The graph and its conflicts as JSON."""
        from auditor.graph import view

        return view.to_json(self.trace, self.story, self.conflicts)

    def to_dot(self) -> str:
        """The graph and its conflicts for Graphviz."""
        from auditor.graph import view

        return view.to_dot(self.trace, self.story, self.conflicts)
