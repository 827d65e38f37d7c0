"""Whether what an operator would take away has an effect at all in the runs of the good kernel.

Decided on the events of these runs, not with the auditor's rules: a mutant is left out only where the operation that it
changes has nothing to order, to count or to point at.
"""

from __future__ import annotations

from collections.abc import Iterator

from auditor.trace import ALL_LANES, Access, Event, Trace
from tests.mutation.sites import Good, Site
from tests.mutation.tree import Node

_MEETINGS = frozenset((
    "warp.sync", "bar.sync", "cluster.wait", "tcgen05.alloc", "tcgen05.dealloc", "tcgen05.relinquish", "tcgen05.ld",
    "tcgen05.st", "wait.ld", "wait.st", "wgmma.fence", "wgmma.commit", "wgmma.wait",
))  # fmt: skip
_ACCESSES = frozenset(("ld", "st", "atom"))
_WAITS = frozenset(("mbar.wait", "bulk.wait", "cpasync.wait"))
_RELEASES = frozenset(("mbar.arrive", "issue", "commit", "bulk.commit", "mbar.inval", "tensormap"))
# What every thread of a block may do without having a role of its own.
_COMMON = frozenset(("cta-barrier", "cluster-barrier", "read", "write", "wait", "syncwarp", "proxy-fence", ""))


def _meeting(e: Event) -> bool:
    return e.kind in _MEETINGS and (e.lanes == ALL_LANES or e.kind in ("bar.sync", "cluster.wait"))


def _ranges(e: Event) -> Iterator[tuple[Access, int, int, int]]:
    """(access, lanes, first byte, end) of what an event accesses; by lane where that is known."""
    for a in e.accesses:
        if a.lanes is None:
            yield a, e.lanes, a.lo, a.hi
        else:
            yield from ((a, 1 << lane, lo, hi) for lane, lo, hi in a.by_lane())


def _meet(before: Event, after: Event) -> bool:
    """Whether two lanes access the same bytes, one of them to write."""
    return any(
        a.space == b.space and a.cta == b.cta and lo < end and start < hi and (a.write or b.write)
        and (mine != others or mine & (mine - 1))
        for a, mine, lo, hi in _ranges(before) for b, others, start, end in _ranges(after))


def _passes_on(before: Event, after: Event) -> bool:
    """Whether what other lanes do afterwards relies on their coming after this event."""
    if before.kind in _ACCESSES and after.kind in _ACCESSES:
        return _meet(before, after)
    if before.kind in _ACCESSES:  # one lane answers for the accesses of the others
        shared = any(a.space == "shared" for a in before.accesses)
        return shared and after.kind in _RELEASES and bool(before.lanes & ~after.lanes)
    if not after.lanes & ~before.lanes:
        return False
    if before.kind == "issue":
        return after.kind == "tensormap"  # the map that the copy uses
    if before.kind == "mbar.init":
        return after.kind in ("mbar.poll", "mbar.wait") or after.kind in _RELEASES
    return before.kind in _WAITS and (after.kind in _ACCESSES or after.kind in _RELEASES)


def orders_lanes(good: Good, site: Site) -> bool:
    """Whether a __syncwarp stands between something that one lane does and something that another one does after it."""
    own = {id(e) for e in site.events}
    return any(_orders(events, own) for trace in good.runs for events in _by_warp(trace))


def _by_warp(trace: Trace) -> Iterator[list[Event]]:
    warps: dict[int, list[Event]] = {}
    for e in trace.events:
        if e.warp >= 0:
            warps.setdefault(e.warp, []).append(e)
    yield from warps.values()


def _orders(events: list[Event], own: set[int]) -> bool:
    before: list[Event] = []  # since the meeting in front of the one that is looked at
    after: list[Event] | None = None  # behind it, while it is the newest meeting
    for e in events:
        if _meeting(e):
            before, after = (before if after is None else after, []) if id(e) in own else ([], None)
        elif after is None:
            before.append(e)
        else:
            after.append(e)
            if any(_passes_on(b, e) for b in before):
                return True
    return False


def meets_first(good: Good, site: Site) -> bool:
    """Whether after each execution of a wait its warp meets again before any lane makes use of it."""
    own = {id(e) for e in site.events if e.kind != "mbar.poll"}
    for trace in good.runs:
        for events in _by_warp(trace):
            waited = 0  # lanes that have waited and have not met the others since
            for e in events:
                if id(e) in own:
                    waited |= e.lanes
                elif _meeting(e):
                    waited = 0
                elif waited & e.lanes and (e.kind in _ACCESSES or e.kind in _RELEASES or e.kind == "exit"):
                    return False
    return True


def whole_ring_inside(good: Good, loop: Node) -> bool:
    """Whether all that concerns the barriers of a loop happens in that loop: one iteration less leaves nobody alone."""
    inside = good.inside(loop)
    bars = {bar for s in inside for bar in s.bars}
    return all(s in inside for s in good.sites if s.bars & bars and s.kind != "init")


def used_elsewhere(good: Good, site: Site) -> bool:
    """Whether another operation uses the barrier that a site initialises."""
    return any(s.bars & site.bars for s in good.sites if s.kind != "init")


def permutes(good: Good, site: Site) -> bool:
    """Whether a site is all that a loop over the stages does: the next stage instead of this one is the same set."""
    node: Node | None = site.node
    while node is not None and node.kind not in ("function", "lambda"):
        if node.kind == "for":
            return good.inside(node) == [site]
        node = node.parent
    return False


def by_all(good: Good, site: Site) -> bool:
    """Whether all threads that do anything from then on execute a site: it is no role's."""
    own = {id(e) for e in site.events}
    for trace in good.runs:
        first = next((n for n, e in enumerate(trace.events) if id(e) in own), None)
        if first is None:
            continue
        lanes: dict[int, int] = {}
        alive: dict[int, int] = {}
        for e in trace.events[first:]:
            if e.warp >= 0 and e.kind not in ("start", "exit"):
                alive[e.warp] = alive.get(e.warp, 0) | e.lanes
                if id(e) in own:
                    lanes[e.warp] = lanes.get(e.warp, 0) | e.lanes
        if lanes != alive:
            return False
    return True


def last_warp_has_role(good: Good) -> bool:
    """Whether the last warp of the block does something that no other warp does, or that is counted."""
    for trace in good.runs:
        last = trace.warps_per_cta - 1
        warps = {id(e): e.warp % trace.warps_per_cta for e in trace.events if e.warp >= 0}
        doers = {s: {warps[id(e)] for e in s.events if id(e) in warps} for s in good.sites}
        mine = [s for s in good.sites if last in doers[s]]
        if last and any(s.kind not in _COMMON or doers[s] == {last} for s in mine):
            return True
    return False
