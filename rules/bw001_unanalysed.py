"""BW001: code or an operation that the audit could not follow."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule


class Unanalysed(Rule):
    code = "BW001"
    name = "unanalysed"
    level = Level.NOTE
    confidence = "high"
    entries = ()

    def check(self, audit: Audit) -> Iterator[Finding]:
        for incident in audit.incidents("unanalysed"):
            stopped = "error" in incident.data
            yield audit.finding(
                type(self), incident.where,
                f"not analysed: {incident.data['what']}" + ("; the thread's run ends here" if stopped else ""),
                hint="what depends on it is not judged; give scalar inputs with --set, or the real headers with "
                     "--cuda-path and -I",
            )
