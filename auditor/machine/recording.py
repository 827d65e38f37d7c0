"""How ordinary accesses of a strand become events with accesses.

Between two synchronising events a strand has one open event for each place: nothing orders its accesses there but the
program, for which their order does not matter. As long as the lanes walk on in equal steps an access grows, so that a
loop over a row costs one access and not one for each element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from auditor.footprint import Footprint, spread
from auditor.shapes import Shape, extent
from auditor.source import Stack
from auditor.trace import Access, Event
from auditor.values import Vec

if TYPE_CHECKING:
    from auditor.machine.strand import Strand

OFFSET = 0xFFFFFF  # the bits of a shared address that count bytes in the CTA
LONGEST_STEP = 512  # bytes: the elements of a warp that lie next to one another, 16 bytes a lane
_MOST_FRESH = 8  # accesses that have not begun to walk: the rows of a small tile that a loop visits in turn


class Walk:
    """An access that walks on: ``repeats`` rounds so far, each ``step`` bytes behind the last one.

    ``start``: the offset of lane 0 in the first round. ``shape``: None when the lanes touch the same ``width`` bytes.
    """

    __slots__ = ("access", "repeats", "shape", "start", "step", "width")

    def __init__(self, access: Access, start: int, shape: Shape | None, width: int) -> None:
        self.access = access
        self.start = start
        self.shape = shape
        self.width = width
        self.repeats = 1
        self.step = 0

    def footprint(self, lanes: int) -> Footprint | None:
        """What the lanes of a mask touch; None when they touch the same bytes."""
        if self.shape is None and (self.repeats == 1 or self.step == self.width):
            return None
        return spread(self.shape, lanes, self.width, self.repeats, self.step)


class LoadRecord:
    """A load whose values are in registers; ``consumed`` turns true when one of them is used."""

    __slots__ = ("access", "consumed")

    def __init__(self, access: Access) -> None:
        self.access = access
        self.consumed = False


class OpenEvent:
    """A memory event that may take further accesses, and those of its accesses that may walk on.

    ``newest``: the access added last.
    """

    __slots__ = ("_fresh", "_lanes", "_rows_only", "_walking", "_walks", "event", "newest")

    def __init__(self, event: Event, access: Access, lanes: int) -> None:
        self.event = event
        self.newest = access
        self._lanes = lanes
        # That all lanes, or one lane, write the same bytes is for rules to know: such an access stays one range.
        self._rows_only = access.write or bool(lanes & (lanes - 1))
        self._walking: dict[tuple[int, Shape | None, int], Walk] = {}  # by where they go on
        self._fresh: list[Walk] = []
        self._walks: list[Walk] = []

    def add(self, access: Access) -> None:
        """Another access of the event, which does not walk."""
        self.newest = access
        self.event.accesses.append(access)

    def grown(self, start: int, shape: Shape | None, width: int) -> Access | None:
        """The access that takes in another round of lanes at these offsets, if one does."""
        walk = self._walking.pop((start, shape, width), None)
        if walk is None:
            walk = self._begun(start, shape, width)
            if walk is None:
                return None
        walk.repeats += 1
        access = walk.access
        access.hi += walk.step
        self._walking[start + walk.step, shape, width] = walk
        return access

    def may_walk(self, access: Access, start: int, shape: Shape | None, width: int) -> None:
        """The access is one round of lanes at these offsets, and others may follow."""
        walk = Walk(access, start, shape, width)
        self._walks.append(walk)
        self._fresh.append(walk)
        if len(self._fresh) > _MOST_FRESH:
            del self._fresh[0]

    def close(self) -> None:
        """Nothing can be added any more: write what the lanes touch into the accesses."""
        for walk in self._walks:
            walk.access.lanes = walk.footprint(self._lanes)

    def _begun(self, start: int, shape: Shape | None, width: int) -> Walk | None:
        """The latest access of one round that walks on to this offset in a first step."""
        longest = width if shape is None and self._rows_only else LONGEST_STEP
        for n in range(len(self._fresh) - 1, -1, -1):
            walk = self._fresh[n]
            if walk.shape is shape and walk.width == width and width <= start - walk.start <= longest:
                walk.step = start - walk.start
                del self._fresh[n]
                return walk
        return None


def open_event(strand: Strand, kind: str, lanes: int, cta: int) -> tuple[Stack, OpenEvent | None]:
    """The running place, and the strand's open memory event there, when no synchronisation came after it."""
    where = strand.machine.where()
    return where, strand.open_memory.get((kind, id(where), lanes, cta))


def add_access(strand: Strand, kind: str, access: Access, lanes: int) -> None:
    """Append an access, which does not walk, to the event of the running place."""
    where, opened = open_event(strand, kind, lanes, access.cta)
    if opened is not None:
        opened.add(access)
    else:
        begin_event(strand, kind, where, access, lanes)


def begin_event(strand: Strand, kind: str, where: Stack, access: Access, lanes: int) -> OpenEvent:
    """A new memory event with its first access."""
    event = strand.machine.emit(strand, kind, where=where, lanes=lanes, accesses=[access])
    opened = strand.open_memory[kind, id(where), lanes, access.cta] = OpenEvent(event, access, lanes)
    return opened


def shared_access(
    strand: Strand, p: Any, first: int, size: int, *, write: bool, lanes: int
) -> tuple[Access, int, int] | None:
    """Record a generic access of ``size`` bytes a lane.

    ``p``: one address for all lanes, or one a lane; ``first``: that of the first active lane. Returns the access, and
    the lowest and the end byte of this one round; None when there is no such memory.
    """
    machine = strand.machine
    target = machine.shared_target(first)
    if target is None:
        machine.incident("cluster_rank", machine.where(), strand, data={"address": first})
        return None
    cta, start = target
    shape = None
    lo, hi = start, start + size
    if p.__class__ is Vec and lanes & (lanes - 1):
        whole = p.shape
        assert whole is not None  # the addresses are plain numbers
        start, shape = whole.masked(p.base, OFFSET)
        if shape is not None:
            low, high = extent(shape, lanes)
            lo, hi = start + low, start + high + size
    if hi > cta.shared_end or lo < 0:
        machine.incident(
            "smem_range",
            machine.where(),
            strand,
            data={"lo": lo, "hi": hi, "end": cta.shared_end, "write": write, "proxy": "generic"},
        )
    machine.progress += write
    kind = "st" if write else "ld"
    where, opened = open_event(strand, kind, lanes, cta.rank)
    access = opened.grown(start, shape, size) if opened is not None else None
    if access is None:
        access = Access("shared", write, "generic", cta.rank, lo, hi)
        if opened is None:
            opened = begin_event(strand, kind, where, access, lanes)
        else:
            opened.add(access)
        opened.may_walk(access, start, shape, size)
    return access, lo, hi
