"""BW223: operands of a tensor copy that do not fit the tensor map or the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import incident_context, plural


class TensorCopyOperands(Rule):
    code = "BW223"
    name = "tensor-copy-operands"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-15", "TL-16", "TL-20", "TL-22")

    def check(self, audit: Audit) -> Iterator[Finding]:
        for incident in audit.incidents("descriptor"):
            data = incident.data
            if data["entry"] == "TL-16":
                text = (f"tensor copy with {plural(data['given'], 'coordinate')} of a tensor of rank {data['rank']}: "
                        "instruction and tensor map have to agree")
                hint = "use the instruction of the map's rank, with one coordinate a dimension"
            elif data["entry"] == "TL-20":
                text = (f"tensor store begins at coordinate {data['value']} in dimension {data['dim']}: negative "
                        "coordinates are for loads, which fill with zeros")
                hint = "clip the tile, or store the part that lies inside the tensor from another place"
            elif data["entry"] == "TL-22":
                text = ("the copy signals an mbarrier of another CTA than the one whose shared memory it fills, which "
                        "only .cta_group::2 may, within a pair")
                hint = "use the barrier of the destination CTA, or .cta_group::2 and the barrier of its pair"
            elif data["entry"] == "TL-15":
                text = f"tensormap.replace writes a {data['problem']}: the map is not valid then"
                hint = "write what cuTensorMapEncodeTiled would accept; the rank is counted from 0"
            else:
                continue
            yield audit.finding(type(self), incident.where, text, hint=hint, context=incident_context(audit, incident))
