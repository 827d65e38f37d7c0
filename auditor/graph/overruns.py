"""Waiters that could find themselves two phases behind.

A wait names a parity, so it tells the current phase from the one before and no more (PTX ISA, "Phase of the mbarrier
object"): phase k+1 must not be able to complete before every waiter for phase k has seen k complete.

That is about what can happen, not about what memory accesses become visible: here an operation's completion follows
from its issue, and relaxed operations count.
"""

from __future__ import annotations

from collections.abc import Callable

from auditor.graph.clocks import Clock
from auditor.graph.columns import Columns
from auditor.graph.story import Story
from auditor.quick_dataclass import dataclass
from auditor.source import Stack
from auditor.trace import Event


@dataclass(slots=True)
class Overrun:
    """``wait`` observed a phase whose successor, completed by ``phase_event``, nothing puts after the wait."""

    wait: Event
    phase_event: Event


@dataclass(slots=True)
class _Together:
    """Lanes of a warp that wait for one phase at one place. ``first``: the wait of the first of them; ``times``: lane
    mask and warp time of each."""

    first: Event
    times: list[tuple[int, int]]

    def since(self, lanes: int) -> int:
        """The warp time from which on what these lanes do shows that the wait is over: their own wait, if they do."""
        return min((time for mask, time in self.times if mask & lanes), default=self.first.time)


class Overruns:
    """Collects overruns. ``step`` takes the events in order, with their clocks; ``found`` is the result.

    Within a warp it is lenient: the completion may follow from any lane of the waiting warp, at a later time. Lanes
    meet in ``elect.sync`` and other aligned operations, which keep them together though they order no memory accesses.
    Lanes that wait together leave the wait together: the first of them stands for all. What one of them does between
    the wait of the first and its own comes before the wait of all.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._together: dict[tuple[object, int, int, Stack], _Together] = {}
        self._waits: dict[tuple[object, int], list[_Together]] = {}
        self._completed: dict[tuple[object, int], Event] = {}
        self._suspects: list[tuple[_Together, Event]] = []

    def step(self, event: Event, clock: Clock) -> None:
        """Looks at waits and phase completions; other events are ignored."""
        if event.kind == "mbar.wait":
            if event.data.get("once"):  # it goes on whatever it sees
                return
            bar, phase = event.data["bar"], event.data["phase"]
            key = (bar, phase, event.warp, event.where)
            others = self._together.get(key)
            if others is not None:
                others.times.append((event.lanes, event.time))
                return
            group = self._together[key] = _Together(event, [(event.lanes, event.time)])
            successor = self._completed.get((bar, phase + 1))
            if successor is None:
                self._waits.setdefault((bar, phase), []).append(group)
            else:
                self._suspects.append((group, successor))
        elif event.kind == "phase":
            bar, index = event.data["bar"], event.data["index"]
            self._completed[bar, index] = event
            masks = self._columns.masks
            for group in self._waits.pop((bar, index - 1), ()):
                lanes = self._columns.warp[group.first.warp]
                if not any(clock.order[c] >= group.since(masks[c]) for c in lanes):  # type: ignore[operator]
                    self._suspects.append((group, event))

    def found(self, events: dict[int, Event], story: Callable[[], Story]) -> list[Overrun]:
        """The suspects that no chain of events of any kind clears."""
        return [Overrun(group.first, phase) for group, phase in self._suspects
                if not _follows(phase, group, events, story())]


def _follows(event: Event, waits: _Together, events: dict[int, Event], story: Story) -> bool:
    """Whether an event depends on what the waiting warp did at or after the wait."""
    wait = waits.first
    seen = set()
    stack = [event.id]
    while stack:
        current = events[stack.pop()]
        if current.warp == wait.warp and current.time >= waits.since(current.lanes):
            return True
        for pred in story.predecessors(current):
            if pred >= wait.id and pred not in seen:
                seen.add(pred)
                stack.append(pred)
    return False
