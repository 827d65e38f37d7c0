"""Clock vectors against sets of operation numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.graph.columns import split_lanes
from auditor.graph.vectors import Entry, Gaps, has, join, later, mark, raised

OPS = st.sets(st.integers(0, 12))


def entry(ops: set[int]) -> Entry:
    result: Entry = 0
    for op in sorted(ops, reverse=True):
        result = mark(result, op)
    return result


def ops_of(value: Entry) -> set[int]:
    return {op for op in range(20) if has(value, op)}


@given(OPS)
def test_marks_are_kept(ops: set[int]) -> None:
    value = entry(ops)
    assert ops_of(value) == ops
    if ops == set(range(len(ops))):
        assert value == len(ops)  # no gap, a plain number


@given(OPS, OPS)
def test_later_is_union(a: set[int], b: set[int]) -> None:
    left, right = entry(a), entry(b)
    union = later(left, right)
    assert ops_of(union) == a | b
    if a >= b:
        assert union is left or union == left
    elif b >= a:
        assert union is right or union == right


@given(st.lists(st.tuples(OPS, OPS), min_size=1, max_size=4))
def test_join_is_entrywise_and_shares(pairs: list[tuple[set[int], set[int]]]) -> None:
    a = tuple(entry(x) for x, _ in pairs)
    b = tuple(entry(y) for _, y in pairs)
    union = join(a, b)
    assert [ops_of(e) for e in union] == [x | y for x, y in pairs]
    assert join(union, a) is union
    assert join(a, a) is a


def test_gaps_refuse_order() -> None:
    with pytest.raises(TypeError):
        max(3, Gaps(1, 2))  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        max(Gaps(1, 2), Gaps(1, 4))  # type: ignore[call-overload]
    assert repr(Gaps(1, 2)) == "Gaps(1, 0b10)"


def test_raised_keeps_the_vector_when_nothing_is_new() -> None:
    vector: tuple[Entry, ...] = (5, 1)
    assert raised(vector, (0,), 5) is vector
    assert raised(vector, (0, 1), 4) == (5, 4)


@given(st.sets(st.integers(1, 0xFF), min_size=1))
def test_lanes_split_into_the_fewest_parts(masks: set[int]) -> None:
    parts = split_lanes(masks)
    for i, part in enumerate(parts):
        assert not any(part & other for other in parts[i + 1 :])
    for mask in masks:
        assert all(not part & mask or not part & ~mask for part in parts)
    signatures = {tuple(bool(part & mask) for mask in sorted(masks)) for part in parts}
    assert len(signatures) == len(parts)
