"""Numbers that follow from blockIdx carry the value of the CTA at the other end of the grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.values import BlockInt, Vec, cdiv, cmod, collapse, settled


@pytest.fixture(autouse=True)
def _nothing_compared() -> Iterator[None]:
    BlockInt.compared = False
    yield
    BlockInt.compared = False


def test_a_comparison_with_the_same_result_at_both_ends_is_no_dependence() -> None:
    assert BlockInt(0, 38) < 100
    assert not BlockInt.compared


def test_a_comparison_with_another_result_is_noted_and_answers_for_this_cta() -> None:
    assert BlockInt(0, 38) < 20
    assert BlockInt.compared


def test_a_test_for_zero_is_noted() -> None:
    assert not BlockInt(0, 3)
    assert BlockInt.compared


OPERATIONS: list[Callable[[int, int], Any]] = [
    lambda a, b: a + b,
    lambda a, b: b - a,
    lambda a, b: a * b,
    lambda a, b: a & b,
    lambda a, b: a ^ b,
    lambda a, b: a // (b + 1),
    lambda a, b: a % (b + 1),
    lambda a, b: a << b % 8,
    cdiv,
    cmod,
]


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.sampled_from(OPERATIONS))
def test_arithmetic_computes_both_values(here: int, there: int, operand: int, operation: Callable[..., Any]) -> None:
    result = operation(BlockInt(here, there), operand)
    assert (int(result), result.other) == (operation(here, operand), operation(there, operand))


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
def test_two_such_numbers_are_combined_end_by_end(a: int, b: int, c: int, d: int) -> None:
    result: Any = BlockInt(a, b) * BlockInt(c, d)
    assert (int(result), result.other) == (a * c, b * d)


def test_a_division_that_only_the_other_end_cannot_do_is_a_dependence() -> None:
    assert 6 // BlockInt(2, 0) == 3
    assert BlockInt.compared


def test_lanes_that_agree_here_but_not_at_the_other_end_are_kept_apart() -> None:
    lanes = collapse(lane * BlockInt(0, 2) for lane in range(32))
    assert isinstance(lanes, Vec)
    assert [x.other for x in lanes.v] == [2 * lane for lane in range(32)]
    assert not BlockInt.compared


def test_where_only_one_value_can_go_on_the_difference_is_noted() -> None:
    assert settled(BlockInt(4, 4)) == 4
    assert not BlockInt.compared
    assert float(BlockInt(4, 5)) == 4.0
    assert BlockInt.compared
