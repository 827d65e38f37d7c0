"""Shadow memory forgets records; what it reports must agree with reachability in the whole graph.

The reference compares every pair of accesses, with paths found by networkx. An asynchronous operation is three nodes
there, its start, the end of its reads and its completion, with no edges between them. A pair of accesses needs no
report when a write to the same bytes stands between them in order: that write's own conflicts speak for the older one.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from auditor.graph import HappensBefore
from auditor.trace import Access, Event, Trace
from tests.unit.graph_traces import TraceBuilder, shared

WARPS = 3
UNIT = 200  # bytes; a page of shadow memory holds about five units

Step = tuple[Any, ...]
# Four places to begin and three sizes: accesses often cover one another, or one another's part of a page.
EXTENT = st.tuples(st.sampled_from([0, 3, 4, 6]), st.sampled_from([1, 3, 7])).map(
    lambda e: (e[0] * UNIT, (e[0] + e[1]) * UNIT)
)
STRAND = st.integers(0, WARPS - 1)
STEP = st.one_of(
    st.tuples(st.just("memory"), STRAND, EXTENT, st.booleans()),
    st.tuples(st.just("issue"), STRAND, EXTENT, st.sampled_from(["write", "all", "read"])),
    st.tuples(st.just("hand over"), STRAND, STRAND, st.sets(st.integers(0, 5))),
    st.tuples(st.just("wait"), STRAND, st.sets(st.integers(0, 5)), st.booleans()),
    st.tuples(st.just("sync")),
)

HAND_OVER: Step = ("hand over", 1, 2, set())


def build(steps: list[Step]) -> Trace:
    """A trace of single-lane strands, one a warp. Operations are named by their distance from the newest."""
    b = TraceBuilder()
    strands = [b.strand(warp, 1) for warp in range(WARPS)]
    ops: list[Event] = []
    for step in steps:
        match step:
            case ("memory", strand, (lo, hi), write):
                b.add(strand, "st" if write else "ld", [shared(lo, hi, write=write)])
            case ("issue", strand, (lo, hi), how):
                done = "read" if how == "read" else "all"
                access = shared(lo, hi, write=how == "write", proxy="async", done=done)
                ops.append(b.issue(strand, "tma.load", [access]))
            case ("hand over", source, target, names):
                b.hand_over(source, target, *(ops[-1 - n] for n in names if n < len(ops)), bar=len(b.trace.events))
            case ("wait", strand, names, read):
                preds = [(ops[-1 - n], "read" if read else "complete") for n in names if n < len(ops)]
                b.add(strand, "bulk.wait", preds=preds)
            case _:
                b.sync(*strands)
    return b.trace


def reference_graph(trace: Trace) -> Any:
    graph: Any = nx.DiGraph()
    last: dict[int, int] = {}
    kinds = {e.id: e.kind for e in trace.events}
    for event in trace.events:
        graph.add_nodes_from([event.id, ("read", event.id), ("all", event.id)])
        if event.warp >= 0:
            if event.strand in last:
                graph.add_edge(last[event.strand], event.id)
            last[event.strand] = event.id
        for pred, reason in event.preds:
            if kinds[pred] == "async":
                graph.add_edge(("read", pred), event.id)
                if reason != "read":
                    graph.add_edge(("all", pred), event.id)
            else:
                graph.add_edge(pred, event.id)
    return graph


class Reference:
    """Every pair of accesses of a trace, judged by reachability."""

    def __init__(self, trace: Trace) -> None:
        graph = reference_graph(trace)
        self.accesses = [(e, a) for e in trace.events for a in e.accesses]
        self.order = {
            (e.id, f.id)
            for e, a in self.accesses
            for f in (trace.events[n] for n in nx.descendants(graph, self.end(e, a)) if isinstance(n, int))
        }
        self.raw = {
            (e.id, f.id)
            for i, (e, a) in enumerate(self.accesses)
            for f, c in self.accesses[i + 1 :]
            if (a.write or c.write) and a.lo < c.hi and c.lo < a.hi and (e.id, f.id) not in self.order
        }

    @staticmethod
    def end(event: Event, access: Access) -> Any:
        return (access.done, event.id) if event.kind == "async" else event.id

    def unexcused(self) -> set[int]:
        """Events whose conflict at some byte no intervening write speaks for."""
        found = set()
        for unit in range(20):
            byte = unit * UNIT
            here = [(e.id, a.write) for e, a in self.accesses if a.lo <= byte < a.hi]
            settled: set[tuple[int, int]] = set()
            for j, (second, _) in enumerate(here):
                for i in range(j - 1, -1, -1):
                    first = here[i][0]
                    between = here[i + 1 : j]
                    if (first, second) in self.order or any(
                        write and (first, k) in settled and (k, second) in settled for k, write in between
                    ):
                        settled.add((first, second))
                    elif (first, second) in self.raw:
                        found.add(second)
        return found


# A conflict stays known when only a part of the page, or an unordered write, covers its first access.
@settings(max_examples=400, deadline=None)
@given(st.lists(STEP, max_size=10) | st.lists(STEP, max_size=30))
@example([("memory", 0, (0, 600), True), ("memory", 1, (0, 600), True), HAND_OVER, ("memory", 2, (0, 200), True)])
@example([("issue", 0, (0, 600), "write"), ("memory", 1, (0, 600), True), HAND_OVER, ("memory", 2, (0, 200), False)])
@example([("memory", 1, (0, 1400), True), ("memory", 1, (600, 1400), True), ("memory", 2, (0, 200), True)])
@example([("memory", 1, (600, 2000), True), ("memory", 1, (0, 800), True), ("memory", 2, (800, 1000), False)])
@example([("memory", 1, (0, 2000), True), ("memory", 1, (200, 1200), True), ("memory", 2, (1200, 1400), False)])
def test_conflicts_agree_with_reachability(steps: list[Step]) -> None:
    trace = build(steps)
    graph = HappensBefore(trace)
    reference = Reference(trace)
    found = {(c.first.id, c.second.id) for c in graph.conflicts if c.missing == "order"}
    assert not [c for c in graph.conflicts if c.missing == "lane"]
    assert found <= reference.raw
    assert reference.unexcused() <= {second for _, second in found}


@settings(max_examples=100, deadline=None)
@given(st.lists(STEP, max_size=25))
def test_ordered_agrees_with_reachability(steps: list[Step]) -> None:
    trace = build(steps)
    graph = HappensBefore(trace)
    reference = reference_graph(trace)
    for event in trace.events:
        start: Any = ("all", event.id) if event.kind == "async" else event.id
        after = nx.descendants(reference, start)
        for other in trace.events:
            assert graph.ordered(event.id, other.id) == (other.id in after)
