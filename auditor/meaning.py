"""What a conflict means: which two kinds of use met, and what should have kept them apart."""

from __future__ import annotations

from enum import Enum

from auditor.graph import Conflict
from auditor.trace import Access, Event


class Meaning(str, Enum):
    """Every conflict of the graph has one of these."""

    READ_EARLY = "read-early"  # a copy's data read before it landed
    REFILL = "refill"  # a copy writes what is still being read
    OVERWRITE = "overwrite"  # threads write what an asynchronous operation still uses
    STORE_SOURCE = "store-source"  # threads write the source of a bulk store in flight
    OVERLAPPING_COPIES = "overlapping-copies"
    NO_SYNCWARP = "no-syncwarp"
    DATA_RACE = "data-race"
    PROXY = "proxy"
    PROXY_WAR = "proxy-war"
    INIT_UNPUBLISHED = "init-unpublished"
    PEER_EARLY = "peer-early"
    REINIT = "reinit"
    BARRIER_MEMORY = "barrier-memory"
    MMA_RESULT = "mma-result"  # accumulator read before the MMA completed
    ACCUMULATOR = "accumulator"  # MMA writes what is still being read
    LOAD_PENDING = "load-pending"  # tcgen05.ld not waited for
    STORE_PENDING = "store-pending"  # tcgen05.st not waited for
    TMEM_OVERLAP = "tmem-overlap"
    DEALLOC = "dealloc"
    ALLOC_UNPUBLISHED = "alloc-unpublished"


# Meanings that are order conflicts proper; a corrected run has to be free of them.
ORDER = frozenset(m for m in Meaning if m not in (Meaning.PROXY, Meaning.PROXY_WAR))


def meaning(c: Conflict) -> Meaning | None:
    """The meaning of a conflict."""
    a, b = c.first_access, c.second_access
    if c.missing == "proxy":
        return Meaning.PROXY
    if c.missing == "proxy-war":
        return Meaning.PROXY_WAR
    if a.what == "mbarrier" or b.what == "mbarrier":
        return _object(c)
    if a.space == "tmem":
        return _tmem(c)
    if a.space == "shared":
        return _shared(c)
    return None  # global memory: flags and results, not modelled closely enough to judge


def same_store(c: Conflict) -> bool:
    """Whether all threads write the same variable at the same place, usually with the same value."""
    a, b = c.first_access, c.second_access
    return c.first.where == c.second.where and a.write and b.write and a.lanes is None and b.lanes is None


def _object(c: Conflict) -> Meaning | None:
    a, b = c.first_access, c.second_access
    if a.what != b.what:
        return Meaning.BARRIER_MEMORY
    if c.first.kind in ("mbar.init", "mbar.inval") and c.second.kind in ("mbar.init", "mbar.inval"):
        return Meaning.REINIT
    if c.first.kind == "mbar.init":
        return Meaning.PEER_EARLY if _cta(c.second) != a.cta else Meaning.INIT_UNPUBLISHED
    return Meaning.REINIT


def _cta(event: Event) -> int:
    """The CTA whose thread an event is by: that of the issuer for a copy into another CTA."""
    return int(event.data.get("source_cta", event.cta))


def _asynchronous(event: Event) -> bool:
    return event.kind == "async"


def _copies(event: Event, access: Access) -> bool:
    """A copy that fills shared memory."""
    return _asynchronous(event) and access.write and access.space == "shared"


def _shared(c: Conflict) -> Meaning:
    a, b = c.first_access, c.second_access
    first_copy, second_copy = _copies(c.first, a), _copies(c.second, b)
    if (c.first.kind == "tcgen05.alloc" and not b.write) or (c.second.kind == "tcgen05.alloc" and not a.write):
        return Meaning.ALLOC_UNPUBLISHED
    if first_copy and second_copy:
        return Meaning.OVERLAPPING_COPIES
    if first_copy:
        return Meaning.OVERWRITE if b.write else Meaning.READ_EARLY
    if c.missing == "lane" and not _asynchronous(c.first) and c.first.warp != _warp(c.second):
        return Meaning.NO_SYNCWARP
    if second_copy:
        return Meaning.REFILL
    if _asynchronous(c.first) and b.write:
        return Meaning.STORE_SOURCE if str(c.first.data["instr"]).endswith(("store", "reduce")) else Meaning.OVERWRITE
    return Meaning.DATA_RACE


def _warp(event: Event) -> int:
    """The warp that executed an event, or issued it."""
    return int(event.data.get("warp", -1)) if event.warp < 0 else event.warp


def _tmem(c: Conflict) -> Meaning:
    a, b = c.first_access, c.second_access
    if b.what == "alloc":
        if c.first.kind == "tcgen05.alloc" or c.second.kind == "tcgen05.alloc":
            return Meaning.DEALLOC
        waited = {"tcgen05.ld": Meaning.LOAD_PENDING, "tcgen05.st": Meaning.STORE_PENDING}
        return waited.get(c.first.kind, Meaning.DEALLOC) if c.pending else Meaning.DEALLOC
    if a.what == "alloc":
        return Meaning.ALLOC_UNPUBLISHED if c.first.kind == "tcgen05.alloc" else Meaning.DEALLOC
    if c.first.kind == "tcgen05.ld":
        if c.pending:
            return Meaning.LOAD_PENDING
        return Meaning.ACCUMULATOR if _asynchronous(c.second) else Meaning.TMEM_OVERLAP
    if c.first.kind == "tcgen05.st":
        return Meaning.STORE_PENDING if c.pending else Meaning.TMEM_OVERLAP
    if a.write and not b.write and c.second.kind == "tcgen05.ld":
        return Meaning.MMA_RESULT
    return Meaning.TMEM_OVERLAP
