"""What the lanes of an access touch, and how accesses that walk on become one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from auditor.footprint import footprint, spread, whole
from auditor.machine.recording import OpenEvent
from auditor.shapes import Shape, extent, split
from auditor.source import UNKNOWN
from auditor.trace import ALL_LANES, Access, Event


def shape_of(*distances: int) -> Shape:
    _, shape = split([distances[lane % len(distances)] * (lane + 1) for lane in range(32)])
    assert shape is not None
    return shape


ROWS, ELEMENTS, MIXED = shape_of(128), shape_of(4), shape_of(4, 24, 8)


def test_the_same_pattern_at_two_places_is_one_footprint() -> None:
    assert footprint([(0, 100, 104), (3, 108, 112)]) is footprint([(0, 0, 4), (3, 8, 12)])
    assert footprint([(0, 0, 4), (3, 8, 12)]).at(100) == ((0, 100, 104), (3, 108, 112))


def test_rows() -> None:
    assert footprint([(1, 256, 264), (0, 0, 8), (2, 512, 520)]).rows == (256, 8)
    assert footprint([(0, 0, 8), (1, 16, 24), (2, 48, 56)]).rows == (0, 0)
    assert footprint([(0, 0, 8), (1, 16, 32)]).rows == (0, 0)
    assert footprint([(0, 0, 8)]).rows == (0, 0)


def test_solid() -> None:
    assert footprint([(0, 8, 16), (1, 0, 8), (2, 4, 12)]).solid
    assert not footprint([(0, 8, 16), (1, 0, 7)]).solid


def test_all_lanes_touch_the_same_bytes() -> None:
    assert whole(0b101, 16).ranges == ((0, 0, 16), (2, 0, 16))


def test_lanes_that_walk_on_over_adjacent_bytes_have_one_range_each() -> None:
    assert spread(ROWS, 0b11, 4, 8, 4).ranges == ((0, 0, 32), (1, 128, 160))
    assert spread(ELEMENTS, 0b11, 4, 2, 8).ranges == ((0, 0, 4), (0, 8, 12), (1, 4, 8), (1, 12, 16))


Round = tuple[int, Shape | None]  # the offset of lane 0, and the shape of the lanes


def four_bytes(write: bool, lanes: int, start: int, shape: Shape | None) -> Access:
    low, high = extent(shape, lanes) if shape is not None else (0, 0)
    return Access("shared", write, "generic", 0, start + low, start + high + 4)


def recorded(write: bool, lanes: int, rounds: list[Round]) -> list[Access]:
    """The accesses of an event in which the lanes touch four bytes each in every round."""
    first = four_bytes(write, lanes, *rounds[0])
    event = Event(0, "st" if write else "ld", 0, 0, lanes, 1, 0, (UNKNOWN,), accesses=[first])
    opened = OpenEvent(event, first, lanes)
    opened.may_walk(first, *rounds[0], 4)
    for start, shape in rounds[1:]:
        if opened.grown(start, shape, 4) is None:
            access = four_bytes(write, lanes, start, shape)
            opened.add(access)
            opened.may_walk(access, start, shape, 4)
    opened.close()
    return event.accesses


def test_rows_that_a_loop_visits_in_turn_are_one_access_each() -> None:
    rounds: list[Round] = [(row + column, ELEMENTS) for column in range(0, 1024, 128) for row in (0, 4096, 8192)]
    found = recorded(False, ALL_LANES, rounds)
    assert [(a.lo, a.hi, a.lanes and a.lanes.solid) for a in found] == [
        (0, 1024, True), (4096, 5120, True), (8192, 9216, True),
    ]  # fmt: skip


def test_what_all_lanes_write_alike_stays_one_range() -> None:
    found = recorded(True, ALL_LANES, [(0, None), (4, None), (8, None), (64, None)])
    assert [(a.lo, a.hi, a.lanes) for a in found] == [(0, 12, None), (64, 68, None)]


@given(
    st.lists(
        st.tuples(st.integers(0, 40).map(lambda n: 32 * n), st.sampled_from([ROWS, ELEMENTS, MIXED, None])),
        min_size=1,
        max_size=24,
    ),
    st.sampled_from([1, 0b110, ALL_LANES]),
    st.booleans(),
)
def test_every_lane_touches_what_it_touched(rounds: list[Round], lanes: int, write: bool) -> None:
    expected = {
        (lane, start + (shape.offsets[lane] if shape else 0) + byte)
        for start, shape in rounds for lane in range(32) if lanes >> lane & 1 for byte in range(4)
    }  # fmt: skip
    found = {
        (lane, byte)
        for a in recorded(write, lanes, rounds)
        for lane, lo, hi in (a.by_lane() or whole(lanes, a.hi - a.lo).at(a.lo))
        for byte in range(lo, hi)
    }
    assert found == expected
