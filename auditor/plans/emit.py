"""Writes a kernel with everything of a plan in place: a skeleton that compiles and that an audit finds clean."""

from __future__ import annotations

from auditor.plans.kinds import KINDS, OUTPUT_BYTES
from auditor.plans.model import GemmPlan
from auditor.plans.spec import PlanError
from auditor.plans.template import filled
from auditor.ptx.descriptors import accumulator_columns

_ELEMENTS = {
    "f32": ("float", "__uint_as_float(bits)"),
    "f16": ("__half", "__float2half_rn(__uint_as_float(bits))"),
    "bf16": ("__nv_bfloat16", "__float2bfloat16_rn(__uint_as_float(bits))"),
}
_MAP_TYPES = {"f32": "FLOAT32", "f16": "FLOAT16", "bf16": "BFLOAT16"}


def emit(plan: GemmPlan) -> str:
    """The source of the skeleton. Raises PlanError for plans that have none."""
    spec, kind = plan.spec, KINDS[plan.spec.dtype]
    if not plan.possible:
        raise PlanError("an impossible plan has no skeleton")
    if kind.scaled:
        raise PlanError(f"there is no skeleton for block-scaled kinds such as {spec.dtype} yet")
    if spec.m != 128 * spec.cta_group:
        raise PlanError(f"there is a skeleton for M = {128 * spec.cta_group} only, with cta_group {spec.cta_group}")
    if spec.acc != "f32":
        raise PlanError("there is a skeleton for f32 accumulators only")
    element, convert = _ELEMENTS[spec.out]
    width = accumulator_columns(spec.m, spec.n, spec.cta_group)
    load = int(plan.load_shape.rsplit("x", 1)[1])
    values = {
        "arch": spec.arch,
        "dtype": spec.dtype,
        "acc": spec.acc,
        "out": spec.out,
        "words": spec.words(),
        "stages": plan.stages,
        "expected": plan.expected_bytes,
        "accs": spec.accumulators,
        "acc_arrivals": next(b.init_count for b in plan.barriers if b.name == "acc_empty"),
        "columns": plan.columns,
        "width": width,
        "stage_bytes": plan.stage_bytes,
        "m": spec.m,
        "n": spec.n,
        "k": spec.k,
        "whose": "the pair" if spec.cta_group == 2 else "a CTA",
        "rows_a": spec.m // spec.cta_group,
        "rows_b": spec.n // spec.cta_group,
        "span": plan.swizzle,
        "boxes": plan.maps[0].boxes,
        "a_bytes": plan.a_bytes,
        "b_bytes": plan.b_bytes,
        "threads": plan.threads,
        "instruction": f"{plan.instruction:#010x}",
        "matrix": f"{plan.matrix:#018x}",
        "chunk": 128 // OUTPUT_BYTES[spec.out],
        "shared": plan.shared_bytes,
        "scope": "cluster" if spec.cta_group == 2 else "cta",
        "group": spec.cta_group,
        "kind": plan.kind,
        "load": load,
        "registers": ", ".join(f"%{n}" for n in range(load)),
        "outputs": ", ".join(f'"=r"(v[{n}])' for n in range(load)),
        "element": element,
        "convert": convert,
        "cluster": "__cluster_dims__(2, 1, 1) " if spec.cta_group == 2 else "",
        "mmas": plan.mmas_per_stage,
        "k_blocks": plan.stages + 2,
        "element_bytes": kind.bits // 8,
        "map_type": kind.map_type,
        "out_map_type": _MAP_TYPES[spec.out],
        "grid": 2 * spec.cta_group,
    }
    conditions = {
        "pair": spec.cta_group == 2,
        "single": spec.cta_group == 1,
        "tma": spec.epilogue == "tma",
        "direct": spec.epilogue == "direct",
    }
    return filled("gemm.txt", values, conditions)
