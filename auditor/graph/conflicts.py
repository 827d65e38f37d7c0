"""Pairs of accesses with something missing between them."""

from __future__ import annotations

from typing import Literal

from auditor.graph.lanes import overlapping_lanes
from auditor.graph.records import Record
from auditor.quick_dataclass import dataclass
from auditor.trace import Access, Event

Missing = Literal["order", "proxy", "proxy-war", "lane", "writer-fence"]


@dataclass(slots=True)
class Conflict:
    """Two accesses with something missing between them; the first occurrence of ``count`` alike.

    ``missing``: "order": nothing orders them; "lane": ordered for some lanes of the first event's warp only (a
    ``__syncwarp`` is missing); "proxy": ordered, but a generic write reaches the async proxy without a proxy fence;
    "proxy-war": the same for a generic read before an asynchronous write. "writer-fence" (in ``late_fences`` only):
    a proxy fence stands between them, but the writer did not execute it before its release.
    ``lanes``: mask of the first event's lanes that are affected. ``pending``: the second event comes after the first,
    but nothing shows that the first access had ended (a tcgen05.ld or .st without its wait).
    """

    first: Event
    first_access: Access
    second: Event
    second_access: Access
    missing: Missing
    lanes: int
    count: int = 1
    pending: bool = False


def _first_clash(first: Record, second: Record) -> tuple[Access, Access]:
    """The two accesses; of those that lanes make in several rounds the first rounds that touch the same bytes."""
    one_warp = first.event.warp == second.event.warp and first.column < 0 and second.column < 0
    for b in second.access.rounds():
        for a in first.access.rounds():
            meet = a.lo < b.hi and b.lo < a.hi
            if meet and overlapping_lanes(a, first.event.lanes or 1, b, second.event.lanes or 1, one_warp):
                return a, b
    return first.access, second.access


class Conflicts:
    """Conflicts in the order of discovery, one for each pair of places, kinds and what is missing."""

    def __init__(self) -> None:
        self.found: list[Conflict] = []
        self._known: dict[object, Conflict] = {}
        self._places: dict[object, int] = {}
        self._place_ids: dict[int, int] = {}

    def add(self, first: Record, second: Record, missing: Missing, lanes: int, pending: bool = False) -> bool:
        """Records an occurrence. False when one like it was known."""
        key = (self._signature(first), self._signature(second), missing, pending)
        known = self._known.get(key)
        if known is not None:
            known.count += 1
            return False
        accesses = _first_clash(first, second)
        conflict = Conflict(first.event, accesses[0], second.event, accesses[1], missing, lanes, pending=pending)
        self._known[key] = conflict
        self.found.append(conflict)
        return True

    def _signature(self, record: Record) -> tuple[object, ...]:
        event, access = record.event, record.access
        # Call chains are shared objects that live as long as the trace; hashing one is slow.
        place = self._place_ids.get(id(event.where))
        if place is None:
            place = self._places.setdefault(event.where, len(self._places))
            self._place_ids[id(event.where)] = place
        return place, event.kind, event.data.get("instr"), access.space, access.what, access.write, access.consumed
