"""Exports of the graph, and the story of a conflict."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from auditor.graph import HappensBefore
from auditor.trace import Event
from tests.unit.graph_traces import TraceBuilder, shared


class Ring:
    """A refill that does not wait for its reader: the consumer answers one phase late."""

    def __init__(self) -> None:
        self.b = b = TraceBuilder(warps=2)
        self.producer, self.consumer = b.strand(0, 1), b.strand(3)
        self.op = b.issue(self.producer, "tma.load", [shared(0, 128, write=True, proxy="async")])
        self.wait = b.hand_over(self.producer, self.consumer, self.op)
        self.load = b.add(self.consumer, "ld", [shared(0, 128)])
        self.arrive = b.add(self.consumer, "mbar.arrive", bar=1)
        self.refill = b.issue(self.producer, "tma.load", [shared(0, 128, write=True, proxy="async")])
        self.graph = HappensBefore(b.trace)


@pytest.fixture
def ring() -> Ring:
    return Ring()


def ids(events: list[Event]) -> list[int]:
    return [e.id for e in events]


def test_slice_tells_the_story(ring: Ring) -> None:
    (read,) = [c for c in ring.graph.conflicts if c.first is ring.load]
    story = ids(ring.graph.slice(read))
    issue = ring.refill.data["issuer"]
    producer_arrive = ring.wait.id - 2
    assert story == sorted({producer_arrive, ring.load.id, ring.arrive.id, issue, ring.refill.id})


def test_acquires_and_releases_around_an_event(ring: Ring) -> None:
    graph = ring.graph
    assert graph.acquires_before(ring.load, 5) == [ring.wait]
    assert graph.releases_after(ring.load, 1) == [ring.arrive]
    assert graph.acquires_before(ring.refill, 1) == []
    assert ids(graph.releases_after(ring.op, 3)) == [ring.wait.id - 2]  # through its issuer


def test_the_nearest_come_first() -> None:
    b = TraceBuilder()
    s = b.strand(0)
    syncs = [b.add(s, "warp.sync") for _ in range(4)]
    leader = b.strand(0, 1, parent=s)
    middle = b.add(leader, "nop")
    after = [b.add(leader, "mbar.arrive") for _ in range(3)]
    graph = HappensBefore(b.trace)
    assert graph.acquires_before(middle, 2) == [syncs[3], syncs[2]]  # also from before the fork
    assert graph.releases_after(middle, 2) == after[:2]
    assert graph.acquires_before(middle, 0) == graph.releases_after(middle, 0) == []


def test_networkx_graph(ring: Ring) -> None:
    graph = ring.graph.nx
    assert graph is ring.graph.nx
    assert set(graph) == set(range(len(ring.b.trace.events)))
    assert graph.nodes[ring.load.id] == {
        "kind": "ld", "label": "ld", "where": ring.load.where, "role": "CTA 0 warp 1",
    }  # fmt: skip
    assert graph.nodes[ring.op.id]["role"] == "tma.load"
    assert graph.nodes[0]["role"] == "CTA 0 warp 0 lane 0"
    assert graph.edges[ring.wait.id, ring.load.id]["reason"] == "program"
    assert graph.edges[ring.wait.id - 1, ring.wait.id]["reason"] == "phase"
    assert graph.nodes[ring.wait.id]["label"] == "mbar.wait bar=0 phase=0"


def test_several_reasons_between_two_events() -> None:
    b = TraceBuilder()
    s = b.strand(0)
    first = b.add(s, "warp.sync")
    second = b.add(s, "nop", preds=[(first, "warp"), (first, "warp")])
    assert HappensBefore(b.trace).nx.edges[first.id, second.id]["reason"] == "program,warp"


def test_json(ring: Ring) -> None:
    data = json.loads(ring.graph.to_json())
    assert data["kernel"] == "kernel"
    assert len(data["nodes"]) == len(ring.b.trace.events)
    assert data["nodes"][ring.load.id]["accesses"][0]["hi"] == 128
    assert {"from": ring.wait.id - 1, "to": ring.wait.id, "reason": "phase"} in data["edges"]
    assert [c["missing"] for c in data["conflicts"]] == [c.missing for c in ring.graph.conflicts]


def test_dot(ring: Ring) -> None:
    text = ring.graph.to_dot()
    assert text.startswith('digraph "kernel" {')
    assert text.count("{") == text.count("}")
    assert f"n{ring.wait.id - 1} -> n{ring.wait.id} [label=\"phase\"]" in text
    assert text.count("style=dashed") == len(ring.graph.conflicts)


def test_networkx_is_loaded_only_when_asked_for() -> None:
    code = "import sys, auditor.graph; sys.exit('networkx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_empty_trace() -> None:
    graph = HappensBefore(TraceBuilder().trace)
    assert (graph.conflicts, graph.overruns, graph.late_fences) == ([], [], [])
    assert len(graph.nx) == 0
