"""What is foreseen of counterfactual runs is what happens in them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.audit import Audit
from auditor.causes_foreseen import Foresight
from auditor.causes_parity import in_turn
from auditor.graph import HappensBefore
from auditor.machine.hypothesis import Hypothesis
from auditor.machine.launch import Launch
from auditor.meaning import ORDER, meaning, same_store
from auditor.program import Kernel, Program
from auditor.source import Loc
from auditor.trace import Trace
from tests.unit.machine_kernels import LOAD, Ring, kinds

LAP = "(i // {stages}) & 1"
FAULTS = {"deadlock", "over_arrival", "early_phase", "budget"}
RING = Ring(stages=2, rounds=12, consumers=2)


def audit_of(trace: Trace) -> Audit:
    here = Loc("kernel", 1)
    program = Program("kernel", "sm_100a", (), "", [], [], [])
    return Audit(program, Kernel("k", "k", "k", (), (), here), Launch("k"), trace, 0.0)


def fails(trace: Trace) -> bool:
    """Whether a run shows that what was supposed in it does not mend the kernel."""
    lacking = any(meaning(c) in ORDER and not same_store(c) for c in HappensBefore(trace).conflicts)
    return bool(kinds(trace) & FAULTS) or lacking


@settings(max_examples=150, deadline=None)
@given(
    ring=st.builds(
        Ring,
        stages=st.integers(1, 3),
        rounds=st.integers(4, 12),
        consumers=st.integers(1, 3),
        full_parity=st.sampled_from((LAP, LAP, LAP, f"({LAP}) ^ 1", "0")),
        empty_parity=st.sampled_from((f"({LAP}) ^ 1", f"({LAP}) ^ 1", "1", "i & 1")),
        empty_count=st.sampled_from((None, None, 1)),
    ),
    number=st.integers(0, 5),
    value=st.integers(-1, 4),
    what=st.sampled_from(("counts", "parity", "all")),
)
def test_what_is_foreseen_comes_true(ring: Ring, number: int, value: int, what: str) -> None:
    trace = ring.run()
    audit = audit_of(trace)
    places = list(in_turn(audit))
    if what == "counts":
        record = trace.barriers[number % len(trace.barriers)]
        hypothesis = Hypothesis(counts={trace.events[record.init_event].where: max(value, 1)})
    elif what == "all" or not places:
        hypothesis = Hypothesis(parity=in_turn(audit))
    else:
        hypothesis = Hypothesis(parity={places[number % len(places)]: min(value, 1)})
    if Foresight(audit).fails(hypothesis):
        assert fails(ring.run(hypothesis))


def test_a_count_that_leaves_too_few_phases_hangs() -> None:
    trace = RING.run()
    where = trace.events[trace.barriers[2].init_event].where
    assert Foresight(audit_of(trace)).fails(Hypothesis(counts={where: 3}))
    assert "deadlock" in kinds(RING.run(Hypothesis(counts={where: 3})))


def test_a_count_that_mends_is_not_taken_for_one_that_hangs() -> None:
    ring = replace(RING, empty_count=1)
    trace = ring.run()
    counts = {trace.events[b.init_event].where: 2 for b in trace.barriers[2:]}
    assert not Foresight(audit_of(trace)).fails(Hypothesis(counts=counts))


def test_a_wait_for_a_phase_beyond_the_last_hangs() -> None:
    trace = RING.run()
    empty, full = in_turn(audit_of(trace))
    assert Foresight(audit_of(trace)).fails(Hypothesis(parity={full: 1}))
    assert "deadlock" in kinds(RING.run(Hypothesis(parity={full: 1})))
    assert not Foresight(audit_of(trace)).fails(Hypothesis(parity={empty: -1, full: 0}))


def test_a_race_stays_where_waits_see_no_later_phase() -> None:
    body = RING.body()
    body.ptx("st.shared.b32 [$0], $1;", "slot", "tid")
    body.ptx(LOAD, "slot", result="w")
    trace = body.run(96)
    audit = audit_of(trace)
    assert trace.complete and audit.hb.conflicts
    assert Foresight(audit).fails(Hypothesis(parity=in_turn(audit)))


def test_a_run_that_hung_tells_nothing() -> None:
    trace = replace(RING, empty_parity="(i // {stages}) & 1").run()
    assert "deadlock" in kinds(trace)
    where = trace.events[trace.barriers[2].init_event].where
    assert not Foresight(audit_of(trace)).fails(Hypothesis(counts={where: 100}))
