"""Loops that wait, as the machine sees them: one ``Rounds`` for each time that a strand enters one.

Generated code tells at the head of every round what it carries from round to round; ``steady`` may answer with the
values that it will have many rounds later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from auditor.quick_dataclass import dataclass
from auditor.values import BlockInt, Overlay, Ref, Vec

if TYPE_CHECKING:
    from auditor.machine.strand import Strand

LONGEST = 64  # rounds that are remembered: a period is at most half as long

Numbers = tuple[int, ...] | None  # of a value, one for each lane or end of the grid; None: nothing to calculate with


@dataclass(frozen=True)
class Round:
    """A round as it begins. ``mark``: machine calls of the strand so far; ``left``: what shrinks with every round until
    the loop ends, None when that is not known; ``carried``: the numbers in what lives on from round to round."""

    mark: int
    left: int | None
    carried: tuple[Numbers, ...]


@dataclass(frozen=True)
class Jump:
    """Rounds that are left out. ``moves``: by how much each carried value changes over all of them."""

    rounds: int
    moves: tuple[Numbers, ...]


class Rounds:
    """One execution of a loop by a strand.

    ``number``: the how manieth of its strand; ``visits``: rounds begun; ``mark``: machine calls of the strand when the
    current one began; ``expected``: how many calls the coming rounds make if what was left out was like them.
    """

    __slots__ = ("expected", "history", "index", "mark", "number", "span", "strand", "visits")

    def __init__(self, strand: Strand, number: int) -> None:
        self.strand = strand
        self.number = number
        self.visits = 0
        self.mark = 0
        self.span: range | None = None
        self.index = 0
        self.history: deque[Round] = deque(maxlen=2 * LONGEST)
        self.expected: deque[int] = deque()

    def over(self, values: range) -> Iterator[int]:
        """The counter of a loop whose bounds are constants."""
        self.span = values
        while self.index < len(values):
            yield values[self.index]
            self.index += 1

    def round(self, scalars: tuple[Any, ...], boxes: tuple[Any, ...] = (), left: Any = None) -> tuple[Any, ...]:
        """Head of the body. Returns ``scalars``, or what they are after rounds that are left out.

        ``boxes``: arrays and objects that may change in the body; they are changed in place.
        """
        strand = self.strand
        self.visits += 1
        active = strand.rounds_active
        while active[-1] is not self:
            active.pop()
        if strand.replaying:
            self.mark = strand.replay_at
        else:
            self.mark = len(strand.log)
            machine = strand.machine
            machine.charge()
            if machine.steady is not None and machine.steps > machine.steady.start:
                machine.steady.visit(self, scalars, boxes, self._left(left))
        if strand.jumps:
            jump = strand.jumps.get((self.number, self.visits))
            if jump is not None:
                return self._jump(jump, scalars, boxes)
        return scalars

    def leave(self) -> None:
        """The loop is over. A loop around it with few rounds does not tell of them."""
        active = self.strand.rounds_active
        if self in active:
            del active[active.index(self) :]

    def _left(self, distance: Any) -> int | None:
        if self.span is not None:
            return len(self.span) - self.index
        return abs(int(distance)) if isinstance(distance, int) else None

    def _jump(self, jump: Jump, scalars: tuple[Any, ...], boxes: tuple[Any, ...]) -> tuple[Any, ...]:
        self.index += jump.rounds
        moves = iter(jump.moves)
        moved = tuple([_moved(value, next(moves)) for value in scalars])
        for (box, key), by in zip(_slots(boxes), moves):
            if by is not None:
                box[key] = _moved(box[key], by)
        return moved


def carried(scalars: Sequence[Any], boxes: Sequence[Any]) -> tuple[Numbers, ...]:
    """The numbers of all that lives on from round to round, always in the same order."""
    return (*map(_numbers, scalars), *(_numbers(box[key]) for box, key in _slots(boxes)))


def _slots(boxes: Sequence[Any]) -> Iterator[tuple[list[Any], int]]:
    """Every place in arrays and objects that holds no further one, each once."""
    seen: set[int] = set()
    pending = list(reversed(boxes))
    while pending:
        item = pending.pop()
        box = item.box if item.__class__ is Ref else item
        if box.__class__ is Overlay:
            box = box.target
        if not isinstance(box, list) or id(box) in seen:
            continue
        seen.add(id(box))
        for key, inner in enumerate(box):
            if isinstance(inner, (list, Ref)):
                pending.append(inner)
            else:
                yield box, key


def _numbers(value: Any) -> Numbers:
    if value.__class__ is int:
        return (value,)
    if value.__class__ is Vec:
        return value.v if all(isinstance(x, int) for x in value.v) else None
    if value.__class__ is BlockInt:
        return (int(value), value.other)
    return (int(value),) if isinstance(value, int) else None


def _moved(value: Any, by: Numbers) -> Any:
    """A value further on. It keeps its kind: a number, one a lane, or one for each end of the grid."""
    if by is None or not any(by):
        return value
    if value.__class__ is Vec:
        return Vec(tuple([x + d for x, d in zip(value.v, by)]))
    if value.__class__ is BlockInt:
        return BlockInt(int(value) + by[0], value.other + by[-1])
    return value + by[0]
