"""Asynchronous operations and accesses in flight."""

from __future__ import annotations

import pytest

from auditor.graph import HappensBefore
from auditor.trace import Access
from tests.unit.graph_traces import TraceBuilder, shared, tmem

TARGET = shared(0, 128, write=True, proxy="async")
SOURCE = shared(0, 128, proxy="async", done="read")
ACCUMULATOR = tmem(0, 128, write=True)


def missing(b: TraceBuilder) -> list[str]:
    return [c.missing for c in HappensBefore(b.trace).conflicts]


def test_the_issuer_does_not_know_of_the_completion() -> None:
    b = TraceBuilder()
    s = b.strand(0, 1)
    b.issue(s, "tma.load", [TARGET])
    b.add(s, "ld", [shared(0, 128)])
    assert missing(b) == ["order"]


def test_completion_through_a_phase() -> None:
    b = TraceBuilder()
    s, t = b.strand(0, 1), b.strand(1)
    op = b.issue(s, "tma.load", [TARGET])
    b.hand_over(s, t, op)
    b.add(t, "ld", [shared(0, 128)])
    assert missing(b) == []


def test_an_arrival_without_the_completion() -> None:
    b = TraceBuilder()
    s, t = b.strand(0, 1), b.strand(1)
    b.issue(s, "tma.load", [TARGET])
    b.hand_over(s, t)
    b.add(t, "ld", [shared(0, 128)])
    assert missing(b) == ["order"]


def test_completion_passes_on_nothing_else() -> None:
    b = TraceBuilder()
    s, t = b.strand(0, 1), b.strand(1)
    b.add(s, "st", [shared(512, 520, write=True)])
    op = b.issue(s, "tma.load", [TARGET])
    done = b.done("phase", [(op, "complete")], bar=0, index=0)
    b.add(t, "ld", [shared(0, 128)], [(done, "phase")])
    b.add(t, "ld", [shared(512, 520)])
    (conflict,) = HappensBefore(b.trace).conflicts
    assert conflict.first.kind == "st"


def test_a_later_completion_does_not_imply_an_earlier_one() -> None:
    b = TraceBuilder()
    s, t = b.strand(0, 1), b.strand(1)
    b.issue(s, "tma.load", [TARGET])
    later = b.issue(s, "tma.load", [shared(128, 256, write=True, proxy="async")])
    b.hand_over(s, t, later)
    b.add(t, "ld", [shared(128, 256)])
    assert missing(b) == []
    b.add(t, "ld", [shared(0, 128)])
    assert missing(b) == ["order"]


@pytest.mark.parametrize(("reason", "expected"), [("read", ["order"]), ("complete", [])])
def test_a_store_has_read_its_source_before_it_is_done(reason: str, expected: list[str]) -> None:
    b = TraceBuilder()
    s = b.strand(0, 1)
    op = b.issue(s, "bulk.store", [SOURCE, Access("global", True, "async", 0, 0, 128)])
    b.add(s, "bulk.wait", preds=[(op, reason)])
    b.add(s, "st", [shared(0, 128, write=True)])
    b.add(s, "ld", [Access("global", False, "generic", 0, 0, 128)])
    assert missing(b) == expected


def test_two_stores_have_no_order() -> None:
    b = TraceBuilder()
    s = b.strand(0, 1)
    for _ in range(2):
        b.issue(s, "bulk.store", [SOURCE, Access("global", True, "async", 0, 0, 128)])
    assert missing(b) == ["order"]


def test_unfinished_operations_are_found_behind_finished_ones() -> None:
    b = TraceBuilder()
    s, t = b.strand(0, 1), b.strand(1)
    ops = [b.issue(s, "mma", [shared(0, 128, proxy="async")], line=1) for _ in range(4)]
    b.hand_over(s, t, ops[0], ops[2], ops[3])
    b.add(t, "st", [shared(0, 64, write=True)])
    graph = HappensBefore(b.trace)
    assert [c.first for c in graph.conflicts] == [ops[1]]
    b.hand_over(s, t, ops[1], bar=1)
    b.add(t, "st", [shared(0, 64, write=True)])
    assert len(HappensBefore(b.trace).conflicts) == 1


def test_overwrites_without_any_wait_do_not_pile_up() -> None:
    b = TraceBuilder()
    s = b.strand(0, 1)
    for _ in range(200):
        b.issue(s, "tma.load", [TARGET], line=1)
    graph = HappensBefore(b.trace)
    (conflict,) = graph.conflicts
    assert conflict.missing == "order"
    assert conflict.count >= 199
    assert graph.work < 2000


# ---- tcgen05.ld and .st in flight ------------------------------------------------------------------------------


@pytest.mark.parametrize("waited", [False, True])
def test_a_load_in_flight_and_another_warp(waited: bool) -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1, 1)
    access = tmem(0, 32, end=-1)
    b.add(s, "tcgen05.ld", [access])
    if waited:
        access.end = b.add(s, "wait.ld").time
    b.hand_over(s, t)
    b.issue(t, "mma", [ACCUMULATOR])
    assert missing(b) == ([] if waited else ["order"])


def test_the_wait_comes_after_the_release() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1, 1)
    access = tmem(0, 32, end=-1)
    b.add(s, "tcgen05.ld", [access])
    b.hand_over(s, t)
    access.end = b.add(s, "wait.ld").time
    b.issue(t, "mma", [ACCUMULATOR])
    assert missing(b) == ["order"]


@pytest.mark.parametrize("waited", [False, True])
def test_a_store_in_flight_and_the_same_warp(waited: bool) -> None:
    b = TraceBuilder()
    s = b.strand(0)
    access = tmem(0, 32, write=True, end=-1)
    b.add(s, "tcgen05.st", [access])
    if waited:
        access.end = b.add(s, "wait.st").time
    b.add(s, "tcgen05.ld", [tmem(0, 32, end=-1)])
    assert missing(b) == ([] if waited else ["order"])


def test_a_load_never_waited_for_is_not_forgotten_over_a_newer_one() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1, 1)
    first = b.add(s, "tcgen05.ld", [tmem(0, 32, end=-1)], line=1)
    access = tmem(0, 32, end=-1)
    b.add(s, "tcgen05.ld", [access], line=2)
    access.end = b.add(s, "wait.ld").time
    b.hand_over(s, t)
    b.issue(t, "mma", [ACCUMULATOR])
    assert [c.first for c in HappensBefore(b.trace).conflicts] == [first]


def test_columns_and_lanes_of_tensor_memory() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1)
    b.add(s, "tcgen05.st", [tmem(0, 32, write=True, lanes=(0, 32), end=-1)])
    b.add(t, "tcgen05.ld", [tmem(0, 32, lanes=(32, 64), end=-1)])
    b.add(t, "tcgen05.ld", [tmem(32, 64, lanes=(0, 32), end=-1)])
    assert missing(b) == []


def test_dealloc_while_in_use() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1)
    b.add(s, "tcgen05.alloc", [tmem(0, 512, write=True, what="alloc")])
    b.hand_over(s, t)
    b.add(t, "tcgen05.ld", [tmem(0, 32, end=-1)])
    b.add(s, "tcgen05.dealloc", [tmem(0, 512, write=True, what="alloc")])
    assert missing(b) == ["order"]


# ---- pipelined pairs -------------------------------------------------------------------------------------------

COPY = tmem(128, 132, write=True)
SCALES = tmem(128, 132)
PAIRS = {
    ("mma", "mma"): True,
    ("tcgen05.cp", "mma"): True,
    ("tcgen05.shift", "mma"): True,
    ("tcgen05.shift", "tcgen05.cp"): True,
    ("mma", "tcgen05.shift"): True,
    ("mma", "tcgen05.cp"): False,
    ("tcgen05.cp", "tcgen05.cp"): False,
    ("tcgen05.cp", "tcgen05.shift"): False,
}


@pytest.mark.parametrize(("pair", "ordered"), PAIRS.items())
def test_pairs_of_one_thread(pair: tuple[str, str], ordered: bool) -> None:
    b = TraceBuilder()
    s = b.strand(0, 1)
    for instr in pair:
        accesses = [ACCUMULATOR, SCALES] if instr == "mma" else [COPY]
        b.issue(s, instr, accesses, group=1)
    assert missing(b) == ([] if ordered else ["order"])


@pytest.mark.parametrize(
    "second",
    [
        tmem(0, 64, write=True),  # another shape
        tmem(64, 192, write=True),  # another start
        tmem(0, 128, write=True, lanes=(0, 64)),
    ],
)
def test_another_accumulator_is_not_pipelined(second: Access) -> None:
    b = TraceBuilder()
    s = b.strand(0, 1)
    b.issue(s, "mma", [ACCUMULATOR], group=1)
    b.issue(s, "mma", [second], group=1)
    assert missing(b) == ["order"]


def test_an_accumulator_as_operand_of_the_next_is_not_pipelined() -> None:
    b = TraceBuilder()
    s = b.strand(0, 1)
    b.issue(s, "mma", [ACCUMULATOR], group=1)
    b.issue(s, "mma", [tmem(0, 64), tmem(256, 384, write=True)], group=1)
    assert missing(b) == ["order"]


@pytest.mark.parametrize("handed", [True, False])
def test_a_copy_is_pipelined_with_the_mma_of_another_thread_that_knows_of_it(handed: bool) -> None:
    b = TraceBuilder()
    s, t = b.strand(0, 1), b.strand(1, 1)
    b.issue(s, "tcgen05.cp", [COPY], group=1)
    if handed:
        b.hand_over(s, t)
    b.issue(t, "mma", [ACCUMULATOR, SCALES], group=1)
    assert missing(b) == ([] if handed else ["order"])


def test_other_thread_or_group_is_not_pipelined() -> None:
    b = TraceBuilder()
    s, t = b.strand(0, 1), b.strand(1, 1)
    b.issue(s, "mma", [ACCUMULATOR], group=1)
    b.hand_over(s, t)
    b.issue(t, "mma", [ACCUMULATOR], group=1)
    assert missing(b) == ["order"]
    b = TraceBuilder()
    s = b.strand(0, 1)
    b.issue(s, "mma", [ACCUMULATOR], group=1)
    b.issue(s, "mma", [ACCUMULATOR], group=2)
    assert missing(b) == ["order"]


def test_a_chain_of_mma_is_remembered_to_its_end() -> None:
    b = TraceBuilder()
    s, t = b.strand(0, 1), b.strand(1)
    ops = [b.issue(s, "mma", [ACCUMULATOR], line=1, group=1) for _ in range(3)]
    b.hand_over(s, t, *ops[:2])
    b.add(t, "tcgen05.ld", [tmem(0, 32, end=-1)])
    assert [c.first for c in HappensBefore(b.trace).conflicts] == [ops[2]]
