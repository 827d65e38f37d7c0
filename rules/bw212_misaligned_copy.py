"""BW212: address of a copy, a tensor map or an mbarrier misaligned."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context, shared_name, thread

WHAT = {
    "mbarrier": ("mbarrier", "alignas(8)"),
    "tensor copy": ("shared-memory side of a tensor copy", "alignas(128)"),
    "bulk copy": ("shared-memory side of a bulk copy", "alignas(16)"),
    "bulk copy source": ("source of a bulk copy in global memory", ""),
    "bulk copy destination": ("destination of a bulk copy in global memory", ""),
    "tensor map": ("tensor map", "alignas(64)"),
}


class MisalignedCopy(Rule):
    code = "BW212"
    name = "misaligned-copy"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-02", "TL-10", "MB-01", "TL-12")

    def check(self, audit: Audit) -> Iterator[Finding]:
        barriers: set[int] = set()
        for i in audit.incidents("misaligned"):
            if i.data["what"] not in WHAT or i.data["offset"] in barriers:
                continue
            if i.data["what"] == "mbarrier":
                barriers.add(i.data["offset"])  # its other uses say the same
            what, attribute = WHAT[i.data["what"]]
            need, offset = i.data["need"], i.data["offset"]
            if i.data["what"] in ("mbarrier", "tensor copy", "bulk copy"):
                place = f", {shared_name(audit, offset, need if need < 128 else 16)},"
            else:
                place = ""
            over = offset % need
            yield audit.finding(
                type(self), i.where,
                f"{what}{place} used by {thread(audit, i)} is {over} bytes past a multiple of {need}: it has to be "
                f"aligned to {need} bytes",
                hint=f"declare it {attribute}, and keep offsets into it multiples of {need} bytes" if attribute else
                     f"start at a multiple of {need} bytes, and copy the rest with plain loads and stores",
                context=incident_context(audit, i),
            )
