"""Sorts out conflicts in tensor memory: which of two symptoms of one fault names what is missing.

Two places that race do so in both directions, in one run or another: a load may meet the MMA of its own tile before it
(the result was not waited for), or that of the next tile (the accumulator was not free). Which of the two it is follows
from what the load had a right to read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditor.graph import Conflict
from auditor.meaning import Meaning
from auditor.source import Stack
from auditor.trace import Access, Event

if TYPE_CHECKING:
    from auditor.audit import Audit

Sorted = list[tuple[Meaning, Conflict]]

_TMEM = frozenset(
    (
        Meaning.MMA_RESULT,
        Meaning.ACCUMULATOR,
        Meaning.LOAD_PENDING,
        Meaning.STORE_PENDING,
        Meaning.TMEM_OVERLAP,
        Meaning.DEALLOC,
        Meaning.ALLOC_UNPUBLISHED,
    )
)
_PENDING = (Meaning.LOAD_PENDING, Meaning.STORE_PENDING)


def sort_tensor(audit: Audit, conflicts: Sorted) -> Sorted:
    """The conflicts, with those of tensor memory renamed where the order of the run misleads, and each once."""
    if not any(m in _TMEM for m, _ in conflicts):
        return conflicts
    # A load or store without its wait stays a danger for whatever comes next: its own conflicts tell nothing more.
    unwaited = {c.first.where for m, c in conflicts if m in _PENDING}
    empty = {
        bar for i in audit.incidents("empty_commit") if i.event is not None for bar in audit.event(i.event).data["bar"]
    }
    several = any(audit.incidents("multi_issue"))
    out: Sorted = []
    unfinished: set[Stack] = set()
    for m, c in conflicts:
        if m not in _TMEM or m in _PENDING:
            out.append((m, c))
            continue
        if m is Meaning.ALLOC_UNPUBLISHED and _allocated_before(audit, c):
            continue
        if (c.first.where in unwaited or c.second.where in unwaited) and m is not Meaning.ALLOC_UNPUBLISHED:
            continue
        operation = c.first.kind == "async"
        if operation and (several or (empty and _trusts(audit, c, empty))):
            unfinished.add(c.first.where)
            continue
        if m in (Meaning.MMA_RESULT, Meaning.ACCUMULATOR):
            m = _result_or_overwrite(audit, c)
            if m is Meaning.MMA_RESULT and operation:
                unfinished.add(c.first.where)
        out.append((m, c))
    places = {(m, place_of(m, c)) for m, c in out}
    shifted = {
        where
        for m, c in out
        if m is Meaning.TMEM_OVERLAP
        and c.first.kind == c.second.kind == "async"
        and (c.first_access.lo, c.first_access.hi) != (c.second_access.lo, c.second_access.hi)
        for where in (c.first.where, c.second.where)
    }

    def follows(m: Meaning, c: Conflict) -> bool:
        if m is Meaning.DEALLOC:  # an MMA whose result nobody waits for is still under way at everything that comes
            return c.first.kind == "async" and c.first.where in unfinished
        if m in (Meaning.MMA_RESULT, Meaning.ACCUMULATOR):  # accumulators that lie over one another
            return (c.first if c.first.kind == "async" else c.second).where in shifted
        return m is Meaning.TMEM_OVERLAP and _reverse_told(c, places)

    return [(m, c) for m, c in out if not follows(m, c)]


def _allocated_before(audit: Audit, c: Conflict) -> bool:
    """Whether a use of columns follows an allocation after all: of a pair the part of one CTA.

    The two warps of a pair allocate together (PTX ISA 9.7.16.7.1), so that one of them has done it when the other has.
    """
    alloc, use = (c.second, c.first) if c.second.kind == "tcgen05.alloc" else (c.first, c.second)
    issuer = audit.event(use.data["issuer"]) if use.kind == "async" else use
    if c.first_access.space != "tmem":
        return False
    return any(
        _behind(audit, e, issuer)
        for e in audit.trace.events
        if e.kind == "tcgen05.alloc"
        and (e is alloc or (e.data["group"] == alloc.data["group"] == 2 and e.data["base"] == alloc.data["base"]))
    )


def _behind(audit: Audit, alloc: Event, event: Event) -> bool:
    """Whether an event follows an allocation. The whole warp allocates at once: what one of its lanes does later is
    behind the operation of all."""
    if audit.hb.ordered(alloc.id, event.id):
        return True
    return any(
        e.warp == alloc.warp
        and e.time > alloc.time
        and e.lanes & alloc.lanes
        and (e is event or audit.hb.ordered(e.id, event.id))
        for e in audit.trace.events[alloc.id + 1 : event.id + 1]
    )


def place_of(m: Meaning, c: Conflict) -> Stack:
    """Where a conflict in tensor memory is reported: the access that came too early or too late, in whatever order the
    run made them."""
    if m in _PENDING:
        return c.first.where
    if m is Meaning.DEALLOC:
        return c.first.where if c.first.kind == "tcgen05.dealloc" else c.second.where
    if m is Meaning.ALLOC_UNPUBLISHED:
        return c.first.where if c.second.kind == "tcgen05.alloc" else c.second.where
    if m in (Meaning.MMA_RESULT, Meaning.ACCUMULATOR):
        loads = c.second.kind == "tcgen05.ld"
        return c.second.where if loads == (m is Meaning.MMA_RESULT) else c.first.where
    return c.second.where


def _reverse_told(c: Conflict, places: set[tuple[Meaning, Stack]]) -> bool:
    """Whether the same pair is told as a write over a read: then the read before the write adds nothing."""
    reads = c.first_access.write and not c.second_access.write and c.second.kind == "tcgen05.ld"
    return reads and c.first.kind != "async" and (Meaning.TMEM_OVERLAP, c.first.where) in places


def _trusts(audit: Audit, c: Conflict, empty: set[int]) -> bool:
    """Whether the second side relied on a barrier that got the arrival of a commit which covered nothing, or the first
    is covered by no commit at all."""
    if any(e.kind == "mbar.wait" and e.data["bar"] in empty for e in audit.hb.acquires_before(c.second, 16)):
        return True
    return not any(e.kind == "commit" and c.first.id in e.data["ops"] for e in audit.trace.events[c.first.id :])


def _result_or_overwrite(audit: Audit, c: Conflict) -> Meaning:
    """MMA_RESULT when the load is early for the MMA, ACCUMULATOR when the MMA is early for the load: the load had the
    result of an earlier round in these columns."""
    mma, load, access = (
        (c.first, c.second, c.second_access) if c.second.kind == "tcgen05.ld" else (c.second, c.first, c.first_access)
    )
    generation = 0
    earlier: list[tuple[int, Event]] = []
    for e in audit.trace.events[: mma.id + 1]:
        if not any(_clashes(a, access) for a in e.accesses):
            continue
        if e.kind == "async":
            if e.data.get("accumulate") == 0:
                generation += 1
            earlier.append((generation, e))
        elif e.kind == "tcgen05.st":
            generation += 1
            earlier.append((generation, e))
    own = earlier[-1][0] if earlier else 0
    for number, e in earlier:
        older = number < own or (e.kind == "tcgen05.st" and load.id < mma.id)
        if e.id != mma.id and older and audit.hb.ordered(e.id, load.id):
            return Meaning.ACCUMULATOR
    return Meaning.MMA_RESULT


def _clashes(a: Access, b: Access) -> bool:
    return (
        a.space == "tmem"
        and a.write
        and a.what == "data"
        and a.cta == b.cta
        and a.lo < b.hi
        and b.lo < a.hi
        and a.lane_lo < b.lane_hi
        and b.lane_lo < a.lane_hi
    )
