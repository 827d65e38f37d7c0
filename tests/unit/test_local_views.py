"""Local arrays seen through pointers to types of another size."""

from __future__ import annotations

from auditor.frontend.lower.runtime import recast
from auditor.machine import memory
from auditor.values import OPAQUE, Loaded, Ref


class _Record:
    consumed = False


def test_fields_of_a_view_are_neighbouring_elements() -> None:
    numbers = [1, 2, 3, 4]
    pairs = recast(Ref(numbers, 0), 4)
    second = memory.step_local(pairs, 1, 8)
    assert memory.load_local(memory.field_local(second, 1, 4)) == 4
    memory.store_local(memory.field_local(second, 0, 0), 7)
    assert numbers == [1, 2, 7, 4]


def test_a_wide_load_joins_integers_and_a_wide_store_splits_them() -> None:
    words = [0x1111_2222, 0x3333_4444, 0, 0]
    wide = recast(Ref(words, 0), 4)
    assert memory.load_wide(wide, 64) == 0x3333_4444_1111_2222
    memory.store_wide(memory.step_local(wide, 1, 8), 64, 5 << 32 | 6)
    assert words[2:] == [6, 5]


def test_a_wide_load_of_loaded_data_is_a_use() -> None:
    record = _Record()
    assert memory.load_wide(recast(Ref([Loaded(record), OPAQUE], 0), 4), 64) is OPAQUE
    assert record.consumed


def test_addresses_and_cast_pointers_stay_as_they_are() -> None:
    assert recast(4096, 4) == 4096
    view = recast(Ref([1, 2], 0), 4)
    assert recast(view, 8) is view
