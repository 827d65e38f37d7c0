"""Waiters that could find themselves two phases behind.

A wait names a parity, so it tells the current phase from the one before and no more (PTX ISA, "Phase of the mbarrier
object"): phase k+1 must not be able to complete before every waiter for phase k has seen k complete.

That is about what can happen, not about what memory accesses become visible: here an operation's completion follows
from its issue, and relaxed operations count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from auditor.graph.clocks import Clock
from auditor.graph.columns import Columns
from auditor.graph.story import Story
from auditor.source import Stack
from auditor.trace import Event


@dataclass(slots=True)
class Overrun:
    """``wait`` observed a phase whose successor, completed by ``phase_event``, nothing puts after the wait."""

    wait: Event
    phase_event: Event


class Overruns:
    """Collects overruns. ``step`` takes the events in order, with their clocks; ``found`` is the result.

    Within a warp it is lenient: the completion may follow from any lane of the waiting warp, at a later time. Lanes
    meet in ``elect.sync`` and other aligned operations, which keep them together though they order no memory accesses.
    Lanes that wait together leave the wait together: the first of them stands for all.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._together: set[tuple[object, int, int, Stack]] = set()
        self._waits: dict[tuple[object, int], list[Event]] = {}
        self._completed: dict[tuple[object, int], Event] = {}
        self._suspects: list[Overrun] = []

    def step(self, event: Event, clock: Clock) -> None:
        """Looks at waits and phase completions; other events are ignored."""
        if event.kind == "mbar.wait":
            bar, phase = event.data["bar"], event.data["phase"]
            together = (bar, phase, event.warp, event.where)
            if together in self._together:
                return
            self._together.add(together)
            successor = self._completed.get((bar, phase + 1))
            if successor is None:
                self._waits.setdefault((bar, phase), []).append(event)
            else:
                self._suspects.append(Overrun(event, successor))
        elif event.kind == "phase":
            bar, index = event.data["bar"], event.data["index"]
            self._completed[bar, index] = event
            for wait in self._waits.pop((bar, index - 1), ()):
                lanes = self._columns.warp[wait.warp]
                if not any(clock.order[c] >= wait.time for c in lanes):  # type: ignore[operator]
                    self._suspects.append(Overrun(wait, event))

    def found(self, events: dict[int, Event], story: Callable[[], Story]) -> list[Overrun]:
        """The suspects that no chain of events of any kind clears."""
        return [s for s in self._suspects if not _follows(s.phase_event, s.wait, events, story())]


def _follows(event: Event, wait: Event, events: dict[int, Event], story: Story) -> bool:
    """Whether an event depends on what the waiting warp did at or after the wait."""
    seen = set()
    stack = [event.id]
    while stack:
        current = events[stack.pop()]
        if current.warp == wait.warp and current.time >= wait.time:
            return True
        for pred in story.predecessors(current):
            if pred >= wait.id and pred not in seen:
                seen.add(pred)
                stack.append(pred)
    return False
