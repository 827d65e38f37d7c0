"""A strand: lanes of one warp with one history, and the interface that generated code runs against."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Generator
from functools import lru_cache
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from auditor.machine import memory
from auditor.machine.execute import run_blocking, run_plain
from auditor.machine.recording import LoadRecord, OpenEvent
from auditor.machine.rounds import Jump, Rounds
from auditor.program import ELSEWHERE
from auditor.source import Stack
from auditor.trace import Event
from auditor.values import OPAQUE, SHARED_WINDOW, BlockInt, Opaque, Ref, Vec, collapse, lane_values

if TYPE_CHECKING:
    from auditor.machine.core import Machine
    from auditor.machine.state import AsyncOp, Groups, Park, Warp

# How often one opaque condition may answer "no" before it answers "yes" once, so that loops on it can end.
PATIENCE = 3


@lru_cache(maxsize=1024)
def _lane_list(mask: int) -> list[int]:
    """The lanes of a mask, ascending. Shared between callers: not to be changed."""
    return [lane for lane in range(32) if mask >> lane & 1]


def _both_ends(index: int, distance: int) -> int:
    """One dimension of blockIdx, with its value in the CTA that is ``distance`` away at the other end of the grid."""
    return BlockInt(index, index + distance) if distance else index


def _answered(value: Any) -> Generator[Park, None, Any]:
    """What a call that may park the strand gives when its answer is known."""
    return value
    yield


HIDING = "__bw_hides_"  # how functions of our headers begin that stand for operations that nobody can see

ELECTION: Stack = ()  # stands for all elections among the choices that are settled: the lowest lane it is


class HiddenOperations(Exception):  # noqa: N818 - how a run ends, not a defect
    """A call may copy, multiply, arrive or wait in ways that are not known: what follows cannot be judged."""

    def __init__(self, what: str, where: Stack) -> None:
        super().__init__(what)
        self.where = where


class StrandEnd(Exception):  # noqa: N818 - the ordinary end of a strand
    """The strand ends here: ``exit``, or a trap."""

    def __init__(self, reason: str, where: Stack = (), trap: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.where = where
        self.trap = trap


class Strand:
    """See docs/internals.md for the methods that generated code calls."""

    def __init__(
        self, machine: Machine, warp: Warp, lanes: int, entry: Callable[..., Any], arguments: list[Any], log: list[Any]
    ) -> None:
        self.machine = machine
        self.warp = warp
        self.lanes = lanes
        self.entry = entry
        self.arguments = arguments
        self.log = log
        self.replay_at = 0
        self.rounds_active: list[Rounds] = []  # the loops that it is in, and perhaps some that it has left
        self.loops_entered = 0
        self.jumps: dict[tuple[int, int], Jump] = {}  # loop and round of it at which others are left out
        self.replaying = bool(log)
        self.narrowed = 0  # how many branches and loops it is in that not all its lanes take part in
        self.number = -1
        self.done = False
        self.park: Park | None = None
        self.pending: list[tuple[int, str]] = []
        self.last_event: Event | None = None
        self.open_memory: dict[Any, OpenEvent] = {}
        self.last_poll: Any = None
        self.denied: dict[str, Any] | None = None  # the wait whose last poll was answered "no", as a Park tells it
        self.polled: set[int] = set()  # barriers that this strand has tested
        self.negatives = (-1, 0)  # progress of the machine, and how often a poll was answered "no" at that point
        self.groups: dict[str, Groups] = {}
        self.tensor_ops: list[tuple[AsyncOp, int]] = []
        self.last_committed: Event | None = None
        self.wait_counts: dict[Any, int] = {}
        self.choices: dict[Any, int] = {}
        self.last_choice: tuple[Stack, int, Event | None] | None = None  # where, the answer, what it had done before
        self.global_reads: dict[int, tuple[int | None, int, int, int]] = {}  # see memory._spins
        self.arrays_read: set[tuple[Stack, int]] = set()  # see memory._global_read
        self.generator: Generator[Park, None, Any] | None = None
        self.started = False
        launch = machine.launch
        x, y, _ = launch.block
        flat = [32 * warp.index + lane for lane in range(32)]
        self.tid = (
            collapse(t % x for t in flat),
            collapse(t // x % y for t in flat),
            collapse(t // (x * y) for t in flat),
        )
        self.bid = tuple(map(_both_ends, warp.cta.block_index, machine.other_end))
        self.bdim = launch.block
        self.gdim = launch.grid

    def inherit(self, parent: Strand) -> None:
        """State of the threads that a forked strand takes over from its parent."""
        from auditor.machine.state import Groups

        self.jumps = dict(parent.jumps)
        self.pending = list(parent.pending)
        self.choices = dict(parent.choices)
        self.wait_counts = dict(parent.wait_counts)
        self.polled = set(parent.polled)
        self.tensor_ops = [(o, mask & self.lanes) for o, mask in parent.tensor_ops if mask & self.lanes]
        last = parent.last_committed
        self.last_committed = last if last is not None and last.lanes & self.lanes else None
        for kind, groups in parent.groups.items():
            mine = [o for o in groups.open if o.lanes & self.lanes]
            committed = [[o for o in g if o.lanes & self.lanes] for g in groups.committed]
            issued = bool(mine) or any(committed) or kind.endswith(".read")
            self.groups[kind] = Groups(mine, deque(committed), issued)

    def may_see_no(self, progress: int, limit: int) -> bool:
        """Whether a poll may be answered "no" once more although nothing has happened since; counts it."""
        epoch, count = self.negatives
        if epoch == progress and count >= limit:
            return False
        self.negatives = (progress, count + 1 if epoch == progress else 1)
        return True

    def advance(self) -> Park | None:
        """Run until the strand parks (returned) or ends (None)."""
        if self.generator is None:
            result = self.entry(self, *self.arguments)
            if not isinstance(result, GeneratorType):
                return None
            self.generator = result
        return next(self.generator, None)

    def failure_place(self, error: BaseException) -> Stack:
        """The call chain in user code at which an exception came out."""
        from auditor.program import Program

        table = self.machine.program.line_locs
        places = []
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == Program.FILENAME and trace.tb_lineno < len(table):
                loc = table[trace.tb_lineno]
                if loc is not None:
                    places.append(loc)
            trace = trace.tb_next
        return tuple(reversed(places)) or (self.machine.kernel.loc,)

    # ---- replay -----------------------------------------------------------------------------------------------

    def _replayed(self) -> Any:
        value = self.log[self.replay_at]
        self.replay_at += 1
        if self.replay_at == len(self.log):
            self.replaying = False
        return value

    # ---- control ----------------------------------------------------------------------------------------------

    def cond(self, v: Any) -> bool:
        """A value as a branch condition. Forks when it differs between the lanes; an opaque one is chosen."""
        if v.__class__ is Vec:
            yes = v.lanes_set & self.lanes
            if yes == self.lanes:
                return True
            if yes == 0:
                return False
            self.machine.fork(self, self.lanes & ~yes)
            self.lanes = yes
            return True
        if isinstance(v, Opaque):
            v.used()
            return bool(self._choose())
        return bool(v)

    def mixed(self, condition: Vec) -> bool:
        """Whether a condition is true for some of the strand's lanes and false for others.

        A strand that forked off later walks the same way again, though its own lanes may agree.
        """
        if self.replaying:
            return bool(self._replayed())
        answer = condition.lanes_set & self.lanes not in (0, self.lanes)
        self.log.append(answer)
        return answer

    def narrow(self, condition: Vec, whole: int = 0) -> int:
        """Leave what follows to the lanes for which a mixed condition is true, until ``widen``. Returns all the lanes,
        which are ``whole`` when some have left the same loop before.

        Nothing waits or forks in between. A strand that forked off later takes the lanes' part when it walks the same
        way again, although they may be none of its own.
        """
        if not whole:
            whole = self.lanes
            self.narrowed += 1
        if self.replaying:
            self.lanes = int(self._replayed())
        else:
            self.lanes &= condition.lanes_set
            self.log.append(self.lanes)
        return whole

    def widen(self, whole: int) -> None:
        """All lanes that were active before ``narrow`` go on."""
        self.lanes = whole
        self.narrowed -= 1

    def active(self) -> Any:
        """1 in the lanes that are active, 0 in the others."""
        return Vec(tuple([self.lanes >> lane & 1 for lane in range(32)]))

    def _choose(self) -> int:
        if self.replaying:
            return int(self._replayed())
        self.machine.charge()
        key = self.machine.where()
        n = self.choices.get(key, 0) + 1
        self.choices[key] = n
        answer = self.machine.settled.get(key, 1 if n % (PATIENCE + 1) == 0 else 0)
        self.log.append(answer)
        self.last_choice = (key, answer, self.last_event)
        return answer

    def regretted(self) -> tuple[Stack, int] | None:
        """The place of the choice behind which the strand has done nothing so far, and the answer to give there.

        Behind none, it is the choice of the lane that its warp has elected.
        """
        if self.last_choice is not None and self.last_choice[2] is self.last_event:
            where, answer, _ = self.last_choice
            if where not in self.machine.settled:
                return where, 1 - answer
        return (ELECTION, 0) if self.warp.elected else None

    def loop(self, k: int) -> None:
        """Head of a loop body: counts steps."""
        if not self.replaying:
            self.machine.charge()

    def rounds(self) -> Rounds:
        """A loop that waits is entered."""
        self.loops_entered += 1
        loop = Rounds(self, self.loops_entered)
        self.rounds_active.append(loop)
        return loop

    def trap(self) -> None:
        """``__trap`` and the like: the strand ends."""
        raise StrandEnd("trap", self.machine.where(), trap=True)

    # ---- memory -----------------------------------------------------------------------------------------------

    def load(self, p: Any, kind: str, bits: int, signed: bool = False) -> Any:
        if p.__class__ is Ref:
            if p.unit and bits != 8 * p.unit:
                return memory.load_wide(p, bits)
            key = p.key
            if key.__class__ is not int:
                return memory.load_local(p)
            try:
                return p.box[key] if key >= 0 else OPAQUE
            except (IndexError, TypeError):
                return OPAQUE
        if self.replaying:
            return self._replayed()
        machine = self.machine
        machine.accessing = sys._getframe(1)  # reads are so many that looking for it shows
        try:
            value = memory.load(self, p, kind, bits, signed)
        finally:
            machine.accessing = None
        self.log.append(value)
        return value

    def store(self, p: Any, kind: str, bits: int, value: Any) -> None:
        if p.__class__ is Ref:
            if self.narrowed:
                value = memory.overlaid(self.lanes, value, self.load(p, kind, bits))
            if p.unit and bits != 8 * p.unit:
                memory.store_wide(p, bits, value)
            else:
                memory.store_local(p, value)
            return
        if isinstance(value, Opaque):
            value.used()
        if self.replaying:
            self._replayed()
            return
        memory.store(self, p, kind, bits, value)
        self.log.append(None)

    def padd(self, p: Any, n: Any, size: int) -> Any:
        if p.__class__ is Ref:
            return memory.step_local(p, n, size)
        return p + n * size

    def pdiff(self, p: Any, q: Any, size: int) -> Any:
        if p.__class__ is Ref and q.__class__ is Ref:
            return p.key - q.key
        if isinstance(p, (int, Vec)) and isinstance(q, (int, Vec)):
            d = p - q
            return d >> (size.bit_length() - 1) if size & (size - 1) == 0 else OPAQUE
        return OPAQUE

    def field(self, p: Any, index: int, offset: int) -> Any:
        if p.__class__ is Ref:
            return memory.field_local(p, index, offset)
        return p + offset

    def shared_addr(self, key: str) -> int:
        cta = self.warp.cta
        return SHARED_WINDOW + (cta.rank << 24) + cta.shared[key]

    def global_addr(self, key: str) -> int:
        return self.machine.global_addr(key)

    # ---- operations -------------------------------------------------------------------------------------------

    def asm(self, n: int, inputs: tuple[Any, ...]) -> Any:
        if self.replaying:
            return self._replayed()
        out = run_plain(self, n, inputs)
        self.log.append(out)
        return out

    def wait_asm(self, n: int, inputs: tuple[Any, ...]) -> Generator[Park, None, Any]:
        if self.replaying:
            return _answered(self._replayed())
        return run_blocking(self, n, inputs)

    def opaque_call(self, name: str, args: Any, kind: str = "int", bits: int = 32) -> Any:
        """A call that is not modelled; pointers passed to it are not followed."""
        if name.startswith(HIDING):
            what = f"cute::{name.removeprefix(HIDING)} is not modelled, and hides the operations that it stands for"
            raise HiddenOperations(what, self.machine.where())
        if name.startswith(ELSEWHERE):
            what = f"{name.removeprefix(ELSEWHERE)} is defined in another file, and may synchronise"
            raise HiddenOperations(what, self.machine.where())
        pending = list(args)
        while pending:
            a = pending.pop()
            if isinstance(a, Opaque):
                a.used()
            elif isinstance(a, list):
                pending += a
        return OPAQUE

    def unanalysed(self, what: str, line: int = 0) -> Any:
        """An expression that was not translated."""
        if not self.replaying:
            self.machine.incident("unanalysed", self.machine.where(), self, data={"what": what})
        return OPAQUE

    # ---- bookkeeping ------------------------------------------------------------------------------------------

    def close_memory(self) -> None:
        """A synchronising event follows: later accesses belong to new events."""
        for opened in self.open_memory.values():
            opened.close()
        self.open_memory = {}

    def lane_list(self, lanes: int | None = None) -> list[int]:
        return _lane_list(self.lanes if lanes is None else lanes)

    def track(self, record: LoadRecord) -> None:
        self.warp.loads.append(record)

    def release_loads(self) -> None:
        """A release follows: note for each load in flight whether its values were consumed before it."""
        for record in self.warp.loads:
            if not record.consumed:
                self.machine.unused.append(record)
            elif record.access.consumed is None:
                record.access.consumed = True
        self.warp.loads = []

    def uniform(self, v: Any, lanes: int | None = None) -> Any:
        """The common value of the active lanes; OPAQUE when they differ or it is opaque."""
        if v.__class__ is not Vec:
            return v
        values = lane_values(v)
        active = self.lane_list(lanes)
        first = values[active[0]]
        return first if all(values[n] == first for n in active) else OPAQUE
