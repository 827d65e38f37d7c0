"""BW504: a launch of a shape that the device refuses, or that the kernel's roles do not fit."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.audit import Audit
from auditor.causes import Diagnosis
from auditor.findings import Finding, Level
from auditor.rule import Rule
from auditor.rulekit import Places
from auditor.source import Stack

PORTABLE = 8
MOST = 16
MAX_THREADS = 1024


class LaunchShape(Rule):
    code = "BW504"
    name = "launch-shape"
    level = Level.ERROR
    confidence = "high"
    entries = ("OT-11", "TC-41")

    def check(self, audit: Audit) -> Iterator[Finding]:
        launch, kernel = audit.launch, audit.kernel
        where: Stack = launch.where or (kernel.loc,)
        kernel_place: Places = [((kernel.loc,), "the kernel")]
        dims, attribute, size = kernel.cluster_dims, launch.cluster_attribute, launch.cluster_size
        if dims is not None and attribute is not None and dims != attribute:
            yield audit.finding(
                type(self), where,
                f"{kernel.display} is compiled for clusters of {_shape(dims)} and launched with clusters of "
                f"{_shape(attribute)}: the launch fails",
                related=kernel_place, hint="use __cluster_dims__ or the launch attribute, not two different sizes")
        elif size > MOST:
            yield audit.finding(type(self), where, f"clusters of {size} CTAs: no device has more than {MOST}",
                                related=kernel_place, hint=f"use at most {PORTABLE} CTAs a cluster")
        elif size > PORTABLE and launch.where is not None and not launch.nonportable:
            yield audit.finding(
                type(self), where,
                f"clusters of {size} CTAs are not portable, and {kernel.display} has not been allowed to use them: the "
                "launch fails",
                related=kernel_place,
                hint="set cudaFuncAttributeNonPortableClusterSizeAllowed to 1 for the kernel before the launch, or "
                     f"use at most {PORTABLE} CTAs a cluster")
        if launch.where is None:
            return
        yield from self._grid(audit, where, kernel_place)
        if "block" not in launch.chosen:
            yield from self._block(audit, where, kernel_place)

    def _grid(self, audit: Audit, where: Stack, related: Places) -> Iterator[Finding]:
        launch = audit.launch
        if "grid" in launch.chosen or "reduced" in launch.inputs.get("grid", "") or launch.reduced:
            return
        if any(g % c for g, c in zip(launch.grid, launch.cluster)):
            yield audit.finding(
                type(self), where,
                f"a grid of {_shape(launch.grid)} CTAs cannot be divided into clusters of {_shape(launch.cluster)}: "
                "the launch fails",
                related=related, hint="round the grid up to whole clusters, and let the surplus CTAs find no work")

    def _block(self, audit: Audit, where: Stack, related: Places) -> Iterator[Finding]:
        launch, kernel = audit.launch, audit.kernel
        if launch.threads > MAX_THREADS or 0 < kernel.max_threads < launch.threads:
            most = min(kernel.max_threads or MAX_THREADS, MAX_THREADS)
            bound = "a block can have"
            if most == kernel.max_threads:
                bound = f"__launch_bounds__ of {kernel.display} allows"
            yield audit.finding(
                type(self), where, f"a block of {launch.threads} threads, but {bound} {most}: the launch fails",
                related=related, hint="launch as many threads as the kernel is compiled for, or raise its bounds")
            return
        for case in audit.diagnosis.cases(Diagnosis.BLOCK_SHAPE):
            yield audit.finding(
                type(self), where,
                f"a block of {launch.threads} threads is too small for the roles of {kernel.display}: its waits never "
                f"end, and with {case.data['threads']} threads they do",
                related=[*related, *([(case.incident.where, "what hangs for want of the missing warps")]
                                     if case.incident is not None else [])],
                hint=f"launch {case.data['threads']} threads, and derive the number from the roles in one place")
        if audit.trace.warps_per_cta < 4 and audit.has("tcgen05.ld") and audit.has("mma"):
            rows = [e for e in audit.trace.events if e.kind == "async" and e.data["instr"] == "mma"
                    and any(a.write and a.lane_hi > 32 * audit.trace.warps_per_cta for a in e.accesses)]
            if rows:
                yield audit.finding(
                    type(self), where,
                    f"a block of {audit.trace.warps_per_cta} warps cannot read the whole accumulator: warp w of the "
                    "CTA reaches only lanes 32 (w mod 4) to 32 (w mod 4) + 31",
                    level=Level.WARNING,
                    related=[(rows[0].where, "this MMA writes rows in lanes that no warp reaches")],
                    hint="launch at least four warps, all of which take part in the epilogue")


def _shape(shape: tuple[int, int, int]) -> str:
    used = list(shape)
    while len(used) > 1 and used[-1] == 1:
        used.pop()
    return " x ".join(map(str, used))
