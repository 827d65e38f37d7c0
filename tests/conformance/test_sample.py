"""A sample of the comparison with hardware. All of it: ``python -m tests.conformance all``."""

from __future__ import annotations

from collections import Counter

import pytest

from auditor.machine.execute import Exec
from auditor.machine.ops import bulk
from auditor.machine.ops.data import wait_groups
from auditor.machine.schedule import Random
from tests.conformance import audited, audited_groups, groups, groups_check, groups_make, report
from tests.conformance.check import check
from tests.conformance.cuda import write
from tests.conformance.direct import Runner
from tests.conformance.explore import Explorer
from tests.conformance.recorded import SECOND, THIRD, Outcome, Recorded, load, sample

PROGRAMS = load()
GROUPS = groups.load()
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


def test_third_set() -> None:
    """CTA barriers that hang: named ones, and the one of all threads, which does not wait for those that have ended."""
    programs = load(THIRD)
    assert len(programs) == 750
    verdicts = [check(p) for p in sample(programs, 100)]
    assert [(v.id, v.error, v.missing) for v in verdicts if not v.agrees] == []


def test_groups() -> None:
    """Bulk stores and the ``.read`` form, cp.async, wgmma: no value that hardware showed is ruled out."""
    assert len(GROUPS) == 820
    verdicts = [groups_check.check(p) for p in GROUPS[::8]]
    assert [v for v in verdicts if not v.agrees] == []
    assert sum(v.open for v in verdicts) < sum(v.looks for v in verdicts) / 2


def test_a_machine_that_waits_for_too_little_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """If waiting for all groups but n meant for all but n - 1, hardware would show what the graph rules out."""
    def eager(x: Exec, kind: str, n: int, *, read: bool) -> None:
        wait_groups(x, kind, max(n - 1, 0), read=read)

    monkeypatch.setattr(bulk, "wait_groups", eager)
    verdicts = [groups_check.check(p) for p in GROUPS if p.bug == "one_too_many" and p.shape == "bulk_store"]
    assert any(v.forbidden for v in verdicts)


def test_audit_of_groups() -> None:
    """A finding where a value is left open, none where it is not."""
    results = [audited_groups.audit(p) for p in GROUPS[::40]]
    assert [r for r in results if not r.told] == []
    assert {r.races for r in results} == {True, False}


def test_kernels_about_groups_have_a_look_for_each_value() -> None:
    text = groups_make.kernels(GROUPS[-3:])
    assert text.count("result(run,") == sum(len(p.looks) for p in GROUPS[-3:])


def test_the_pages_count_what_the_data_holds() -> None:
    programs = [*PROGRAMS, *load(SECOND), *load(THIRD)]
    tables = report.PAGE.read_text(encoding="utf-8")
    for label, n in Counter(p.label for p in programs).items():
        assert f"| {label} | {n} | {n} |" in tables
    for shape, n in Counter(p.shape for p in programs).items():
        assert f"| {shape} | {n} | {n} |" in tables
    for shape, n in Counter(p.shape for p in GROUPS).items():
        assert f"| {shape} | {n} | {n} |" in tables
    everything = len(programs) + len(GROUPS)
    assert f"{everything:,} of {everything:,} programs" in report.PROVED.read_text(encoding="utf-8")


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


@pytest.mark.parametrize(("name", "code", "says"), [
    ("p00643", "BW104", "two phases early"),  # a parity that never flips, in step in the audit's schedule
    ("p00807", "BW104", "two phases early"),  # two warps go first
    ("p00029", "BW105", "it can take its place"),  # an arrival too many on the other CTA's barrier
    ("n00149", "BW602", "it can take its place"),  # a signal that runs a round of a named barrier ahead
    ("p01250", "BW104", "from ending before it looks"),  # a warp whose lanes come to its wait one after the other
    ("p04475", "BW106", "expects 112 bytes"),  # hangs where the copy lands before more bytes are expected
    ("p00525", "BW102", "parity"),  # a producer that waits for a stage that is free: not an init count too high
])
def test_what_the_audits_schedule_does_not_show(name: str, code: str, says: str) -> None:
    result = audited.audit(next(p for p in [*PROGRAMS, *load(THIRD)] if p.id == name))
    assert result.codes == (code,)
    assert says in result.messages[0]


def test_source_form_of_every_operation() -> None:
    """Each kind of operation is understood: nothing is left unanalysed."""
    programs = [*load(SECOND), *load(THIRD)]
    chosen = {op.kind: p for p in programs for _, _, op in p.ops() if p.shape != "edge"}
    assert [(p.id, r.problem) for p in chosen.values() if (r := audited.audit(p)).problem] == []
    assert all(len(write(p).places) == sum(map(len, p.code)) for p in chosen.values())
