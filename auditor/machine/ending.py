"""What is only known when a run has ended: leaks, copies that nobody awaited, waits for groups of another thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditor.machine import boxes

if TYPE_CHECKING:
    from auditor.machine.core import Machine


def close(m: Machine) -> None:
    """Facts that are only known at the end."""
    for cta in m.ctas:
        for a in cta.allocations:
            if not a.freed:
                m.incident(
                    "leak",
                    a.where,
                    event=a.event,
                    cta=cta.rank,
                    data={"columns": a.columns, "base": a.base, "deadlocked": not m.trace.complete},
                )
    boxes.settle(m)
    for strand in m.strands:
        strand.release_loads()
        strand.close_memory()
    _used_late(m)
    if not any(i.kind == "budget" or "error" in i.data for i in m.trace.incidents):  # others may not have come that far
        _idle_waits(m)
    if m.trace.complete:
        _unawaited(m)


def _used_late(m: Machine) -> None:
    """Loads whose values were not used before the release that followed.

    An access may stand for several loads, and all that are used at all have to be used before it. Values that nobody
    uses come with those of the same instruction (a float4 of which three members count). If nobody uses any of them,
    more likely their way was lost than that they are loaded for nothing.
    """
    never = False
    for record in m.unused:
        if not record.consumed:
            never = True
            if record.access.consumed is False:
                record.access.consumed = None
    for record in m.unused:
        if record.consumed:
            record.access.consumed = False
    for event in m.trace.events if never else ():
        if event.kind == "ld" and len(event.accesses) > 1:
            read = [a for a in event.accesses if a.space == "shared"]
            if {a.consumed for a in read} == {True, None}:
                for access in read:
                    access.consumed = True


def _unawaited(m: Machine) -> None:
    """Copies whose phase nobody waited for: the bytes may land after the CTA has ended."""
    for bar, record in enumerate(m.trace.barriers):
        last_wait = max((k for k, phase in enumerate(record.phases) if phase["waits"]), default=-1)
        for k, phase in enumerate(record.phases):
            if k > last_wait:
                for copy in phase["copies"]:
                    m.incident(
                        "unawaited_copy",
                        m.trace.events[copy["event"]].where,
                        event=copy["event"],
                        cta=record.cta,
                        data={"bar": bar, "phase": k},
                    )


def _idle_waits(m: Machine) -> None:
    """Group waits by threads that never had a group, while the thread that has some never waits (TS-02)."""
    for where, strand, kind, lanes in m.idle_waits:
        if strand.groups[kind].ever:
            continue
        m.trace.idle_waits.append((where, kind, strand.warp.number, lanes))
        left = [
            o
            for other in m.strands
            if other.warp.cta is strand.warp.cta and kind in other.groups and not other.groups[kind].waited
            for g in [other.groups[kind].open, *other.groups[kind].committed]
            for o in g
            if o.lanes & other.lanes
        ]
        if left:
            m.incident(
                "empty_group_wait",
                where,
                strand,
                lanes=lanes,
                data={"kind": kind},
                related=[(left[0].event.where, "issued here by another thread, which does not wait for it")],
            )
