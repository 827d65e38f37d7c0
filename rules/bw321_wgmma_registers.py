"""BW321: registers of a wgmma touched while it may be running, or handed to it without a fence."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.repair.insert import insert_before
from auditor.rule import Rule
from auditor.rulekit import incident_context, line
from auditor.source import Loc


class WgmmaRegisters(Rule):
    code = "BW321"
    name = "wgmma-registers"
    level = Level.WARNING
    confidence = "high"
    entries = ()

    def check(self, audit: Audit) -> Iterator[Finding]:
        told: set[Loc] = set()
        for i in audit.incidents("wgmma_registers"):
            if audit.user(i.where) in told:
                continue
            told.add(audit.user(i.where))
            if i.data["problem"] == "no fence":
                yield audit.finding(
                    type(self), i.where,
                    "this wgmma takes registers that other instructions have written, and no wgmma.fence stands "
                    "between: it may read them as they were",
                    hint="execute wgmma.fence.sync.aligned before the first wgmma, and again when accumulators or "
                         "operands in registers have been written in between",
                    context=incident_context(audit, i),
                    repair=partial(insert_before, audit, i.where, "wgmma.fence.sync.aligned"),
                )
                continue
            product = audit.event(i.data["op"])
            yield audit.finding(
                type(self), i.where,
                f"a register of the accumulator is used while the wgmma at {line(audit, product.where)} may still be "
                "writing it: no wgmma.wait_group covers that one",
                related=[(product.where, "the wgmma that writes the accumulator")],
                flow=[(product.where, "the product starts, and goes on behind the instruction"),
                      (i.where, "its accumulator is used")],
                hint="commit the products and wait with wgmma.wait_group 0 (or with a number that leaves only later "
                     "groups open) before the accumulator is used",
                context=incident_context(audit, i),
            )
