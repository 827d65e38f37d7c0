"""BW218: a swizzled tile that does not start where its pattern starts."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context, shared_name, thread
from auditor.source import Stack
from auditor.trace import Access


class SwizzleAlignment(Rule):
    code = "BW218"
    name = "swizzle-alignment"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-11",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for i in audit.incidents("misaligned"):
            if i.data["what"] != "swizzled tile" or _for_mma_alone(audit, i.where):
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


def _for_mma_alone(audit: Audit, where: Stack) -> bool:
    """Whether only MMAs with base offset 0 read what a copy brings: these take the pattern from the address, too."""
    tiles = [a for e in audit.trace.events if e.kind == "async" and e.where == where for a in e.accesses
             if a.write and a.space == "shared"]
    taken = False
    for e in audit.trace.events:
        if e.kind == "ld" and any(a.space == "shared" and _meet(a, t) for a in e.accesses for t in tiles):
            return False
        if e.kind == "async" and not taken:
            starts = [e.data[f"{name}_start"] for name in "AB" if not e.data.get(f"{name}_base", 1)]
            taken = any(t.cta == e.cta and t.lo <= start < t.hi for start in starts for t in tiles)
    return taken


def _meet(a: Access, b: Access) -> bool:
    return a.cta == b.cta and a.lo < b.hi and b.lo < a.hi
