"""Accesses of one event put together: a loop over a row is one access of the row.

The machine appends one access a vector load or store to an event; shadow memory needs them only as the ranges that they
make up. TMEM accesses stay as they are, because the pipelined pairs depend on exact rectangles.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from auditor.trace import Access, Event


def merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Half-open ranges, sorted, with overlapping and adjacent ones joined."""
    result: list[tuple[int, int]] = []
    for lo, hi in sorted(ranges):
        if result and lo <= result[-1][1]:
            if hi > result[-1][1]:
                result[-1] = result[-1][0], hi
        else:
            result.append((lo, hi))
    return result


def _plain(group: list[Access]) -> list[Access]:
    ranges = merged((a.lo, a.hi) for a in group)
    return group if len(ranges) == len(group) else [replace(group[0], lo=lo, hi=hi) for lo, hi in ranges]


def _by_lane(group: list[Access]) -> list[Access]:
    """Joins lane by lane. Only when all lanes come out with the same number of ranges is the result simple."""
    by_lane: dict[int, list[tuple[int, int]]] = {}
    for access in group:
        for lane, lo, hi in access.lanes or ():
            by_lane.setdefault(lane, []).append((lo, hi))
    ranges = {lane: merged(r) for lane, r in sorted(by_lane.items())}
    counts = {len(r) for r in ranges.values()}
    if len(counts) != 1 or counts.pop() >= len(group):
        return group
    result = []
    for rows in zip(*ranges.values(), strict=True):
        lanes = tuple((lane, lo, hi) for lane, (lo, hi) in zip(ranges, rows, strict=True))
        result.append(replace(group[0], lo=min(lo for lo, _ in rows), hi=max(hi for _, hi in rows), lanes=lanes))
    return result


def coalesced(event: Event) -> list[Access]:
    """The event's accesses with alike ones joined where their ranges meet."""
    accesses = event.accesses
    if len(accesses) < 2:
        return accesses
    groups: dict[object, list[Access]] = {}
    for n, a in enumerate(accesses):
        alike = (a.space, a.cta, a.write, a.proxy, a.what, a.done, a.consumed, a.end, a.lanes is None)
        groups.setdefault(n if a.space == "tmem" else alike, []).append(a)
    result: list[Access] = []
    for group in groups.values():
        if len(group) == 1:
            result += group
        else:
            result += _plain(group) if group[0].lanes is None else _by_lane(group)
    return result
