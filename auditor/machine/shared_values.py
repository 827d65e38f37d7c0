"""What is known of the contents of shared memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from auditor.values import OPAQUE

WIDEST = 16  # bytes of the largest value
_BLOCK = 6  # log2 of the bytes of a block: values are found by the block in which they begin


class SharedValues:
    """The values that the shared memory of a CTA is known to hold, none of which overlap.

    Most stores go to places of which nothing is known, and so do most loads: both are told from the block alone.
    """

    __slots__ = ("_at", "_blocks", "_first", "_last")

    def __init__(self) -> None:
        self._at: dict[int, tuple[int, Any]] = {}  # byte offset -> (bytes, value)
        self._blocks: dict[int, set[int]] = {}
        self._first, self._last = 0, -1  # blocks between which all values lie: outside most tiles

    def put(self, offset: int, size: int, value: Any) -> None:
        """Remember what was stored, dropping what it overlaps."""
        at = self._at
        old = at.get(offset)
        if old is None or old[0] != size:
            for start in self.near(offset, offset + size):
                self._drop(start)
            self._enter(offset)
        at[offset] = (size, value)

    def forget(self, lo: int, hi: int, offsets: Callable[[], Iterable[int]], size: int) -> None:
        """Something else is stored: ``size`` bytes at each offset, all of them in [lo, hi). ``offsets`` is asked when
        there are values in between, which is seldom."""
        known = self.near(lo, hi)
        if known:
            places = set(offsets())
            whole = len(places) * size == hi - lo  # else there are gaps between them, or they overlap
            for start in known:
                end = start + self._at[start][0]
                if whole or not places.isdisjoint(range(start - size + 1, end)):
                    self._drop(start)

    def get(self, offset: int, size: int) -> Any:
        """``size`` bytes at an offset: known when they were stored whole, in parts or inside of something larger."""
        entry = self._at.get(offset)
        if entry is not None and entry[0] == size:
            return entry[1]
        mask = (1 << 8 * size) - 1
        found: Any = 0
        reached = offset
        for start in sorted(self.near(offset, offset + size)):
            width, value = self._at[start]
            if start > reached or not isinstance(value, int):
                return OPAQUE
            shift = 8 * (start - offset)
            part = value & ((1 << 8 * width) - 1)
            found = found + (part << shift if shift >= 0 else part >> -shift)
            reached = start + width
        return found & mask if reached >= offset + size else OPAQUE

    def near(self, lo: int, hi: int) -> list[int]:
        """Offsets of the values that overlap the bytes [lo, hi)."""
        first, last = lo - WIDEST >> _BLOCK, hi - 1 >> _BLOCK
        if last < self._first or first > self._last:
            return []
        blocks, at = self._blocks, self._at
        span = range(max(first, self._first), min(last, self._last) + 1)
        here = span if len(span) < len(blocks) else blocks
        return [
            start
            for block in here
            if block in span and block in blocks
            for start in blocks[block]
            if start < hi and start + at[start][0] > lo
        ]

    def numbers(self) -> dict[int, int]:
        """The plain numbers among the values, by offset."""
        return {at: value for at, (_, value) in self._at.items() if value.__class__ is int}

    def _enter(self, start: int) -> None:
        block = start >> _BLOCK
        if not self._blocks:
            self._first = self._last = block
        elif block < self._first:
            self._first = block
        elif block > self._last:
            self._last = block
        self._blocks.setdefault(block, set()).add(start)

    def _drop(self, start: int) -> None:
        del self._at[start]
        block = self._blocks[start >> _BLOCK]
        block.discard(start)
        if not block:
            del self._blocks[start >> _BLOCK]
