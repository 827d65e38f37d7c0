"""BW608: inline asm that orders memory, without telling the compiler so."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.repair.clobbers import clobber_memory
from auditor.rule import Rule
from auditor.rulekit import context
from auditor.source import Loc
from auditor.trace import Event

# What holds back the accesses behind it, and in which space they lie; what lets others see those before it.
ACQUIRES = {
    "mbar.wait": "shared", "bulk.wait": "shared", "cpasync.wait": "shared", "cluster.wait": "shared",
    "bar.sync": "shared", "griddep.wait": "global",
}
RELEASES = {
    "mbar.arrive": "shared", "cluster.arrive": "shared", "bar.arrive": "shared", "bar.sync": "shared",
    "fence.proxy": "shared", "griddep.launch": "global",
}
NAMES = {"griddep.wait": "griddepcontrol.wait", "griddep.launch": "griddepcontrol.launch_dependents",
         "mbar.wait": "wait on an mbarrier", "mbar.arrive": "arrival on an mbarrier", "fence.proxy": "proxy fence",
         "bulk.wait": "wait for bulk copies", "cpasync.wait": "wait for cp.async copies", "bar.sync": "barrier",
         "bar.arrive": "barrier arrival", "cluster.wait": "wait for the cluster", "cluster.arrive": "cluster arrival"}


class AsmClobber(Rule):
    code = "BW608"
    name = "asm-clobber"
    level = Level.WARNING
    confidence = "high"
    entries = ("OT-14",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        places = dict(zip(audit.program.asm_locs, audit.program.asm_clobbers))
        if all(places.values()):
            return
        told: set[Loc] = set()
        for where, order, access, behind in _unguarded(audit, places):
            if where in told:
                continue
            told.add(where)
            name = NAMES[order.kind]
            yield audit.finding(
                type(self), (where,),
                f"this asm statement is a {name}, but does not name \"memory\" as clobbered: the compiler may move the "
                f"{audit.story.what(access)} {'behind' if behind else 'before'} it to the other side",
                related=[(access.where, f"an ordinary {audit.story.what(access)} that it should order"),
                         (order.where, f"{audit.story.thread(order)} executes it here")],
                hint='write asm volatile("..." : outputs : inputs : "memory")',
                context=context(audit, order),
                repair=partial(clobber_memory, audit, where),
            )


def _unguarded(audit: Audit, places: dict[Loc, bool]) -> Iterator[tuple[Loc, Event, Event, bool]]:
    """(asm statement, its event, access, whether the access comes behind it): asm without a clobber next to an ordinary
    access of the memory that it orders, with nothing between that the compiler may not move the access across."""
    acquired: dict[int, list[Event]] = {}  # strand -> operations without a clobber since the last compiler barrier
    accessed: dict[int, list[Event]] = {}  # strand -> ordinary accesses since then
    for e in audit.trace.events:
        if e.warp < 0 or not e.where:
            continue
        place = e.where[0]
        if audit.program.is_system(place):  # a library's own: what it is for is seen where it is called
            acquired.pop(e.strand, None)
            accessed.pop(e.strand, None)
        elif place in places:
            if not places[place] and e.kind in RELEASES:
                for access in accessed.get(e.strand, ()):
                    if any(a.space == RELEASES[e.kind] for a in access.accesses):
                        yield place, e, access, False
            if places[place]:
                acquired.pop(e.strand, None)
                accessed.pop(e.strand, None)
            elif e.kind in ACQUIRES:
                acquired.setdefault(e.strand, []).append(e)
        elif e.kind in ("ld", "st"):
            accessed.setdefault(e.strand, []).append(e)
            for order in acquired.get(e.strand, ()):
                if any(a.space == ACQUIRES[order.kind] for a in e.accesses):
                    yield order.where[0], order, e, True
