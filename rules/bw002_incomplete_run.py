"""BW002: a budget was spent before every role came to its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import listing

ROUNDS = 2  # phases of one barrier, so that it has been used with both parities
STEADY = 16  # phases of all barriers that show the roles hand over to each other
STILL_GOING = 0.75  # of the run: phases end to the last, so that it is a long loop and no endless one


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
            rounds, chosen = _rounds(audit), audit.trace.reads_contents
            yield audit.finding(
                type(self), (audit.kernel.loc,),
                f"audit of {audit.kernel.display} stopped after {incident.data['limit']}"
                + (f" and {rounds} phases of mbarriers" if rounds else "")
                + f", before {roles or 'the last role'} had ended: what follows is not judged"
                + ("; tables in global memory, on which loops may depend, had contents that were chosen"
                   if chosen else ""),
                level=Level.NOTE if rounds or chosen else None,
                hint="raise --budget, or give smaller inputs with --set and --grid",
            )


def _rounds(audit: Audit) -> int:
    """Phases that went by, when the run was stopped in the steady state of a long loop; else 0."""
    phases = [e for e in audit.trace.events if e.kind == "phase"]
    if len(phases) < STEADY or phases[-1].id < STILL_GOING * len(audit.trace.events):
        return 0
    most = max(Counter(e.data["bar"] for e in phases).values())
    return len(phases) if most >= ROUNDS else 0
