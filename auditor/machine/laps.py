"""How often the waits of a run come round to the barrier that they began with.

A fault of a ring shows when a stage is used again: a release that is missing in the second lap, a parity that is stale
in the third. A problem with fewer rounds than that says nothing about it.
"""

from __future__ import annotations

from collections import Counter

from auditor.quick_dataclass import dataclass
from auditor.trace import Trace

LAPS = 3  # waits for one barrier that show each of its parities, and the first of them again


@dataclass
class Waits:
    """The waits of one warp at one place: how many ``rounds``, and how many of them at most for one barrier."""

    rounds: int = 0
    most: int = 0


def waits(trace: Trace) -> dict[object, Waits]:
    """The waits for mbarriers, by place and warp."""
    found: dict[object, Waits] = {}
    counts: dict[object, int] = {}
    for event in trace.events:
        if event.kind == "mbar.wait":
            here = (event.where, event.warp, event.lanes)
            bar = (here, event.data["bar"])
            counts[bar] = counts.get(bar, 0) + 1
            seen = found.setdefault(here, Waits())
            seen.rounds += 1
            seen.most = max(seen.most, counts[bar])
    return found


def in_first_laps(trace: Trace) -> bool:
    """Whether a run waits in a loop over several barriers, but too seldom for each of them."""
    return any(seen.rounds > 1 and seen.most < LAPS for seen in waits(trace).values()) and not _long(trace)


def goes_round(trace: Trace) -> bool:
    """Whether a run waits in loops, and often enough for each barrier of them."""
    most = [seen.most for seen in waits(trace).values() if seen.rounds > 1]
    return bool(most) and min(most) >= LAPS


def grows(shorter: Trace, longer: Trace) -> bool:
    """Whether a longer problem has more rounds of a loop that has still not made its laps, or no loop of it has: its
    rounds may be longer than both problems."""
    if _long(longer):
        return False
    before, after = waits(shorter), waits(longer)
    short = [here for here, seen in after.items() if seen.most < LAPS]
    return any(here not in before or after[here].rounds > before[here].rounds for here in short) or (
        0 < len(short) == len(after)
    )


def is_longer(longer: Trace, shorter: Trace) -> bool:
    """Whether a warp does something more often in a larger problem: then it has loops that depend on the size."""
    before, after = _times(shorter), _times(longer)
    return any(times > max(before.get(here, 0), 1) for here, times in after.items())


def _times(trace: Trace) -> Counter[object]:
    """How often each warp is at each place. A place is nearly always the same object, which is sooner looked up."""
    by_object = Counter([(id(event.where), event.warp, event.lanes) for event in trace.events if event.warp >= 0])
    places = {id(event.where): event.where for event in trace.events}
    found = Counter[object]()
    for (place, warp, lanes), times in by_object.items():
        found[places[place], warp, lanes] += times
    return found


def _long(trace: Trace) -> bool:
    """Whether a loop of a run was in its steady state: its barriers had come round more than once."""
    return any(incident.kind == "steady" for incident in trace.incidents)
