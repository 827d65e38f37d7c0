"""State of the simulated cluster: CTAs, warps, mbarriers, named barriers, tensor memory, group lists."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from auditor.machine.mbarrier import Mbarrier
from auditor.machine.shared_values import SharedValues
from auditor.quick_dataclass import dataclass
from auditor.source import Stack
from auditor.trace import Access, Barrier, Event

if TYPE_CHECKING:
    from auditor.machine.strand import Strand

TMEM_COLUMNS = 512
TMEM_LANES = 128


class Park:
    """Why a strand does not run: ``ready`` says when it may again.

    ``polls``: the strand only polls (try_wait, test_wait, a spin): how often in a row a negative answer may wake it
    while nothing else happens.
    ``gather``: it waits for other lanes of its warp; ``broken`` is set when they can no longer come.
    ``kind`` and ``data`` describe the wait when it turns out to be a deadlock.
    """

    __slots__ = ("data", "gather", "hopeless", "kind", "negative", "polls", "ready")

    def __init__(
        self,
        ready: Callable[[], bool],
        kind: str,
        data: dict[str, Any] | None = None,
        *,
        polls: int = 0,
        gather: Gather | None = None,
    ) -> None:
        self.ready = ready
        self.kind = kind
        self.data = data or {}
        self.polls = polls
        self.gather = gather
        self.negative = False  # woken to see a negative poll
        self.hopeless = False  # woken because nothing can make it ready


class Gather:
    """A meeting of the lanes of a warp at one operation."""

    __slots__ = ("done", "event", "lanes", "lead", "members", "need", "partial", "result")

    def __init__(self, need: int) -> None:
        self.need = need
        self.lanes = 0
        self.members: list[tuple[Strand, int, Any]] = []
        self.lead: Strand | None = None
        self.done = False
        self.partial = False
        self.result: Any = None
        self.event: Event | None = None


@dataclass
class Warp:
    """One warp. ``lanes`` exist (a partial last warp has fewer), ``exited`` have ended. ``time`` counts its events."""

    cta: Cta
    index: int
    number: int  # over the whole cluster
    lanes: int
    exited: int = 0
    time: int = 0
    exits: list[int] = field(default_factory=list)  # "exit" events of its strands
    gathers: dict[Any, Gather] = field(default_factory=dict)
    loads: list[Any] = field(default_factory=list)  # load records whose values may still be in flight
    tmem_pending: list[tuple[bool, Access]] = field(default_factory=list)  # (is a store, access) not waited for
    wgmma_issued: list[AsyncOp] = field(default_factory=list)
    wgmma_waited: int = 0  # how many of the issued operations, of this warp and of its warpgroup, it has waited for
    wgmma: Groups = field(default_factory=lambda: Groups())
    wgmma_results: list[Any] = field(default_factory=list)  # of each issued operation, see ops.wgmma
    wgmma_fenced: bool = False  # wgmma.fence since the last wait
    elected: bool = False  # a lane other than the lowest of those that could be
    cluster_mask: int = 0  # lanes that arrived in the open round of the cluster barrier
    cluster_due: dict[int, int] = field(default_factory=dict)  # lane -> round that its next wait is for

    @property
    def live(self) -> int:
        return self.lanes & ~self.exited


@dataclass
class BarrierState:
    """One mbarrier with the history that the trace needs."""

    unit: Mbarrier
    record: Barrier
    index: int
    valid: bool = True
    contributions: list[tuple[int, str]] = field(default_factory=list)
    phase_events: list[int] = field(default_factory=list)
    current: dict[str, Any] = field(default_factory=dict)
    copies_due: int = 0  # copies issued towards this barrier that have not landed
    batch: list[tuple[Event, int]] = field(default_factory=list)  # copies of unknown size, and their strands: boxes.py
    announced: bool = False  # whether bytes were expected before


@dataclass
class NamedBarrier:
    """One of the 16 CTA barriers: arrivals of the current round and who waits in it."""

    number: int
    expected: int | None = None  # threads; None: all of the CTA
    arrived: int = 0  # threads
    events: list[int] = field(default_factory=list)
    masks: dict[int, int] = field(default_factory=dict)  # warp index -> lanes that arrived
    sites: dict[int, Stack] = field(default_factory=dict)  # warp index -> where its first lanes arrived
    completions: list[int] = field(default_factory=list)  # "barrier" event of each completed round


@dataclass
class Allocation:
    """Tensor memory columns [base, base + columns) of one CTA."""

    base: int
    columns: int
    group: int
    event: int
    warp: int
    where: Any
    freed: bool = False


@dataclass
class Cta:
    """One CTA of the cluster."""

    rank: int
    block_index: tuple[int, int, int]
    warps: list[Warp] = field(default_factory=list)
    shared: dict[str, int] = field(default_factory=dict)  # variable key -> byte offset
    shared_end: int = 0  # end of the shared window in bytes
    values: SharedValues = field(default_factory=SharedValues)
    chosen: dict[int, int] = field(default_factory=dict)  # offset -> how often an integer was chosen for it
    atomics: dict[int, dict[int, int]] = field(default_factory=dict)  # offset -> strand -> its last atomic's event
    barriers: dict[int, BarrierState] = field(default_factory=dict)
    named: dict[int, NamedBarrier] = field(default_factory=dict)
    allocations: list[Allocation] = field(default_factory=list)
    relinquished: Any = None
    tensor_issues: list[tuple[AsyncOp, int, int]] = field(default_factory=list)  # operation, warp number, lanes
    tmem_written: set[int] = field(default_factory=set)  # columns that hold a value

    @property
    def live_threads(self) -> int:
        return sum(w.live.bit_count() for w in self.warps)

    def free_base(self, columns: int) -> int | None:
        """First free aligned base for that many columns, or None."""
        taken = [(a.base, a.base + a.columns) for a in self.allocations if not a.freed]
        step = max(columns, 1)
        for base in range(0, TMEM_COLUMNS - columns + 1, step):
            if all(base + columns <= lo or base >= hi for lo, hi in taken):
                return base
        return None

    def owner(self, lo: int, hi: int) -> Allocation | None:
        """The live allocation that holds columns [lo, hi)."""
        for a in self.allocations:
            if not a.freed and a.base <= lo and hi <= a.base + a.columns:
                return a
        return None


@dataclass(eq=False)
class AsyncOp:
    """An asynchronous operation in flight. ``complete`` runs when it finishes, once ``ready`` allows.

    ``landing``: the number of bytes on their way to an mbarrier, in any order with others (0: not known).
    """

    event: Event
    complete: Callable[[], None]
    ready: Callable[[], bool] | None = None
    lanes: int = 0xFFFF_FFFF  # lanes of the issuing warp that issued it
    done: bool = False
    source_read: bool = False
    landing: int | None = None


@dataclass
class Groups:
    """Groups of one kind of one thread: operations not committed yet, and committed groups, oldest first.

    ``ever``: it has issued some; ``waited``: it has waited for its groups, perhaps for none of them.
    """

    open: list[AsyncOp] = field(default_factory=list)
    committed: deque[list[AsyncOp]] = field(default_factory=deque)
    ever: bool = False
    waited: bool = False
