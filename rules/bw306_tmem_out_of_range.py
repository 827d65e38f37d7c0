"""BW306: an access to tensor memory outside what is allocated."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.meaning import Meaning
from auditor.rule import Rule
from auditor.rulekit import Places, incident_context, plural
from auditor.trace import Incident

COLUMNS = 512


class TmemOutOfRange(Rule):
    code = "BW306"
    name = "tmem-out-of-range"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-43", "TC-70")

    def check(self, audit: Audit) -> Iterator[Finding]:
        for incident in audit.incidents("tmem_range"):
            if incident.data["freed"] and any(audit.diagnosis.cases(Meaning.DEALLOC)):
                continue  # used after the dealloc because nothing orders the two: BW304
            if not incident.data["any"] and any(audit.diagnosis.cases(Meaning.ALLOC_UNPUBLISHED)):
                continue  # used before the alloc because nothing orders the two: BW314
            if incident.data["column"] is None:
                yield audit.finding(
                    type(self), incident.where,
                    f"{incident.data['what']} uses a tensor-memory address that is not known, and nothing has been "
                    "allocated",
                    hint="allocate columns first, and use the base address that tcgen05.alloc wrote",
                    context=incident_context(audit, incident))
                continue
            yield self._finding(audit, incident)

    def _finding(self, audit: Audit, incident: Incident) -> Finding:
        data = incident.data
        lo, hi = data["column"], data["column"] + data["columns"]
        related: Places = list(incident.related)
        if hi > COLUMNS:
            rest = f"tensor memory has {COLUMNS} columns"
        elif data["allocated"]:
            rest = f"the allocation ends at column {data['base'] + data['allocated']}"
        elif data["freed"]:
            rest = "they have been freed before"
            related += [(e.where, "freed here") for e in audit.trace.events if e.kind == "tcgen05.dealloc"][:1]
        elif data["any"]:
            rest = "no allocation holds the first of them"
            related += [(e.where, f"columns {e.data['base']}-{e.data['base'] + e.data['cols'] - 1} are allocated here")
                        for e in audit.trace.events if e.kind == "tcgen05.alloc" and e.cta == incident.cta][:2]
        else:
            rest = "nothing has been allocated"
        over = hi - data["base"] - data["allocated"] if data["allocated"] else 0
        hint = (f"allocate at least {data['allocated'] + over} columns (rounded up to a power of two), or reach "
                f"{plural(over, 'column')} less far" if over and hi <= COLUMNS
                else "derive the address from the base that tcgen05.alloc returned, and keep it within the allocation")
        return audit.finding(
            type(self), incident.where,
            f"{data['what']} covers TMEM columns {lo}-{hi - 1}, which are not all allocated: {rest}",
            related=related, hint=hint, context=incident_context(audit, incident),
        )
