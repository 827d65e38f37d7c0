"""What is known of shared memory after stores of any width, compared with bytes that are kept one by one."""

from __future__ import annotations

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from auditor.machine.shared_values import SharedValues
from auditor.values import OPAQUE

SIZES = st.sampled_from([1, 2, 4, 8, 16])
STORES = st.tuples(st.just("put"), st.integers(0, 200), SIZES, st.integers(0, 2**128 - 1))
UNKNOWN = st.tuples(st.just("forget"), st.lists(st.integers(0, 200), min_size=1, max_size=5), SIZES, st.just(0))


@given(st.lists(st.one_of(STORES, UNKNOWN), max_size=30), st.integers(0, 200), SIZES)
def test_what_is_known_is_what_was_stored_last(stores: list[tuple[str, object, int, int]], at: int, size: int) -> None:
    values, known = SharedValues(), dict[int, int]()
    for what, where, width, value in stores:
        if what == "put":
            assert isinstance(where, int)
            for start in values.near(where, where + width):  # what is overlapped is dropped as a whole
                _forget(values, known, start, 1)
            values.put(where, width, value & (1 << 8 * width) - 1)
            known.update({where + k: value >> 8 * k & 0xFF for k in range(width)})
        else:
            assert isinstance(where, list)
            for place in where:
                for start in values.near(place, place + width):
                    _forget(values, known, start, 1)
            values.forget(min(where), max(where) + width, partial(list[int], where), width)
    parts = [known.get(at + k) for k in range(size)]
    if None in parts:
        assert values.get(at, size) is OPAQUE
    else:
        assert values.get(at, size) == sum(part << 8 * k for k, part in enumerate(parts) if part)


def _forget(values: SharedValues, known: dict[int, int], start: int, size: int) -> None:
    """Drop the bytes of the value that begins at an offset from the model."""
    end = next(end for end in range(start + 16, start, -1) if start in values.near(end - 1, end))
    for at in range(start, end):
        known.pop(at, None)


def test_a_value_that_is_no_number_is_given_back_whole_only() -> None:
    values = SharedValues()
    values.put(8, 4, OPAQUE)
    assert values.get(8, 4) is OPAQUE and values.get(8, 2) is OPAQUE
    values.put(12, 4, 7)
    assert values.get(8, 8) is OPAQUE and values.get(12, 4) == 7
    assert values.numbers() == {12: 7}


def test_unknown_data_between_lanes_leaves_what_lies_in_the_gaps() -> None:
    values = SharedValues()
    for at in (0, 4, 8, 12):
        values.put(at, 4, at)
    values.forget(0, 12, lambda: [0, 8], 4)
    assert values.numbers() == {4: 4, 12: 12}
