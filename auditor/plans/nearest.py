"""The possible plan that is nearest to an impossible one."""

from __future__ import annotations

from dataclasses import replace

from auditor.plans.gemm import plan_gemm
from auditor.plans.model import GemmPlan
from auditor.plans.spec import GemmSpec


def nearest(spec: GemmSpec) -> GemmPlan | None:
    """The possible plan with the fewest and smallest changes, among those that change up to two things."""
    options: list[tuple[float, GemmSpec]] = []
    single = list(_changes(spec))
    for cost, changed in single:
        options.append((cost, changed))
        options += [(cost + more, again) for more, again in _changes(changed)]
    for _, candidate in sorted(options, key=lambda o: o[0]):
        plan = plan_gemm(candidate)
        if plan.possible:
            return plan
    return None


def _changes(spec: GemmSpec) -> list[tuple[float, GemmSpec]]:
    """Requests that differ in one thing, with the size of the change."""
    out = [(0.5, replace(spec, stages=None))] if spec.stages is not None else []
    for name, values in (("m", (64, 128, 256)), ("n", tuple(range(16, 257, 16))), ("k", (16, 32, 64, 128, 256)),
                         ("accumulators", (1, 2)), ("cta_group", (1, 2)), ("ctas_per_sm", (1,)), ("acc", ("f32",)),
                         ("epilogue", ("direct",))):  # fmt: skip
        old = getattr(spec, name)
        for value in values:
            if value != old:
                size = abs(value - old) / max(value, old) if isinstance(value, int) else 1.0
                out.append((1.0 + size, replace(spec, **{name: value})))  # type: ignore[arg-type]
    return out
