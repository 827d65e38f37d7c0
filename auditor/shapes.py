"""How the lanes of a warp differ in an integer: their distances from lane 0.

Kernels compute the same few patterns over and over (a lane number times an element size, the offsets of a swizzle),
each time with another number for all lanes added. A ``Shape`` is one pattern. Shapes are interned, so that patterns are
compared by identity, and each remembers what operations made of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import add, and_, eq, floordiv, lt, mod, or_, rshift, sub, xor
from typing import Any

Offsets = tuple[int, ...]
Split = tuple[int, "Shape | None"]  # the number of lane 0, and how the others differ from it: None when they do not

_MOST_SHAPES = 4096  # of a process: a bound on memory, which no kernel's own patterns come near
_MOST_RESULTS = 256  # of a shape


class Shape:
    """Distances of the 32 lanes from lane 0, of which one at least is not 0.

    ``low`` and ``high`` are the least and the greatest distance; ``multiples`` are the shapes of multiples so far, by
    factor.
    """

    __slots__ = ("_masks", "_results", "high", "low", "multiples", "offsets")

    def __init__(self, offsets: Offsets) -> None:
        self.offsets = offsets
        self.low = min(offsets)
        self.high = max(offsets)
        self.multiples: dict[int, Shape] = {}
        self._results: dict[tuple[object, ...], Split] = {}
        self._masks: dict[int, int] = {}

    def scaled(self, factor: int) -> Shape:
        """The distances times a number that is not 0."""
        shape = self.multiples.get(factor)
        if shape is None:
            _bound(self.multiples, _MOST_RESULTS)
            shape = split([x * factor for x in self.offsets])[1]
            assert shape is not None
            self.multiples[factor] = shape
        return shape

    def plus(self, other: Shape) -> Shape | None:
        """The sums of the distances."""
        return self._paired(add, other)

    def minus(self, other: Shape) -> Shape | None:
        """The differences of the distances."""
        return self._paired(sub, other)

    def combined(self, f: Callable[[int, int], int], start: int, other: Shape, other_start: int) -> Split | None:
        """``f(start + distance, other_start + other distance)`` lane by lane, for a bitwise operation. None when some
        lanes are negative and others are not.

        The lanes differ in some low bits only, so that what is above them is worked out once, and what the low bits
        give comes back for many other starts.
        """
        ends = start + self.low ^ start + self.high, other_start + other.low ^ other_start + other.high
        if min(ends) < 0:
            return None
        bits = max(ends).bit_length()
        mask = (1 << bits) - 1
        key = (f, start & mask, other, other_start & mask)
        known = self._results.get(key)
        if known is None:
            _bound(self._results, _MOST_RESULTS)
            pairs = zip(self.offsets, other.offsets)
            known = self._results[key] = split([f(start + x & mask, other_start + y & mask) for x, y in pairs])
        first, shape = known
        return (f(start >> bits, other_start >> bits) << bits) + first, shape

    def masked(self, start: int, mask: int) -> Split:
        """``(start + distance) & mask``, for a mask that is not negative."""
        start &= (1 << mask.bit_length()) - 1
        if not mask & (mask + 1) and start + self.low >= 0 and start + self.high <= mask:
            return start, self
        return self._result(and_, start, mask)

    def cleared(self, start: int, mask: int) -> Split:
        """``(start + distance) & mask``, for a negative mask: it clears some low bits."""
        return self._on_low_bits(and_, start, mask, (~mask).bit_length())

    def with_bits(self, start: int, bits: int) -> Split:
        """``(start + distance) | bits``, for bits that are not negative."""
        return self._on_low_bits(or_, start, bits, bits.bit_length())

    def flipped(self, start: int, bits: int) -> Split:
        """``(start + distance) ^ bits``, for bits that are not negative."""
        return self._on_low_bits(xor, start, bits, bits.bit_length())

    def shifted(self, start: int, count: int) -> Split:
        """``(start + distance) >> count``."""
        rest = start & ((1 << count) - 1)
        first, shape = self._result(rshift, rest, count)
        return (start >> count) + first, shape

    def divided(self, start: int, divisor: int) -> Split:
        """``(start + distance) // divisor``, for a positive divisor."""
        whole, rest = divmod(start, divisor)
        first, shape = self._result(floordiv, rest, divisor)
        return whole + first, shape

    def remainder(self, start: int, divisor: int) -> Split:
        """``(start + distance) % divisor``, for a positive divisor."""
        return self._result(mod, start % divisor, divisor)

    def below(self, limit: int) -> Split:
        """1 in the lanes whose distance is less than a number, 0 in the others."""
        if self.high < limit:
            return 1, None
        return (0, None) if self.low >= limit else self._result(lt, 0, limit)

    def equal(self, number: int) -> Split:
        """1 in the lanes at one distance, 0 in the others."""
        return self._result(eq, 0, number) if self.low <= number <= self.high else (0, None)

    def lanes_not_at(self, distance: int) -> int:
        """Mask of the lanes whose distance is another one."""
        if not self.low <= distance <= self.high:
            return 0xFFFF_FFFF
        mask = self._masks.get(distance)
        if mask is None:
            _bound(self._masks, _MOST_RESULTS)
            mask = self._masks[distance] = sum(1 << n for n, x in enumerate(self.offsets) if x != distance)
        return mask

    def _on_low_bits(self, f: Callable[[int, int], int], start: int, operand: int, bits: int) -> Split:
        """A bitwise operation that leaves all but some low bits as they are."""
        rest = start & ((1 << bits) - 1)
        first, shape = self._result(f, rest, operand)
        return start - rest + first, shape

    def _result(self, f: Callable[[int, int], int], start: int, operand: int) -> Split:
        key = (f, start, operand)
        known = self._results.get(key)
        if known is None:
            _bound(self._results, _MOST_RESULTS)
            known = self._results[key] = split([int(f(start + x, operand)) for x in self.offsets])
        return known

    def _paired(self, f: Callable[[int, int], int], other: Shape) -> Shape | None:
        key = (f, other)
        known = self._results.get(key)
        if known is None:
            _bound(self._results, _MOST_RESULTS)
            known = self._results[key] = split(list(map(f, self.offsets, other.offsets)))
        return known[1]


_interned: dict[Offsets, Shape] = {}


def _bound(table: dict[Any, Any], most: int) -> None:
    """Empties a table of things that can be made anew before it grows without end."""
    if len(table) >= most:
        table.clear()


def split(values: list[int] | Offsets) -> Split:
    """32 integers as the first one and the shape of all."""
    first = values[0]
    if values.count(first) == len(values):
        return first, None
    offsets = tuple([x - first for x in values])
    shape = _interned.get(offsets)
    if shape is None:
        if len(_interned) >= _MOST_SHAPES:
            _interned.clear()
        shape = _interned[offsets] = Shape(offsets)
    return first, shape


@lru_cache(maxsize=4096)
def extent(shape: Shape, mask: int) -> tuple[int, int]:
    """The least and the greatest distance among the lanes of a mask."""
    among = [x for n, x in enumerate(shape.offsets) if mask >> n & 1]
    return min(among), max(among)
