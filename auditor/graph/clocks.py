"""What each event knows of every warp and of every asynchronous operation: vector clocks in one pass over the trace.

The clock of a strand's event is what *all* its lanes know: what other lanes of the same strand did is not part of it
until a barrier or ``__syncwarp`` says so. What the event passes on (its *published* clock) adds that each executing
lane knows its own history. An asynchronous operation passes on nothing but its own completion: its issuer's knowledge
travels with the issuer's own arrivals.

Memory ordering: PTX ISA, "Memory Consistency Model" (release and acquire patterns, proxy-preserved base causality
order), and 9.7.13 for the implicit semantics of mbarrier and barrier operations.
"""

from __future__ import annotations

from auditor.graph.columns import Columns, issuer_id
from auditor.graph.pipeline import feeds
from auditor.graph.vectors import Entry, Vector, has, join, mark, raised
from auditor.quick_dataclass import dataclass
from auditor.trace import Event

# Which address spaces a proxy fence makes visible to the async proxy (PTX 9.7.13.4, membar/fence).
FENCED_SPACES = {
    "async": ("shared", "global"),
    "async.shared::cta": ("shared",),
    "async.shared::cluster": ("shared",),
    "async.global": ("global",),
}
FEEDING = 64  # latest copies that an MMA of another thread is looked up in
RELEASE_SEMANTICS = ("release", "acq_rel", "sc")
ACQUIRE_SEMANTICS = ("acquire", "acq_rel", "sc")


@dataclass(frozen=True)
class Clock:
    """Knowledge, in the columns of one trace.

    ``order``: what happens before. ``shared`` and ``global_``: the part of it that a proxy fence has made visible to
    the async proxy, for shared and for global memory.
    """

    columns: Columns
    order: Vector
    shared: Vector
    global_: Vector

    def fenced(self, space: str) -> Vector:
        """The part that the async proxy sees of an address space."""
        return self.shared if space == "shared" else self.global_

    def known(self, warp: int, lane: int) -> int:
        """Warp time up to which the lane's history is known; 0 when nothing is."""
        column = self.columns.column(warp, lane)
        return self._time(self.order, column)

    def visible(self, warp: int, lane: int, space: str) -> int:
        """Warp time up to which the lane's accesses to a space are visible to the async proxy."""
        return self._time(self.fenced(space), self.columns.column(warp, lane))

    def done(self, op: int) -> bool:
        """Whether the asynchronous event ``op`` is known to be complete."""
        column, _, index = self.columns.op[op]
        return has(self.order[column], index)

    def read(self, op: int) -> bool:
        """Whether the asynchronous event ``op`` is known to have read its source."""
        _, column, index = self.columns.op[op]
        return has(self.order[column], index)

    @staticmethod
    def _time(vector: Vector, column: int | None) -> int:
        entry: Entry = 0 if column is None else vector[column]
        assert isinstance(entry, int)
        return entry


@dataclass
class _Strand:
    """A strand between two events.

    ``released``: clock and warp time of the last release fence, which a relaxed arrival passes on. ``pending``: what
    relaxed waits have seen and no acquire fence has yet admitted.
    """

    clock: Clock
    released: tuple[Clock, int] | None = None
    pending: Clock | None = None


class Clocks:
    """The clock of each event, filled by ``step`` in the order of event ids.

    ``fences`` lists, by address space and lane column, the warp times of the lane's own proxy fences, ascending.
    ``joins`` counts vector joins, as a measure of the work done.
    """

    def __init__(self, columns: Columns, events: dict[int, Event]) -> None:
        zero: Vector = (0,) * columns.width
        self.at: dict[int, Clock] = {}
        self.fences: dict[str, dict[int, list[int]]] = {"shared": {}, "global": {}}
        self.joins = 0
        self._columns = columns
        self._events = events
        self._zero = Clock(columns, zero, zero, zero)
        self._strands: dict[int, _Strand] = {}
        self._feeding: list[tuple[Event, Event]] = []  # operations that may feed an MMA of another thread, issuers
        self._fed: dict[int, list[int]] = {}  # MMA -> operations of other threads that are complete when it is
        # Strands at the events where relaxed arrivals or forks may need them; only while fences are in play.
        self._states: dict[int, _Strand] = {}

    def step(self, event: Event) -> Clock:
        """Computes and stores the clock of the next event."""
        if event.warp < 0:
            clock = self._receive(self._zero, event, None) if event.preds else self._zero
            if event.kind == "async":
                self._feed(event, clock)
        else:
            strand = self._strands.get(event.strand)
            if strand is None:
                strand = self._strands[event.strand] = self._new_strand(event)
            if event.preds:
                strand.clock = self._receive(strand.clock, event, strand)
            effect = _EFFECTS.get(event.kind)
            if effect is not None:
                effect(self, strand, event)
            clock = strand.clock
            if strand.released is not None or strand.pending is not None:
                self._states[event.id] = _Strand(clock, strand.released, strand.pending)
        self.at[event.id] = clock
        return clock

    def _feed(self, event: Event, clock: Clock) -> None:
        """An MMA that uses what another thread's copies bring completes after them."""
        number = issuer_id(event)
        issuer = None if number is None else self._events[number]
        if issuer is None:
            return
        if event.data.get("instr") in ("tcgen05.cp", "tcgen05.shift"):
            self._feeding.append((event, issuer))
            del self._feeding[:-FEEDING]
            return
        fed = [
            pair
            for pair in self._feeding
            if feeds(pair[0], event) and pair[1].warp != issuer.warp and self._columns.passed(pair[1], clock.order)
        ]
        if fed:
            self._feeding = [pair for pair in self._feeding if pair not in fed]
            self._fed[event.id] = [copy.id for copy, _ in fed]

    def _new_strand(self, event: Event) -> _Strand:
        for pred, reason in event.preds:
            if reason == "fork":
                parent = self._states.get(pred)
                if parent is None:
                    return _Strand(self.at[pred])
                return _Strand(parent.clock, parent.released, parent.pending)
        return _Strand(self._zero)

    def _receive(self, clock: Clock, event: Event, strand: _Strand | None) -> Clock:
        """Joins what the predecessors pass on."""
        completed: list[tuple[int, int]] = []
        for pred, reason in event.preds:
            source = self._events[pred]
            if source.kind == "async":
                everything, read, index = self._columns.op[pred]
                completed.append((read, index))
                if reason != "read":
                    completed.append((everything, index))
                for copy in self._fed.get(pred, ()):
                    everything, read, index = self._columns.op[copy]
                    completed += ((read, index), (everything, index))
            elif reason == "relaxed":
                clock = self._relaxed(clock, source, strand)
            elif reason == "fork":
                clock = self._joined(clock, self.at[pred])
            elif strand is None or source.strand != event.strand or source.warp < 0:
                clock = self._published(clock, self.at[pred], source, source.time)
        if completed:
            order = list(clock.order)
            for column, index in completed:
                order[column] = mark(order[column], index)
            clock = Clock(self._columns, tuple(order), clock.shared, clock.global_)
        return clock

    def _relaxed(self, clock: Clock, source: Event, strand: _Strand | None) -> Clock:
        """A relaxed edge: a release fence before its source, or an acquire fence after its target, makes it order."""
        if source.warp < 0:
            if strand is not None:
                seen = self.at[source.id]
                strand.pending = self._joined(strand.pending, seen) if strand.pending else seen
            return clock
        state = self._states.get(source.id)
        if state is None or state.released is None:
            return clock
        released, time = state.released
        return self._published(clock, released, source, time)

    def _published(self, clock: Clock, base: Clock, source: Event, time: int) -> Clock:
        """``clock`` joined with ``base`` and with the own history of the source's lanes up to ``time``."""
        columns = self._columns.of(source)
        order = clock.order
        # Lanes known up to then have already brought all that they knew then.
        if columns and all(order[c] >= time for c in columns):  # type: ignore[operator]
            return clock
        clock = self._joined(clock, base)
        order = raised(clock.order, columns, time)
        return clock if order is clock.order else Clock(self._columns, order, clock.shared, clock.global_)

    def _joined(self, a: Clock, b: Clock) -> Clock:
        if a is b:
            return a
        self.joins += 1
        if a is self._zero:
            return b
        order, shared, global_ = join(a.order, b.order), join(a.shared, b.shared), join(a.global_, b.global_)
        for clock in (a, b):
            if order is clock.order and shared is clock.shared and global_ is clock.global_:
                return clock
        return Clock(self._columns, order, shared, global_)

    def _proxy_fence(self, strand: _Strand, event: Event) -> None:
        clock, columns = strand.clock, self._columns.of(event)
        spaces = FENCED_SPACES.get(str(event.data.get("which", "async")), ())
        if not spaces:
            return
        fenced = raised(clock.order, columns, event.time)
        shared = join(clock.shared, fenced) if "shared" in spaces else clock.shared
        global_ = join(clock.global_, fenced) if "global" in spaces else clock.global_
        strand.clock = Clock(self._columns, clock.order, shared, global_)
        for space in spaces:
            for column in columns:
                self.fences[space].setdefault(column, []).append(event.time)

    def _fence(self, strand: _Strand, event: Event) -> None:
        sem = event.data.get("sem")
        if sem in ACQUIRE_SEMANTICS:
            self._admit(strand)
        if sem in RELEASE_SEMANTICS:
            strand.released = (strand.clock, event.time)

    def _tcgen05_fence(self, strand: _Strand, event: Event) -> None:
        # It orders TMEM accesses only (PTX 9.7.16.6.3); taking it for more can only hide a second fault.
        if event.data.get("which") == "after":
            self._admit(strand)
        else:
            strand.released = (strand.clock, event.time)

    def _init_fence(self, strand: _Strand, event: Event) -> None:
        # It releases the thread's mbarrier.init operations only, to be followed by a relaxed arrival at the cluster
        # barrier (PTX 9.7.13.4); taking it for more can only hide a second fault.
        strand.released = (strand.clock, event.time)

    def _admit(self, strand: _Strand) -> None:
        if strand.pending is not None:
            strand.clock = self._joined(strand.clock, strand.pending)
            strand.pending = None

    def _warp_sync(self, strand: _Strand, event: Event) -> None:
        # Lanes of other strands arrive through "warp" edges; the strand's own lanes learn of one another here.
        clock = strand.clock
        order = raised(clock.order, self._columns.of(event), event.time)
        strand.clock = Clock(self._columns, order, clock.shared, clock.global_)


_EFFECTS = {
    "fence.proxy": Clocks._proxy_fence,
    "fence": Clocks._fence,
    "fence.mbarrier_init": Clocks._init_fence,
    "tcgen05.fence": Clocks._tcgen05_fence,
    "warp.sync": Clocks._warp_sync,
}
