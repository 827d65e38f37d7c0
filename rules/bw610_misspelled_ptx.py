"""BW610: an instruction name in inline asm that PTX does not have."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.ptx.spelling import misspelled_names
from auditor.rule import Rule
from auditor.source import Loc


class MisspelledPtx(Rule):
    code = "BW610"
    name = "misspelled-ptx"
    level = Level.WARNING
    confidence = "high"
    entries = ()

    def check(self, audit: Audit) -> Iterator[Finding]:
        for file, text in audit.program.sources.items():
            for number, problem in misspelled_names(text):
                yield audit.finding(
                    type(self), (Loc(file, number, 1, number, 1),),
                    f"{problem}: the assembler rejects it where this code is instantiated",
                    hint="correct the name, and instantiate the template in a test",
                )
