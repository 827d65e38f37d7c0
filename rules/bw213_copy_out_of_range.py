"""BW213: an access outside the shared memory that the block has."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.ptx.descriptors import TMEM_COLUMNS
from auditor.rule import Rule
from auditor.rulekit import incident_context, plural, shared_name, thread


class CopyOutOfRange(Rule):
    code = "BW213"
    name = "copy-out-of-range"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-03",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        if "shared" in audit.launch.chosen:
            return  # the size of the allocation is our own guess
        for i in audit.incidents("smem_range"):
            if i.data["proxy"] == "generic" and _is_tensor_address(audit, i.data["lo"]):
                continue  # BW316
            lo, hi, end = i.data["lo"], i.data["hi"], i.data["end"]
            if i.data.get("operand"):
                what = f"MMA operand {i.data['operand']}"
            elif i.data.get("what"):
                what = f"{i.data['what']} initialised"
            elif i.data["proxy"] == "async":
                what = "copy"
            else:
                what = "store" if i.data["write"] else "load"
            dynamic = any(v.dynamic for v in audit.kernel.shared)
            yield audit.finding(
                type(self), i.where,
                f"{what} by {thread(audit, i)} reaches {plural(hi - end, 'byte')} past the end of the block's shared "
                f"memory: {shared_name(audit, lo, hi - lo)}",
                hint="launch with more dynamic shared memory, padding and alignment slack included, or shorten the "
                     "access"
                     if dynamic else "size the shared array by what is accessed, or shorten the access",
                context=incident_context(audit, i),
            )


def _is_tensor_address(audit: Audit, address: int) -> bool:
    """Whether a number can be the tensor-memory address of a warp's quarter, in a kernel that allocates some."""
    return audit.has("tcgen05.alloc") and address >> 16 in (0, 32, 64, 96) and address & 0xFFFF < TMEM_COLUMNS
