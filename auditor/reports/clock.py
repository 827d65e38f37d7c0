"""Model time: when each event happens if every operation takes a nominal time and nothing else delays it.

The machine runs operations as late as it may, which is right for finding faults and useless for a picture. Here every
event starts when all that it depends on is over. The costs are nominal, not measured: the picture shows what overlaps
and what waits for what, not how long it takes.
"""

from __future__ import annotations

from auditor.reports.facts import Facts
from auditor.trace import Event

# Nominal costs in units of model time.
FLIGHT = {
    "tma.load": 24,
    "bulk.load": 24,
    "tma.store": 16,
    "tma.reduce": 16,
    "bulk.store": 16,
    "bulk.reduce": 16,
    "bulk.dsmem": 12,
    "mma": 3,
    "mma.ws": 3,
    "wgmma": 3,
    "tcgen05.cp": 2,
    "cp.async": 12,
}
COST = {"issue": 1, "tcgen05.ld": 2, "tcgen05.st": 2, "mbar.arrive": 1, "commit": 1, "ld": 0, "st": 0, "mbar.init": 1}
TENSOR_CORE = ("mma", "mma.ws", "wgmma", "tcgen05.cp", "tcgen05.shift")


class Clock:
    """Start and end of every event, by its id."""

    def __init__(self, facts: Facts) -> None:
        events = facts.trace.events
        self.start = [0] * len(events)
        self.end = [0] * len(events)
        self._busy: dict[int, int] = {}
        ready: dict[int, int] = {}  # strand -> end of its event before
        for e in events:
            at = max((self.end[p] for p, _ in e.preds), default=0)
            if e.warp >= 0:
                own = ready.get(e.strand, 0)
                begin = own if e.kind.endswith((".wait", ".sync")) else max(at, own)
                self.start[e.id] = begin
                self.end[e.id] = max(at, own) + COST.get(e.kind, 0)
                ready[e.strand] = self.end[e.id]
            else:
                self.start[e.id], self.end[e.id] = self._flight(e, at)

    def _flight(self, e: Event, at: int) -> tuple[int, int]:
        """An asynchronous operation. The tensor core of a CTA does one after the other."""
        instr = str(e.data.get("instr", ""))
        cost = FLIGHT.get(instr, 0) if e.kind == "async" else 0
        if e.kind == "async" and instr in TENSOR_CORE:
            at = max(at, self._busy.get(e.cta, 0))
            self._busy[e.cta] = at + cost
        return at, at + cost
