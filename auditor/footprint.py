"""Which bytes each lane of a warp-wide access touches.

The same pattern comes back at other addresses all the time: in the next row, the next stage, the next CTA. A
``Footprint`` is a pattern without its place, counted from the first byte that any lane touches. Footprints are
interned, so that what is computed of one, or of two and their distance, is computed once.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache
from itertools import pairwise

from auditor.shapes import Shape

LaneRange = tuple[int, int, int]  # lane, first byte, end byte


def merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Half-open ranges, sorted, with overlapping and adjacent ones joined."""
    result: list[tuple[int, int]] = []
    for lo, hi in sorted(ranges):
        if result and lo <= result[-1][1]:
            if hi > result[-1][1]:
                result[-1] = result[-1][0], hi
        else:
            result.append((lo, hi))
    return result


class Footprint:
    """Half-open byte ranges of lanes, in the order of the lanes; a lane may have several. Made by ``footprint``.

    ``size``: where the last range ends; the first one begins at 0.
    """

    def __init__(self, ranges: tuple[LaneRange, ...]) -> None:
        self.ranges = ranges
        self.size = max(hi for _, _, hi in ranges)

    def at(self, start: int) -> tuple[LaneRange, ...]:
        """The ranges where the first byte is at ``start``."""
        return tuple([(lane, lo + start, hi + start) for lane, lo, hi in self.ranges])

    @cached_property
    def solid(self) -> bool:
        """Whether the lanes together touch every byte from the first to the last."""
        return len(self.outline) == 1

    @cached_property
    def rows(self) -> tuple[int, int]:
        """(distance, width) of rows of one width at one distance, as in a matrix; else (0, 0)."""
        ranges = self._in_order
        widths = {hi - lo for lo, hi in ranges}
        distances = {b[0] - a[0] for a, b in pairwise(ranges)}
        if len(widths) != 1 or len(distances) != 1:
            return 0, 0
        return distances.pop(), widths.pop()

    @cached_property
    def rounds(self) -> tuple[tuple[int, Footprint], ...]:
        """Where the rounds of lanes that walk on begin, and what they touch; one round when the lanes do not."""
        by_lane: dict[int, list[LaneRange]] = {}
        for entry in self.ranges:
            by_lane.setdefault(entry[0], []).append(entry)
        if len({len(own) for own in by_lane.values()}) != 1:
            return ((0, self),)
        return tuple((min(lo for _, lo, _ in part), footprint(part)) for part in zip(*by_lane.values()))

    @cached_property
    def outline(self) -> tuple[tuple[int, int], ...]:
        """The bytes that any lane touches, as ranges in order that do not meet."""
        return tuple(merged([(lo, hi) for _, lo, hi in self.ranges]))

    @property
    def _in_order(self) -> list[tuple[int, int]]:
        return sorted([(lo, hi) for _, lo, hi in self.ranges])


_MOST_FOOTPRINTS = 4096  # of a process: a bound on memory
_interned: dict[tuple[LaneRange, ...], Footprint] = {}


def footprint(ranges: Iterable[LaneRange]) -> Footprint:
    """The pattern of some ranges, wherever they are."""
    listed = list(ranges)
    start = min([lo for _, lo, _ in listed])
    key = tuple([(lane, lo - start, hi - start) for lane, lo, hi in listed])
    found = _interned.get(key)
    if found is None:
        if len(_interned) >= _MOST_FOOTPRINTS:
            _interned.clear()
        found = _interned[key] = Footprint(key)
    return found


@lru_cache(maxsize=1024)
def whole(lanes: int, size: int) -> Footprint:
    """All lanes of a mask touch the same ``size`` bytes."""
    return footprint([(lane, 0, size) for lane in range(lanes.bit_length()) if lanes >> lane & 1])


@lru_cache(maxsize=4096)
def spread(shape: Shape | None, lanes: int, width: int, repeats: int = 1, step: int = 0) -> Footprint:
    """The lanes of a mask touch ``width`` bytes each, as far apart as a shape says, and again every ``step`` bytes."""
    if step == width:  # each lane walks on over adjacent bytes
        width, repeats = width * repeats, 1
    offsets = shape.offsets if shape is not None else (0,) * lanes.bit_length()
    return footprint(
        [
            (lane, start + n * step, start + n * step + width)
            for lane, start in enumerate(offsets)
            if lanes >> lane & 1
            for n in range(repeats)
        ]
    )
