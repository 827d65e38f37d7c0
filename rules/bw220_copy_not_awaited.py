"""BW220: the kernel ends while a copy into its shared memory may still be in flight."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context


class CopyNotAwaited(Rule):
    code = "BW220"
    name = "copy-not-awaited"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-24", "OT-12")

    def check(self, audit: Audit) -> Iterator[Finding]:
        if any(audit.incidents("multi_issue", "early_phase")) or not any(audit.incidents("unawaited_copy")):
            return
        told = {c.first.where for c in audit.hb.conflicts if c.first.kind == "async"}
        for i in audit.incidents("unawaited_copy"):
            if i.where in told:
                continue  # somebody even reads it without a wait: that is told there
            assert i.event is not None
            copy, bar = audit.event(i.event), i.data["bar"]
            story = audit.story
            yield audit.finding(
                type(self), i.where,
                f"the kernel can end before the {story.what(copy)} of {story.thread(copy)} has landed: nobody waits "
                f"for phase {i.data['phase']} of {story.barrier(bar)}, which it completes",
                related=[(audit.event(audit.trace.barriers[bar].init_event).where, f"{story.barrier(bar)} is "
                                                                                   "initialised here")],
                hint="issue no copy that nobody consumes, or wait for its phase before the CTA ends",
                context=incident_context(audit, i),
            )
