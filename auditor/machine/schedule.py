"""Schedules: which of the strands and asynchronous operations that could go on does so next.

An audit runs one of them, ``Lazy``: the graph built from its trace stands for all the others. Where the answer of
a poll decides whether a wait follows at all, it runs ``Truthful`` too. The others are for whoever wants to see another
run itself, such as the comparison with hardware in tests/conformance.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from auditor.machine.state import Park

if TYPE_CHECKING:
    from auditor.machine.core import Machine
    from auditor.machine.strand import Strand

# Bytes that a bulk copy completes at once, from global memory and from the shared memory of a CTA (measured, see
# docs/conformance.md). A tail may be shorter.
PIECE = 32
PEER_PIECE = 16


def turn() -> Park:
    """A place where a strand gives way although it could go on."""
    return Park(lambda: True, "turn")


class Lazy:
    """The schedule of an audit: strands until they block, asynchronous operations as late as possible and whole.

    ``denies``: the first poll of a phase is answered "no", so that code which does not retry shows.
    ``preempts``: strands give way at every ``__syncwarp``.
    """

    denies = True
    preempts = False

    def advance(self, m: Machine) -> bool:
        """Let something go on. False when every strand is blocked."""
        ran = False
        for strand in m.strands:  # forks append to it while it is walked
            if strand.done:
                continue
            park = strand.park
            if park is None or park.ready():
                ran = True
                m.step(strand)
        return ran

    def pieces(self, size: int, piece: int = PIECE) -> Sequence[int]:
        """The parts in which a bulk copy of so many bytes completes; ``piece``: what hardware completes at once."""
        return (size,)


class Truthful(Lazy):
    """The same with polls answered as it is: shows what a kernel skips after a "yes"."""

    denies = False


class Eager(Lazy):
    """Asynchronous operations complete as soon as they can, and polls are answered truthfully."""

    denies = False

    def advance(self, m: Machine) -> bool:
        for op in m.queue:
            if op.ready is None or op.ready():
                m.complete(op)
                return True
        for strand in m.strands:
            if runnable(strand):
                m.step(strand)
                return True
        return False


class Slow(Lazy):
    """Some warps go on only when nothing else can: no other strand, and no operation in flight. ``warps``: their
    numbers over the cluster."""

    denies = False

    def __init__(self, warps: frozenset[int]) -> None:
        self.warps = warps

    def advance(self, m: Machine) -> bool:
        others = [s for s in m.strands if s.warp.number not in self.warps and runnable(s)]
        for strand in others:
            m.step(strand)
        if others or m.queue:
            return bool(others)
        late = next((s for s in m.strands if runnable(s)), None)
        if late is not None:
            m.step(late)
        return late is not None


class Exploring(Lazy):
    """Base of schedules that reach what hardware can do: strands give way often, copies complete piece by piece."""

    denies = False
    preempts = True

    def pieces(self, size: int, piece: int = PIECE) -> Sequence[int]:
        tail = size % piece
        return (piece,) * (size // piece) + ((tail,) if tail else ())


class Random(Exploring):
    """Chance decides what goes on next. Equal seeds give equal runs."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.hurry = self.rng.choice((0.05, 0.3, 0.6))  # how often a copy gets ahead of the strands

    def advance(self, m: Machine) -> bool:
        strands = [s for s in m.strands if runnable(s)]
        landing = [op for op in m.queue if op.landing is not None]
        if landing and (not strands or self.rng.random() < self.hurry):
            m.complete(self.rng.choice(landing))
            return True
        if strands:
            m.step(self.rng.choice(strands))
        return bool(strands)


def runnable(strand: Strand) -> bool:
    """Whether a strand could go on."""
    return not strand.done and (strand.park is None or strand.park.ready())


LAZY = Lazy()
TRUTHFUL = Truthful()
