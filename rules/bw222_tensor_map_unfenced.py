"""BW222: a tensor map that the device has edited is used without the tensormap fences."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import context, line
from auditor.rulekit_maps import Edit, acquired, edits, released, uses
from auditor.source import Stack
from auditor.trace import Event


class TensorMapUnfenced(Rule):
    code = "BW222"
    name = "tensor-map-unfenced"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-14",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("tma.load", "tma.store", "tma.reduce"):
            return
        told: set[Stack] = set()
        changes = list(edits(audit))
        for copy, address in uses(audit) if changes else ():
            edit = next((c for c in reversed(changes) if c.address == address and c.event.id < copy.id), None)
            if edit is None or copy.where in told:
                continue
            missing = [what for what, there in (("release", released(audit, edit, copy)),
                                                ("acquire", acquired(audit, edit, copy))) if not there]
            if missing:
                told.add(copy.where)
                yield self._finding(audit, copy, edit, missing)

    def _finding(self, audit: Audit, copy: Event, edit: Edit, missing: list[str]) -> Finding:
        story, change = audit.story, edit.event
        return audit.finding(
            type(self), copy.where,
            f"{story.who(copy)} uses a tensor map that {story.thread(change)} has edited at "
            f"{line(audit, change.where)} without the {' and the '.join(missing)} fence of the tensormap "
            "proxy: it may see the map as it was",
            related=[(change.where, f"{story.thread(change)} edits the map")],
            flow=[(change.where, f"{story.thread(change)} edits the map, through the generic proxy"),
                  (copy.where, f"{story.who(copy)} reads it through the tensormap proxy")],
            hint="after the edit: fence.proxy.tensormap::generic.release.gpu (or tensormap.cp_fenceproxy); before the "
                 "copy: fence.proxy.tensormap::generic.acquire.gpu [map], 128. Barriers do not replace them",
            context=context(audit, copy),
        )
