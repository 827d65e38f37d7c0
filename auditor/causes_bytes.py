"""Bytes of copies whose tensor map is not known, as in a kernel without host code.

The machine takes such copies to bring what their phase expects, so that a wrong expectation has no consequence there.
Two things show it all the same: more bytes are expected than the copies have room for, and what the readers use is the
data of all copies, while the expectation is that of some of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from auditor.trace import Access, Event

if TYPE_CHECKING:
    from auditor.audit import Audit

UNKNOWN = 1 << 62  # bytes: nothing bounds a copy
MOST_COPIES = 6  # of one phase, for which the sums of all choices are tried


def assumed(copies: Iterable[Event]) -> int:
    """Bytes that copies were taken to bring."""
    return sum(int(e.data.get("assumed_bytes") or 0) for e in copies)


def bytes_read(audit: Audit, copies: Sequence[Event]) -> list[int]:
    """For each of the copies into one CTA the bytes of its destination that are read in the run; none where these are
    not all the copies' own."""
    targets = [[a for a in e.accesses if a.write and a.space == "shared" and a.what == "data"] for e in copies]
    if any(len(t) != 1 or e.data.get("copies", 1) != 1 for t, e in zip(targets, copies)):
        return []  # multicast: other CTAs bring a part
    if any(t[0].cta != targets[0][0].cta for t in targets):
        return []
    cta = targets[0][0].cta
    marks = _beginnings(audit, cta)
    spans = [(t.lo, next((s for s in marks if s > t.lo), t.hi)) for (t,) in targets]
    if len(set(spans)) < len(spans):
        return []
    read: list[list[tuple[int, int]]] = [[] for _ in spans]
    lowest, highest = min(lo for lo, _ in spans), max(hi for _, hi in spans)
    for e in audit.trace.events:
        for a in e.accesses:
            if a.lo >= highest or a.hi <= lowest or not _is_data(a, cta) or (a.write and "assumed_bytes" in e.data):
                continue
            for span, found in zip(spans, read):
                if a.lo < span[1] and span[0] < a.hi:
                    if a.write:
                        return []
                    found.extend(_within(a, *span))
    return [_length(found) for found in read]


def _beginnings(audit: Audit, cta: int) -> list[int]:
    """Where something that is written begins in the shared memory of a CTA, ascending: data or an mbarrier."""
    found = {b.offset for b in audit.trace.barriers if b.cta == cta}
    found |= {a.lo for e in audit.trace.events for a in e.accesses if _is_data(a, cta) and a.write}
    return sorted(found)


def capacity(audit: Audit, copies: Sequence[Event]) -> int:
    """Bytes that copies can bring at most without one of their kind writing into the place of another: the sum of the
    least distances from where those of one place in the code land to the next landing of any of them."""
    if any(e.data.get("copies", 1) != 1 for e in copies):
        return UNKNOWN  # multicast: other CTAs bring a part
    kinds = {e.where for e in copies}
    starts: dict[int, dict[int, set[object]]] = {}
    for e in audit.trace.events:
        if "assumed_bytes" in e.data and e.where in kinds:
            for a in e.accesses:
                if a.write and a.space == "shared" and a.what == "data":
                    starts.setdefault(a.cta, {}).setdefault(a.lo, set()).add(e.where)
    room: dict[object, int] = {}
    for landings in starts.values():
        for lo, hi in pairwise(sorted(landings)):
            for where in landings[lo]:
                room[where] = min(room.get(where, hi - lo), hi - lo)
    return sum(room.get(e.where, UNKNOWN) for e in copies)


def sum_of_some(total: int, parts: Sequence[int]) -> bool:
    """Whether a total is the sum of some, but not all, of the parts."""
    if len(parts) > MOST_COPIES or 0 in parts:
        return False
    return any(total == sum(some) for n in range(1, len(parts)) for some in combinations(parts, n))


def _is_data(a: Access, cta: int) -> bool:
    return a.space == "shared" and a.what == "data" and a.cta == cta


def _within(a: Access, lo: int, hi: int) -> Iterable[tuple[int, int]]:
    ranges = [(x, y) for _, x, y in a.by_lane()] or [(a.lo, a.hi)]
    return [(max(x, lo), min(y, hi)) for x, y in ranges if x < hi and lo < y]


def _length(ranges: list[tuple[int, int]]) -> int:
    """Bytes that ranges cover together."""
    total = end = 0
    for lo, hi in sorted(ranges):
        total += max(0, hi - max(lo, end))
        end = max(end, hi)
    return total
