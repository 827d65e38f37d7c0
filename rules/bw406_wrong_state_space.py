"""BW406: an address in another CTA, given to an instruction for the shared memory of its own."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context


class WrongStateSpace(Rule):
    code = "BW406"
    name = "wrong-state-space"
    level = Level.ERROR
    confidence = "high"
    entries = ("MB-06", "TL-04")

    def check(self, audit: Audit) -> Iterator[Finding]:
        for i in audit.incidents("state_space"):
            what = i.data["what"]
            if i.data.get("needs_peer"):
                text = f"{what} from shared memory to shared memory has to go to another CTA, not to its own"
                hint = "copy within a CTA with ordinary loads and stores, or map the address with mapa"
            elif i.data["own_only"]:
                text = (f"{what} works in the shared memory of the executing CTA only, but its address lies in that of "
                        f"CTA {i.data['owner']}")
                hint = "let a thread of that CTA do it; other CTAs may arrive, expect bytes and complete them"
            else:
                text = (f"{what} names .shared::cta, the shared memory of the executing CTA, but its address lies in "
                        f"that of CTA {i.data['owner']}: it hits the own memory, or faults")
                hint = "use the .shared::cluster form with addresses that mapa gives"
            yield audit.finding(type(self), i.where, text, hint=hint, context=incident_context(audit, i))
