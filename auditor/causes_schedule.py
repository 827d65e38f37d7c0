"""Orders that a run leaves open, in kernels that went well in that run.

The graph of the one run shows where another order was possible: an arrival that may come a phase earlier, a wait that
may look a phase earlier. Whether that does harm is for the machine to say: the kernel is run again with the warps that
have to be late made slow, and only a run that fails is told. A correct kernel leaves no such order open, so that it is
not run again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from auditor.causes_arrivals import LAPS, Stray, loose_arrivals, loose_rounds
from auditor.machine.core import Machine
from auditor.machine.schedule import Lazy, Slow
from auditor.quick_dataclass import dataclass
from auditor.source import Stack
from auditor.trace import Event, Incident

if TYPE_CHECKING:
    from auditor.audit import Audit

MOST_RUNS = 6  # of the machine, for one kernel
STEPS = 4  # as many as the first run made, for one of these


@dataclass(frozen=True)
class EarlyWait:
    """``wait`` observed phase ``phase``, and nothing puts it after ``before``, the end of the phase before: where it
    looks while that phase is open, its parity is that of the phase which is over already, and it returns two phases
    early. ``again``: the wait of the same thread that had the same parity, if its last one had."""

    wait: Event
    before: Event
    phase: int
    again: Event | None


@dataclass(frozen=True)
class Harm:
    """What an open order leads to where the warps ``slow`` are slow: ``failure`` of that run."""

    order: EarlyWait | Stray
    slow: frozenset[int]
    failure: Incident


def early_waits(audit: Audit) -> Iterator[EarlyWait]:
    """Waits for a phase of which nobody told the waiter that the phase before is over."""
    ended: dict[tuple[int, int], Event] = {}
    last: dict[tuple[int, int], Event] = {}
    looked: dict[tuple[Stack, int], int] = {}
    for e in audit.trace.events:
        if e.kind == "phase":
            ended[e.data["bar"], e.data["index"]] = e
        elif e.kind == "mbar.wait" and e.data["form"] == "parity" and not e.data["once"]:
            bar, phase = e.data["bar"], e.data["phase"]
            mine = last.get((bar, e.warp))
            last[bar, e.warp] = e
            before = ended.get((bar, phase - 1))
            if before is None or (mine is not None and mine.data["phase"] >= phase - 1):
                continue
            laps = looked[e.where, e.warp] = looked.get((e.where, e.warp), 0) + 1
            if laps <= LAPS and not _knows(audit, e, before):
                again = mine if mine is not None and (mine.data["phase"] - phase) % 2 == 0 else None
                yield EarlyWait(e, before, phase, again)


def _knows(audit: Audit, wait: Event, before: Event) -> bool:
    """Whether something that its warp did, or learned, before a wait follows from an event.

    Lanes of a warp stand for one another here.
    """
    own = (e.id for e in audit.trace.events[before.id : wait.id] if e.warp == wait.warp and e.time < wait.time)
    return audit.hb.story.follow(own, before)


def harmful_order(audit: Audit) -> Harm | None:
    """The first open order that makes a run fail. One only: a run that fails does not say which others do harm."""
    tried: set[frozenset[int]] = set()
    orders: Iterator[EarlyWait | Stray] = chain(
        early_waits(audit), loose_arrivals(audit), loose_rounds(audit)
    )
    for order in orders:
        for slow in _candidates(audit, order):
            if slow in tried or not slow:
                continue
            if len(tried) == MOST_RUNS:
                return None
            tried.add(slow)
            failed = failure(audit, Slow(slow))
            if failed is not None:
                return Harm(order, slow, failed)
    return None


def _candidates(audit: Audit, order: EarlyWait | Stray) -> Iterator[frozenset[int]]:
    """Warps that have to be slow for the other order to come about."""
    if isinstance(order, EarlyWait):
        arrivals = [audit.event(pred) for pred, reason in order.before.preds if reason == "arrive"]
        late = [e.warp for e in reversed(arrivals) if e.warp >= 0]
        yield from (frozenset((warp,)) for warp in late)
        yield frozenset(late) - {order.wait.warp}
        return
    early, late_one = order.arrival, order.due
    yield frozenset((late_one.warp,))
    if "bar" not in early.data:
        return
    waiters = {e.warp for e in audit.trace.events if e.kind == "mbar.wait" and e.data["bar"] == early.data["bar"]}
    yield frozenset(waiters | {late_one.warp}) - {early.warp}


def failure(audit: Audit, schedule: Lazy) -> Incident | None:
    """What goes wrong in a run under another schedule."""
    left = audit.deadline - time.thread_time()
    if left <= 0:
        return None
    budget = STEPS * audit.trace.steps
    run = Machine(audit.program, audit.kernel, audit.launch, budget=budget, seconds=left, schedule=schedule).run()
    if any(i.kind in ("budget", "unanalysed") for i in run.incidents):
        return None
    return next((i for i in run.incidents if i.kind in ("deadlock", "over_arrival")), None)
