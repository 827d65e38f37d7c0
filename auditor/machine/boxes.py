"""How many bytes a copy brings whose tensor map is not known, as in a kernel without host code.

Such a copy gets its share of what the phase of its mbarrier expects when it lands. Copies that are issued later into
the same phase are not known by then, so the share can turn out wrong; when the next bytes are expected it is plain
which copies belong together, and the run starts again with that knowledge.

The share is a guess, which the mbarrier needs. What a copy writes is judged by what is certain of it when the run has
ended and everything that lies in shared memory is known: the bytes that the others of its phase have no room for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from auditor.machine.schedule import LAZY
from auditor.quick_dataclass import dataclass
from auditor.trace import Access, Event

if TYPE_CHECKING:
    from auditor.machine.core import Machine
    from auditor.machine.state import BarrierState
    from auditor.machine.strand import Strand

UNIT = 16  # bytes: the size of every copy is a multiple of it


class Misjudged(Exception):  # noqa: N818 - how a run ends, not a defect
    """The run gave copies other sizes than they can have; the next one knows better."""


@dataclass
class Boxes:
    """What the runs of a launch found out.

    An *origin* is a tensor map, or the place of the copy where the map's address is not known. ``starts``: CTA rank ->
    offset in its shared memory -> origins of copies to there. ``partners``: origins that bring bytes into one phase.
    ``bytes``: what each of these brings. ``lazy``: what a copy of each origin brought under the lazy schedule, where
    copies land after all those that belong to the same phase were issued; under others they may land one by one, or
    before their bytes are announced.
    """

    starts: dict[int, dict[int, set[Any]]] = field(default_factory=dict)
    partners: dict[Any, set[Any]] = field(default_factory=dict)
    bytes: dict[Any, int] = field(default_factory=dict)
    lazy: dict[Any, int] = field(default_factory=dict)


class Landmarks:
    """What was found out from the known things in shared memory, until another one is known: by CTA, where they begin
    in order; by CTA, origin and further places, the room that copies have; by CTA and origin, their stride."""

    __slots__ = ("marks", "rooms", "strides")

    def __init__(self) -> None:
        self.marks: dict[int, list[int]] = {}
        self.rooms: dict[tuple[Any, ...], int] = {}
        self.strides: dict[tuple[int, Any], int] = {}

    def forget(self) -> None:
        """Something more is known."""
        for table in (self.marks, self.rooms, self.strides):
            table.clear()


def aim(m: Machine, rank: int, offset: int, origin: Any) -> None:
    """Note where a copy is aimed at."""
    origins = m.copy_starts.setdefault(rank, {}).setdefault(offset, set())
    if origin not in origins:
        origins.add(origin)
        m.landmarks.forget()


def issued(m: Machine, bar: BarrierState, event: Event, strand: Strand) -> None:
    """Note a copy of unknown size that was issued towards a barrier.

    Copies that one thread issues after it announced bytes belong to one phase. When one of them has landed already, its
    share did not count this one.
    """
    batch = bar.batch
    batch.append((event, strand.number))
    if not bar.announced or any(number != strand.number for _, number in batch):
        return
    known = m.launch.boxes.partners
    origins = {e.data["origin"] for e, _ in batch}
    strangers = [origin for origin in origins if not origins - {origin} <= known.get(origin, set())]
    for origin in strangers:
        known.setdefault(origin, set()).update(origins - {origin})
    if strangers and any(e.data.get("sharers", len(batch)) < len(batch) for e, _ in batch):
        m.launch.boxes.starts = {rank: dict(starts) for rank, starts in m.copy_starts.items()}
        raise Misjudged


def expected(bar: BarrierState) -> None:
    """A thread announces bytes: the copies that follow belong to another batch."""
    bar.batch.clear()
    bar.announced = True


def landed(m: Machine, event: Event, bar: BarrierState) -> int:
    """Bytes that a copy of unknown size completes. Sets the end of what it writes."""
    boxes = m.launch.boxes
    copies = bar.current["copies"]
    waiting = [c for c in copies if not c["landed"]]
    left = max(bar.unit.tx - sum(c["bytes"] for c in waiting if c["bytes"] is not None), 0)
    access, origin = event.accesses[0], event.data["origin"]
    sharing = [m.trace.events[c["event"]] for c in waiting if c["bytes"] is None]
    absent = boxes.partners.get(origin, set()) - {m.trace.events[c["event"]].data["origin"] for c in copies}
    rooms = [_room(m, e.accesses[0].cta, e.data["origin"], e.accesses[0].lo) for e in sharing if e is not event]
    rooms += [_room(m, access.cta, other) for other in absent]
    own = _room(m, access.cta, origin, access.lo)
    size = min(_share(left, own, rooms), _stride(m, access.cta, origin))
    if origin in boxes.partners:
        size = min(boxes.bytes.setdefault(origin, size), left)
    if m.schedule is not LAZY:
        size = boxes.lazy.get(origin, size)
    elif size:
        boxes.lazy[origin] = size
    event.data["assumed_bytes"] = size
    event.data["sharers"] = 1 + len(rooms)
    access.hi = _end(m, access, min(size, own))
    return size


def settle(m: Machine) -> None:
    """At the end of a run: copies that shared the bytes of a phase write no more than what is certain, if any is."""
    for record in m.trace.barriers:
        for phase in record.phases:
            copies = [m.trace.events[c["event"]] for c in phase["copies"] if c["bytes"] is None and c["landed"]]
            if len(copies) < 2:
                continue
            total = sum(e.data["assumed_bytes"] for e in copies)
            rooms = _rooms(m, copies, total)
            for event, room in zip(copies, rooms):
                certain = total - sum(rooms) + room
                access = event.accesses[0]
                access.hi = access.lo + max(min(certain if certain > 0 else event.data["assumed_bytes"], room), UNIT)


def _rooms(m: Machine, copies: list[Event], total: int) -> list[int]:
    """Bytes that each of the copies of a phase has room for. Where that is less than they bring, other copies use the
    same memory at another time: then only those of the same origins count."""
    aims = [(e.accesses[0].cta, e.data["origin"], e.accesses[0].lo) for e in copies]
    rooms = [_room(m, *aim) for aim in aims]
    if sum(rooms) >= total:
        return rooms
    own = {origin for _, origin, _ in aims}
    marks = {cta: {lo for lo, to in m.copy_starts.get(cta, {}).items() if to & own} for cta, _, _ in aims}
    return [_least(marks[cta] | {m.ctas[cta].shared_end}, {*_places(m, cta, origin), lo}) for cta, origin, lo in aims]


def _share(left: int, own: int, others: list[int]) -> int:
    """Bytes of one of several copies into a phase: the same for all where each has the room, else in proportion."""
    if not others:
        return left
    count = 1 + len(others)
    if left // count <= min(own, *others):
        return left // count // UNIT * UNIT
    return max(left * own // max(own + sum(others), 1) // UNIT * UNIT, 0)


def _end(m: Machine, access: Access, size: int) -> int:
    """End of a copy of so many bytes, but not into the next known thing."""
    end = access.lo + max(size, UNIT)
    marks = _marks(m, access.cta)
    following = bisect_right(marks, access.lo)
    return min(marks[following], end) if following < len(marks) else end


def _stride(m: Machine, rank: int, origin: Any) -> int:
    """The least distance between two places that copies of the same origin were aimed at: no box is larger."""
    known = m.landmarks.strides
    if (rank, origin) not in known:
        places = sorted(_places(m, rank, origin))
        known[rank, origin] = min((b - a for a, b in pairwise(places)), default=m.ctas[rank].shared_end)
    return known[rank, origin]


def _room(m: Machine, rank: int, origin: Any, *own: int) -> int:
    """Bytes from where a copy lands to the next known thing, the least over all copies of its origin."""
    known = m.landmarks.rooms
    key = (rank, origin, *own)
    if key not in known:
        known[key] = _least({*_marks(m, rank), *own}, {*_places(m, rank, origin), *own})
    return known[key]


def _least(marks: set[int], places: set[int]) -> int:
    """The least distance from one of some places to the next mark."""
    return min((b - a for a, b in pairwise(sorted(marks)) if a in places), default=max(marks))


def _places(m: Machine, rank: int, origin: Any) -> Iterable[int]:
    return (offset for offset, origins in m.copy_starts.get(rank, {}).items() if origin in origins)


def _marks(m: Machine, rank: int) -> list[int]:
    """Offsets at which something known begins, in order."""
    marks = m.landmarks.marks.get(rank)
    if marks is None:
        cta = m.ctas[rank]
        known = {*cta.barriers, *cta.shared.values(), *m.copy_starts.get(rank, ()), cta.shared_end}
        marks = m.landmarks.marks[rank] = sorted(known)
    return marks
