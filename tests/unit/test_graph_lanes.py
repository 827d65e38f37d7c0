"""Lanes of one warp: what they know of one another, and which bytes each touches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from auditor.graph import HappensBefore
from auditor.graph.lanes import overlapping_lanes, solid
from auditor.trace import ALL_LANES
from tests.unit.graph_traces import TraceBuilder, shared, tmem

REST = ALL_LANES & ~1
Detail = tuple[tuple[int, int, int], ...]


def rows(start: int = 0, step: int = 16, shift: int = 0) -> Detail:
    """Sixteen bytes a lane; lane l takes row (l + shift) % 32."""
    starts = [start + (lane + shift) % 32 * step for lane in range(32)]
    return tuple((lane, lo, lo + 16) for lane, lo in enumerate(starts))


def missing(b: TraceBuilder) -> list[tuple[str, int]]:
    return [(c.missing, c.lanes) for c in HappensBefore(b.trace).conflicts]


def elected(b: TraceBuilder, sync: bool) -> list[tuple[str, int]]:
    """All lanes of a warp read, one lane releases, another warp overwrites."""
    s, t = b.strand(0), b.strand(1)
    b.add(s, "ld", [shared(0, 512, lanes=rows())])
    if sync:
        b.add(s, "warp.sync", mask=ALL_LANES)
    leader = b.strand(0, 1, parent=s)
    b.narrow(s, REST)
    b.add(s, "nop")
    b.hand_over(leader, t)
    b.add(t, "st", [shared(0, 512, write=True)])
    return missing(b)


def test_one_lane_releases_for_all() -> None:
    assert elected(TraceBuilder(), sync=False) == [("lane", REST)]


def test_syncwarp_first() -> None:
    assert elected(TraceBuilder(), sync=True) == []


def test_one_lane_known_is_not_the_warp_known() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1)
    b.add(s, "ld", [shared(0, 512, lanes=rows())])
    everyone = b.add(s, "mbar.arrive")
    leader = b.strand(0, 1, parent=s)
    again = b.add(leader, "mbar.arrive")
    done = b.done("phase", [(again, "arrive"), (everyone, "arrive")], bar=0, index=0)
    b.add(t, "st", [shared(0, 512, write=True)], [(done, "phase")])
    assert missing(b) == []


def test_only_lanes_that_touch_the_bytes_count() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1)
    b.add(s, "ld", [shared(0, 512, lanes=rows())])
    leader = b.strand(0, 1, parent=s)
    b.narrow(s, REST)
    b.hand_over(leader, t)
    b.add(t, "st", [shared(0, 16, write=True)])  # row of lane 0
    assert missing(b) == []
    b.add(t, "st", [shared(8, 40, write=True)])  # rows of lanes 0, 1 and 2
    assert missing(b) == [("lane", 0b110)]


def test_a_lane_reads_its_own_row() -> None:
    b = TraceBuilder()
    s = b.strand(0)
    b.add(s, "st", [shared(0, 512, write=True, lanes=rows())])
    b.add(s, "ld", [shared(0, 512, lanes=rows())])
    assert missing(b) == []


def test_a_lane_reads_its_neighbours_row() -> None:
    for sync in (False, True):
        b = TraceBuilder()
        s = b.strand(0)
        b.add(s, "st", [shared(0, 512, write=True, lanes=rows())])
        if sync:
            b.add(s, "warp.sync", mask=ALL_LANES)
        b.add(s, "ld", [shared(0, 512, lanes=rows(shift=1))])
        assert missing(b) == ([] if sync else [("lane", ALL_LANES)])


def test_one_lane_writes_for_all() -> None:
    b = TraceBuilder()
    s = b.strand(0)
    b.add(s, "nop")
    leader = b.strand(0, 1, parent=s)
    b.narrow(s, REST)
    write = b.add(leader, "st", [shared(0, 4, write=True)])
    b.add(s, "ld", [shared(0, 4)])
    assert missing(b) == [("lane", 1)]
    sync = b.add(leader, "warp.sync", mask=ALL_LANES)
    after = b.add(s, "warp.sync", preds=[(sync, "warp")], mask=ALL_LANES)
    b.add(s, "ld", [shared(0, 4)])
    graph = HappensBefore(b.trace)
    assert len(graph.conflicts) == 1
    assert graph.ordered(write.id, after.id)


def test_the_same_value_written_by_all_lanes() -> None:
    b = TraceBuilder()
    s = b.strand(0)
    for _ in range(2):
        b.add(s, "st", [shared(0, 4, write=True)], line=1)
        b.add(s, "ld", [shared(0, 4)], line=2)
        b.add(s, "warp.sync", mask=ALL_LANES)
    assert missing(b) == []
    leader = b.strand(0, 1, parent=s)
    b.add(leader, "ld", [shared(0, 4)])
    assert missing(b) == []


def test_all_lanes_read_then_all_write() -> None:
    b = TraceBuilder()
    s = b.strand(0)
    b.add(s, "ld", [shared(0, 4)])
    b.add(s, "st", [shared(0, 4, write=True)])
    assert missing(b) == [("lane", ALL_LANES)]


def test_interleaved_rows_of_two_warps() -> None:
    b = TraceBuilder()
    s, t, u = b.strand(0), b.strand(1), b.strand(2)
    b.add(s, "st", [shared(0, 1008, write=True, lanes=rows(0, 32))])
    b.add(t, "st", [shared(16, 1024, write=True, lanes=rows(16, 32))])
    assert missing(b) == []
    b.hand_over(t, u)
    b.add(u, "st", [shared(16, 1024, write=True, lanes=((0, 16, 32), (1, 40, 50), (2, 1000, 1024)))])
    assert missing(b) == [("order", 0b10 | 1 << 31)]


def test_a_write_with_holes_hides_nothing() -> None:
    b = TraceBuilder()
    s, t, u = b.strand(0), b.strand(1), b.strand(2)
    first = b.add(s, "st", [shared(0, 1008, write=True)])
    b.hand_over(s, t)
    b.add(t, "st", [shared(0, 1008, write=True, lanes=rows(0, 32))])
    b.add(u, "ld", [shared(16, 32)])
    assert [c.first for c in HappensBefore(b.trace).conflicts] == [first]


def test_copies_of_one_warp_compare_by_lane() -> None:
    b = TraceBuilder()
    s = b.strand(0)
    b.issue(s, "cp.async", [shared(0, 1008, write=True, lanes=rows(0, 32))])
    b.issue(s, "cp.async", [shared(16, 1024, write=True, lanes=rows(16, 32))])
    assert missing(b) == []
    b.add(s, "ld", [shared(0, 16)])
    assert missing(b) == [("order", 0)]


def test_tensor_memory_belongs_to_the_warp_as_one() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1, 1)
    access = tmem(0, 32, end=-1)
    b.add(s, "tcgen05.ld", [access])
    access.end = b.add(s, "wait.ld").time
    leader = b.strand(0, 1, parent=s)
    b.narrow(s, REST)
    b.add(s, "nop")
    b.hand_over(leader, t)
    b.issue(t, "mma", [tmem(0, 32, write=True)])
    assert missing(b) == []


def ranges(detail: Detail, lane: int) -> set[int]:
    return {byte for ln, lo, hi in detail if ln == lane for byte in range(lo, hi)}


DETAIL = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6)), min_size=1, max_size=5).map(
    lambda items: tuple((lane, lo, lo + n) for lane, (lo, n) in enumerate(items))
)


@given(DETAIL, DETAIL, st.booleans())
def test_overlap_of_lanes(a: Detail, b: Detail, one_warp: bool) -> None:
    first = shared(min(lo for _, lo, _ in a), max(hi for _, _, hi in a), lanes=a)
    second = shared(min(lo for _, lo, _ in b), max(hi for _, _, hi in b), lanes=b)
    expected = 0
    for x in range(5):
        for y in range(5):
            if not (one_warp and x == y) and ranges(a, x) & ranges(b, y):
                expected |= 1 << x
    assert overlapping_lanes(first, 31, second, 31, one_warp) == expected
    touched = set().union(*(ranges(a, lane) for lane in range(5)))
    assert solid(first) == (touched == set(range(first.lo, first.hi)))
