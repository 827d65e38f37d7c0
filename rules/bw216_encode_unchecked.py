"""BW216: the result of the tensor map encode call is ignored."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import tensor_maps


class EncodeUnchecked(Rule):
    code = "BW216"
    name = "encode-unchecked"
    level = Level.WARNING
    confidence = "high"
    entries = ("TL-17b",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for m in tensor_maps(audit):
            if not m.checked and isinstance(m.where, tuple) and m.where:
                yield audit.finding(
                    type(self), m.where[:1],
                    f"result of encoding tensor map {m.name} is not checked: when the driver rejects an argument, the "
                    "map holds garbage and the kernel runs with it",
                    related=[((audit.kernel.loc,), f"kernel {audit.kernel.name} gets this map")],
                    hint="compare the CUresult with CUDA_SUCCESS, and stop when it differs",
                )
