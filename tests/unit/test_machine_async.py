"""Asynchronous operations of the machine: copies, groups, tensor memory."""

from __future__ import annotations

import pytest

from auditor.graph import HappensBefore
from tests.unit.machine_kernels import COPY, EXPECT, GLOBAL, LOAD, SYNC, WAIT, Body, initialise, kinds

STORE = "st.shared.b32 [$0], $1;"
FENCE = "fence.proxy.async.shared::cta;"
BULK_STORE = "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;"
COMMIT = "cp.async.bulk.commit_group;"
ALLOC = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$0], $1;"
DEALLOC = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 $0, $1;"


def fetched(wait: bool, size: int = 256, expected: int = 256) -> Body:
    """Thread 0 fetches a line, all threads read it, after a wait or not."""
    b = Body()
    initialise(b, [1])
    b.line("if S.cond(tid == 0):")
    b.ptx(EXPECT, "bars", str(expected), indent=2)
    b.ptx(COPY, "tile", str(GLOBAL), str(size), "bars", indent=2)
    if wait:
        b.ptx(WAIT, "bars", "0")
    b.ptx(LOAD, "tile + tid * 4", result="v")
    b.line("v + 1")
    return b


def test_wait_covers_the_copy() -> None:
    trace = fetched(True).run()
    assert trace.complete and kinds(trace) == set() and HappensBefore(trace).conflicts == []


def test_read_without_wait_races() -> None:
    (conflict,) = HappensBefore(fetched(False).run()).conflicts[:1]
    assert {conflict.first.kind, conflict.second.kind} == {"async", "ld"}


@pytest.mark.parametrize("size", [24, 8])
def test_size_that_is_no_multiple_of_16(size: int) -> None:
    assert "bulk_size" in kinds(fetched(True, size=size, expected=size).run())


def test_bytes_that_never_come_hang() -> None:
    assert "deadlock" in kinds(fetched(True, expected=512).run())


def test_misaligned_destination() -> None:
    b = Body()
    initialise(b, [1])
    b.line("if S.cond(tid == 0):")
    b.ptx(EXPECT, "bars", "64", indent=2)
    b.ptx(COPY, "tile + 8", str(GLOBAL), "64", "bars", indent=2)
    b.ptx(WAIT, "bars", "0", indent=2)
    assert "misaligned" in kinds(b.run())


def stored(*, fence: bool = True, commit: bool = True, wait: str = "cp.async.bulk.wait_group.read 0;") -> Body:
    """All threads write a line, thread 0 stores it, then all write it again."""
    b = Body()
    b.ptx(STORE, "tile + tid * 4", "tid")
    if fence:
        b.ptx(FENCE)
    b.ptx(SYNC)
    b.line("if S.cond(tid == 0):")
    b.ptx(BULK_STORE, str(GLOBAL), "tile", "256", indent=2)
    if commit:
        b.ptx(COMMIT, indent=2)
    if wait:
        b.ptx(wait, indent=2)
    b.ptx(SYNC)
    b.ptx(STORE, "tile + tid * 4", "tid")
    return b


def test_store_with_fence_commit_and_wait_is_clean() -> None:
    trace = stored().run()
    assert kinds(trace) == set() and HappensBefore(trace).conflicts == []


def test_missing_proxy_fence() -> None:
    assert {c.missing for c in HappensBefore(stored(fence=False).run()).conflicts} == {"proxy"}


@pytest.mark.parametrize("wait", ["", "cp.async.bulk.wait_group.read 1;", "cp.async.wait_group 0;"])
def test_source_rewritten_before_it_was_read(wait: str) -> None:
    trace = stored(wait=wait).run()
    assert {c.missing for c in HappensBefore(trace).conflicts} == {"order"}
    assert "undrained" in kinds(trace)


def test_uncommitted_store_is_not_waited_for() -> None:
    trace = stored(commit=False).run()
    assert HappensBefore(trace).conflicts and "undrained" in kinds(trace)


def tensor(*, columns: int = 32, free: bool = True, wait: bool = True) -> Body:
    """Warp 0 allocates tensor memory, both warps load from it, warp 0 frees it."""
    b = Body()
    b.line("if S.cond(tid < 32):")
    b.ptx(ALLOC, "slot", str(columns), indent=2)
    b.ptx(SYNC)
    b.ptx(LOAD, "slot", result="base")
    b.ptx("tcgen05.ld.sync.aligned.32x32b.x1.b32 {$0}, [$1];", "base + ((tid >> 5) << 21)", result="v")
    if wait:
        b.ptx("tcgen05.wait::ld.sync.aligned;")
    b.ptx(SYNC)
    if free:
        b.line("if S.cond(tid < 32):")
        b.ptx(DEALLOC, "base", str(columns), indent=2)
    return b


def test_tensor_memory_allocated_and_freed() -> None:
    trace = tensor().run()
    assert trace.complete and kinds(trace) == set() and HappensBefore(trace).conflicts == []


def test_leak() -> None:
    assert kinds(tensor(free=False).run()) == {"leak"}


def test_columns_that_are_no_power_of_two() -> None:
    assert "alloc_columns" in kinds(tensor(columns=48).run())


def test_load_still_in_flight_when_freed() -> None:
    conflicts = HappensBefore(tensor(wait=False).run()).conflicts
    assert {(c.first.kind, c.second.kind) for c in conflicts} == {("tcgen05.ld", "tcgen05.dealloc")}


def test_aligned_operation_by_one_thread() -> None:
    b = Body()
    b.line("if S.cond(tid == 0):")
    b.ptx(ALLOC, "slot", "32", indent=2)
    assert "divergent_aligned" in kinds(b.run(threads=32))


def test_lanes_of_the_last_accesses_are_told_apart_in_every_warp() -> None:
    k = Body()
    k.line("S.store(S.shared_addr('tile') + 8 * S.tid[0], 'int', 32, 1)")
    stores = [e for e in k.run(64).events if e.kind == "st"]
    assert [len(e.accesses[0].by_lane()) for e in stores] == [32, 32]


def test_a_loop_over_a_row_is_one_access() -> None:
    k = Body()
    k.line("for n in range(4):")
    k.line(" S.load(S.shared_addr('tile') + 4 * S.tid[0] + 128 * n, 'float', 32, False)")
    k.line(f" S.store({GLOBAL} + 4 * S.tid[0] + 128 * n, 'float', 32, OPAQUE)")
    (load,), (store,) = ([e for e in k.run(32).events if e.kind == kind] for kind in ("ld", "st"))
    (row,), (results,) = load.accesses, store.accesses
    assert (row.hi - row.lo, row.lanes is not None and row.lanes.solid) == (512, True)
    assert [(a.lo - row.lo, a.hi - row.lo) for a in row.rounds()] == [(128 * n, 128 * n + 128) for n in range(4)]
    assert (results.space, results.hi - results.lo) == ("global", 512)


def test_a_place_is_a_call_chain_of_lines() -> None:
    k = Body()
    k.line("read = lambda n: S.load(S.shared_addr('tile') + 64 * n, 'float', 32, False)")
    k.line("read(0)")
    k.line("read(1)")
    k.line("read(2); read(3)")
    reads = [e for e in k.run(32).events if e.kind == "ld"]
    assert [len(e.accesses) for e in reads] == [1, 1, 2]
    assert [[loc.line for loc in e.where] for e in reads] == [[6, 7], [6, 8], [6, 9]]
