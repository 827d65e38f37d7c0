"""BW004: a suppression comment that hides nothing, or that cannot be understood."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule


class UnusedSuppression(Rule):
    code = "BW004"
    name = "unused-suppression"
    level = Level.WARNING
    confidence = "high"
    entries = ()

    def check(self, audit: Audit) -> Iterator[Finding]:
        """Nothing: only when all kernels of a file are judged is it known what hides nothing (auditor.suppress)."""
        return iter(())
