"""An access with what is needed to compare it quickly with later ones."""

from __future__ import annotations

from auditor.graph.columns import Columns
from auditor.trace import Access, Event

NEVER = 1 << 62  # a warp time after the end of every trace


class Record:
    """One access in shadow memory.

    A strand's access has the ``columns`` of the lanes that make it and the warp ``time`` after which it is done. An
    asynchronous one has the ``column`` of its stream (-1 otherwise) and the ``index`` whose completion ends it.
    ``generic``: it goes through the generic proxy. ``plain``: neither an atomic nor an operation on an mbarrier.
    ``stride`` and ``width``: of the rows that the lanes touch, in bytes, 0 when irregular. ``solid``: the lanes
    together touch every byte from ``lo`` to ``hi``.
    ``stamp`` and ``settled`` remember the comparison with the access of that number, for the record's other pages.
    """

    __slots__ = (
        "access", "column", "columns", "event", "generic", "hi", "index", "lane_hi", "lane_lo", "lo", "plain",
        "settled", "solid", "stamp", "stride", "time", "width",
    )  # fmt: skip

    def __init__(self, event: Event, access: Access, columns: Columns) -> None:
        self.event = event
        self.access = access
        self.columns = columns.of(event)
        self.column, self.index = -1, 0
        if event.kind == "async":
            everything, read, self.index = columns.op[event.id]
            self.column = read if access.done == "read" else everything
        self.lo = access.lo
        self.hi = access.hi
        tmem = access.space == "tmem"
        # Outside TMEM one lane range for all makes the overlap test the same.
        self.lane_lo, self.lane_hi = (access.lane_lo, access.lane_hi) if tmem else (0, 1)
        self.time = NEVER if access.end < 0 else access.end or event.time
        self.generic = access.proxy == "generic" and not tmem
        self.plain = access.what != "mbarrier" and event.kind != "atom"
        lanes = access.lanes
        self.stride, self.width, self.solid = (0, 0, True) if lanes is None else (*lanes.rows, lanes.solid)
        self.stamp = 0
        self.settled = False

    def overlaps(self, other: Record) -> bool:
        """Whether the bounding ranges share a byte, or a TMEM cell, and do not just interleave as rows."""
        if (
            self.lo >= other.hi or other.lo >= self.hi
            or self.lane_lo >= other.lane_hi or other.lane_lo >= self.lane_hi
        ):  # fmt: skip
            return False
        if self.stride and self.stride == other.stride:
            shift = (other.lo - self.lo) % self.stride
            return shift < self.width or shift + other.width > self.stride
        return True

    def key(self) -> tuple[object, ...]:
        """What two accesses share when every later comparison treats them alike, but for their time or index."""
        event, access = self.event, self.access
        return (
            event.warp, event.lanes, self.column, event.kind, access.proxy, access.what, access.consumed,
            access.lo, access.hi, access.lane_lo, access.lane_hi, access.lanes,
        )  # fmt: skip
