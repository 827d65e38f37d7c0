"""BW502: more dynamic shared memory than the kernel has been allowed."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.findings import Finding, Level
from auditor.rule import Rule

DEFAULT = 48 * 1024


class DynamicSharedAttribute(Rule):
    code = "BW502"
    name = "dynamic-shared-attribute"
    level = Level.ERROR
    confidence = "high"
    entries = ("OT-10",)

    def check(self, audit: Audit) -> Iterator[Finding]:
        launch = audit.launch
        if launch.where is None or "shared" in launch.chosen:
            return  # the host code of the launch was not seen
        allowed = DEFAULT if launch.shared_limit_set is None else max(launch.shared_limit_set, DEFAULT)
        if launch.shared_bytes <= allowed:
            return
        told = ("without cudaFuncAttributeMaxDynamicSharedMemorySize" if launch.shared_limit_set is None else
                f"but cudaFuncAttributeMaxDynamicSharedMemorySize was set to {launch.shared_limit_set:,}")
        yield audit.finding(
            type(self), launch.where,
            f"launch of {audit.kernel.display} with {launch.shared_bytes:,} bytes of dynamic shared memory {told}: "
            "more than "
            f"{allowed:,} bytes are refused, with cudaErrorInvalidValue from the launch",
            related=[((audit.kernel.loc,), "the kernel; each instance of a template has its own attribute")],
            hint="call cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) before the "
                 "launch, for "
                 "this very instance, and check the result",
        )
