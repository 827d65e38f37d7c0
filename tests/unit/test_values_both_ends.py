"""Lanes that follow from blockIdx: calculated with at once, they are what they are lane by lane."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

from auditor.values import BlockInt, Vec, cdiv, cmod, collapse, land, lnot, lor, truth


def lanes(start: int, other: int, step: int = 3) -> Vec:
    return Vec(tuple(BlockInt(start + step * n, other + step * n) for n in range(32)))


def ends(value: Any) -> list[tuple[int, int]]:
    values = value.v if value.__class__ is Vec else (value,) * 32
    return [(int(x), x.other if x.__class__ is BlockInt else int(x)) for x in values]


OPERATIONS: list[Callable[[Any, int], Any]] = [
    operator.and_,
    operator.or_,
    operator.xor,
    operator.rshift,
    cdiv,
    cmod,
]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("operand", [1, 4, 7, 12])
@pytest.mark.parametrize(("start", "other"), [(0, 0), (0, 64), (5, 1003), (8, 3)])
def test_arithmetic_at_both_ends(operation: Callable[[Any, int], Any], operand: int, start: int, other: int) -> None:
    one_by_one = [(operation(here, operand), operation(there, operand)) for here, there in ends(lanes(start, other))]
    assert ends(operation(lanes(start, other), operand)) == one_by_one


def test_clearing_low_bits_at_both_ends() -> None:
    assert ends(lanes(5, 1003) & -8) == [(here & -8, there & -8) for here, there in ends(lanes(5, 1003))]


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne"])
@pytest.mark.parametrize("limit", [-1, 3, 30, 96, 500, BlockInt(30, 94), BlockInt(30, 95)])
def test_a_comparison_notes_what_differs_at_the_other_end(name: str, limit: int) -> None:
    compare = getattr(operator, name)
    value = lanes(0, 64)
    BlockInt.compared = False
    one_by_one = [int(compare(x, limit)) for x in value.v]
    noted = BlockInt.compared
    BlockInt.compared = False
    assert ends(compare(value, limit)) == [(x, x) for x in one_by_one]
    assert BlockInt.compared == noted
    BlockInt.compared = False


def test_logic_of_lanes() -> None:
    low, odd = collapse(int(n < 9) for n in range(32)), collapse(n & 1 for n in range(32))
    assert land(low, odd).v == tuple(int(n < 9 and n & 1) for n in range(32))
    assert lor(low, odd).v == tuple(int(n < 9 or n & 1) for n in range(32))
    assert lnot(low).v == tuple(int(n >= 9) for n in range(32))
    assert truth(collapse(4 * n for n in range(32))).v == tuple(int(n > 0) for n in range(32))
    assert land(low, 5).v == low.v
    assert lor(odd, lnot(odd)) == 1
