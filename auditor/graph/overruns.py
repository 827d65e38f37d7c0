"""Waiters that could find themselves two phases behind.

A wait names a parity, so it tells the current phase from the one before and no more (PTX ISA, "Phase of the mbarrier
object"): phase k+1 must not be able to complete before every waiter for phase k has seen k complete.
"""

from __future__ import annotations

from dataclasses import dataclass

from auditor.graph.clocks import Clock
from auditor.graph.columns import Columns
from auditor.trace import Event


@dataclass(slots=True)
class Overrun:
    """``wait`` observed a phase whose successor, completed by ``phase_event``, nothing orders after the wait."""

    wait: Event
    phase_event: Event


class Overruns:
    """Collects overruns. ``step`` takes the events in order, with their clocks.

    Within a warp it is lenient: the completion may follow from one lane of the waiting warp.
    """

    def __init__(self, columns: Columns) -> None:
        self.found: list[Overrun] = []
        self._columns = columns
        self._waits: dict[tuple[object, int], list[Event]] = {}
        self._completed: dict[tuple[object, int], Event] = {}

    def step(self, event: Event, clock: Clock) -> None:
        """Looks at waits and phase completions; other events are ignored."""
        if event.kind == "mbar.wait":
            bar, phase = event.data["bar"], event.data["phase"]
            successor = self._completed.get((bar, phase + 1))
            if successor is None:
                self._waits.setdefault((bar, phase), []).append(event)
            else:
                self.found.append(Overrun(event, successor))
        elif event.kind == "phase":
            bar, index = event.data["bar"], event.data["index"]
            self._completed[bar, index] = event
            for wait in self._waits.pop((bar, index - 1), ()):
                if not any(clock.order[c] >= wait.time for c in self._columns.of(wait)):  # type: ignore[operator]
                    self.found.append(Overrun(wait, event))
