"""BW318: an instruction descriptor with values that are not valid for its MMA, or that NVIDIA's libraries refuse."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.ptx.descriptors import InstructionDescriptor, MatrixDescriptor
from auditor.rule import Rule
from auditor.rulekit import context, incident_context
from auditor.source import Stack
from auditor.trace import Event


class InstructionDescriptorValue(Rule):
    code = "BW318"
    name = "instruction-descriptor"
    level = Level.ERROR
    confidence = "high"
    entries = ("TC-50",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if not audit.has("mma", "mma.ws"):
            return
        told: set[Stack] = set()
        for incident in audit.incidents("descriptor"):
            if incident.data["what"] != "instruction descriptor":
                continue
            told.add(incident.where)
            yield audit.finding(
                type(self), incident.where,
                f"instruction descriptor {incident.data['value'] & 0xFFFFFFFF:#010x} is not valid for this "
                "tcgen05.mma: "
                + "; ".join(incident.data["problems"]),
                hint="build the descriptor from its fields: D type in bits 4-5, A and B types in 7-9 and 10-12, N / "
                     "8 from bit "
                     "17, M / 16 from bit 24 (block-scaled kinds differ); with cta_group::2 M and N are those of the "
                     "pair",
                context=incident_context(audit, incident),
            )
        for e in audit.of_kind("async"):
            if e.data["instr"] in ("mma", "mma.ws") and e.where not in told:
                refused = _refused(e)
                if refused:
                    told.add(e.where)
                    yield audit.finding(
                        type(self), e.where,
                        f"instruction descriptor {e.data['idesc'] & 0xFFFFFFFF:#010x}: {'; '.join(refused)}: CUTLASS "
                        "refuses it, and PTX does not promise a result",
                        level=Level.WARNING, hint="use a shape and layout that CUTLASS has an instruction for",
                        context=context(audit, e),
                    )


def _refused(mma: Event) -> list[str]:
    """What CUTLASS refuses about a product whose descriptors are known."""
    value = mma.data["idesc"]
    if value is None:
        return []
    descriptors = {
        name: MatrixDescriptor.decode(1 << 46 | mma.data[f"{name}_swizzle"] << 61)
        for name in "AB" if f"{name}_swizzle" in mma.data
    }
    return InstructionDescriptor.decode(value & 0xFFFFFFFF, mma.data["kind"]).warnings(
        mma.data["group"], "A" not in descriptors and "B" in descriptors, descriptors.get("A"), descriptors.get("B"))
