"""BW303: a dealloc that does not match an allocation."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Fix, Level
from auditor.repair.operands import constant_texts, replace_constant
from auditor.rule import Rule
from auditor.rulekit import incident_context
from auditor.trace import Incident


class DeallocMismatch(Rule):
    code = "BW303"
    name = "dealloc-mismatch"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-02",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        early = {e.where for e in audit.trace.events if e.kind == "tcgen05.dealloc"} if any(
            audit.incidents("alloc_columns")) else set()
        for incident in audit.incidents("dealloc_mismatch"):
            if incident.data["problem"] == "columns" and incident.where in early:
                continue  # BW301 asks for another count in both places
            yield self._finding(audit, incident)

    def _finding(self, audit: Audit, incident: Incident) -> Finding:
        problem, columns = incident.data["problem"], incident.data["columns"]
        if problem == "columns":
            text = f"tcgen05.dealloc of {columns} columns, but {incident.data['allocated']} were allocated at this base"
            hint = f"free all {incident.data['allocated']} columns with one dealloc of that count"
        elif problem == "freed twice":
            text = f"tcgen05.dealloc of the allocation at column {incident.data['base']}, which has already been freed"
            hint = "free each allocation once: one warp, and not also a destructor or a second role"
        else:
            base = incident.data["base"]
            told = f"{base:#x}" if isinstance(base, int) else "its operand"
            text = f"tcgen05.dealloc of {told}, which is not a base that tcgen05.alloc returned"
            hint = "keep the address that tcgen05.alloc wrote to shared memory as it is, and free that"
        return audit.finding(type(self), incident.where, text, related=incident.related, hint=hint,
                             context=incident_context(audit, incident),
                             repair=lambda: _repairs(audit, incident) if problem == "columns" else ())


def _repairs(audit: Audit, incident: Incident) -> tuple[Fix, ...]:
    """Free what was allocated, written as the allocation writes it."""
    columns, allocated = incident.data["columns"], incident.data["allocated"]
    spellings = [text for where, _ in incident.related for text in constant_texts(audit, where, allocated)]
    return replace_constant(audit, incident.where, columns, allocated, spellings)
