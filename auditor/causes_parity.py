"""Waits whose parities are all wrong together, as where both sides of a ring share the code that moves to the next
stage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from auditor.source import Stack
from auditor.trace import Event

if TYPE_CHECKING:
    from auditor.audit import Audit


def in_turn(audit: Audit) -> dict[Stack, int]:
    """For each place of a wait with a parity the phase that its first wait observed, -1 for a fresh barrier's."""
    starts: dict[Stack, int] = {}
    for e in _waits(audit):
        starts.setdefault(e.where, min(e.data["phase"], 0))
    return starts


def out_of_step(audit: Audit, starts: dict[Stack, int]) -> list[Stack]:
    """Places where a thread did not observe one phase of a barrier after the other, in the order in which it showed."""
    seen: dict[tuple[Stack, int, int, int], int] = {}
    found: dict[Stack, None] = {}
    for e in _waits(audit):
        key = (e.where, e.data["bar"], e.warp, e.lanes)
        if e.data["phase"] != starts[e.where] + seen.get(key, 0):
            found[e.where] = None
        seen[key] = seen.get(key, 0) + 1
    return list(found)


def may_order_more(audit: Audit, where: Stack, start: int) -> bool:
    """Whether a wait would observe a later phase than it did if those at its place took one phase after the other from
    ``start`` on. Else nothing is ordered by it that was not; but a run that hung says little."""
    if any(audit.incidents("deadlock")):
        return True
    turns: dict[tuple[int, int], list[int]] = {}  # lanes of the waits so far, by barrier and warp
    for e in audit.trace.events:
        if e.kind == "mbar.wait" and e.data["form"] == "parity" and e.where == where:
            before = turns.setdefault((e.data["bar"], e.warp), [])
            lane = e.lanes & -e.lanes
            if start + sum(1 for lanes in before if lanes & lane) > e.data["phase"]:
                return True
            before.append(e.lanes)
    return False


def _waits(audit: Audit) -> Iterator[Event]:
    for e in audit.trace.events:
        if e.kind == "mbar.wait" and e.data["form"] == "parity" and not e.data["once"]:
            yield e
