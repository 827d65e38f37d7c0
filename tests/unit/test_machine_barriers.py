"""Each kind of barrier of the machine: what it waits for, what it orders, what it reports."""

from __future__ import annotations

import pytest

from auditor.graph import HappensBefore
from auditor.machine.mbarrier import BarrierTrap, Mbarrier
from tests.unit.machine_kernels import (
    ARRIVE,
    EXPECT,
    INIT,
    LOAD,
    SYNC,
    WAIT,
    WARP_SYNC,
    Body,
    initialise,
    kinds,
)

STORE = "st.shared.b32 [$0], $1;"


def test_phase_needs_arrivals_and_bytes() -> None:
    unit = Mbarrier.init(2)
    assert not unit.arrive(1, tx=32)
    assert not unit.arrive(1)
    assert unit.passes(1) and not unit.passes(0)
    assert unit.complete(32)
    assert unit.passes(0) and unit.pending == 2


def test_bytes_before_their_expectation_are_due_to_this_phase() -> None:
    unit = Mbarrier.init(1)
    assert not unit.complete(64)
    assert unit.tx == -64
    assert unit.arrive(1, tx=64)


def test_surplus_arrival_traps() -> None:
    unit = Mbarrier.init(1)
    unit.arrive(1, tx=16)
    with pytest.raises(BarrierTrap) as trap:
        unit.arrive(1)
    assert trap.value.kind == "over_arrival"


def test_drop_lowers_later_phases() -> None:
    unit = Mbarrier.init(2)
    unit.arrive(1, drop=True)
    assert unit.arrive(1)
    assert unit.pending == unit.expected == 1


@pytest.mark.parametrize("tx", [-1, 1 << 20])
def test_tx_count_out_of_range_traps(tx: int) -> None:
    with pytest.raises(BarrierTrap):
        Mbarrier.init(1).expect(tx)


def exchange(between: str) -> Body:
    """Thread i writes word i; after ``between``, thread i of the other warp reads it."""
    b = Body()
    b.ptx(STORE, "tile + tid * 4", "tid")
    if between:
        b.ptx(between)
    b.ptx(LOAD, "tile + (tid ^ 32) * 4", result="v")
    b.line("v + 1")
    return b


def test_cta_barrier_orders_the_block() -> None:
    assert HappensBefore(exchange(SYNC).run()).conflicts == []


@pytest.mark.parametrize("between", ["", WARP_SYNC])
def test_less_does_not(between: str) -> None:
    assert {c.missing for c in HappensBefore(exchange(between).run()).conflicts} == {"order"}


def test_named_barrier_with_a_count_orders_its_threads() -> None:
    assert HappensBefore(exchange("barrier.sync 3, 64;").run()).conflicts == []


def test_named_barrier_that_waits_for_more_threads_hangs() -> None:
    trace = exchange("barrier.sync 3, 96;").run(threads=128)
    assert trace.complete is False or "named_barrier" in kinds(trace)


def test_exited_threads_are_excused_from_the_block_barrier() -> None:
    b = Body()
    b.line("if S.cond(tid >= 32):")
    b.line("return", 2)
    b.ptx(SYNC)
    assert b.run().complete


def test_block_barrier_that_a_role_never_reaches_hangs() -> None:
    b = Body()
    initialise(b, [1])
    b.line("if S.cond(tid < 32):")
    b.ptx(SYNC, indent=2)
    b.line("else:")
    b.ptx(WAIT, "bars", "0", indent=2)
    trace = b.run()
    assert {i.data["waiting"] for i in trace.incidents if i.kind == "deadlock"} == {"barrier", "mbarrier"}


def test_warp_sync_orders_the_lanes() -> None:
    b = Body()
    b.ptx(STORE, "tile + (tid & 31) * 4", "tid")
    b.ptx(WARP_SYNC)
    b.ptx(LOAD, "tile + ((tid & 31) ^ 1) * 4", result="v")
    b.line("v + 1")
    assert HappensBefore(b.run(threads=32)).conflicts == []


def test_use_of_a_barrier_that_another_warp_initialises() -> None:
    b = Body()
    b.line("if S.cond(tid == 0):")
    b.ptx(INIT, "bars", "1", indent=2)
    b.ptx(ARRIVE, "bars", indent=2)
    b.line("else:")
    b.ptx(WAIT, "bars", "0", indent=2)
    conflicts = HappensBefore(b.run()).conflicts
    assert conflicts and all(c.first.kind == "mbar.init" for c in conflicts)


def test_mbarrier_hands_data_over() -> None:
    b = Body()
    initialise(b, [32])
    b.line("if S.cond(tid < 32):")
    b.ptx(STORE, "tile + tid * 4", "tid", indent=2)
    b.ptx(ARRIVE, "bars", indent=2)
    b.line("else:")
    b.ptx(WAIT, "bars", "0", indent=2)
    b.ptx(LOAD, "tile + (tid - 32) * 4", result="v", indent=2)
    b.line("v + 1", 2)
    trace = b.run()
    assert trace.complete and HappensBefore(trace).conflicts == []


def test_relaxed_arrival_does_not() -> None:
    b = Body()
    initialise(b, [32])
    b.line("if S.cond(tid < 32):")
    b.ptx(STORE, "tile + tid * 4", "tid", indent=2)
    b.ptx("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [$0];", "bars", indent=2)
    b.line("else:")
    b.ptx(WAIT, "bars", "0", indent=2)
    b.ptx(LOAD, "tile + (tid - 32) * 4", result="v", indent=2)
    b.line("v + 1", 2)
    assert HappensBefore(b.run()).conflicts


def test_a_poll_that_is_not_repeated_observes_nothing() -> None:
    b = Body()
    initialise(b, [1])
    b.line("if S.cond(tid == 0):")
    b.ptx(EXPECT, "bars", "0", indent=2)
    b.ptx(SYNC)
    b.ptx(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [$1], $2; selp.u32 $0, 1, 0, p; }",
        "bars",
        "0",
        result="ok",
    )
    trace = b.run()
    assert trace.polls
    assert not any(e.kind == "mbar.wait" for e in trace.events)


def test_cluster_barrier_meets_all_ctas() -> None:
    b = Body()
    b.ptx("barrier.cluster.arrive.release.aligned;")
    b.ptx("barrier.cluster.wait.acquire.aligned;")
    trace = b.run(ctas=2)
    assert trace.complete
    assert sum(e.kind == "cluster" for e in trace.events) == 1


def test_cluster_wait_without_arrive_is_noticed() -> None:
    b = Body()
    b.ptx("barrier.cluster.wait.acquire.aligned;")
    assert "cluster_barrier" in kinds(b.run(ctas=2))


def test_elected_lane_is_one_lane_and_not_lane_0() -> None:
    b = Body()
    b.ptx("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 $0, 1, 0, p; }", result="chosen")
    b.line("if S.cond(chosen):")
    b.ptx("fence.proxy.async;", indent=2)
    masks = {e.lanes for e in b.run(threads=32).events if e.kind == "fence.proxy"}
    assert len(masks) == 1
    assert masks.pop() not in (1, 0xFFFF_FFFF)


def test_budget_ends_an_endless_loop() -> None:
    b = Body()
    b.line("while True:")
    b.line("S.loop(1)", 2)
    trace = b.run(threads=32)
    assert not trace.complete
    assert kinds(trace) == {"budget"}
