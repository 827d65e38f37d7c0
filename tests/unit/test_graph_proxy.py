"""Generic and async proxy: where a proxy fence must stand."""

from __future__ import annotations

import pytest

from auditor.graph import HappensBefore
from tests.unit.graph_traces import TraceBuilder, shared

WRITE = shared(0, 128, write=True)
READ = shared(0, 128)
SOURCE = shared(0, 128, proxy="async", done="read")
REFILL = shared(0, 128, write=True, proxy="async")


def store(writer_fence: str | None = None, issuer_fence: str | None = None, late: bool = False) -> HappensBefore:
    """st.shared by one warp, bulk store of the bytes by another."""
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1, 1)
    b.add(s, "st", [WRITE])
    if writer_fence and not late:
        b.add(s, "fence.proxy", which=writer_fence)
    b.hand_over(s, t)
    if writer_fence and late:
        b.add(s, "fence.proxy", which=writer_fence)
    if issuer_fence:
        b.add(t, "fence.proxy", which=issuer_fence)
    b.issue(t, "bulk.store", [SOURCE])
    return HappensBefore(b.trace)


@pytest.mark.parametrize("which", ["async", "async.shared::cta", "async.shared::cluster"])
def test_a_fence_of_the_writer(which: str) -> None:
    graph = store(writer_fence=which)
    assert (graph.conflicts, graph.late_fences) == ([], [])


@pytest.mark.parametrize("which", [None, "async.global", "tensormap"])
def test_no_fence_or_one_for_other_memory(which: str | None) -> None:
    (conflict,) = store(writer_fence=which).conflicts
    assert (conflict.missing, conflict.first.kind, conflict.second.kind) == ("proxy", "st", "async")


def test_a_fence_of_the_issuer_is_enough_but_noted() -> None:
    graph = store(issuer_fence="async.shared::cta")
    assert graph.conflicts == []
    assert [c.missing for c in graph.late_fences] == ["writer-fence"]


def test_the_writers_fence_after_its_release_is_too_late() -> None:
    graph = store(writer_fence="async", late=True)
    assert [c.missing for c in graph.conflicts] == ["proxy"]


def test_fences_of_both() -> None:
    graph = store(writer_fence="async", issuer_fence="async")
    assert (graph.conflicts, graph.late_fences) == ([], [])


def test_a_fence_in_between() -> None:
    b = TraceBuilder()
    s, t, u = b.strand(0), b.strand(1), b.strand(2, 1)
    b.add(s, "st", [WRITE])
    b.hand_over(s, t)
    b.add(t, "fence.proxy", which="async")
    b.hand_over(t, u, bar=1)
    b.issue(u, "bulk.store", [SOURCE])
    assert HappensBefore(b.trace).conflicts == []


def test_the_same_thread_needs_the_fence_too() -> None:
    b = TraceBuilder()
    s = b.strand(0, 1)
    b.add(s, "st", [WRITE])
    b.issue(s, "bulk.store", [SOURCE])
    b.add(s, "fence.proxy", which="async")
    b.issue(s, "bulk.store", [SOURCE])
    assert [c.missing for c in HappensBefore(b.trace).conflicts] == ["proxy"]


def test_read_then_refill() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1, 1)
    b.add(s, "ld", [READ])
    b.hand_over(s, t)
    b.issue(t, "tma.load", [REFILL])
    assert [c.missing for c in HappensBefore(b.trace).conflicts] == ["proxy-war"]


def test_read_then_refill_with_a_fence() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1, 1)
    b.add(s, "ld", [READ])
    b.add(s, "fence.proxy", which="async")
    b.hand_over(s, t)
    b.issue(t, "tma.load", [REFILL])
    assert HappensBefore(b.trace).conflicts == []


def test_unconsumed_reads_are_told_from_consumed_ones() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1, 1)
    for n, consumed in enumerate((True, False)):
        b.add(s, "ld", [shared(0, 128, consumed=consumed)], line=1)
        b.hand_over(s, t, bar=n)
        op = b.issue(t, "tma.load", [REFILL], line=2)
        b.hand_over(t, s, op, bar=2 + n)
    assert [c.first_access.consumed for c in HappensBefore(b.trace).conflicts] == [True, False]


def test_no_order_is_reported_as_such() -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1, 1)
    b.add(s, "st", [WRITE])
    b.issue(t, "bulk.store", [SOURCE])
    assert [c.missing for c in HappensBefore(b.trace).conflicts] == ["order"]


def test_a_completed_copy_needs_no_fence() -> None:
    b = TraceBuilder()
    s, t = b.strand(0, 1), b.strand(1)
    op = b.issue(s, "tma.load", [REFILL])
    b.hand_over(s, t, op)
    b.add(t, "ld", [READ])
    b.issue(t, "wgmma", [shared(0, 128, proxy="async")])
    assert HappensBefore(b.trace).conflicts == []


@pytest.mark.parametrize(("fence", "expected"), [(True, []), (False, ["proxy"])])
def test_cp_async_writes_through_the_generic_proxy(fence: bool, expected: list[str]) -> None:
    b = TraceBuilder()
    s, t = b.strand(0), b.strand(1)
    op = b.issue(s, "cp.async", [shared(0, 128, write=True)])
    b.add(s, "cpasync.wait", preds=[(op, "complete")])
    if fence:
        b.add(s, "fence.proxy", which="async.shared::cta")
    b.hand_over(s, t)
    b.issue(t, "mma", [shared(0, 128, proxy="async")])
    assert [c.missing for c in HappensBefore(b.trace).conflicts] == expected


def test_mbarrier_operations_of_copies_are_generic() -> None:
    b = TraceBuilder()
    s, t = b.strand(0, 1), b.strand(1, 1)
    b.add(s, "mbar.init", [shared(0, 8, write=True, what="mbarrier")])
    b.sync(s, t)
    b.issue(t, "tma.load", [shared(1024, 2048, write=True, proxy="async"), shared(0, 8, what="mbarrier")])
    assert HappensBefore(b.trace).conflicts == []


def test_visible_times() -> None:
    b = TraceBuilder()
    s = b.strand(0)
    b.add(s, "st", [WRITE])
    fence = b.add(s, "fence.proxy", which="async.shared::cta")
    last = b.add(s, "nop")
    clock = HappensBefore(b.trace).clock(last.id)
    assert clock.visible(0, 3, "shared") == fence.time
    assert clock.visible(0, 3, "global") == 0
