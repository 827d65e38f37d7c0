"""BW214: a tensor map lies where the hardware cannot read it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.repair.parameters import make_grid_constant
from auditor.rule import Rule
from auditor.rulekit import incident_context, thread


class TensorMapCopied(Rule):
    code = "BW214"
    name = "tensor-map-copied"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-13",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        for i in audit.incidents("tensormap_space"):
            repair = None
            if i.data["space"] == "parameter copy":
                name = i.data["param"]
                param = next((p for p in audit.kernel.params if p.name == name), None)
                where = i.related[0][0] if i.related else i.where
                message = (f"parameter {name} holds a tensor map by value but is not __grid_constant__: the map's "
                           "address is that of a copy in local memory, which TMA cannot read")
                type_name = param.type_name.removeprefix("const ") if param is not None else "CUtensorMap"
                hint = f"declare it so: const __grid_constant__ {type_name} {name}"
                related = [(i.where, f"used by {thread(audit, i)} here")]
                repair = partial(make_grid_constant, audit, param) if param is not None else None
            else:
                where, related = i.where, []
                message = (f"tensor map used by {thread(audit, i)} lies in {i.data['space']} memory: TMA reads maps "
                           "from parameter, constant or global memory only")
                hint = "use the address of a const __grid_constant__ CUtensorMap parameter, or of global memory"
            yield audit.finding(type(self), where, message, related=related, hint=hint,
                                context=incident_context(audit, i), repair=repair)
