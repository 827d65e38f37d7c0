"""What the machine observed: events with their predecessors and memory accesses, and incidents.

The machine writes it, the graph and the rules read it. Event ids ascend in a topological order: every predecessor of
an event has a smaller id.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from auditor.footprint import Footprint, LaneRange
from auditor.quick_dataclass import dataclass
from auditor.source import Stack

ALL_LANES = 0xFFFF_FFFF


@dataclass(slots=True)
class Access:
    """One memory access of an event.

    space: "shared", "tmem" or "global". cta: the owner CTA's rank (shared, tmem). proxy: "generic", "async" or
    "tensormap"; tmem has no proxies and says "tmem".

    shared/global: ``lo``..``hi`` is the byte range (CTA-relative offset, or generic global address); ``lanes`` then
    optionally tells what each lane touches, from ``lo`` on, when the lanes touch different bytes. tmem: ``lo``..``hi``
    are columns and ``lane_lo``..``lane_hi`` TMEM lanes (all half open).

    ``done``: for asynchronous operations, which completion ends this access: "read" (source was read) or "all".
    ``consumed``: for loads into registers: the values were used before the next release (None: no release
    followed, or it is not known whether they were used at all).
    ``end``: for tcgen05.ld and .st, which stay in flight until a wait: the warp time of that wait, -1 when none came;
    0 for accesses that are done when their event is.
    ``what``: "data", or "mbarrier" for the object of an mbarrier operation (init and inval write it, others read it),
    or "alloc" for TMEM columns taken or freed.
    """

    space: str
    write: bool
    proxy: str
    cta: int
    lo: int
    hi: int
    lanes: Footprint | None = None
    lane_lo: int = 0
    lane_hi: int = 0
    done: str = "all"
    consumed: bool | None = None
    end: int = 0
    what: str = "data"

    def by_lane(self) -> tuple[LaneRange, ...]:
        """(lane, first byte, end byte) of the lanes, when they touch different bytes."""
        return self.lanes.at(self.lo) if self.lanes is not None else ()

    def rounds(self) -> list[Access]:
        """The access in the parts that the program made one after the other, where its lanes walk on in steps."""
        if self.lanes is None or len(self.lanes.rounds) == 1:
            return [self]
        return [
            replace(self, lo=self.lo + start, hi=self.lo + start + part.size, lanes=part)
            for start, part in self.lanes.rounds
        ]


@dataclass(slots=True)
class Event:
    """A step of a strand, an asynchronous operation, or the completion of a barrier or phase.

    warp: index over the whole cluster (CTA rank * warps per CTA + warp), -1 for events that no warp executes.
    lanes: bit mask of the executing lanes. time: position in the warp's own order, 0 when warp is -1.
    preds: (event id, reason). Reasons: "program", "fork", "issue", "arrive", "phase", "complete", "commit", "bar",
    "cluster", "warp", "atomic", "relaxed" (no memory ordering), "group", "read" (an asynchronous operation has read its
    source, no more). Program order within a strand is implied and not listed; a new strand's first event has a "fork"
    edge from its parent's last event.
    data: the operation's facts, by kind; see docs/internals.md.
    """

    id: int
    kind: str
    cta: int
    warp: int
    lanes: int
    time: int
    strand: int
    where: Stack
    preds: list[tuple[int, str]] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Incident:
    """A fact that the machine noticed while it executed, for a rule to judge. docs/internals.md lists the kinds."""

    kind: str
    where: Stack
    event: int | None = None
    cta: int = 0
    warp: int = -1
    lanes: int = 0
    related: list[tuple[Stack, str]] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Poll:
    """A test of an mbarrier that was answered "not yet". ``after`` is the number of events that preceded it."""

    strand: int
    warp: int
    lanes: int
    bar: int
    where: Stack
    after: int


@dataclass
class Barrier:
    """The life of one mbarrier: the ledger's raw material. Addresses are CTA-relative byte offsets."""

    cta: int
    offset: int
    name: str
    init_count: int
    init_event: int
    phases: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Trace:
    """One execution of one kernel under one scenario."""

    kernel: str
    inputs: dict[str, str]
    warps_per_cta: int
    ctas: int
    events: list[Event] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    barriers: list[Barrier] = field(default_factory=list)
    polls: list[Poll] = field(default_factory=list)
    idle_waits: list[tuple[Stack, str, int, int]] = field(default_factory=list)  # group waits of threads without groups
    complete: bool = True
    block_dependent: bool = True  # control flow may differ between CTAs
    reads_contents: bool = False  # integers were read from global memory that nobody had written
    steps: int = 0
