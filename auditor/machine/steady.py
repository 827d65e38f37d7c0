"""The steady state of long loops: when all strands repeat what they did some rounds ago, rounds are left out.

A kernel for one size of problem may run a loop thousands of times, and a round may take thousands of steps. Once the
whole machine is in a state in which it was before (every mbarrier, copy in flight, group and waiting strand alike), and
since then each strand has gone through a number of rounds of one loop in which what it carries along either came back
or grew by the same amount in each round, what follows is the same again and again. So every strand goes on as many
periods later, all by the same number of periods and so that half a period at least is left of each loop; what a round
does besides is calculated from where it is.

That rests on rounds in the middle being like those that were seen. Rounds behind the gap are compared with those before
it; when they differ, or when the kernel hangs behind a gap, the run starts again and nothing is left out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from auditor.machine.rounds import LONGEST, Jump, Numbers, Round, Rounds, carried
from auditor.quick_dataclass import dataclass

if TYPE_CHECKING:
    from auditor.machine.core import Machine
    from auditor.machine.mbarrier import Mbarrier
    from auditor.machine.state import Cta
    from auditor.machine.strand import Strand

START = 4_000  # steps that a run may take before it is worth looking for a period
WORTH = 3_000  # steps that a gap has to save
CONFIRMED = 30_000  # steps of a period that has to show twice before rounds are left out
FEWEST = 8  # rounds that a loop must have before it to be watched
STALE = 60_000  # steps after which a loop that is not met again is no longer watched
PATIENCE = 512  # states that are compared, and searches for a loop, before a run counts as not periodic


class Unsteady(Exception):  # noqa: N818 - how a run ends, not a defect
    """Rounds behind a gap differ from those that it was judged by: the run has to start again."""


@dataclass(frozen=True)
class _Position:
    """Where a strand is: the loops around it with their rounds begun and their marks, and its calls so far."""

    loops: tuple[tuple[Rounds, int, int], ...]
    calls: int


@dataclass(frozen=True)
class _State:
    steps: int
    shape: Any
    positions: tuple[_Position, ...]


@dataclass(frozen=True)
class _Progress:
    """What a strand did in a period: so many rounds of a loop, in each of which ``carried`` values moved."""

    loop: Rounds
    rounds: int
    shrunk: int  # of what is left of the loop
    left: int
    moves: tuple[Numbers, ...]

    @property
    def periods(self) -> int:
        """How many periods can be left out so that half a period at least is left for the end of the loop."""
        return (self.left - self.shrunk * self.compared // self.rounds) // self.shrunk

    @property
    def compared(self) -> int:
        """Rounds behind the gap that are compared with those before it."""
        return (self.rounds + 1) // 2


class Steady:
    """Watches a run, and decides when rounds are left out. ``skipped``: how many, of the longest loop."""

    def __init__(self, machine: Machine) -> None:
        self.start = START
        self.skipped = 0
        self._machine = machine
        self._leader: Rounds | None = None
        self._seen_at = 0
        self._states: deque[_State] = deque(maxlen=LONGEST)
        self._compared = 0

    def visit(self, loop: Rounds, scalars: Sequence[Any], boxes: Sequence[Any], left: int | None) -> None:
        """A round begins. Raises ``Unsteady``."""
        if loop.expected and loop.history and loop.mark - loop.history[-1].mark != loop.expected.popleft():
            raise Unsteady
        if self._compared > PATIENCE and not self.skipped:
            return
        loop.history.append(Round(loop.mark, left, carried(scalars, boxes)))
        if self._leads(loop):
            self._compare()

    def _leads(self, loop: Rounds) -> bool:
        """Whether this is the loop whose heads are the moments that are compared."""
        machine = self._machine
        if self._leader is None or self._stale(self._leader):
            self._compared += 1
            self._leader = next((outer for outer in loop.strand.rounds_active if _long(outer)), None)
            self._states.clear()
            self._seen_at = machine.steps
        if loop is not self._leader:
            return False
        self._seen_at = machine.steps
        return True

    def _stale(self, leader: Rounds) -> bool:
        strand = leader.strand
        return strand.done or leader not in strand.rounds_active or self._machine.steps - self._seen_at > STALE

    def _compare(self) -> None:
        self._compared += 1
        machine = self._machine
        now = _State(machine.steps, _shape(machine), tuple(_position(s) for s in machine.strands))
        for before in reversed(self._states):
            if before.shape == now.shape and self._repeat(before, now):
                self._states.clear()
                return
        self._states.append(now)

    def _repeat(self, before: _State, now: _State) -> bool:
        """Leave out as many of the periods between two equal states as there are. False when they are no periods."""
        moving = []
        cost = now.steps - before.steps
        for old, new in zip(before.positions, now.positions):
            if old.calls == new.calls:
                continue
            progress = _progress(old, new, twice=cost < CONFIRMED)
            if progress is None:
                return False
            moving.append(progress)
        times = min((p.periods for p in moving), default=0)
        if times * cost < WORTH:
            return False
        for p in moving:
            self._leave_out(p, times)
        return True

    def _leave_out(self, p: _Progress, times: int) -> None:
        """The loop that is at its head now goes on behind the gap at once, others when they come to theirs."""
        loop = p.loop
        moves = tuple(None if m is None else tuple(times * x for x in m) for m in p.moves)
        first = loop.visits if loop is self._leader else loop.visits + 1
        loop.strand.jumps[loop.number, first] = Jump(times * p.rounds, moves)
        last = _calls(loop)[-p.rounds :]
        loop.expected = deque([*last, *last][: p.compared])
        self.skipped = max(self.skipped, times * p.rounds)


def _long(loop: Rounds) -> bool:
    """Whether a loop has many rounds before it."""
    if len(loop.history) < 2:
        return False
    before, now = loop.history[-2].left, loop.history[-1].left
    return before is not None and now is not None and before > now and now > FEWEST * (before - now)


def _calls(loop: Rounds) -> list[int]:
    """How many machine calls each of the rounds that are remembered made."""
    return [b.mark - a.mark for a, b in pairwise(loop.history)]


def _position(strand: Strand) -> _Position:
    return _Position(tuple((loop, loop.visits, loop.mark) for loop in strand.rounds_active), len(strand.log))


def _progress(old: _Position, new: _Position, twice: bool) -> _Progress | None:
    """What a strand did between two states, if it stands at the same place of a later round of the same loop.

    ``twice``: it must have done the same in the period before.
    """
    pair = next(((a, b) for a, b in zip(old.loops, new.loops) if a != b), None)
    if pair is None or pair[0][0] is not pair[1][0]:
        return None
    (loop, first, mark), (_, last, new_mark) = pair
    rounds = last - first
    if old.calls - mark != new.calls - new_mark or len(loop.history) <= rounds * (2 if twice else 1):
        return None
    calls = _calls(loop)
    known = calls[:-rounds][-rounds:]
    if known != calls[len(calls) - len(known) :]:
        return None
    window = list(loop.history)[-rounds - 1 :]
    begin, end = window[0].left, window[-1].left
    moves = _moves([r.carried for r in window])
    if moves is None or begin is None or end is None or begin <= end:
        return None
    return _Progress(loop, rounds, begin - end, end, moves)


def _moves(rounds: Sequence[tuple[Numbers, ...]]) -> tuple[Numbers, ...] | None:
    """By how much each carried value moves in a period: not at all, or by the same in every round. None: otherwise."""
    if len({len(r) for r in rounds}) > 1:
        return None
    found: list[Numbers] = []
    for values in zip(*rounds):
        if values[0] == values[-1]:
            found.append(None)
            continue
        if None in values or len({len(v) for v in values}) > 1:
            return None
        steps = {tuple(y - x for x, y in zip(a, b)) for a, b in pairwise(values)}
        if len(steps) > 1:
            return None
        found.append(tuple((len(values) - 1) * d for d in steps.pop()))
    return tuple(found)


def _shape(m: Machine) -> Any:
    """The state of the machine but for what only counts: equal ones go on alike."""
    flying = [(id(op.event.where), op.event.kind, op.done, op.landing) for op in m.queue]
    return flying, [_strand_shape(s) for s in m.strands], [_cta_shape(cta) for cta in m.ctas]


def _cta_shape(cta: Cta) -> Any:
    """Values in shared memory that stand for data are left out: what is chosen for them differs from time to time."""
    return (
        [(w.exited, w.cluster_mask, len(w.loads), len(w.wgmma_issued), len(w.gathers)) for w in cta.warps],
        [(at, b.valid, _counts(b.unit)) for at, b in cta.barriers.items()],
        [(n.number, n.expected, n.arrived, dict(n.masks)) for n in cta.named.values()],
        [(a.base, a.columns) for a in cta.allocations if not a.freed],
        {at: value for at, value in cta.values.numbers().items() if at not in cta.chosen},
    )


def _counts(unit: Mbarrier) -> tuple[int, ...]:
    return unit.parity, unit.pending, unit.tx, unit.expected


def _strand_shape(s: Strand) -> Any:
    """Groups whose operations are all complete make no difference to whoever waits for them."""
    flying = [
        (kind, len(g.open), [n for c in g.committed if (n := sum(not op.done for op in c))])
        for kind, g in s.groups.items()
    ]
    return s.done, s.lanes, s.park.kind if s.park is not None else None, flying
