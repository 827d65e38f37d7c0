"""The pairs of asynchronous tcgen05 operations that execute in issue order with nothing between them.

PTX ISA, tcgen05 memory consistency model, "Pipelined instructions" (9.7.16.6.2): for one issuing thread and one
``.cta_group``: mma after mma with the same accumulator and shape, cp then mma, shift then mma, shift then cp, mma then
shift. No other pair. A cp or shift and the mma behind it may come from two threads that synchronise between the two
(9.7.16.6.4.3).
"""

from __future__ import annotations

from auditor.trace import Access, Event

_CLASS = {"mma": "mma", "mma.ws": "mma", "tcgen05.cp": "cp", "tcgen05.shift": "shift"}
_PAIRS = {("cp", "mma"), ("shift", "mma"), ("shift", "cp"), ("mma", "shift")}

Rectangle = tuple[int, int, int, int, int]


def accumulator(event: Event) -> frozenset[Rectangle]:
    """The TMEM rectangles that an operation writes: (CTA, first column, end column, first lane, end lane)."""
    return frozenset(
        (a.cta, a.lo, a.hi, a.lane_lo, a.lane_hi) for a in event.accesses if a.space == "tmem" and a.write
    )


def same_thread(a: Event | None, b: Event | None) -> bool:
    """Whether two issue events are by one and the same thread."""
    return a is not None and b is not None and a.warp == b.warp and a.lanes == b.lanes and a.lanes.bit_count() == 1


def feeds(first: Event, second: Event) -> bool:
    """Whether an operation can make ready what an MMA issued after it reads: the MMA then completes after it."""
    return (
        first.data.get("instr") in ("tcgen05.cp", "tcgen05.shift")
        and second.data.get("instr") in ("mma", "mma.ws")
        and first.data.get("group") == second.data.get("group")
    )


def pipelined(first: Event, first_access: Access, second: Event, second_access: Access) -> bool:
    """Whether issue order alone orders two TMEM accesses of operations that were issued in this order."""
    if first_access.space != "tmem" or first.data.get("group") != second.data.get("group"):
        return False
    pair = (_CLASS.get(first.data.get("instr", "")), _CLASS.get(second.data.get("instr", "")))
    if pair != ("mma", "mma"):
        return pair in _PAIRS
    target = accumulator(first)
    return target == accumulator(second) and all(
        (a.cta, a.lo, a.hi, a.lane_lo, a.lane_hi) in target for a in (first_access, second_access)
    )
