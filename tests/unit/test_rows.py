"""Rows of an array of arrays whose index differs between lanes."""

from __future__ import annotations

from typing import Any

from auditor.frontend.lower.rows import Rows, rows_at
from auditor.values import LANES, OPAQUE, Loaded, Vec


class Record:
    consumed = False


def by_lane(*rows: list[Any]) -> Rows:
    """The rows that lanes 0, 1, 2, ... see by turns."""
    found = rows_at(list(rows), Vec(tuple(lane % len(rows) for lane in range(LANES))))
    assert found is not None
    return found


def test_each_lane_reads_its_own_row() -> None:
    assert by_lane([1, 2], [3, 4])[1].v[:3] == (2, 4, 2)


def test_reading_data_is_a_use_of_all_that_the_lanes_see() -> None:
    record = Record()
    assert by_lane([Loaded(record)], [7])[0] is OPAQUE
    assert record.consumed


def test_each_lane_writes_its_own_row() -> None:
    rows: tuple[list[Any], ...] = ([1, 2], [3, 4])
    by_lane(*rows)[0] = Vec(tuple(range(100, 100 + LANES)))
    assert rows[0][0].v[:3] == (100, 1, 102)
    assert rows[1][0].v[:3] == (3, 101, 3)


def test_a_lane_outside_the_array_sees_data() -> None:
    found = rows_at([[1], [2]], Vec(tuple([5] + [0] * (LANES - 1))))
    assert found is not None
    assert found[0] is OPAQUE


def test_an_array_of_scalars_has_no_rows() -> None:
    assert rows_at([1, 2], Vec(tuple(range(LANES)))) is None
