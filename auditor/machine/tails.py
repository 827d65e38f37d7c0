"""Whether a kernel deals with a part that is smaller than the others: a problem that is no multiple of its tiles.

Many kernels are made for whole tiles, which their callers see to. So a run with such a problem says something only
where the kernel itself made a copy smaller than it ever is in a problem of whole tiles.
"""

from __future__ import annotations

from auditor.trace import Trace

_BULK = ("bulk.load", "bulk.store", "bulk.reduce", "bulk.dsmem")


def smallest_copies(trace: Trace) -> dict[object, int]:
    """Bytes of the smallest bulk copy at each place."""
    found: dict[object, int] = {}
    for event in trace.events:
        size = event.data.get("bytes")
        if event.data.get("instr") in _BULK and isinstance(size, int):
            found[event.where] = min(size, found.get(event.where, size))
    return found


def cuts_copies(whole: Trace, trace: Trace) -> bool:
    """Whether a run makes a copy smaller than the ``whole`` one does at that place."""
    known = smallest_copies(whole)
    return any(size < known.get(place, 0) for place, size in smallest_copies(trace).items())
