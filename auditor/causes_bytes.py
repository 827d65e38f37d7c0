"""Bytes of copies whose tensor map is not known, as in a kernel without host code.

The machine takes such copies to bring what their phase expects, so that a wrong expectation has no consequence there.
Two things show it all the same: more bytes are expected than the copies have room for, and what the readers use is the
data of all copies, while the expectation is that of some of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from auditor.footprint import Footprint
from auditor.source import Stack
from auditor.trace import Event

if TYPE_CHECKING:
    from auditor.audit import Audit

UNKNOWN = 1 << 62  # bytes: nothing bounds a copy
MOST_COPIES = 6  # of one phase, for which the sums of all choices are tried


def assumed(copies: Iterable[Event]) -> int:
    """Bytes that copies were taken to bring."""
    return sum(int(e.data.get("assumed_bytes") or 0) for e in copies)


class Landings:
    """Where the copies of unknown size land in a run, and what else touches shared memory. Looked up once a run, as the
    questions are asked for every barrier."""

    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    def read(self, copies: Sequence[Event]) -> list[int]:
        """For each of some copies into one CTA the bytes of its destination that are read in the run; none where these
        are not all the copies' own."""
        targets = [[a for a in e.accesses if a.write and a.space == "shared" and a.what == "data"] for e in copies]
        if any(len(t) != 1 or e.data.get("copies", 1) != 1 for t, e in zip(targets, copies)):
            return []  # multicast: other CTAs bring a part
        if any(t[0].cta != targets[0][0].cta for t in targets):
            return []
        cta = targets[0][0].cta
        marks = self._beginnings.get(cta, [])
        spans = [(t.lo, marks[n] if (n := bisect_right(marks, t.lo)) < len(marks) else t.hi) for (t,) in targets]
        if len(set(spans)) < len(spans):
            return []
        if any(lo < end and start < hi for lo, hi in self._written.get(cta, ()) for start, end in spans):
            return []
        read: list[list[tuple[int, int]]] = [[] for _ in spans]
        for (start, end), found in zip(spans, read):
            for lo, hi, lanes in self._read.get(cta, ()):
                if lo < end and start < hi:
                    found.extend(_within(lo, hi, lanes, start, end))
        return [_length(found) for found in read]

    def room(self, copies: Sequence[Event]) -> int:
        """Bytes that copies can bring at most without one of their kind writing into the place of another: the sum of
        the least distances from where those of one place in the code land to the next landing of any of them."""
        if any(e.data.get("copies", 1) != 1 for e in copies):
            return UNKNOWN  # multicast: other CTAs bring a part
        starts: dict[int, dict[int, set[Stack]]] = {}
        for where in {e.where for e in copies}:
            for cta, lo in self._landed.get(where, ()):
                starts.setdefault(cta, {}).setdefault(lo, set()).add(where)
        room: dict[Stack, int] = {}
        for landings in starts.values():
            for lo, hi in pairwise(sorted(landings)):
                for where in landings[lo]:
                    room[where] = min(room.get(where, hi - lo), hi - lo)
        return sum(room.get(e.where, UNKNOWN) for e in copies)

    @cached_property
    def _landed(self) -> dict[Stack, set[tuple[int, int]]]:
        """CTA and first byte of every landing of a copy of unknown size, by the place of the copy."""
        found: dict[Stack, set[tuple[int, int]]] = {}
        for e in self._audit.of_kind("async"):
            if "assumed_bytes" in e.data:
                found.setdefault(e.where, set()).update(
                    (a.cta, a.lo) for a in e.accesses if a.write and a.space == "shared" and a.what == "data"
                )
        return found

    @cached_property
    def _data(self) -> set[tuple[int, bool, int, int, Footprint | None, bool]]:
        """The accesses to data in shared memory, those alike once: CTA, write, range, lanes, of a copy of unknown
        size."""
        return {
            (a.cta, a.write, a.lo, a.hi, a.lanes, "assumed_bytes" in e.data)
            for e in self._audit.trace.events
            if e.accesses
            for a in e.accesses
            if a.what == "data" and a.space == "shared"
        }

    @cached_property
    def _beginnings(self) -> dict[int, list[int]]:
        """Where something that is written begins in the shared memory of each CTA, ascending: data or an mbarrier."""
        found: dict[int, set[int]] = {}
        for b in self._audit.trace.barriers:
            found.setdefault(b.cta, set()).add(b.offset)
        for cta, write, lo, *_ in self._data:
            if write:
                found.setdefault(cta, set()).add(lo)
        return {cta: sorted(places) for cta, places in found.items()}

    @cached_property
    def _written(self) -> dict[int, set[tuple[int, int]]]:
        """The bytes of each CTA that anything else than a copy of unknown size writes."""
        found: dict[int, set[tuple[int, int]]] = {}
        for cta, write, lo, hi, _, assumed_size in self._data:
            if write and not assumed_size:
                found.setdefault(cta, set()).add((lo, hi))
        return found

    @cached_property
    def _read(self) -> dict[int, list[tuple[int, int, Footprint | None]]]:
        """What is read of each CTA, by which lanes."""
        found: dict[int, list[tuple[int, int, Footprint | None]]] = {}
        for cta, write, lo, hi, lanes, _ in self._data:
            if not write:
                found.setdefault(cta, []).append((lo, hi, lanes))
        return found


def sum_of_some(total: int, parts: Sequence[int]) -> bool:
    """Whether a total is the sum of some, but not all, of the parts."""
    if len(parts) > MOST_COPIES or 0 in parts:
        return False
    return any(total == sum(some) for n in range(1, len(parts)) for some in combinations(parts, n))


def _within(lo: int, hi: int, lanes: Footprint | None, start: int, end: int) -> list[tuple[int, int]]:
    """What lanes that touch bytes from ``lo`` to ``hi`` touch of some bytes."""
    ranges = [(x, y) for _, x, y in lanes.at(lo)] if lanes is not None else [(lo, hi)]
    return [(max(x, start), min(y, end)) for x, y in ranges if x < end and start < y]


def _length(ranges: list[tuple[int, int]]) -> int:
    """Bytes that ranges cover together."""
    total = end = 0
    for lo, hi in sorted(ranges):
        total += max(0, hi - max(lo, end))
        end = max(end, hi)
    return total
