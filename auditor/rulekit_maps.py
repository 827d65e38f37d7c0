"""What the rules about tensor maps in memory share: who edits a map, who uses it, and which fences stand between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from auditor.quick_dataclass import dataclass
from auditor.rulekit import strand_event
from auditor.trace import Event

if TYPE_CHECKING:
    from auditor.audit import Audit

MAP_BYTES = 128


@dataclass(frozen=True)
class Edit:
    """An operation that changes a tensor map in global memory. ``releases``: it contains the release of its writes."""

    event: Event
    address: int
    releases: bool


def uses(audit: Audit) -> list[tuple[Event, int]]:
    """Tensor copies, with the address of the map that they use."""
    return [(e, e.data["map_address"]) for e in audit.trace.events
            if e.kind == "async" and e.data.get("map_address") is not None]


def edits(audit: Audit) -> Iterator[Edit]:
    """Changes of maps that some tensor copy uses, in order."""
    maps = {address for _, address in uses(audit)}
    for e in audit.trace.events:
        if e.kind == "tensormap":
            if e.data["address"] in maps:
                yield Edit(e, e.data["address"], e.data["instr"].endswith("cp_fenceproxy"))
        elif e.kind == "st":
            for a in e.accesses:
                if a.space == "global":
                    yield from (Edit(e, m, False) for m in maps if a.lo < m + MAP_BYTES and m < a.hi)


def over_before(audit: Audit, copy: Event, edit: Event) -> bool:
    """Whether a tensor copy has read its map when an edit begins: a store has when its source has been read."""
    if audit.hb.ordered(copy.id, edit.id):
        return True
    waits = (e for e in audit.trace.events[copy.id : edit.id] if e.kind == "bulk.wait" and copy.id in e.data["ops"])
    return any(audit.hb.ordered(w.id, edit.id) for w in waits)


def released(audit: Audit, edit: Edit, before: Event) -> bool:
    """Whether the editing thread executed a tensormap release fence between its edit and an event."""
    return edit.releases or any(
        e.kind == "fence.proxy" and "tensormap" in e.data["which"] and "release" in e.data["which"]
        and e.warp == edit.event.warp and e.lanes & edit.event.lanes
        for e in audit.trace.events[edit.event.id : before.id])


def acquired(audit: Audit, edit: Edit, copy: Event) -> bool:
    """Whether an acquire fence for the map stands between its edit and a copy that uses it."""
    issue = strand_event(audit, copy)
    return any(
        e.kind == "fence.proxy" and "tensormap" in e.data["which"] and "acquire" in e.data["which"]
        and e.data["address"] in (None, edit.address) and audit.hb.ordered(e.id, issue.id)
        for e in audit.trace.events[edit.event.id : copy.id])
