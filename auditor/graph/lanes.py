"""Which lanes of two warp-wide accesses touch the same bytes."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from auditor.trace import Access

Detail = tuple[tuple[int, int, int], ...]


def _detail(access: Access, lanes: int) -> Detail:
    if access.lanes is not None:
        return access.lanes
    return tuple((lane, access.lo, access.hi) for lane in range(lanes.bit_length()) if lanes >> lane & 1)


@lru_cache(maxsize=4096)
def _overlap(first: Detail, second: Detail, one_warp: bool) -> int:
    mask = 0
    ranges = sorted((lo, hi, lane) for lane, lo, hi in second if lo < hi)
    longest = max((hi - lo for lo, hi, _ in ranges), default=0)
    starts = [lo for lo, _, _ in ranges]
    for lane, lo, hi in first:
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
    return _overlap(_detail(first, first_lanes), _detail(second, second_lanes), one_warp)


@lru_cache(maxsize=4096)
def _without_holes(detail: Detail, lo: int, hi: int) -> bool:
    reach = lo
    for start, end in sorted((start, end) for _, start, end in detail):
        if start > reach:
            return False
        reach = max(reach, end)
    return reach >= hi


def solid(access: Access) -> bool:
    """Whether the lanes together touch every byte of the access's bounding range."""
    return access.lanes is None or _without_holes(access.lanes, access.lo, access.hi)
