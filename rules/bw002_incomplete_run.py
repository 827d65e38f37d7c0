"""BW002: a budget was spent before every role came to its end."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import listing


class IncompleteRun(Rule):
    code = "BW002"
    name = "incomplete-run"
    level = Level.WARNING
    confidence = "high"
    entries = ()

    def check(self, audit: Audit) -> Iterator[Finding]:
        for incident in audit.incidents("budget"):
            running = {e.warp: None for e in audit.trace.events if e.warp >= 0}
            for e in audit.trace.events:
                if e.kind == "exit":
                    running.pop(e.warp, None)
            roles = listing([f"warp {w % audit.trace.warps_per_cta}" for w in running])
            yield audit.finding(
                type(self), (audit.kernel.loc,),
                f"audit of {audit.kernel.display} stopped after {incident.data['limit']}, before "
                f"{roles or 'the last role'} had ended: what follows is not judged",
                hint="raise --budget, or give smaller inputs with --set and --grid",
            )
