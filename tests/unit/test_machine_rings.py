"""Property tests of the machine: correct rings of any shape run clean, one changed detail never does."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.graph import HappensBefore
from tests.unit.machine_kernels import Ring, kinds

RINGS = st.builds(Ring, stages=st.integers(1, 4), rounds=st.integers(1, 9), consumers=st.integers(1, 3))
LONG = st.builds(Ring, stages=st.integers(2, 3), rounds=st.integers(7, 10), consumers=st.integers(1, 2))


@settings(max_examples=40, deadline=None)
@given(RINGS)
def test_correct_ring_runs_clean(ring: Ring) -> None:
    trace = ring.run()
    assert trace.complete
    assert kinds(trace) == set()
    hb = HappensBefore(trace)
    assert hb.conflicts == []
    assert hb.overruns == []


@settings(max_examples=40, deadline=None)
@given(RINGS)
def test_every_phase_gets_its_arrivals_and_bytes(ring: Ring) -> None:
    trace = ring.run()
    full, empty = trace.barriers[: ring.stages], trace.barriers[ring.stages :]
    for stage, record in enumerate(full):
        laps = len(range(stage, ring.rounds, ring.stages))
        assert [sum(tx for _, tx in p["expected"]) for p in record.phases] == [ring.nbytes] * laps
        assert all(len(p["waits"]) >= ring.consumers for p in record.phases)
    for stage, record in enumerate(empty):
        laps = len(range(stage, ring.rounds, ring.stages))
        assert [len(p["arrivals"]) for p in record.phases] == [ring.consumers] * laps


@settings(max_examples=15, deadline=None)
@given(LONG)
def test_producer_at_parity_0_hangs(ring: Ring) -> None:
    trace = replace(ring, empty_parity="(i // {stages}) & 1").run()
    assert not trace.complete
    assert "deadlock" in kinds(trace)


@settings(max_examples=15, deadline=None)
@given(LONG)
def test_consumer_at_parity_1_races(ring: Ring) -> None:
    trace = replace(ring, full_parity="((i // {stages}) & 1) ^ 1").run()
    assert HappensBefore(trace).conflicts or "deadlock" in kinds(trace)


@settings(max_examples=15, deadline=None)
@given(LONG)
def test_parity_that_never_flips_is_noticed(ring: Ring) -> None:
    trace = replace(ring, full_parity="0").run()
    assert HappensBefore(trace).conflicts or kinds(trace)


@settings(max_examples=15, deadline=None)
@given(LONG)
def test_stage_refilled_without_a_wait_races(ring: Ring) -> None:
    assert HappensBefore(replace(ring, waits_empty=False).run()).conflicts


@settings(max_examples=15, deadline=None)
@given(LONG, st.sampled_from([-1, 1]))
def test_wrong_init_count_hangs_or_traps(ring: Ring, change: int) -> None:
    count = ring.consumers + change
    if count == 0:
        return
    assert kinds(replace(ring, empty_count=count).run()) & {"deadlock", "over_arrival"}


@settings(max_examples=15, deadline=None)
@given(LONG, st.sampled_from([16, -16, 128]))
def test_wrong_byte_count_is_noticed(ring: Ring, change: int) -> None:
    trace = replace(ring, expected=ring.nbytes + change).run()
    assert kinds(trace) & {"deadlock", "early_phase"} or HappensBefore(trace).conflicts
