"""BW003: a kernel without a body for the audited architecture."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule


class EmptyKernel(Rule):
    code = "BW003"
    name = "empty-kernel"
    level = Level.NOTE
    confidence = "high"
    entries = ()

    def check(self, audit: Audit) -> Iterator[Finding]:
        if audit.kernel.empty:
            yield audit.finding(
                type(self), (audit.kernel.loc,),
                f"kernel {audit.kernel.display} has no body for {audit.program.arch}: nothing was audited",
                hint="name the architecture that the kernel is written for with --arch",
            )
