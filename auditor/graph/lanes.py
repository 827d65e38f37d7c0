"""Which lanes of two warp-wide accesses touch the same bytes."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from auditor.footprint import Footprint, whole
from auditor.trace import Access


@lru_cache(maxsize=4096)
def _overlap(first: Footprint, second: Footprint, distance: int, one_warp: bool) -> int:
    """Lanes of the first pattern that share bytes with the second, which begins ``distance`` bytes behind it."""
    mask = 0
    ranges = sorted([(lo, hi, lane) for lane, lo, hi in second.at(distance) if lo < hi])
    longest = max((hi - lo for lo, hi, _ in ranges), default=0)
    starts = [lo for lo, _, _ in ranges]
    for lane, lo, hi in first.ranges:
        if mask >> lane & 1:
            continue
        position = bisect_right(starts, lo - longest)
        while position < len(ranges) and ranges[position][0] < hi:
            if ranges[position][1] > lo and not (one_warp and ranges[position][2] == lane):
                mask |= 1 << lane
                break
            position += 1
    return mask


def overlapping_lanes(first: Access, first_lanes: int, second: Access, second_lanes: int, one_warp: bool) -> int:
    """Mask of the first access's lanes that share bytes with some lane of the second.

    ``one_warp``: both are accesses of one warp, and a lane does not clash with itself. The bounding ranges are known
    to overlap.
    """
    if first.lanes is None and second.lanes is None:
        if not one_warp:
            return first_lanes
        others = second_lanes & (second_lanes - 1)
        return first_lanes if others else first_lanes & ~second_lanes
    mine = first.lanes or whole(first_lanes, first.hi - first.lo)
    other = second.lanes or whole(second_lanes, second.hi - second.lo)
    return _overlap(mine, other, second.lo - first.lo, one_warp)


def solid(access: Access) -> bool:
    """Whether the lanes together touch every byte of the access's bounding range."""
    return access.lanes is None or access.lanes.solid


def same_bytes(first: Access, second: Access) -> bool:
    """Whether two accesses whose lanes touch different bytes touch the same ones in all, counted from their first."""
    mine, other = first.lanes, second.lanes
    return mine is other or (mine is not None and other is not None and mine.outline == other.outline)
