"""What it means that the report on a skeleton agrees with its plan, and that the skeleton assembles."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from auditor.cli_report import report_file
from auditor.config import AuditOptions
from auditor.engine import with_deep_stack
from auditor.plans.attention import plan_attention
from auditor.plans.attention_emit import emit_attention
from auditor.plans.attention_model import AttentionPlan
from auditor.plans.attention_spec import AttentionSpec
from auditor.plans.diff import attention_departures, departures
from auditor.plans.emit import emit
from auditor.plans.gemm import plan_gemm
from auditor.plans.model import BarrierPlan, GemmPlan
from auditor.plans.spec import GemmSpec
from auditor.reports.model import Check, KernelReport

NVCC = shutil.which("nvcc")
_GENCODE = "-gencode=arch=compute_100a,code=sm_100a"


def plan_of(spec: GemmSpec | AttentionSpec) -> GemmPlan | AttentionPlan:
    return plan_gemm(spec) if isinstance(spec, GemmSpec) else plan_attention(spec)


def skeleton(plan: GemmPlan | AttentionPlan) -> str:
    return emit(plan) if isinstance(plan, GemmPlan) else emit_attention(plan)


def check(spec: GemmSpec | AttentionSpec, folder: Path) -> None:
    """Emit, report and compare. Raises AssertionError where the two differ."""
    plan = plan_of(spec)
    report = skeleton_report(plan, folder)
    agrees(plan, report)
    assert {c.verdict for c in differences(plan, report)} == {"agree"}


def differences(plan: GemmPlan | AttentionPlan, report: KernelReport) -> list[Check]:
    """What ``plan diff`` compares."""
    return departures(plan, report) if isinstance(plan, GemmPlan) else attention_departures(plan, report)


def skeleton_report(plan: GemmPlan | AttentionPlan, folder: Path) -> KernelReport:
    """The report on a plan's skeleton, which is left in the folder as ``planned.cu``."""
    path = folder / "planned.cu"
    path.write_text(skeleton(plan), encoding="utf-8")
    report = with_deep_stack(lambda: report_file(str(path), AuditOptions()))
    assert not report.failure, report.failure
    return report.kernels[0]


def assembles(spec: GemmSpec | AttentionSpec, folder: Path) -> str:
    """Assembles a skeleton for sm_100a; what the compiler objects to, or that it spills. Empty when all is well."""
    assert NVCC is not None
    path = folder / "planned.cu"
    path.write_text(skeleton(plan_of(spec)), encoding="utf-8")
    command = [NVCC, _GENCODE, "-Xptxas", "-v", "-cubin", "-o", str(folder / "planned.cubin"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    clean = done.returncode == 0 and " 0 bytes spill stores" in done.stderr and "warning" not in done.stderr
    return "" if clean else done.stderr


def agrees(plan: GemmPlan | AttentionPlan, report: KernelReport) -> None:
    """The numbers of a plan are those of the report on its skeleton."""
    assert report.verdict == "clean" and {c.verdict for m in report.maps for c in m.checks} == {"agree"}
    seen = [(b.name.removeprefix("sh."), b.stages, b.init_count, b.expected_bytes, b.waiters[0].parities[0])
            for b in report.barriers]  # fmt: skip
    assert seen == [_told(b) for b in plan.barriers]
    assert report.shared.dynamic == plan.shared_bytes
    assert report.shared.bounds[0][1] == next(f.ctas_per_sm for f in plan.fittings if f.stages == plan.stages)
    assert report.tmem is not None and report.tmem.rounded == plan.columns
    assert [(r.object, r.lo, r.hi) for r in report.tmem.regions] == [(r.name, r.lo, r.hi) for r in plan.regions]
    rings = {r.ready.removeprefix("sh.").split("[")[0]: (r.depth, r.stage_size) for r in report.rings}
    if isinstance(plan, GemmPlan):
        assert rings["full"] == (plan.stages, plan.stage_bytes)
        return
    assert rings["k_full"] == rings["v_full"] == (plan.stages, plan.kv_bytes)
    assert rings["q_full"] == (plan.tiles, plan.q_bytes)
    assert report.tmem.touched == plan.columns_used
    assert all("nothing" not in reuse.guard for reuse in report.tmem.reuses)


def _told(b: BarrierPlan) -> tuple[str, int, int, int, int]:
    return b.name, b.stages, b.init_count, b.expected_bytes, b.wait_parity
