"""BW107: an mbarrier operation on memory that nobody initialised as an mbarrier."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import at_offset, incident_context, shared_name, thread


class BarrierBeforeInit(Rule):
    code = "BW107"
    name = "barrier-before-init"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-04",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        seen: set[tuple[int, int]] = set()
        for i in audit.incidents("use_before_init"):
            where = (i.data["owner"], i.data["offset"])
            if where in seen:
                continue
            seen.add(where)
            if at_offset(audit, i.data["owner"], i.data["offset"]) is not None:
                continue  # initialised, but too late for this use: not published
            place = shared_name(audit, i.data["offset"], 8)
            near = [r for r in audit.trace.barriers if r.cta == i.data["owner"]]
            known = f"; {near[-1].name} is" if near else ""
            yield audit.finding(
                type(self), i.where,
                f"{i.data['what']} by {thread(audit, i)} uses {place} as an mbarrier, which nobody has "
                f"initialised{known}",
                related=[(audit.event(r.init_event).where, f"{r.name} is initialised here") for r in near[-1:]]
                + [(o.where, "and used here") for o in audit.incidents("use_before_init")
                   if o is not i and (o.data["owner"], o.data["offset"]) == where][:3],
                hint="let one thread initialise it, and publish that, before its first use; check that the init loop "
                     "runs over every stage",
                context=incident_context(audit, i),
            )
