"""Which barriers are stages of one array, and what the array is called.

Names come from the operands in the source. Where code gives only offsets, or one array holds barriers of several parts,
the run tells: what one expression addresses is one array, and neighbours that other threads arrive on or wait for are
not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from auditor.source import Stack

if TYPE_CHECKING:
    from auditor.reports.facts import Facts

Site = tuple[Stack, str]  # a place in the source, and the expression there
Who = frozenset[tuple[int, int]]  # warps: (CTA, warp)


@dataclass
class Group:
    """Barriers that play one part: an array of stages, in each CTA of the cluster.

    ``stages``: for each stage, the indices into ``Trace.barriers`` (one a CTA, in order of rank).
    """

    name: str
    stages: list[list[int]]
    offsets: list[int] = field(default_factory=list)

    @property
    def bars(self) -> list[int]:
        return [bar for stage in self.stages for bar in stage]

    def label(self) -> str:
        """The name with the number of stages: ``full[4]``."""
        return f"{self.name}[{len(self.stages)}]" if len(self.stages) > 1 else self.name


@dataclass
class _Barrier:
    """One offset: ``called`` by uses, ``sites`` of them, the kinds of arrivals, and who arrives and waits.

    ``symbol``: the name that the source gives to this address.
    """

    offset: int
    bars: list[int]
    init: Stack
    counts: frozenset[int]
    called: set[str]
    sites: set[Site]
    kinds: frozenset[str]
    arriving: Who
    waiting: Who
    symbol: str = ""

    @property
    def used(self) -> bool:
        return bool(self.sites)


def group_barriers(facts: Facts) -> list[Group]:
    """Barriers in groups, in the order of their addresses. No two groups have the same name."""
    by_offset: dict[int, list[int]] = {}
    for n, barrier in enumerate(facts.trace.barriers):
        by_offset.setdefault(barrier.offset, []).append(n)
    families: dict[str, list[_Barrier]] = {}
    for offset in sorted(by_offset):
        bars = by_offset[offset]
        first = facts.trace.barriers[bars[0]]
        name = facts.operand(facts.trace.events[first.init_event]) or first.name
        families.setdefault(name, []).append(_barrier(facts, offset, bars))
    _give_symbols(facts, families)
    found: list[Group] = []
    for name, members in families.items():
        parts = _parts(members, name)
        for part in parts:
            called = Counter(c for b in part for c in sorted(b.called))
            label = name
            if len(parts) > 1:
                own = [c for c, _ in called.most_common() if c != name] or [b.symbol for b in part if b.symbol]
                label = own[0] if own else _place(facts, part[0].bars[0], len(part))
            found.append(Group(label, [b.bars for b in part], [b.offset for b in part]))
    return _distinct(facts, sorted(found, key=lambda g: g.offsets[0]))


def _place(facts: Facts, bar: int, stages: int) -> str:
    """What findings call a barrier; an array goes without the index of its first."""
    name = facts.trace.barriers[bar].name
    return name.removesuffix("[0]") if stages > 1 else name


def _give_symbols(facts: Facts, families: dict[str, list[_Barrier]]) -> None:
    """Names of addresses, where they do not contradict those by which the run calls the barriers."""
    every = sorted((b for members in families.values() for b in members), key=lambda b: b.offset)
    inits = [facts.trace.events[facts.trace.barriers[b.bars[0]].init_event] for b in every]
    seen = {(facts.expression(e), b.offset) for e, b in zip(inits, every)}
    seen |= {(expression, b.offset) for b in every for _, expression in b.sites}
    lowest: dict[str, int] = {}
    for b in every:
        for name in b.called:
            lowest.setdefault(name, b.offset)
    seen |= set(lowest.items())
    starts = facts.symbols.starts(seen)
    current = ""
    for b in every:
        current = starts.get(b.offset, current)
        if b.called & set(starts.values()) and current not in b.called:
            return
    for b in every:
        b.symbol = starts.get(b.offset, "")


def _distinct(facts: Facts, found: list[Group]) -> list[Group]:
    """Groups that would have one name are called by where their first barrier lies, too."""
    times = Counter(g.name for g in found)
    for g in found:
        where = _place(facts, g.stages[0][0], len(g.stages))
        if times[g.name] > 1 and g.name != where:
            g.name = f"{g.name} at {where}"
    return found


def _barrier(facts: Facts, offset: int, bars: list[int]) -> _Barrier:
    trace = facts.trace
    arrivals = [e for bar in bars for e in facts.arrivals[bar]]
    waits = [e for bar in bars for e in facts.waits[bar]]
    uses = [*arrivals, *waits]
    per_warp = trace.warps_per_cta
    return _Barrier(
        offset,
        bars,
        trace.events[trace.barriers[bars[0]].init_event].where,
        frozenset(trace.barriers[bar].init_count for bar in bars),
        {name for e in uses if (name := facts.operand(e))},
        {(e.where, facts.expression(e)) for e in uses},
        frozenset("expect" if e.data.get("tx") else e.kind for e in arrivals),
        frozenset((e.cta, e.warp % per_warp) for e in arrivals),
        frozenset((e.cta, e.warp % per_warp) for e in waits),
    )


class _Sets:
    """Disjoint sets of barriers, by position."""

    def __init__(self, count: int) -> None:
        self._up = list(range(count))

    def find(self, n: int) -> int:
        while self._up[n] != n:
            n = self._up[n]
        return n

    def join(self, a: int, b: int) -> None:
        first, second = sorted((self.find(a), self.find(b)))
        self._up[second] = first


def _parts(members: list[_Barrier], name: str) -> list[list[_Barrier]]:
    """Members of one family, which was initialised under one name, cut into arrays."""
    sets = _Sets(len(members))
    at: dict[tuple[Site, frozenset[int]], int] = {}
    for n, b in enumerate(members):
        for site in b.sites:
            sets.join(at.setdefault((site, b.counts), n), n)
    symbols = False
    for n in range(1, len(members)):
        symbols |= bool(members[n - 1].symbol)
        if _alike(members[n - 1], members[n], name, symbols):
            sets.join(n - 1, n)
    if not symbols:
        _place_unused(members, sets)
    parts: dict[int, list[_Barrier]] = {}
    for n, b in enumerate(members):
        parts.setdefault(sets.find(n), []).append(b)
    return list(parts.values())


def _alike(a: _Barrier, b: _Barrier, name: str, symbols: bool) -> bool:
    """Whether neighbours without a common place in the source are stages of one array.

    ``symbols``: the source names where each array begins.
    """
    if a.counts != b.counts or b.symbol:
        return False
    if symbols:
        return True
    if a.used is not b.used:
        return False
    if not a.used:
        return True
    own_a, own_b = a.called - {name}, b.called - {name}
    if own_a or own_b:
        return bool(own_a & own_b) and _same(a.kinds, b.kinds)
    return _same(a.kinds, b.kinds) and _same(a.arriving, b.arriving) and _same(a.waiting, b.waiting)


def _same(a: Iterable[object], b: Iterable[object]) -> bool:
    """Equal, or one of them not seen in the run."""
    return not a or not b or a == b


def _place_unused(members: list[_Barrier], sets: _Sets) -> None:
    """Barriers that the run never came to belong to the one array that is initialised in the same place."""
    for n, b in enumerate(members):
        if b.used:
            continue
        homes = {sets.find(k) for k, other in enumerate(members) if other.used and other.init == b.init}
        if len(homes) == 1:
            home = homes.pop()
            if members[home].counts == b.counts:
                sets.join(home, n)
