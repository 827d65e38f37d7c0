"""Helpers that generated code calls."""

from __future__ import annotations

from auditor.frontend.lower.runtime import (
    bit_cast,
    count_leading_zeros,
    element,
    find_first_set,
    i8,
    i32,
    scalar_pointer,
    set_element,
    to_int,
)
from auditor.values import OPAQUE, Loaded, Ref, Vec


class Record:
    consumed = False


def test_conversions_do_not_consume_loaded_data() -> None:
    record = Record()
    loaded = Loaded(record)
    assert i32(loaded) is loaded and bit_cast(loaded, 32, True) is loaded
    assert not record.consumed
    assert to_int(loaded) is OPAQUE and record.consumed


def test_bits() -> None:
    assert bit_cast(1.0, 32, False) == 0x3F80_0000 and bit_cast(0x4000_0000, 32, True) == 2.0
    assert i8(0xFF) == -1 and i32(1 << 31) == -(1 << 31)
    assert count_leading_zeros(1, 32) == 31 and find_first_set(0) == 0 and find_first_set(8) == 4


def test_elements_outside_an_array() -> None:
    box = [1, 2]
    assert element(box, 5) is OPAQUE and element(box, -1) is OPAQUE
    set_element(box, 7, 3)
    set_element(box, OPAQUE, 3)
    assert box == [OPAQUE, OPAQUE]
    lanes = Vec(tuple(range(32)))
    assert element([5, 6], lanes).v[:3] == (5, 6, 0)


def test_pointers_to_objects_seen_as_scalars() -> None:
    wrapped = [[[7]]]
    inner = scalar_pointer(Ref([wrapped], 0))
    assert inner.box[inner.key] == 7
    halves = [[1], [2]]
    pair = scalar_pointer(Ref([halves], 0))
    assert pair.box[pair.key] is OPAQUE
    pair.box[pair.key] = 0
    assert halves == [[0], [0]]
    loaded = Loaded(Record())
    pair.box[pair.key] = loaded
    assert pair.box[pair.key] is loaded and not loaded.record.consumed
    halves[0][0] = OPAQUE
    assert pair.box[pair.key] is OPAQUE and loaded.record.consumed
    pair.box[pair.key] = 5
    assert halves == [[OPAQUE], [OPAQUE]]
    assert scalar_pointer(64) == 64
