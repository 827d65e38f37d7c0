"""Lanes as a number and a shape: the same results as lane by lane."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.shapes import extent, split
from auditor.values import LANES, BlockInt, Vec, cdiv, cmod, collapse, lane_values, s32, shl, shr, u32

Lanes = tuple[int, ...]
BASES = st.one_of(st.integers(-70, 70), st.integers(-(2**33), 2**33), st.sampled_from([2**31, 2**32, 1 << 44, 2**64]))
PATTERNS = st.one_of(
    st.integers(-40, 40).filter(bool).map(lambda step: tuple(step * lane for lane in range(LANES))),
    st.integers(1, 31).map(lambda mask: tuple(lane & mask for lane in range(LANES))),
    st.lists(st.integers(-500, 500), min_size=LANES, max_size=LANES).map(tuple),
)
UNARY: list[Callable[[Any], Any]] = [operator.neg, operator.invert, u32, s32]
BINARY: list[Callable[[Any, Any], Any]] = [
    operator.add,
    operator.sub,
    lambda a, b: b - a,
    operator.mul,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
    cdiv,
    cmod,
]


def lanes_of(base: int, pattern: Lanes) -> Any:
    return collapse(base + x for x in pattern)


@given(BASES, PATTERNS, st.sampled_from(UNARY))
def test_unary(base: int, pattern: Lanes, f: Callable[[Any], Any]) -> None:
    assert lane_values(f(lanes_of(base, pattern))) == tuple(f(base + x) for x in pattern)


@given(BASES, PATTERNS, BASES, st.sampled_from(BINARY))
def test_with_a_number(base: int, pattern: Lanes, operand: int, f: Callable[[Any, Any], Any]) -> None:
    expected = tuple(int(f(base + x, operand)) for x in pattern)
    found = f(lanes_of(base, pattern), operand)
    assert lane_values(found) == expected
    assert isinstance(found, Vec) == (len(set(expected)) > 1)


@given(BASES, PATTERNS, BASES, PATTERNS, st.sampled_from(BINARY))
def test_with_other_lanes(a: int, one: Lanes, b: int, other: Lanes, f: Callable[[Any, Any], Any]) -> None:
    expected = tuple(int(f(a + x, b + y)) for x, y in zip(one, other))
    found = f(lanes_of(a, one), lanes_of(b, other))
    assert lane_values(found) == expected
    assert isinstance(found, Vec) == (len(set(expected)) > 1)


@given(BASES, PATTERNS, st.integers(0, 63), st.sampled_from([shl, shr]))
def test_shifts(base: int, pattern: Lanes, count: int, f: Callable[[Any, Any], Any]) -> None:
    assert lane_values(f(lanes_of(base, pattern), count)) == tuple(f(base + x, count) for x in pattern)


@given(BASES, PATTERNS)
def test_lanes_that_are_set(base: int, pattern: Lanes) -> None:
    value = lanes_of(base, pattern)
    if isinstance(value, Vec):
        assert value.lanes_set == sum(1 << lane for lane, x in enumerate(pattern) if base + x)


@given(PATTERNS, st.integers(1, 2**32 - 1))
def test_extent(pattern: Lanes, mask: int) -> None:
    first, shape = split(pattern)
    if shape is not None:
        among = [x - first for lane, x in enumerate(pattern) if mask >> lane & 1]
        assert extent(shape, mask) == (min(among), max(among))


@pytest.mark.parametrize("f", [operator.add, operator.sub, operator.mul, operator.and_, cdiv, cmod])
@given(st.integers(0, 99), st.integers(0, 99), st.integers(1, 99))
def test_a_number_of_the_other_end_goes_through(f: Callable[..., Any], here: int, there: int, operand: int) -> None:
    lanes = collapse(BlockInt(here, there) * 3 + lane for lane in range(LANES))
    assert isinstance(lanes, Vec)
    found = lane_values(f(lanes, operand))
    assert [int(x) for x in found] == [f(3 * here + lane, operand) for lane in range(LANES)]
    others = [x.other if isinstance(x, BlockInt) else x for x in found]
    assert others == [f(3 * there + lane, operand) for lane in range(LANES)]


@pytest.mark.parametrize("f", [operator.and_, operator.or_, operator.xor])
@given(st.integers(-99, 99), st.integers(-99, 99), PATTERNS)
def test_bits_of_both_ends_are_combined_with_those_of_other_lanes(
    f: Callable[..., Any], here: int, there: int, pattern: Lanes
) -> None:
    own = collapse(BlockInt(here, there) * 8 + lane for lane in range(LANES))
    found = lane_values(f(own, lanes_of(5, pattern)))
    assert [int(x) for x in found] == [f(8 * here + lane, 5 + x) for lane, x in enumerate(pattern)]
    others = [x.other if isinstance(x, BlockInt) else x for x in found]
    assert others == [f(8 * there + lane, 5 + x) for lane, x in enumerate(pattern)]


def test_lanes_that_differ_otherwise_at_the_other_end_have_no_shape() -> None:
    lanes = collapse(lane * BlockInt(1, 2) for lane in range(LANES))
    assert isinstance(lanes, Vec) and lanes.shape is None
    assert [x.other for x in (lanes + 5).v] == [2 * lane + 5 for lane in range(LANES)]
