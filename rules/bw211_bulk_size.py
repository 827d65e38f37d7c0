"""BW211: size of a bulk copy not a multiple of 16 bytes, or out of range."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context, plural, thread

LIMIT = 1_048_560


class BulkSize(Rule):
    code = "BW211"
    name = "bulk-size"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-01", "MB-13")

    def check(self, audit: Audit) -> Iterator[Finding]:
        for i in audit.incidents("bulk_size"):
            n = i.data["bytes"]
            if n % 16:
                why = f"not a multiple of 16 ({n % 16} over)"
                hint = f"copy {-(-n // 16) * 16:,} bytes (pad both sides), or {n // 16 * 16:,} and the rest otherwise"
            else:
                why = f"outside 0 to {LIMIT:,}"
                hint = "split the copy"
            yield audit.finding(
                type(self), i.where, f"bulk copy of {plural(n, 'byte')} by {thread(audit, i)}: the size is {why}",
                hint=hint, context=incident_context(audit, i),
            )
