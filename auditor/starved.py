"""Runs that hang because threads that wait for nothing had run through before there was anything to read.

The schedule of an audit lets a strand go on until it blocks. Where a wait for data is missing, a consumer goes through
all its rounds before the producer has begun, and what it tells the producer on the way lets that one hang before its
first copy: nothing in the run shows what the reads lack. With those threads slow, it does.
"""

from __future__ import annotations

from auditor.trace import Access, Trace


def starved(trace: Trace) -> frozenset[int]:
    """Warps that read shared memory in which the whole run writes nothing, when the run hung."""
    if not any(incident.kind == "deadlock" for incident in trace.incidents):
        return frozenset()
    written = _Written(trace)
    return frozenset(e.warp for e in trace.events if e.kind == "ld" and any(map(written.lacks, e.accesses)))


def served(trace: Trace, warps: frozenset[int]) -> bool:
    """Whether something writes what those warps read, in another run."""
    written = _Written(trace)
    reads = [a for e in trace.events if e.kind == "ld" and e.warp in warps for a in e.accesses if _is_data(a)]
    return bool(reads) and not any(map(written.lacks, reads))


class _Written:
    """The bytes of shared memory that a run writes, by CTA."""

    def __init__(self, trace: Trace) -> None:
        self._ranges: dict[int, set[tuple[int, int]]] = {}
        for event in trace.events:
            for access in event.accesses:
                if access.write and _is_data(access):
                    self._ranges.setdefault(access.cta, set()).add((access.lo, access.hi))

    def lacks(self, access: Access) -> bool:
        """Whether nothing of what is read is ever written."""
        if access.write or not _is_data(access):
            return False
        return not any(lo < access.hi and access.lo < hi for lo, hi in self._ranges.get(access.cta, ()))


def _is_data(access: Access) -> bool:
    return access.space == "shared" and access.what == "data"
