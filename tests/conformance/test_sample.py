"""A sample of the comparison with hardware. All of it: ``python -m tests.conformance all``."""

from __future__ import annotations

import pytest

from auditor.machine.schedule import Random
from tests.conformance import audited
from tests.conformance.check import check
from tests.conformance.direct import Runner
from tests.conformance.explore import Explorer
from tests.conformance.recorded import SECOND, Outcome, Recorded, load, sample

PROGRAMS = load()
EVERY = Outcome((-1,))  # an outcome that no program has: looking for it visits every state


@pytest.fixture(scope="module")
def few() -> list[Recorded]:
    return sample(PROGRAMS, 300)


def test_the_data_is_whole() -> None:
    assert len(PROGRAMS) == 10_172
    assert {p.label for p in PROGRAMS} == {"ends", "hangs", "schedule-dependent", "traps"}


def test_machine_reaches_what_hardware_showed(few: list[Recorded]) -> None:
    verdicts = [check(p) for p in few]
    assert [(v.id, v.error, v.missing) for v in verdicts if not v.agrees] == []


def test_second_set() -> None:
    """Multicast, copies between CTAs, arrive_drop, complete_tx, cp.async arrivals, named and cluster barriers."""
    programs = load(SECOND)
    assert len(programs) == 2_566
    verdicts = [check(p) for p in sample(programs, 150)]
    assert [(v.id, v.error, v.missing) for v in verdicts if not v.agrees] == []


def test_every_operation_at_the_limits() -> None:
    verdicts = [check(p) for p in PROGRAMS if p.shape == "edge"]
    assert [(v.id, v.bug, v.lazy) for v in verdicts if not v.agrees] == []


def test_random_schedules_stay_within_the_search() -> None:
    """Whatever the machine does by chance is among the outcomes that the search of all interleavings finds."""
    looked_at = 0
    for p in sample([p for p in PROGRAMS if p.shape != "edge"], 60):
        explorer, runner = Explorer(p), Runner(p)
        seen = {runner.run(Random(seed))[0] for seed in range(4)}
        found, complete = explorer.search({*seen, EVERY}, 20_000)
        if complete:
            looked_at += 1
            assert seen <= set(found), p.id
    assert looked_at > 30


def test_audit_of_the_source_form() -> None:
    """Every hang is a finding; what hardware always ends is not one."""
    programs = sample([p for p in PROGRAMS if p.label in ("ends", "hangs") and p.shape != "edge"], 60)
    results = [audited.audit(p) for p in programs]
    assert [(r.id, r.problem) for r in results if r.problem] == []
    assert [(r.id, r.codes) for r in results if r.label == "hangs" and not r.told] == []
    known = [r for r in results if r.cause is not None]
    assert sum(bool(r.cause) for r in known) >= 0.9 * len(known)
