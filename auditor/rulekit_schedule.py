"""Words for what depends on the schedule."""

from __future__ import annotations

from auditor.audit import Audit
from auditor.causes_schedule import Harm
from auditor.rulekit import line, plural, thread, threads
from auditor.source import Stack
from auditor.trace import ALL_LANES, Event

Places = list[tuple[Stack, str]]


def slow_warps(audit: Audit, harm: Harm) -> str:
    """ "warp 1 is slow", "warps 0 to 2 are slow"."""
    per_cta = audit.trace.warps_per_cta
    warps = [Event(-1, "warp", w // per_cta, w, ALL_LANES, 0, -1, ()) for w in sorted(harm.slow)]
    return f"{threads(audit, warps)} {'is' if len(warps) == 1 else 'are'} slow"


def outcome(audit: Audit, harm: Harm) -> str:
    """What a thread comes to: "warp 1 lane 0 waits forever (line 60)"."""
    i = harm.failure
    at = f"({line(audit, i.where)})" if i.where else ""
    if i.kind == "deadlock":
        return f"{thread(audit, i)} waits forever {at}".rstrip()
    return f"{thread(audit, i)} makes {plural(i.data['count'], 'arrival')} where {i.data['pending']} are pending {at}"


def step(audit: Audit, harm: Harm) -> Places:
    """The outcome as a step of a flow."""
    return [(harm.failure.where, outcome(audit, harm))]
