"""Whether an earlier access is done, and visible, before a later one begins.

An access of a strand is done when the later event knows the history of every lane that made it; one of an asynchronous
operation when the later event knows of the operation's completion. From the generic proxy to the async proxy a proxy
fence is needed on the way; back again none is, because completion implies it (PTX ISA, "Causality order" and
9.7.9.25.2).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from auditor.graph.clocks import Clock
from auditor.graph.columns import Columns, issuer_id
from auditor.graph.conflicts import Conflicts
from auditor.graph.lanes import overlapping_lanes
from auditor.graph.pipeline import feeds, pipelined, same_thread
from auditor.graph.records import Record
from auditor.graph.vectors import has
from auditor.trace import Event


def interferes(old: Record, new: Record) -> bool:
    """Whether two overlapping accesses, one of them a write, matter to each other at all."""
    if old.plain and new.plain:
        return True
    if old.event.kind == "atom" and new.event.kind == "atom":
        return False
    # Initialising an mbarrier where data was read before is reuse of memory, not a fault of the mbarrier.
    return not (
        (old.access.what == "mbarrier" and new.access.what == "data" and not new.access.write)
        or (new.access.what == "mbarrier" and old.access.what == "data" and not old.access.write)
    )


def changes_proxy(old: Record, new: Record) -> bool:
    """Whether data goes from the generic to the async proxy. Operations on mbarrier objects stay in the generic one."""
    return old.generic and new.access.proxy == "async" and old.access.what == new.access.what == "data"


def _uniform(old: Record, new: Record) -> bool:
    """Whether every lane of the new access has itself made the old one, a write of the same bytes by all lanes.

    The lanes then wrote the same value, or the write was a race of its own: reading it, or writing it anew in the same
    way, needs no ``__syncwarp``.
    """
    return (
        old.access.write
        and old.access.lanes is None
        and not new.event.lanes & ~old.event.lanes
        and (not new.access.write or (new.access.lanes is None and new.event.lanes == old.event.lanes))
    )


class Judge:
    """Compares two overlapping accesses, and files a conflict where something is missing.

    ``fences``: see ``Clocks``. Methods return whether the older access need not be remembered once the newer covers
    it.
    """

    def __init__(self, columns: Columns, events: dict[int, Event], fences: dict[str, dict[int, list[int]]]) -> None:
        self.conflicts = Conflicts()
        self.late = Conflicts()
        self._columns = columns
        self._events = events
        self._fences = fences

    def settled(self, old: Record, new: Record, clock: Clock) -> bool:
        """Compares; ``clock`` is that of the newer access's event."""
        if not (old.plain and new.plain) and not interferes(old, new):
            return False
        if old.column >= 0:
            return self._after_operation(old, new, clock)
        if old.event.warp == new.event.warp and new.column < 0:
            return self._within_warp(old, new, clock)
        if not old.generic or new.access.proxy != "async":  # order alone is needed, and is nearly always there
            order, time = clock.order, old.time
            for column in old.columns:
                if order[column] < time:  # type: ignore[operator]
                    break
            else:
                return True
        return self._after_strand(old, new, clock)

    def _after_strand(self, old: Record, new: Record, clock: Clock) -> bool:
        order, time = clock.order, old.time
        unknown = [c for c in old.columns if order[c] < time]  # type: ignore[operator]
        if unknown:
            some = any(order[c] >= time for c in self._columns.warp[old.event.warp])  # type: ignore[operator]
            if some and old.access.space == "tmem":
                # tcgen05.ld, .st, their waits and allocation are .sync.aligned: the warp passes them as one.
                return True
            lanes = self._clash(old, new, unknown)
            if lanes:
                issued = all(order[c] >= old.event.time for c in old.columns)  # type: ignore[operator]
                self.conflicts.add(old, new, "lane" if some else "order", lanes, pending=issued)
            return False
        if changes_proxy(old, new):
            fenced = clock.fenced(old.access.space)
            unseen = [c for c in old.columns if fenced[c] < time]  # type: ignore[operator]
            if unseen:
                lanes = self._clash(old, new, unseen)
                if lanes:
                    self.conflicts.add(old, new, "proxy" if old.access.write else "proxy-war", lanes)
            elif (
                old.access.write
                and not self._fenced_by_writer(old, clock)
                and self._clash(old, new, self._columns.of(old.event))
            ):
                self.late.add(old, new, "writer-fence", old.event.lanes)
        return True

    def _clash(self, old: Record, new: Record, columns: Sequence[int]) -> int:
        """Lanes of the old access, among some columns, whose bytes the new access touches."""
        lanes = self._columns.lanes(columns)
        return lanes & overlapping_lanes(old.access, old.event.lanes, new.access, new.event.lanes or 1, False)

    def _fenced_by_writer(self, old: Record, clock: Clock) -> bool:
        """Whether each writing lane executed a proxy fence after its write and before the release that is known."""
        fences = self._fences[old.access.space]
        for column in old.columns:
            times = fences.get(column, [])
            position = bisect_right(times, old.time)
            if position == len(times) or times[position] > clock.order[column]:  # type: ignore[operator]
                return False
        return True

    def _within_warp(self, old: Record, new: Record, clock: Clock) -> bool:
        lanes = old.event.lanes
        if old.access.space == "tmem":
            if old.time < new.event.time:
                return True
            self.conflicts.add(old, new, "order", lanes, pending=True)
            return False
        if (lanes == new.event.lanes and not lanes & (lanes - 1)) or _uniform(old, new):
            return True
        order, time = clock.order, old.time
        unknown = self._columns.lanes([c for c in old.columns if order[c] < time])  # type: ignore[operator]
        if unknown:
            unknown &= overlapping_lanes(old.access, lanes, new.access, new.event.lanes, True)
        if unknown:
            self.conflicts.add(old, new, "lane", unknown)
            return False
        return True

    def _after_operation(self, old: Record, new: Record, clock: Clock) -> bool:
        if has(clock.order[old.column], old.index):
            if changes_proxy(old, new) and not has(clock.fenced(old.access.space)[old.column], old.index):
                self.conflicts.add(old, new, "proxy" if old.access.write else "proxy-war", old.event.lanes)
            return True
        if self._pipelined(old, new, clock):
            return True
        if not overlapping_lanes(old.access, old.event.lanes or 1, new.access, new.event.lanes or 1, False):
            return False
        # Operations that nothing waits for would pile up; after the first finding the latest one stands for them.
        return not self.conflicts.add(old, new, "order", old.event.lanes)

    def _pipelined(self, old: Record, new: Record, clock: Clock) -> bool:
        if new.column < 0 or old.access.space != "tmem":
            return False
        if not pipelined(old.event, old.access, new.event, new.access):
            return False
        first, second = self._issuer(old.event), self._issuer(new.event)
        if same_thread(first, second):
            return True
        return first is not None and feeds(old.event, new.event) and self._columns.passed(first, clock.order)

    def _issuer(self, event: Event) -> Event | None:
        issuer = issuer_id(event)
        return None if issuer is None else self._events[issuer]
