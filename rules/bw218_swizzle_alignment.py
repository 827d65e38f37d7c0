"""BW218: a swizzled tile that does not start where its pattern starts."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context, shared_name, thread


class SwizzleAlignment(Rule):
    code = "BW218"
    name = "swizzle-alignment"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-11",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for i in audit.incidents("misaligned"):
            if i.data["what"] != "swizzled tile":
                continue
            need, offset, span = i.data["need"], i.data["offset"], i.data["swizzle"]
            yield audit.finding(
                type(self), i.where,
                f"tile at {shared_name(audit, offset, span)} is {offset % need} bytes past a multiple of {need}, the "
                f"period of its {span}-byte swizzle: {thread(audit, i)} gets a pattern that is rotated by "
                f"{offset % need // 128} rows",
                hint=f"align the buffer and the stride from stage to stage to {need} bytes; a manual round-up of "
                     f"dynamic shared memory needs {need - 1} bytes of slack",
                context=incident_context(audit, i),
            )
