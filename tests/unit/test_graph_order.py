"""What each kind of edge passes on."""

from __future__ import annotations

import pytest

from auditor.graph import Conflict, HappensBefore
from auditor.trace import Access, Event
from tests.unit.graph_traces import TraceBuilder, shared

WRITE = shared(0, 128, write=True)
READ = shared(0, 128)


def missing(b: TraceBuilder) -> list[str]:
    return [c.missing for c in HappensBefore(b.trace).conflicts]


def only(b: TraceBuilder) -> Conflict:
    (conflict,) = HappensBefore(b.trace).conflicts
    return conflict


@pytest.fixture
def b() -> TraceBuilder:
    return TraceBuilder()


def test_nothing_orders_two_warps(b: TraceBuilder) -> None:
    s, t = b.strand(0), b.strand(1)
    first = b.add(s, "st", [WRITE])
    second = b.add(t, "ld", [READ])
    conflict = only(b)
    assert (conflict.first, conflict.second, conflict.missing, conflict.count) == (first, second, "order", 1)
    assert conflict.lanes == 0xFFFF_FFFF
    assert (conflict.first_access, conflict.second_access) == (WRITE, READ)


def test_reads_do_not_conflict_nor_do_other_bytes(b: TraceBuilder) -> None:
    s, t = b.strand(0), b.strand(1)
    b.add(s, "ld", [READ])
    b.add(t, "ld", [READ])
    b.add(t, "st", [shared(128, 256, write=True)])
    assert missing(b) == []


@pytest.mark.parametrize("reason", ["arrive", "phase", "bar", "cluster", "warp", "commit", "group"])
def test_edges_that_pass_everything_on(b: TraceBuilder, reason: str) -> None:
    s, t = b.strand(0), b.strand(1)
    first = b.add(s, "st", [WRITE])
    release = b.add(s, "release")
    done = b.done("completion", [(release, reason)])
    second = b.add(t, "ld", [READ], [(done, reason)])
    graph = HappensBefore(b.trace)
    assert graph.conflicts == []
    assert graph.ordered(first.id, second.id)
    assert graph.ordered(done.id, second.id)
    assert not graph.ordered(second.id, first.id)
    assert not graph.ordered(second.id, second.id)


def test_what_comes_after_the_release_is_not_covered(b: TraceBuilder) -> None:
    s, t = b.strand(0), b.strand(1)
    arrive = b.add(s, "mbar.arrive", bar=0)
    late = b.add(s, "st", [WRITE])
    done = b.done("phase", [(arrive, "arrive")], bar=0, index=0)
    wait = b.add(t, "mbar.wait", preds=[(done, "phase")], bar=0, phase=0)
    b.add(t, "ld", [READ])
    graph = HappensBefore(b.trace)
    assert [c.first for c in graph.conflicts] == [late]
    assert not graph.ordered(late.id, wait.id)
    assert not graph.ordered(late.id, done.id)


def test_order_is_transitive_over_a_third_warp(b: TraceBuilder) -> None:
    s, t, u = b.strand(0), b.strand(1), b.strand(2)
    b.add(s, "st", [WRITE])
    b.hand_over(s, t)
    b.hand_over(t, u, bar=1)
    b.add(u, "st", [WRITE])
    assert missing(b) == []


def test_a_fork_starts_with_what_its_parent_knew(b: TraceBuilder) -> None:
    writer, s = b.strand(0), b.strand(1)
    b.add(writer, "st", [WRITE])
    b.hand_over(writer, s)
    child = b.strand(1, 1, parent=s)
    b.narrow(s, 0xFFFF_FFFE)
    b.add(child, "ld", [READ])
    b.add(s, "ld", [READ])
    assert missing(b) == []


def test_relaxed_arrivals_pass_nothing_on(b: TraceBuilder) -> None:
    assert relaxed(b, fence_before=None, fence_after="acquire") == ["order"]


@pytest.mark.parametrize("sem", ["release", "acq_rel", "sc"])
def test_a_fence_before_a_relaxed_arrival_releases(b: TraceBuilder, sem: str) -> None:
    assert relaxed(b, fence_before=sem, fence_after=None, wait_relaxed=False) == []


def test_an_acquire_fence_before_a_relaxed_arrival_does_not_release(b: TraceBuilder) -> None:
    assert relaxed(b, fence_before="acquire", fence_after=None, wait_relaxed=False) == ["order"]


def test_a_relaxed_wait_needs_an_acquire_fence(b: TraceBuilder) -> None:
    assert relaxed(b, fence_before="release", fence_after=None) == ["order"]


def test_fences_on_both_sides_of_relaxed_operations(b: TraceBuilder) -> None:
    assert relaxed(b, fence_before="release", fence_after="acquire") == []


def relaxed(
    b: TraceBuilder, fence_before: str | None, fence_after: str | None, wait_relaxed: bool = True
) -> list[str]:
    s, t = b.strand(0), b.strand(1)
    b.add(s, "st", [WRITE])
    if fence_before:
        b.add(s, "fence", sem=fence_before)
    arrive = b.add(s, "mbar.arrive", bar=0)
    done = b.done("phase", [(arrive, "relaxed")], bar=0, index=0)
    b.add(t, "mbar.wait", preds=[(done, "relaxed" if wait_relaxed else "phase")], bar=0, phase=0)
    if fence_after:
        b.add(t, "fence", sem=fence_after)
    b.add(t, "ld", [READ])
    return missing(b)


def test_a_release_fence_covers_only_what_precedes_it(b: TraceBuilder) -> None:
    s, t = b.strand(0), b.strand(1)
    b.add(s, "fence", sem="release")
    b.add(s, "st", [WRITE])
    arrive = b.add(s, "mbar.arrive", bar=0)
    b.add(t, "ld", [READ], [(b.done("phase", [(arrive, "relaxed")], bar=0, index=0), "phase")])
    assert missing(b) == ["order"]


def test_tcgen05_fences_with_relaxed_operations(b: TraceBuilder) -> None:
    s, t = b.strand(0), b.strand(1)
    b.add(s, "st", [WRITE])
    b.add(s, "tcgen05.fence", which="before")
    arrive = b.add(s, "mbar.arrive", bar=0)
    done = b.done("phase", [(arrive, "relaxed")], bar=0, index=0)
    b.add(t, "mbar.wait", preds=[(done, "relaxed")], bar=0, phase=0)
    b.add(t, "tcgen05.fence", which="after")
    b.add(t, "ld", [READ])
    assert missing(b) == []


@pytest.mark.parametrize(("fence", "expected"), [(True, []), (False, ["order"])])
def test_initialisation_published_by_a_relaxed_cluster_barrier(
    b: TraceBuilder, fence: bool, expected: list[str]
) -> None:
    s, t = b.strand(0, 1), b.strand(1)
    b.add(s, "mbar.init", [shared(0, 8, write=True, what="mbarrier")])
    if fence:
        b.add(s, "fence.mbarrier_init", sem="release", scope="cluster")
    arrive = b.add(s, "cluster.arrive", sem="relaxed")
    b.add(t, "cluster.wait", preds=[(b.done("cluster", [(arrive, "relaxed")]), "cluster")])
    b.add(t, "mbar.arrive", [shared(0, 8, what="mbarrier")])
    assert missing(b) == expected


def test_a_fork_takes_its_parents_fences_along(b: TraceBuilder) -> None:
    writer, s, t = b.strand(0), b.strand(1), b.strand(2)
    b.add(writer, "st", [WRITE])
    b.hand_over(writer, s)
    b.add(s, "fence", sem="release")
    child = b.strand(1, 1, parent=s)
    arrive = b.add(child, "mbar.arrive", bar=1)
    done = b.done("phase", [(arrive, "relaxed")], bar=1, index=0)
    b.add(t, "ld", [READ], [(done, "phase")])
    assert missing(b) == []


def test_alike_occurrences_are_counted(b: TraceBuilder) -> None:
    s, t = b.strand(0), b.strand(1)
    firsts = [b.add(s, "st", [shared(16 * i, 16 * i + 16, write=True)], line=1) for i in range(3)]
    b.add(t, "ld", [shared(0, 48)], line=2)
    conflict = only(b)
    assert (conflict.first, conflict.count) == (firsts[0], 3)


def test_mbarrier_objects(b: TraceBuilder) -> None:
    s, t = b.strand(0, 1), b.strand(1, 1)
    use = shared(0, 8, what="mbarrier")
    b.add(s, "mbar.init", [shared(0, 8, write=True, what="mbarrier")], line=1)
    b.add(s, "mbar.arrive", [use], line=2)
    b.add(t, "mbar.arrive", [use], line=3)  # not ordered after the init
    b.add(t, "ld", [shared(0, 8)], line=4)  # reading the bytes is nobody's business
    b.add(t, "st", [shared(0, 8, write=True)], line=5)
    found = {(c.first.where[0].line, c.second.where[0].line) for c in HappensBefore(b.trace).conflicts}
    assert found == {(1, 3), (1, 5), (2, 5)}


def test_atomics_do_not_conflict_with_one_another(b: TraceBuilder) -> None:
    s, t = b.strand(0), b.strand(1)
    b.add(s, "atom", [shared(0, 4, write=True)])
    b.add(t, "atom", [shared(0, 4, write=True)])
    assert missing(b) == []
    b.add(t, "st", [shared(0, 4, write=True)])
    assert missing(b) == ["order"]


def test_an_atomic_does_not_hide_an_older_write(b: TraceBuilder) -> None:
    s, t, u = b.strand(0), b.strand(1), b.strand(2)
    write = b.add(s, "st", [shared(0, 4, write=True)])
    b.hand_over(s, t)
    b.add(t, "atom", [shared(0, 4, write=True)])
    b.add(u, "atom", [shared(0, 4, write=True)])
    assert only(b).first is write


def test_clock_tells_times_and_completions(b: TraceBuilder) -> None:
    s, t = b.strand(0), b.strand(1)
    op = b.issue(s, "tma.load", [shared(0, 128, write=True, proxy="async")])
    wait = b.hand_over(s, t, op)
    graph = HappensBefore(b.trace)
    clock = graph.clock(wait.id)
    arrive: Event = b.trace.events[wait.id - 2]
    assert clock.known(0, 5) == arrive.time
    assert clock.known(1, 0) == 0
    assert clock.known(7, 0) == 0  # a warp that does nothing
    assert clock.done(op.id) and clock.read(op.id)
    assert not graph.clock(arrive.id).done(op.id)
    assert graph.ordered(op.id, wait.id)
    assert not graph.ordered(op.id, arrive.id)


def test_global_memory_is_one_for_all_ctas(b: TraceBuilder) -> None:
    s, t = b.strand(0), b.strand(1)
    b.add(s, "st", [Access("global", True, "generic", 0, 0, 4)])
    b.add(t, "st", [Access("global", True, "generic", 1, 0, 4)])
    b.add(s, "st", [Access("shared", True, "generic", 0, 0, 4)])
    b.add(t, "st", [Access("shared", True, "generic", 1, 0, 4)])
    assert len(HappensBefore(b.trace).conflicts) == 1
