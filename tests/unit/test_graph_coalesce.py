"""Accesses of one event put together."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from auditor.footprint import merged
from auditor.graph import HappensBefore
from auditor.graph.coalesce import coalesced
from auditor.trace import Access
from tests.unit.graph_traces import TraceBuilder, shared, tmem


def event_of(*accesses: Access) -> list[Access]:
    b = TraceBuilder()
    return coalesced(b.add(b.strand(0), "st", accesses))


def row(chunk: int, swizzle: int = 0, base: int = 0) -> Access:
    """Sixteen bytes of each lane's 128-byte row."""
    starts = [base + 128 * lane + 16 * (chunk ^ (lane & swizzle)) for lane in range(32)]
    lanes = tuple((lane, lo, lo + 16) for lane, lo in enumerate(starts))
    return shared(min(starts), max(starts) + 16, write=True, lanes=lanes)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 5)).map(lambda r: (r[0], r[0] + r[1]))))
def test_merged_ranges(ranges: list[tuple[int, int]]) -> None:
    result = merged(ranges)
    assert {b for lo, hi in result for b in range(lo, hi)} == {b for lo, hi in ranges for b in range(lo, hi)}
    assert all(a[1] < b[0] for a, b in pairwise(result))


def test_adjacent_ranges_become_one() -> None:
    (access,) = event_of(*(shared(16 * n, 16 * n + 16, write=True) for n in range(8)))
    assert (access.lo, access.hi, access.write, access.lanes) == (0, 128, True, None)


def test_rows_become_whole_whatever_the_swizzle() -> None:
    for swizzle in (0, 7):
        (access,) = event_of(*(row(chunk, swizzle) for chunk in range(8)))
        assert (access.lo, access.hi) == (0, 4096)
        assert access.by_lane() == tuple((lane, 128 * lane, 128 * lane + 128) for lane in range(32))


def test_two_arrays_stay_two() -> None:
    result = event_of(row(0), row(0, base=8192), row(1, base=8192), row(1))
    assert [(a.lo, a.hi) for a in result] == [(0, 4000), (8192, 12192)]


def test_what_differs_is_kept_apart() -> None:
    apart = [
        shared(0, 16),
        shared(16, 32, write=True),
        shared(32, 48, consumed=True),
        shared(48, 64, what="mbarrier"),
        tmem(0, 16),
        tmem(16, 32),
    ]
    assert event_of(*apart) == apart


def test_irregular_lanes_that_lie_interleaved_are_compared_once() -> None:
    first, second = row(0), shared(64, 80, write=True, lanes=((0, 64, 80),))
    (access,) = event_of(first, second)
    assert (access.lo, access.hi) == (first.lo, first.hi)
    assert access.by_lane() == (first.by_lane()[0], *second.by_lane(), *first.by_lane()[1:])


def test_what_lies_apart_stays_apart() -> None:
    apart = [row(0), shared(8192, 8208, write=True, lanes=((0, 8192, 8200), (1, 8204, 8208)))]
    assert event_of(*apart) == apart


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 40), st.sampled_from([6, 8]))
def test_interleaved_rows_are_told_apart(width: int, other: int, start: int, stride: int) -> None:
    def rows(lo: int, size: int) -> Access:
        lanes = tuple((n, lo + stride * n, lo + stride * n + size) for n in range(4))
        return shared(lo, lanes[-1][2], write=True, lanes=lanes)

    first, second = rows(20, width), rows(start, other)
    b = TraceBuilder()
    b.add(b.strand(0, 15), "st", [first])
    b.add(b.strand(1, 15), "st", [second])
    touched = [{byte for _, lo, hi in a.by_lane() for byte in range(lo, hi)} for a in (first, second)]
    assert bool(HappensBefore(b.trace).conflicts) == bool(touched[0] & touched[1])
