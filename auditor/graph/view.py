"""The happens-before graph as data to look at: networkx, JSON and DOT."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from auditor.graph.conflicts import Conflict
from auditor.graph.story import Story
from auditor.trace import Access, Event, Trace

if TYPE_CHECKING:
    import networkx as nx


def role(event: Event, warps_per_cta: int) -> str:
    """Who executes an event: a warp (and lane, when it is only one) of a CTA, or the machine itself."""
    if event.warp < 0:
        return str(event.data.get("instr", event.kind))
    name = f"CTA {event.cta} warp {event.warp % warps_per_cta if warps_per_cta else event.warp}"
    if event.lanes.bit_count() == 1:
        name += f" lane {event.lanes.bit_length() - 1}"
    return name


def label(event: Event) -> str:
    """One line about an event: its kind and the facts that tell it from others of the kind."""
    names = ("instr", "bar", "phase", "index", "parity")
    facts = [f"{name}={event.data[name]}" for name in names if name in event.data]
    return " ".join([event.kind, *facts])


def _edges(trace: Trace, story: Story) -> Iterator[tuple[int, int, str]]:
    """(predecessor, event, reason); several reasons between the same two events are joined with a comma."""
    for event in trace.events:
        reasons: dict[int, list[str]] = {}
        previous = story.previous(event)
        if previous is not None:
            reasons[previous] = ["program"]
        for pred, reason in event.preds:
            known = reasons.setdefault(pred, [])
            if reason not in known:
                known.append(reason)
        for pred, names in reasons.items():
            yield pred, event.id, ",".join(names)


def _place(event: Event) -> str:
    return str(event.where[0]) if event.where else ""


def to_networkx(trace: Trace, story: Story) -> nx.DiGraph[int]:
    """The graph with event ids as nodes (kind, label, where, role) and edges with their reason."""
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph(kernel=trace.kernel)
    for event in trace.events:
        graph.add_node(
            event.id, kind=event.kind, label=label(event), where=event.where, role=role(event, trace.warps_per_cta)
        )
    for pred, target, reason in _edges(trace, story):
        graph.add_edge(pred, target, reason=reason)
    return graph


def _access(access: Access) -> dict[str, Any]:
    facts = {
        "space": access.space, "write": access.write, "proxy": access.proxy, "cta": access.cta, "lo": access.lo,
        "hi": access.hi, "what": access.what,
    }  # fmt: skip
    if access.space == "tmem":
        facts |= {"lane_lo": access.lane_lo, "lane_hi": access.lane_hi}
    return facts


def to_json(trace: Trace, story: Story, conflicts: list[Conflict]) -> str:
    """Nodes with their accesses, edges with their reasons, and the conflicts, as a JSON object."""
    nodes = [
        {
            "id": e.id, "kind": e.kind, "label": label(e), "role": role(e, trace.warps_per_cta),
            "where": [str(loc) for loc in e.where], "accesses": [_access(a) for a in e.accesses],
        }
        for e in trace.events
    ]  # fmt: skip
    edges = [{"from": a, "to": b, "reason": reason} for a, b, reason in _edges(trace, story)]
    found = [
        {"first": c.first.id, "second": c.second.id, "missing": c.missing, "lanes": c.lanes, "count": c.count}
        for c in conflicts
    ]
    return json.dumps({"kernel": trace.kernel, "nodes": nodes, "edges": edges, "conflicts": found}, indent=1)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def to_dot(trace: Trace, story: Story, conflicts: list[Conflict]) -> str:
    """Graphviz source: one cluster a role, conflicts as dashed red edges."""
    lines = [f"digraph {_quoted(trace.kernel)} {{", "  node [shape=box];"]
    roles: dict[str, list[Event]] = {}
    for event in trace.events:
        roles.setdefault(role(event, trace.warps_per_cta), []).append(event)
    for number, (name, events) in enumerate(roles.items()):
        lines.append(f"  subgraph cluster_{number} {{ label={_quoted(name)};")
        lines += [f"    n{e.id} [label={_quoted(label(e) + chr(10) + _place(e))}];" for e in events]
        lines.append("  }")
    lines += [f"  n{a} -> n{b} [label={_quoted(reason)}];" for a, b, reason in _edges(trace, story)]
    lines += [
        f"  n{c.first.id} -> n{c.second.id} [style=dashed, color=red, constraint=false, label={_quoted(c.missing)}];"
        for c in conflicts
    ]
    return "\n".join([*lines, "}", ""])
