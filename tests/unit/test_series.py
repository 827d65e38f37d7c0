"""Which planned launches are run."""

from __future__ import annotations

from auditor.machine.launch import Launch
from auditor.machine.series import EXTRA_STEPS, REPLACEABLE_STEPS, Series
from auditor.trace import Incident, Trace

TYPICAL = Launch("k", replaceable=True)
SMALL = Launch("k", reduced=True, replaceable=True)
SINGLE = Launch("k")
LONG = Launch("k", extra=3)


def trace(steps: int, exceeded: bool = False) -> Trace:
    found = Trace("k", {}, 1, 1)
    found.steps = steps
    if exceeded:
        found.incidents.append(Incident("budget", ()))
    return found


def test_a_smaller_problem_stands_in_for_one_that_is_too_long() -> None:
    series = Series(400_000)
    assert series.steps(TYPICAL) == REPLACEABLE_STEPS
    assert not series.counts(TYPICAL, trace(REPLACEABLE_STEPS, exceeded=True))
    assert series.wants(SMALL)
    assert series.counts(SMALL, trace(900))
    assert series.wants(SINGLE)
    assert series.steps(SINGLE) == 400_000


def test_the_last_resort_counts_even_when_it_is_too_long() -> None:
    series = Series(400_000)
    assert series.counts(SINGLE, trace(400_000, exceeded=True))


def test_extra_launches_follow_only_short_ones() -> None:
    series = Series(400_000)
    assert series.counts(TYPICAL, trace(EXTRA_STEPS // 3))
    assert not series.wants(SMALL)
    assert series.wants(LONG)
    series = Series(400_000)
    assert series.counts(TYPICAL, trace(EXTRA_STEPS // 3 + 1))
    assert not series.wants(LONG)
