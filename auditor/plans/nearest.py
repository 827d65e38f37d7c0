"""The possible plan that is nearest to an impossible one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from auditor.plans.attention import plan_attention
from auditor.plans.attention_model import AttentionPlan
from auditor.plans.attention_spec import AttentionSpec
from auditor.plans.gemm import plan_gemm
from auditor.plans.model import GemmPlan
from auditor.plans.spec import GemmSpec

Spec = TypeVar("Spec", GemmSpec, AttentionSpec)
CHOICE = 0.3  # what another choice costs beside numbers, whose change costs its share of the larger one
_GEMM: dict[str, tuple[Any, ...]] = {
    "m": (64, 128, 256),
    "n": tuple(range(16, 257, 16)),
    "k": (16, 32, 64, 128, 256),
    "accumulators": (1, 2),
    "cta_group": (1, 2),
    "ctas_per_sm": (1,),
    "acc": ("f32",),
    "epilogue": ("direct",),
}
_ATTENTION: dict[str, tuple[Any, ...]] = {
    "m": (128, 256),
    "n": tuple(range(16, 257, 16)),
    "d": tuple(range(16, 257, 16)),
    "p": ("alias", "own"),
}


def nearest(spec: GemmSpec) -> GemmPlan | None:
    """The possible plan with the fewest and smallest changes, among those that change up to two things."""
    return next((p for c in _candidates(spec, _GEMM) if (p := plan_gemm(c)).possible), None)


def nearest_attention(spec: AttentionSpec) -> AttentionPlan | None:
    """The same for an attention plan."""
    return next((p for c in _candidates(spec, _ATTENTION) if (p := plan_attention(c)).possible), None)


def _candidates(spec: Spec, values: dict[str, tuple[Any, ...]]) -> list[Spec]:
    """Requests that differ in one or two things, the nearest first."""
    single = _changes(spec, values)
    options = list(single)
    for cost, changed in single:
        options += [(cost + more, again) for more, again in _changes(changed, values)]
    return [candidate for _, candidate in sorted(options, key=lambda o: o[0])]


def _changes(spec: Spec, values: dict[str, tuple[Any, ...]]) -> list[tuple[float, Spec]]:
    """Requests that differ in one thing, with the size of the change."""
    out = [(0.5, replace(spec, stages=None))] if spec.stages is not None else []
    for name, options in values.items():
        old = getattr(spec, name)
        for value in options:
            if value != old:
                size = abs(value - old) / max(value, old) if isinstance(value, int) else CHOICE
                out.append((1.0 + size, replace(spec, **{name: value})))
    return out
