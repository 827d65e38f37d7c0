"""BW302: tensor memory that is still allocated when the kernel ends."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import Places, plural
from auditor.trace import Event, Incident


class TmemLeak(Rule):
    code = "BW302"
    name = "tmem-leak"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-04",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.trace.complete or any(audit.incidents("trap", "deadlock", "budget")):
            return  # the kernel did not come to its end, so nothing follows from what is left
        misnamed = any(i.data["problem"] != "columns" for i in audit.incidents("dealloc_mismatch"))
        for incident in audit.incidents("leak"):
            if not incident.data["deadlocked"] and not misnamed and incident.event is not None:
                yield self._finding(audit, incident, audit.event(incident.event))

    def _finding(self, audit: Audit, incident: Incident, alloc: Event) -> Finding:
        story = audit.story
        frees = [e for e in audit.trace.events if e.kind == "tcgen05.dealloc" and e.cta == alloc.cta]
        related: Places = []
        if not frees:
            path = "no thread executes a tcgen05.dealloc before the kernel ends"
        else:
            path = f"what is freed before the kernel ends is {plural(len(frees), 'other allocation')}"
            related = [(e.where, f"{e.data['cols']} columns from column {e.data['base']} are freed "
                                 "here") for e in frees[:2]]
        last = next((e for e in reversed(audit.trace.events)
                     if e.kind not in ("exit", "start") and e.warp == alloc.warp), alloc)
        flow = [(alloc.where, f"{story.thread(alloc)} allocates {incident.data['columns']} columns"),
                (last.where, f"the last operation of {story.thread(last)}: {story.what(last)}"),
                ((audit.kernel.body_end,), "the kernel ends; the columns are still taken")]
        return audit.finding(
            type(self), incident.where,
            f"{incident.data['columns']} TMEM columns from column {incident.data['base']} are not freed on this "
            f"path: {path}; "
            f"the next CTA on the SM that allocates waits for them forever",
            related=related, flow=flow,
            hint="let one warp free every allocation on every path to the end of the kernel, early returns included",
            context=[("role", story.thread(alloc))],
        )
