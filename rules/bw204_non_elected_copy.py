"""BW204: several lanes issue the same copy."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context, operation, plural
from auditor.trace import Incident

COPIES = ("tma.", "bulk.")


class NonElectedCopy(Rule):
    code = "BW204"
    name = "non-elected-copy"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-23",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for i in audit.incidents("multi_issue"):
            instr = str(i.data["instr"])
            if not instr.startswith(COPIES):
                continue
            lanes, size = _lanes(audit, i), i.data["bytes"]
            what = operation(instr)
            if instr.endswith("load"):
                each = f", and {plural(lanes * size, 'byte')} reach the barrier" if isinstance(size, int) else ""
                harm = f"the copy runs {lanes} times{each}"
            elif instr.endswith("reduce"):
                harm = f"the values are added {lanes} times"
            else:
                harm = f"the same store runs {lanes} times, in a group of each lane"
            yield audit.finding(
                type(self), i.where,
                f"{plural(lanes, 'lane')} of warp {i.warp % audit.trace.warps_per_cta} issue the same {what}: {harm}",
                hint="let one lane issue it: elect.sync, or threadIdx.x == 0, around the copy and its expect_tx or "
                     "commit",
                context=incident_context(audit, i),
            )


def _lanes(audit: Audit, i: Incident) -> int:
    """How many lanes of the warp issue that copy, those that do so as strands of their own included."""
    alike = [(audit.event(e.data["issuer"]), (e.accesses[0].lo, e.accesses[0].hi)) for e in audit.trace.events
             if e.kind == "async" and e.where == i.where and e.accesses]
    alike = [(issue, place) for issue, place in alike if issue.warp == i.warp]
    places = {place for issue, place in alike if issue.lanes == i.lanes}
    mask = i.lanes
    for issue, place in alike:
        if place in places:
            mask |= issue.lanes
    return mask.bit_count()
