"""Where threads meet: CTA barriers, cluster barriers and the lanes of a warp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditor.machine.state import Cta, Gather, NamedBarrier, Warp

if TYPE_CHECKING:
    from auditor.machine.core import Machine


def check_named(m: Machine, cta: Cta, named: NamedBarrier) -> None:
    """Complete a CTA barrier whose participants have all arrived; a whole-CTA one excuses exited threads."""
    if not named.arrived:
        return
    if named.expected is None:
        if any(w.live & ~named.masks.get(w.index, 0) for w in cta.warps):
            return
    elif named.arrived < named.expected:
        return
    preds = [(e, "bar") for e in named.events]
    if named.expected is None:  # what exited threads did is as much behind the barrier as an arrival
        preds += [
            (s.last_event.id, "bar") for s in m.strands if s.done and s.warp.cta is cta and s.last_event is not None
        ]
    event = m.emit(
        None,
        "barrier",
        cta=cta.rank,
        where=m.trace.events[named.events[-1]].where,
        preds=preds,
        data={"id": named.number, "threads": named.arrived, "expected": named.expected},
    )
    if named.expected is not None and named.arrived > named.expected:
        m.incident(
            "named_barrier",
            event.where,
            event=event.id,
            cta=cta.rank,
            data={"id": named.number, "arrived": named.arrived, "expected": named.expected, "problem": "surplus"},
        )
    named.completions.append(event.id)
    named.arrived = 0
    named.expected = None
    named.events = []
    named.masks = {}
    named.sites = {}
    m.progress += 1


def check_cluster(m: Machine) -> None:
    """Complete the cluster barrier when every thread has arrived or exited (exited threads count as arrived)."""
    warps = [w for c in m.ctas for w in c.warps]
    if not m.cluster_round or any(w.live & ~w.cluster_mask for w in warps):
        return
    exits = [(s.last_event.id, "cluster") for s in m.strands if s.done and s.last_event is not None]
    event = m.emit(None, "cluster", preds=[*m.cluster_round, *exits], data={"generation": len(m.cluster_events)})
    m.cluster_events.append(event.id)
    m.cluster_round = []
    for w in warps:
        w.cluster_mask = 0
    m.progress += 1


def settle(warp: Warp, gather: Gather) -> None:
    """Lanes of the warp ended: a gather that waits for them may be complete now."""
    if gather.lead is None and gather.members and gather.need & ~warp.exited & ~gather.lanes == 0:
        gather.lead = gather.members[0][0]
        gather.partial = bool(gather.need & warp.exited)
