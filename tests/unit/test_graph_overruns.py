"""Waiters that could find themselves two phases behind."""

from __future__ import annotations

from auditor.graph import HappensBefore
from tests.unit.graph_traces import TraceBuilder


def test_a_consumer_that_answers() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1)
    for phase in range(3):
        b.hand_over(s, t, bar=0, phase=phase)
        b.hand_over(t, s, bar=1, phase=phase)
    assert HappensBefore(b.trace).overruns == []


def test_a_producer_that_does_not_wait() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1)
    waits = [b.hand_over(s, t, bar=0, phase=phase) for phase in range(3)]
    overruns = HappensBefore(b.trace).overruns
    assert [(o.wait, o.phase_event.data["index"]) for o in overruns] == [(waits[0], 1), (waits[1], 2)]


def test_the_wait_is_seen_after_the_next_phase() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1)
    phases = [b.done("phase", [(b.add(s, "mbar.arrive"), "arrive")], bar=0, index=n) for n in range(2)]
    wait = b.add(t, "mbar.wait", preds=[(phases[0], "phase")], bar=0, phase=0)
    (overrun,) = HappensBefore(b.trace).overruns
    assert (overrun.wait, overrun.phase_event) == (wait, phases[1])


def test_the_fresh_barriers_preceding_phase() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1)
    b.add(s, "mbar.wait", bar=0, phase=-1)
    b.hand_over(t, s, bar=0, phase=0)  # the consumer frees a stage that nobody had filled
    assert len(HappensBefore(b.trace).overruns) == 1


def test_one_lane_of_the_warp_is_enough() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1)
    b.hand_over(s, t, bar=0, phase=0)
    leader = b.strand(1, 1, parent=t)
    b.narrow(t, 0xFFFF_FFFE)
    b.add(t, "nop")
    b.hand_over(leader, s, bar=1, phase=0)
    b.hand_over(s, t, bar=0, phase=1)
    assert HappensBefore(b.trace).overruns == []


def test_an_operation_carries_the_answer() -> None:
    """The other CTA of a pair waits, then only copies: its bytes complete the phase that leads to the next one."""
    b = TraceBuilder()
    follower, leader = b.strand(0, 1), b.strand(1, 1)
    b.add(follower, "mbar.wait", bar=0, phase=-1)
    copy = b.issue(follower, "tma.load", [])
    b.add(leader, "mbar.wait", preds=[(b.done("phase", [(copy, "complete")], bar=1, index=0), "phase")], bar=1, phase=0)
    b.done("phase", [(b.add(leader, "commit"), "commit")], bar=0, index=0)
    assert HappensBefore(b.trace).overruns == []


def test_lanes_that_met_after_the_wait() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1)
    b.add(t, "nop")
    leader = b.strand(1, 1, parent=t)
    b.narrow(t, 0xFFFF_FFFE)
    b.add(leader, "mbar.wait", bar=0, phase=-1)
    b.add(t, "mbar.wait", bar=0, phase=-1)
    b.hand_over(leader, s, bar=1, phase=0)
    b.hand_over(s, leader, bar=0, phase=0)
    assert HappensBefore(b.trace).overruns == []


def test_what_a_lane_does_before_its_own_wait() -> None:
    """Lanes that split reach the wait one after the other: the arrival of the second comes before the wait of both."""
    b = TraceBuilder()
    rest, other = b.strand(0), b.strand(1)
    b.add(rest, "nop")
    leader = b.strand(0, 1, parent=rest)
    b.narrow(rest, 0xFFFF_FFFE)
    wait = b.add(rest, "mbar.wait", line=9, bar=0, phase=-1)
    arrivals = [(b.add(s, "mbar.arrive"), "arrive") for s in (leader, other)]
    b.add(leader, "mbar.wait", line=9, bar=0, phase=-1)
    b.done("phase", arrivals, bar=0, index=0)
    (overrun,) = HappensBefore(b.trace).overruns
    assert overrun.wait == wait
