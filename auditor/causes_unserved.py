"""Reads that came before there was anything to read, in a run that hung.

A thread that does not wait for its data may read it before the copy or the MMA that brings it has even begun. What the
thread does next can order that operation behind the read, so that the two do not race; and as the thread runs ahead,
the kernel may hang at another place. What is wrong is the read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from auditor.graph import Conflict
from auditor.meaning import Meaning
from auditor.trace import Access, Event

if TYPE_CHECKING:
    from auditor.audit import Audit

_PRODUCERS = ("tma.load", "bulk.load", "mma", "mma.ws")
_READERS = ("ld", "tcgen05.ld", "async")


def unserved_read(audit: Audit) -> tuple[Meaning, Conflict] | None:
    """The first read of bytes or columns that nobody had written yet, whose thread waits on no barrier that tells of
    the operation that writes them first."""
    events = audit.trace.events
    waits = {(e.data["bar"], e.warp) for e in events if e.kind == "mbar.wait"}
    commits = {op: e for e in events if e.kind == "commit" for op in e.data["ops"]}
    written: list[tuple[Event, Access]] = [(e, a) for e in events for a in e.accesses if a.write and a.what == "data"]
    first: dict[tuple[object, ...], Event] = {}
    for e in events:
        if e.kind in _READERS:
            for a in e.accesses:
                if not a.write and a.what == "data" and a.space in ("shared", "tmem"):
                    first.setdefault((e.where, a.space, a.cta, a.lo, a.hi), e)
    for (_, space, *_), e in first.items():
        for a in e.accesses:
            if a.write or a.what != "data" or a.space != space:
                continue
            writer = next(((w, other) for w, other in written if _meet(a, other)), None)
            if writer is None or writer[0].id < e.id or writer[0].data.get("instr") not in _PRODUCERS:
                continue
            if not any((bar, _warp(e)) in waits for bar in _told_on(writer[0], commits)):
                meant = Meaning.MMA_RESULT if space == "tmem" else Meaning.READ_EARLY
                return meant, Conflict(*writer, e, a, "order", e.lanes)
    return None


def _told_on(writer: Event, commits: dict[int, Event]) -> Iterator[int]:
    """Barriers that tell of the end of an operation."""
    if isinstance(writer.data.get("bar"), int):
        yield writer.data["bar"]
    if writer.id in commits:
        yield from commits[writer.id].data["bar"]


def _warp(event: Event) -> int:
    return int(event.data.get("warp", -1)) if event.warp < 0 else event.warp


def _meet(a: Access, b: Access) -> bool:
    if a.space != b.space or a.cta != b.cta or a.lo >= b.hi or b.lo >= a.hi:
        return False
    return a.space != "tmem" or (a.lane_lo < b.lane_hi and b.lane_lo < a.lane_hi)
