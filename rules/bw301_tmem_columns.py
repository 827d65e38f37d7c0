"""BW301: an allocation or deallocation of a column count that tensor memory does not have."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context

LEGAL = (32, 64, 128, 256, 512)


class TmemColumns(Rule):
    code = "BW301"
    name = "tmem-columns"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-01",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        wrong = list(audit.incidents("alloc_columns"))
        allocated = {i.data["columns"] for i in wrong if i.data["instr"] == "tcgen05.alloc"}
        for incident in wrong:
            columns, instr = incident.data["columns"], incident.data["instr"]
            if instr != "tcgen05.alloc" and columns in allocated:
                continue  # the same constant, reported where it is allocated
            fit = next((n for n in LEGAL if n >= columns > 0), None)
            yield audit.finding(
                type(self), incident.where,
                f"{instr} of {columns} columns: the count must be a power of two from 32 to 512",
                hint=f"use {fit} columns here and in every alloc and dealloc of this "
                     "allocation" if fit is not None and fit > 0
                else "there are 512 columns; share them between fewer stages, or reuse columns",
                context=incident_context(audit, incident),
            )
