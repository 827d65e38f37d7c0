"""Clock vectors: immutable tuples with one entry a column, joined entry by entry.

An entry is an ``int``: for lanes, the warp time up to which their history is known; for a stream of asynchronous
operations, how many of its first operations are known to be complete. Completions that overtake an earlier operation
of their stream are rare and short-lived; such an entry is a ``Gaps``.
"""

from __future__ import annotations

from collections.abc import Iterable


class Gaps:
    """Operations 0..first-1 of a stream are complete, and first+k wherever bit k is set. Bit 0 is never set.

    It has no ordering on purpose: comparing one raises TypeError, which tells ``join`` to take the general way.
    """

    __slots__ = ("bits", "first")

    def __init__(self, first: int, bits: int) -> None:
        self.first = first
        self.bits = bits

    def __repr__(self) -> str:
        return f"Gaps({self.first}, {self.bits:#b})"


Entry = int | Gaps
Vector = tuple[Entry, ...]


def has(entry: Entry, index: int) -> bool:
    """Whether operation number ``index`` of the stream is complete."""
    if entry.__class__ is int:
        return index < entry
    assert isinstance(entry, Gaps)
    return index < entry.first or bool(entry.bits >> (index - entry.first) & 1)


def _make(first: int, bits: int) -> Entry:
    ones = (~bits & (bits + 1)).bit_length() - 1
    first, bits = first + ones, bits >> ones
    return Gaps(first, bits) if bits else first


def mark(entry: Entry, index: int) -> Entry:
    """The entry after operation number ``index`` has completed."""
    if has(entry, index):
        return entry
    first, bits = (entry.first, entry.bits) if isinstance(entry, Gaps) else (entry, 0)
    return _make(first, bits | 1 << (index - first))


def later(a: Entry, b: Entry) -> Entry:
    """Union of two entries of one column. Returns one of the arguments where it holds the other."""
    if isinstance(a, int):
        if isinstance(b, int):
            return a if a >= b else b
        a, b = b, a
    first, bits = (b.first, b.bits) if isinstance(b, Gaps) else (b, 0)
    low = max(a.first, first)
    union = a.bits >> (low - a.first) | bits >> (low - first)
    for entry, start, own in ((a, a.first, a.bits), (b, first, bits)):
        if start == low and own == union:
            return entry
    return _make(low, union)


def join(a: Vector, b: Vector) -> Vector:
    """Entry-wise union. Returns one of the arguments where it holds the other, so that vectors stay shared."""
    if a is b:
        return a
    try:
        union: Vector = tuple([x if x > y else y for x, y in zip(a, b)])  # type: ignore[operator]
    except TypeError:
        union = tuple([
            x if x is y
            else (x if x >= y else y) if x.__class__ is int and y.__class__ is int
            else later(x, y)
            for x, y in zip(a, b)
        ])  # fmt: skip
    if union == a:
        return a
    return b if union == b else union


def raised(vector: Vector, columns: Iterable[int], time: int) -> Vector:
    """The vector with the given lane columns known up to ``time`` at least."""
    low = [c for c in columns if vector[c] < time]  # type: ignore[operator]
    if not low:
        return vector
    entries = list(vector)
    for column in low:
        entries[column] = time
    return tuple(entries)
