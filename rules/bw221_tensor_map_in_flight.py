"""BW221: a tensor map is edited while a copy that uses it may be in flight."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import context
from auditor.rulekit_maps import edits, over_before, uses
from auditor.source import Stack


class TensorMapInFlight(Rule):
    code = "BW221"
    name = "tensor-map-in-flight"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-14",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("tma.load", "tma.store", "tma.reduce"):
            return
        story, copies = audit.story, uses(audit)
        told: set[Stack] = set()
        for edit in edits(audit):
            change = edit.event
            if change.where in told:
                continue
            copy = next((c for c, address in copies if address == edit.address and c.id < change.id
                         and not over_before(audit, c, change)), None)
            if copy is None:
                continue
            told.add(change.where)
            stores = str(copy.data["instr"]) != "tma.load"
            yield audit.finding(
                type(self), change.where,
                f"{story.thread(change)} edits a tensor map that the {story.what(copy)} of {story.thread(copy)} may "
                "still be using: nothing shows that it is over",
                related=[(copy.where, f"{story.who(copy)} uses the map")],
                flow=[(copy.where, f"{story.who(copy)} starts with the map as it is"),
                      (change.where, f"{story.thread(change)} edits the map; the copy may read it only now")],
                hint="wait for the copy first (" + (
                    "cp.async.bulk.wait_group.read by the thread that issued it" if stores else
                    "the phase of its mbarrier") + "), or edit another map",
                context=context(audit, change),
            )
