"""Which synchronisation a race lacks.

Two places that race do so in both directions, in one run or another: the copy of the next round meets the read of this
one, and the read meets the copy. Each pair of places keeps the direction that names the missing synchronisation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from auditor.causes_tensor import place_of, sort_tensor
from auditor.graph import Conflict
from auditor.meaning import Meaning, meaning
from auditor.source import Stack
from auditor.trace import Access, Event

if TYPE_CHECKING:
    from auditor.audit import Audit

Meant = tuple[Meaning, Conflict]

# A missing barrier between these also leaves lanes of one warp, or a proxy, unordered: that is told once.
_STRONGER_THAN_LANES = frozenset((Meaning.REFILL, Meaning.DATA_RACE, Meaning.STORE_SOURCE, Meaning.OVERWRITE))
_STRONGER_THAN_PROXY = frozenset((Meaning.REFILL, Meaning.READ_EARLY, Meaning.NO_SYNCWARP))


def place(m: Meaning, c: Conflict) -> Stack:
    """Where a conflict is reported: the access that came too early, or the operation that was not waited for."""
    return place_of(m, c) or c.second.where or c.first.where


def sorted_out(audit: Audit) -> list[Meant]:
    """The conflicts of an audit with their meanings, one direction a pair of places."""
    races = _Races(audit)
    out = [kept for m, c in races.all if (kept := races.keep(m, c)) is not None]
    told = {place(m, c) for m, c in out if m is Meaning.REFILL}
    early = races.early | {place(m, c) for m, c in out if m is Meaning.READ_EARLY}
    # Copies that overlap follow from a stage that is refilled too early, or read without a wait.
    rest = [(m, c) for m, c in out if not (m is Meaning.OVERLAPPING_COPIES and (early or c.second.where in told))]
    return sort_tensor(audit, rest)


class _Races:
    def __init__(self, audit: Audit) -> None:
        self.audit = audit
        self.all: list[Meant] = _without_stragglers(
            [(m, c) for c in audit.hb.conflicts if (m := meaning(c)) is not None]
        )
        self.between: dict[tuple[Stack, Stack], set[Meaning]] = {}
        for m, c in self.all:
            for pair in ((c.first.where, c.second.where), (c.second.where, c.first.where)):
                self.between.setdefault(pair, set()).add(m)
        # Reads that no earlier copy could have served: these come too early, whatever else races with them.
        self.early = {
            c.second.where
            for m, c in self.all
            if m is Meaning.READ_EARLY and (c.first.data.get("bar") is None or not self._holds_older_data(c))
        }
        self.raced: set[frozenset[Stack]] = set()

    def keep(self, m: Meaning, c: Conflict) -> Meant | None:
        """A conflict as it is to be told, or None when another one tells it."""
        here = self.between[c.first.where, c.second.where]
        if m is Meaning.READ_EARLY and c.second.where not in self.early:
            # The bytes held data that was waited for: it is the new copy that came too early.
            return None if here & {Meaning.REFILL, Meaning.NO_SYNCWARP} else (Meaning.REFILL, _turned(c))
        if m in (Meaning.REFILL, Meaning.NO_SYNCWARP) and c.first.where in self.early:
            return None
        if m is Meaning.NO_SYNCWARP:
            return None if here & _STRONGER_THAN_LANES else (m, c)
        if m is Meaning.DATA_RACE:
            return self._data_race(c)
        if m in (Meaning.STORE_SOURCE, Meaning.OVERWRITE):
            return None if Meaning.DATA_RACE in here and not self._next_write(c) else (m, c)
        if m is Meaning.OVERLAPPING_COPIES:
            return None if self.early and c.first.where == c.second.where else (m, c)
        if m is Meaning.PROXY_WAR:
            return None if here & _STRONGER_THAN_PROXY else (m, c)
        if m is Meaning.PROXY:
            return None if Meaning.DATA_RACE in here else (m, c)
        return m, c

    def _data_race(self, c: Conflict) -> Meant | None:
        if c.second.kind == "async" and c.first_access.write and self._wrote_before(c):
            # The operation reads what this thread wrote earlier: it is the next write that comes too early.
            stores = str(c.second.data["instr"]).endswith(("store", "reduce"))
            return (Meaning.STORE_SOURCE if stores else Meaning.OVERWRITE), _turned(c)
        pair = frozenset((c.first.where, c.second.where))
        if pair in self.raced:
            return None
        self.raced.add(pair)
        return Meaning.DATA_RACE, c

    def _next_write(self, c: Conflict) -> bool:
        """Whether the race in the other direction is the next write's, too."""
        return any(
            o.first.where == c.second.where and o.second.where == c.first.where and self._wrote_before(o)
            for m, o in self.all
            if m is Meaning.DATA_RACE
        )

    def _wrote_before(self, c: Conflict) -> bool:
        """Whether the writer of a conflict already wrote there, at the same place in the code, in order."""
        return any(
            e.warp == c.first.warp
            and e.where == c.first.where
            and _touches(e, c.first_access)
            and self.audit.hb.ordered(e.id, c.second.id)
            for e in self.audit.trace.events[: c.first.id]
        )

    def _holds_older_data(self, c: Conflict) -> bool:
        """Whether the reader of a conflict had an earlier, landed copy in these bytes."""
        return any(
            e.kind == "async" and _touches(e, c.second_access, write=True) and self.audit.hb.ordered(e.id, c.second.id)
            for e in self.audit.trace.events[: c.first.id]
        )


def _turned(c: Conflict) -> Conflict:
    """The same two accesses in the other order."""
    return replace(c, first=c.second, first_access=c.second_access, second=c.first, second_access=c.first_access)


def reads_nothing(audit: Audit) -> bool:
    """Whether something reads, in good order, the place of a copy's data before anyone has written there."""
    written: dict[tuple[int, int, int], int] = {}
    copied: set[tuple[int, int, int]] = set()
    for e in audit.trace.events:
        for a in e.accesses:
            if a.space == "shared" and a.what == "data" and a.write:
                written.setdefault((a.cta, a.lo, a.hi), e.id)
                if e.kind == "async":
                    copied.add((a.cta, a.lo, a.hi))
    seen: set[tuple[int, int, int]] = set()
    for e in audit.trace.events:
        for a in e.accesses:
            key = (a.cta, a.lo, a.hi)
            if a.space != "shared" or a.what != "data" or a.write or key in seen:
                continue
            seen.add(key)
            if any(_meet(key, other) for other in copied) and all(
                n >= e.id for other, n in written.items() if _meet(key, other)
            ):
                return True
    return False


def _meet(a: tuple[int, int, int], b: tuple[int, int, int]) -> bool:
    return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]


def _without_stragglers(conflicts: list[Meant]) -> list[Meant]:
    """Leaves out what follows from a missing ``__syncwarp``: lanes that were left behind once are behind in every round
    that follows, and then nothing at all orders what they do."""
    behind: dict[tuple[Stack, Stack], tuple[int, int]] = {}
    for m, c in conflicts:
        if m is Meaning.NO_SYNCWARP:
            behind.setdefault((c.first.where, c.second.where), (c.first.id, c.lanes))
    out = []
    for m, c in conflicts:
        start, lanes = behind.get((c.first.where, c.second.where), (c.first.id, 0))
        if m in _STRONGER_THAN_LANES and start < c.first.id and not c.first.lanes & ~lanes:
            continue
        out.append((m, c))
    return out


def _touches(event: Event, access: Access, *, write: bool = False) -> bool:
    """Whether an event touches (or writes) some of the bytes of an access."""
    return any(
        (a.write or not write)
        and a.space == access.space
        and a.cta == access.cta
        and a.lo < access.hi
        and access.lo < a.hi
        for a in event.accesses
    )
