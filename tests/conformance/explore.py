"""Searches the interleavings of a measured program for given outcomes, on the machine's own mbarriers.

The search is over small states (positions of the warps, counts of the barriers, bytes in flight) and yields scripts:
which warp executes its next operation, which bytes land. ``Replay`` makes the machine follow such a script, so that it
is the machine that reaches the outcome.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import gcd
from typing import NamedTuple

from auditor.machine.core import Machine
from auditor.machine.mbarrier import BarrierTrap, Mbarrier
from auditor.machine.schedule import PIECE, Exploring, runnable
from auditor.machine.state import AsyncOp
from tests.conformance import meetings
from tests.conformance.meetings import Meetings, Standing
from tests.conformance.recorded import TRAP, Op, Outcome, Recorded

TAIL = 16
TARGETLESS = ("sync", "cluster", *meetings.KINDS)


class Land(NamedTuple):
    """``size`` bytes of a copy arrive at barrier ``bar`` (counted over the cluster); 0: an arrival of cp.async."""

    bar: int
    size: int


class Split(NamedTuple):
    """Whether the next 32 bytes of a copy between CTAs come to barrier ``bar`` in two pieces."""

    bar: int
    apart: bool


Step = int | Land | Split  # an int: that warp executes its next operation
Script = list[Step]


class Unit(NamedTuple):
    """The counts of one mbarrier, as a value."""

    expected: int
    pending: int
    tx: int
    parity: int


class Flying(NamedTuple):
    """What is on its way to a barrier: pieces of 32 and 16 bytes, arrivals, and 32 bytes that may come in two."""

    whole: int = 0
    tails: int = 0
    arrivals: int = 0
    pairs: int = 0


class State(NamedTuple):
    at: tuple[int, ...]
    units: tuple[Unit, ...]
    flying: tuple[Flying, ...]  # by barrier
    tests: tuple[tuple[int, ...], ...]
    standing: Standing = Standing()


@lru_cache(maxsize=1 << 16)
def apply(unit: Unit, kind: str, value: int) -> Unit | None:
    """The unit after an operation, None when that traps."""
    bar = Mbarrier(unit.expected, unit.pending, unit.tx, unit.parity)
    try:
        if kind == "arrive":
            bar.arrive(value)
        elif kind == "arrive_tx":
            bar.arrive(1, value)
        elif kind == "expect_tx":
            bar.expect(value)
        elif kind == "drop":
            bar.arrive(value, drop=True)
        elif kind == "extend":
            bar.extend(value)
        else:
            bar.complete(value)
    except BarrierTrap:
        return None
    return Unit(bar.expected, bar.pending, bar.tx, bar.parity)


def _leads_to(s: State, outcome: Outcome) -> bool:
    """False when a warp is beyond the operation that it is to stop at, or has seen another result of a test.

    What is no outcome of such a program (a trap, or what is looked for to visit every state) may come from anywhere.
    """
    if len(outcome.stop) != len(s.at):
        return True
    return all((stop is None or n <= stop) and tests[:len(seen)] == seen
               for n, stop, seen, tests in zip(s.at, outcome.stop, s.tests, outcome.tests))


class Explorer:
    """The reachable outcomes of one program."""

    def __init__(self, p: Recorded) -> None:
        self.p = p
        self.code = p.code
        self.ends = tuple(len(c) for c in p.code)
        self.per_cta = len(p.init[0])
        self.lanes = max((op.lanes for _, _, op in p.ops() if op.kind == "async_arrive"), default=1)
        self.warps = range(len(p.code))
        self.meetings = Meetings(p)
        self.targets = [[self._target(w, op) for op in code] for w, code in enumerate(p.code)]
        self.touched = [[self._touched(w, op, t) for op, t in zip(code, self.targets[w])]
                        for w, code in enumerate(p.code)]
        self.later = [self._later(w) for w in self.warps]
        self.grain = [0] * (self.per_cta * p.ctas)
        for w, n, op in p.ops():
            if op.kind in ("arrive_tx", "expect_tx", "complete_tx"):
                self.grain[self.targets[w][n]] = gcd(self.grain[self.targets[w][n]], op.value)

    def _target(self, w: int, op: Op) -> int:
        cta = op.rank if op.kind in ("remote_arrive", "push") else self.p.cta(w)
        return cta * self.per_cta + op.barrier

    def _later(self, w: int) -> list[int]:
        """By position: bit mask of the barriers that the warp still touches; none at its end and when it has left."""
        masks = [0, 0]
        for op, target, touched in zip(reversed(self.code[w]), reversed(self.targets[w]), reversed(self.touched[w])):
            if op.kind == "multicast":
                touched = sum(1 << self._other(target, c) for c in range(self.p.ctas))
            masks.append(masks[-1] | touched)
        return masks[::-1]

    def _touched(self, w: int, op: Op, target: int) -> int:
        if op.kind in meetings.KINDS:
            return 1 << self.per_cta * self.p.ctas + self.meetings.bit(w, op)
        return 0 if op.kind in TARGETLESS else 1 << target

    def _other(self, target: int, cta: int) -> int:
        """The barrier of another CTA at the same offset."""
        return cta * self.per_cta + target % self.per_cta

    def start(self) -> State:
        units = [Mbarrier.init(n) for counts in self.p.init for n in counts]
        return State((0,) * len(self.code), tuple(Unit(u.expected, u.pending, u.tx, u.parity) for u in units),
                     (Flying(),) * len(units), ((),) * len(self.code), self.meetings.start)

    def outcome(self, s: State | None) -> Outcome:
        if s is None:
            return TRAP
        stop = tuple(None if n >= end else n for n, end in zip(s.at, self.ends))
        return Outcome(stop, s.tests, tuple(u.parity for u in s.units))

    # ---- steps ------------------------------------------------------------------------------------------------

    def ready(self, s: State, w: int) -> bool:
        n = s.at[w]
        if n >= self.ends[w]:
            return n == self.ends[w] and self.meetings.whole
        if s.standing.waiting >> w & 1:
            return False
        op = self.code[w][n]
        if op.kind == "wait":
            return s.units[self.targets[w][n]].parity != op.value
        if op.kind == "sync":
            return all(s.at[o] < self.ends[o] and self.code[o][s.at[o]].kind == "sync" for o in self._cta_of(w))
        return True

    def _cta_of(self, w: int) -> range:
        first = w // self.p.warps * self.p.warps
        return range(first, first + self.p.warps)

    def execute(self, s: State, w: int) -> tuple[State | None, Script]:
        """The state after the next operation of a warp (of all warps of the CTA, when it is their barrier)."""
        n = s.at[w]
        if n == self.ends[w]:
            at, standing = self.meetings.leave(s.at, s.standing, w)
            return s._replace(at=at, standing=standing), [w]
        op, target = self.code[w][n], self.targets[w][n]
        if op.kind in meetings.KINDS:
            at, standing = self.meetings.arrive(s.at, s.standing, w)
            return s._replace(at=at, standing=standing), [w]
        if op.kind == "sync":
            together = self._cta_of(w)
            return s._replace(at=tuple(k + (o in together) for o, k in enumerate(s.at))), list(together)
        s = State((*s.at[:w], n + 1, *s.at[w + 1:]), s.units, s.flying, s.tests, s.standing)
        if op.kind == "copy":
            return self._launched(s, target, op.value), [w]
        if op.kind == "push":
            return self._in_flight(s, target, tails=op.value % PIECE // TAIL, pairs=op.value // PIECE), [w]
        if op.kind == "multicast":
            for cta in range(self.p.ctas):
                if op.rank >> cta & 1:
                    s = self._launched(s, self._other(target, cta), op.value)
            return s, [w]
        if op.kind == "async_arrive":
            if not op.value:
                held = apply(s.units[target], "extend", op.lanes)
                s = self._unit(s, target, held) if held else s
            return self._in_flight(s, target, arrivals=1), [w]
        if op.kind == "test":
            passed = int(s.units[target].parity != op.value)
            return s._replace(tests=(*s.tests[:w], (*s.tests[w], passed), *s.tests[w + 1:])), [w]
        if op.kind == "wait":
            return s, [w]
        kind = "arrive" if op.kind == "remote_arrive" else op.kind
        unit = apply(s.units[target], kind, op.value * op.lanes)
        return (None if unit is None else self._unit(s, target, unit)), [w]

    @staticmethod
    def _unit(s: State, b: int, unit: Unit) -> State:
        return State(s.at, (*s.units[:b], unit, *s.units[b + 1:]), s.flying, s.tests, s.standing)

    @staticmethod
    def _in_flight(s: State, b: int, whole: int = 0, tails: int = 0, arrivals: int = 0, pairs: int = 0) -> State:
        """More, or less, is on its way to a barrier."""
        old = s.flying[b]
        new = Flying(old.whole + whole, old.tails + tails, old.arrivals + arrivals, old.pairs + pairs)
        return State(s.at, s.units, (*s.flying[:b], new, *s.flying[b + 1:]), s.tests, s.standing)

    def _launched(self, s: State, b: int, size: int) -> State:
        return self._in_flight(s, b, size // PIECE, size % PIECE // TAIL)

    def landings(self, s: State, b: int) -> Iterator[tuple[State | None, Script]]:
        """Some of what is on its way to a barrier comes, one after the other.

        Only sums after which the tx-count is a multiple of what is ever expected matter: no other can end a phase.
        """
        whole, tails, arrivals, pairs = s.flying[b]
        tx, grain = s.units[b].tx, self.grain[b]
        if arrivals:
            arrived = apply(s.units[b], "arrive", self.lanes)
            yield (self._unit(self._in_flight(s, b, arrivals=-1), b, arrived) if arrived else None), [Land(b, 0)]
        if pairs:  # it turns out whether 32 bytes of a copy between CTAs come together
            yield self._in_flight(s, b, whole=1, pairs=-1), [Split(b, False)]
            yield self._in_flight(s, b, tails=2, pairs=-1), [Split(b, True)]
        for x in range(whole + 1):
            for y in range(tails + 1):
                last = x == whole and y == tails
                if not x + y or not (last or (grain and (tx - PIECE * x - TAIL * y) % grain == 0)):
                    continue
                rest = self._in_flight(s, b, -x, -y)
                for sizes in {(PIECE,) * x + (TAIL,) * y, (TAIL,) * y + (PIECE,) * x}:
                    unit: Unit | None = s.units[b]
                    for size in sizes:
                        unit = apply(unit, "complete_tx", size) if unit is not None else None
                    yield (self._unit(rest, b, unit) if unit else None), [Land(b, size) for size in sizes]

    def successors(self, s: State) -> list[tuple[State | None, Script]]:
        ready = [w for w in self.warps if self.ready(s, w)]
        in_flight = [b for b, f in enumerate(s.flying) if any(f)]
        busy = sum(1 << b for b in in_flight)
        for w in ready:  # a step that commutes with all that can happen is taken alone
            if s.at[w] == self.ends[w]:
                return [self.execute(s, w)]
            op = self.code[w][s.at[w]]
            mine = self.touched[w][s.at[w]]
            if op.kind in ("copy", "push", "multicast", "sync", "whole") or not (busy & mine or any(
                    self.later[o][s.at[o]] & mine for o in self.warps if o != w)):
                return [self.execute(s, w)]
        return [self.execute(s, w) for w in ready] + [step for b in in_flight for step in self.landings(s, b)]

    # ---- search -----------------------------------------------------------------------------------------------

    def search(self, wanted: set[Outcome], limit: int, seed: int = 0) -> tuple[dict[Outcome, Script], bool]:
        """Scripts to the wanted outcomes, and whether all states were seen. Stops when all are found."""
        rng = random.Random(seed)
        begin = self.start()
        came: dict[State, tuple[State | None, Script]] = {begin: (None, [])}
        todo = [begin]
        found: dict[Outcome, Script] = {}
        missing = set(wanted)
        while todo and missing:
            if len(came) > limit:
                return found, False
            s = todo.pop()
            steps = self.successors(s)
            if not steps:
                outcome = self.outcome(s)
                if outcome in missing:
                    missing.discard(outcome)
                    found[outcome] = self._path(came, s)
                continue
            rng.shuffle(steps)
            for after, script in steps:
                if after is None:
                    if TRAP in missing:
                        missing.discard(TRAP)
                        found[TRAP] = self._path(came, s) + script
                elif after not in came and any(_leads_to(after, outcome) for outcome in missing):
                    came[after] = (s, script)
                    todo.append(after)
        return found, not todo

    def may_fail(self, limit: int) -> bool | None:
        """Whether some interleaving hangs or traps; None when ``limit`` states do not tell."""
        todo, met = [self.start()], {self.start()}
        while todo:
            if len(met) > limit:
                return None
            s = todo.pop()
            steps = self.successors(s)
            if not steps and any(n < end for n, end in zip(s.at, self.ends)):
                return True
            for after, _ in steps:
                if after is None:
                    return True
                if after not in met:
                    met.add(after)
                    todo.append(after)
        return False

    def splits(self, script: Script) -> list[bool]:
        """Of every 32 bytes copied between CTAs, in the order of their issue: whether they come in two pieces."""
        out: list[bool] = []
        at = [0] * len(self.code)
        undecided: dict[int, list[int]] = {}
        for step in script:
            if isinstance(step, Split):
                out[undecided[step.bar].pop(0)] = step.apart
            elif isinstance(step, int) and at[step] < self.ends[step]:
                op, target = self.code[step][at[step]], self.targets[step][at[step]]
                at[step] += 1
                if op.kind == "push":
                    undecided.setdefault(target, []).extend(range(len(out), len(out) + op.value // PIECE))
                    out += [False] * (op.value // PIECE)
        return out

    @staticmethod
    def _path(came: dict[State, tuple[State | None, Script]], s: State) -> Script:
        parts: list[Script] = []
        at: State | None = s
        while at is not None:
            at, script = came[at]
            parts.append(script)
        return [step for part in reversed(parts) for step in part]


class Replay(Exploring):
    """The schedule that a script describes. Strands that only begin, or come out of a barrier, go on by themselves."""

    def __init__(self, script: Script, explorer: Explorer) -> None:
        self.script = [step for step in reversed(script) if not isinstance(step, Split)]
        self.per_cta = explorer.per_cta
        self.splits = explorer.splits(script)

    def pieces(self, size: int, piece: int = PIECE) -> Sequence[int]:
        if piece == PIECE:
            return super().pieces(size, piece)
        parts: list[int] = []
        for _ in range(size // PIECE):
            parts += (TAIL, TAIL) if self.splits.pop(0) else (PIECE,)
        return (*parts, TAIL) if size % PIECE else tuple(parts)

    def advance(self, m: Machine) -> bool:
        for strand in m.strands:
            if runnable(strand) and (strand.park is None or strand.park.kind != "turn" or not self.script):
                m.step(strand)
                return True
        if not self.script:
            return False
        step = self.script.pop()
        if isinstance(step, Land):
            m.complete(next(op for op in m.queue if self._lands(m, op) == step))
        else:
            m.step(next(s for s in m.strands if s.warp.number == step and not s.done))
        return True

    def _lands(self, m: Machine, op: AsyncOp) -> Land | None:
        """What the completion of an operation means for a barrier."""
        size = 0 if op.event.data["instr"] == "cp.async.arrive" else op.landing
        return None if size is None else Land(self._bar(m, op.event.data["bar"]), size)

    def _bar(self, m: Machine, index: int) -> int:
        """A barrier's number over the cluster, from its index in the trace."""
        record = m.trace.barriers[index]
        first = m.ctas[record.cta].shared["bars"]
        return record.cta * self.per_cta + (record.offset - first) // 8
