"""Accesses of one event put together: a loop over a row is one access of the row.

The machine appends one access a vector load or store to an event; shadow memory needs them only as the ranges that they
make up. TMEM accesses stay as they are, because the pipelined pairs depend on exact rectangles.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from operator import itemgetter

from auditor.footprint import Footprint, footprint, merged
from auditor.trace import Access, Event


def _plain(group: list[Access]) -> list[Access]:
    ranges = merged((a.lo, a.hi) for a in group)
    return group if len(ranges) == len(group) else [replace(group[0], lo=lo, hi=hi) for lo, hi in ranges]


Pieces = tuple[tuple[int, Footprint], ...]  # where footprints begin, from the first one on


_MOST_PIECES = 256  # that are put together: footprints are kept


@lru_cache(maxsize=1024)
def _joined(pieces: Pieces) -> Pieces:
    """Joins lane by lane, then what lies interleaved."""
    rows = _rows(pieces)
    return _interleaved(rows) if 1 < len(rows) <= _MOST_PIECES else rows


def _interleaved(pieces: Pieces) -> Pieces:
    """Puts pieces together whose bounds meet, such as those of a tile with swizzled rows: then they are compared once.

    The lanes' ranges stay as they are, in the order of the pieces.
    """
    parts: list[list[int]] = []
    reach = 0
    for n in sorted(range(len(pieces)), key=lambda n: pieces[n][0]):
        start, lanes = pieces[n]
        if parts and start <= reach:
            parts[-1].append(n)
        else:
            parts.append([n])
        reach = max(reach, start + lanes.size)
    return tuple([_together([pieces[n] for n in sorted(part)]) for part in parts])


def _together(pieces: list[tuple[int, Footprint]]) -> tuple[int, Footprint]:
    if len(pieces) == 1:
        return pieces[0]
    ranges = [entry for start, lanes in pieces for entry in lanes.at(start)]
    return min(start for start, _ in pieces), footprint(sorted(ranges, key=itemgetter(0)))


def _rows(pieces: Pieces) -> Pieces:
    """Joins the ranges of each lane. Only when all lanes come out with the same number of them is the result simple."""
    by_lane: dict[int, list[tuple[int, int]]] = {}
    for start, lanes in pieces:
        for lane, lo, hi in lanes.at(start):
            by_lane.setdefault(lane, []).append((lo, hi))
    ranges = {lane: merged(r) for lane, r in sorted(by_lane.items())}
    counts = {len(r) for r in ranges.values()}
    if len(counts) != 1 or counts.pop() >= len(pieces):
        return pieces
    result = []
    for rows in zip(*ranges.values(), strict=True):
        lanes = footprint([(lane, lo, hi) for lane, (lo, hi) in zip(ranges, rows, strict=True)])
        result.append((min(lo for lo, _ in rows), lanes))
    return tuple(result)


def _by_lane(group: list[Access]) -> list[Access]:
    start = group[0].lo
    pieces = tuple([(a.lo - start, a.lanes) for a in group if a.lanes is not None])
    joined = _joined(pieces)
    if joined is pieces:
        return group
    return [replace(group[0], lo=start + lo, hi=start + lo + lanes.size, lanes=lanes) for lo, lanes in joined]


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
