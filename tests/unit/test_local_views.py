"""Local arrays seen through pointers to types of another size."""

from __future__ import annotations

from typing import Any

from auditor.frontend.lower.runtime import recast
from auditor.machine import memory
from auditor.values import OPAQUE, Loaded, Ref
from tests.unit.fake_strand import outputs_of


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


def test_a_cast_pointer_to_an_element_is_that_element() -> None:
    source = r"""
    #define OUT(x) out[++out[0]] = (long)(x)
    __device__ unsigned bits(float f) { return *reinterpret_cast<unsigned*>(&f); }
    __global__ void k(long *out, int n) {
      float a[6] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}; int v[6] = {1, 2, 3, 4, 5, 6};
      *reinterpret_cast<unsigned*>(&v[1]) = 20u;            OUT(v[1]);
      (&v[2])[1] = 40;                                      OUT(v[3]);
      *(v + 4) = 50;                                        OUT(v[4]);
      reinterpret_cast<unsigned*>(v)[5] = 60u;              OUT(v[5]);
      for (int i = 0; i < 3; ++i) (&v[2 * i])[1] += i;      OUT(v[1] * 10000 + v[3] * 100 + v[5]);
      int* p = &v[0]; p[n] = 70;                            OUT(v[n]);
      *(&v[5] - 1) = 7;                                     OUT(v[4]);
      *reinterpret_cast<short*>(&v[0]) = 9;                 OUT(v[2]);
      int w[2][3] = {{1, 2, 3}, {4, 5, 6}}; (&w[1][0])[2] = 8; OUT(w[1][2]);
      struct { int x; int y[2]; } s = {1, {2, 3}}; *reinterpret_cast<unsigned*>(&s.y[1]) = 5u; OUT(s.y[1] + s.x);
      int t = *reinterpret_cast<unsigned*>(&v[1]); v[1] = 0; OUT(t);
    }
    """
    assert outputs_of(source, 2) == [20, 40, 50, 60, 204162, 70, 7, 70, 8, 6, 20]


def test_a_wide_store_of_data_stays_within_the_array() -> None:
    words: list[Any] = [1, 2, 3]
    memory.store_wide(recast(Ref(words, 1), 4), 64, OPAQUE)
    assert words[0] == 1 and words[1] is OPAQUE and words[2] is OPAQUE
    memory.store_wide(recast(Ref(words, 2), 4), 64, OPAQUE)
    memory.store_wide(recast(Ref(words, 3), 4), 16, OPAQUE)
    assert len(words) == 3
    memory.store_wide(recast(Ref(words, 0), 4), 16, OPAQUE)
    assert words[0] is OPAQUE
