"""Arrivals that may count for an earlier phase than the one they are meant for.

A barrier counts arrivals, it does not know whose they are: one that comes before the phase in front of its own is over
takes the place of an arrival that is still due, and that phase ends early. Where every phase gets the same arrivals,
this evens out; where the phases differ, it depends on the schedule which of them ends, and when.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from auditor.quick_dataclass import dataclass
from auditor.source import Stack
from auditor.trace import Event

if TYPE_CHECKING:
    from auditor.audit import Audit


LAPS = 3  # phases after which a protocol repeats itself


@dataclass(frozen=True)
class Stray:
    """``arrival`` came in phase ``phase``, and nothing puts it after ``due``, an arrival of the phase before."""

    arrival: Event
    due: Event
    phase: int


@dataclass(frozen=True)
class EarlyExpect:
    """``arrival`` expects the bytes of phase ``phase``, and nothing puts it behind the end of the phase before.

    ``due`` arrived for that one, ``ended`` completed it.
    """

    arrival: Event
    due: Event
    ended: Event
    phase: int


def early_expects(audit: Audit) -> Iterator[EarlyExpect]:
    """The first arrival of each place that arms a barrier which may still be in its phase before.

    All arrivals of that phase have come, its copies have not landed: the arrival is one too many for it.
    """
    ended: dict[tuple[int, int], Event] = {}
    armed: dict[int, Event] = {}
    told: set[Stack] = set()
    for e in audit.trace.events:
        if e.kind == "phase":
            ended[e.data["bar"], e.data["index"]] = e
        elif e.kind == "mbar.arrive" and e.data["tx"]:
            bar, phase = e.data["bar"], e.data["phase"]
            before, due = ended.get((bar, phase - 1)), armed.get(bar)
            armed[bar] = e
            if before is None or due is None or phase > LAPS or e.where in told:
                continue
            if not _after(audit, e, before):
                told.add(e.where)
                yield EarlyExpect(e, due, before, phase)


def stray_arrivals(audit: Audit) -> Iterator[Stray]:
    """The first stray arrival of each barrier whose phases get different arrivals."""
    by_phase: dict[int, dict[int, list[Event]]] = defaultdict(lambda: defaultdict(list))
    ended: Counter[int] = Counter()
    for e in audit.trace.events:
        if e.kind == "mbar.arrive":
            by_phase[e.data["bar"]][e.data["phase"]].append(e)
        elif e.kind == "phase":
            ended[e.data["bar"]] += 1
    for bar, phases in by_phase.items():
        if _differ(phases, ended[bar]):
            found = _first(audit, phases)
            if found is not None:
                yield found


def loose_arrivals(audit: Audit) -> Iterator[Stray]:
    """Stray arrivals of all barriers, the first of each place, whether its phases differ or not."""
    open_: dict[int, dict[int, Event]] = defaultdict(dict)  # by barrier: the last arrival of each warp in this phase
    before: dict[int, list[Event]] = {}
    tried: Counter[tuple[int, Stack, int]] = Counter()
    for e in audit.trace.events:
        if e.kind == "phase":
            before[e.data["bar"]] = list(open_.pop(e.data["bar"], {}).values())
        elif e.kind == "mbar.arrive":
            bar = e.data["bar"]
            place = (bar, e.where, e.warp)
            tried[place] += 1
            if tried[place] <= LAPS + 1:
                due = _open(audit, e, before.get(bar, ()))
                if due is not None:
                    yield Stray(e, due, e.data["phase"])
                    tried[place] += LAPS
            open_[bar][e.warp] = e


def loose_rounds(audit: Audit) -> Iterator[Stray]:
    """Arrivals at a named barrier that nothing keeps after one of the round before; ``phase`` is the round."""
    open_: dict[tuple[int, int], dict[int, Event]] = defaultdict(dict)
    before: dict[tuple[int, int], list[Event]] = {}
    rounds: Counter[tuple[int, int]] = Counter()
    tried: Counter[tuple[Stack, int]] = Counter()
    for e in audit.trace.events:
        if e.kind not in ("barrier", "bar.sync", "bar.arrive"):
            continue
        key = (e.cta, e.data["id"])
        if e.kind == "barrier":
            before[key] = list(open_.pop(key, {}).values())
            rounds[key] += 1
        elif e.data["count"] is not None:
            tried[e.where, e.warp] += 1
            if tried[e.where, e.warp] <= LAPS:
                due = _open(audit, e, before.get(key, ()))
                if due is not None:
                    yield Stray(e, due, rounds[key])
            open_[key][e.warp] = e


def _differ(phases: dict[int, list[Event]], ended: int) -> bool:
    """Whether the phases get arrivals of different threads; one that has not ended may lack some."""
    counts = [_by_warp(phases.get(n, [])) for n in range(ended)]
    last = _by_warp(phases.get(ended, []))
    if not counts:
        return False
    return any(c != counts[0] for c in counts) or any(n > counts[0][warp] for warp, n in last.items())


def _by_warp(arrivals: list[Event]) -> Counter[int]:
    count: Counter[int] = Counter()
    for e in arrivals:
        count[e.warp] += e.data["count"]
    return count


def _first(audit: Audit, phases: dict[int, list[Event]]) -> Stray | None:
    for phase in sorted(phases):
        for arrival in phases[phase]:
            for due in phases.get(phase - 1, []):
                if due.warp != arrival.warp and not (
                    audit.hb.ordered(due.id, arrival.id) or _after(audit, arrival, due)
                ):
                    return Stray(arrival, due, phase)
    return None


def _open(audit: Audit, event: Event, earlier: Sequence[Event]) -> Event | None:
    """The first of some events of other warps that nothing puts before an event."""
    others = [due for due in earlier if due.warp != event.warp and not audit.hb.ordered(due.id, event.id)]
    if not others:
        return None
    past = audit.hb.story.past([event.id], min(due.id for due in others))
    return next((due for due in others if not past.holds(due)), None)


def _after(audit: Audit, event: Event, other: Event) -> bool:
    """Whether an event depends on another one, by any chain of events."""
    return audit.hb.story.follow([event.id], other)
