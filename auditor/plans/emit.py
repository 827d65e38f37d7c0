"""Writes a kernel with everything of a plan in place: a skeleton that compiles and that an audit finds clean."""

from __future__ import annotations

from auditor.plans.gemm import result_lanes, scale_blocks, scale_words
from auditor.plans.kinds import KINDS, OUTPUT_BYTES
from auditor.plans.model import GemmPlan
from auditor.plans.spec import PlanError
from auditor.plans.template import filled
from auditor.ptx.descriptors import accumulator_columns

# The result's type, and how it is made of a register of tensor memory by type of the accumulator. A 32-bit column holds
# one element of an f16 accumulator (PTX ISA 9.7.16.10.5).
_ELEMENTS = {"f32": "float", "f16": "__half", "bf16": "__nv_bfloat16"}
_NARROW = {"f32": "{}", "f16": "__float2half_rn({})", "bf16": "__float2bfloat16_rn({})"}
_VALUES = {"f32": "__uint_as_float(bits)", "f16": "__half2float(__ushort_as_half((unsigned short)bits))"}
_MAP_TYPES = {"f32": "FLOAT32", "f16": "FLOAT16", "bf16": "BFLOAT16"}


def emit(plan: GemmPlan) -> str:
    """The source of the skeleton. Raises PlanError for an impossible plan."""
    spec, kind = plan.spec, KINDS[plan.spec.dtype]
    if not plan.possible:
        raise PlanError("an impossible plan has no skeleton")
    element, convert = _ELEMENTS[spec.out], _NARROW[spec.out].format(_VALUES[spec.acc])
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
        "bits": kind.bits,
        "scales": kind.modifiers,
        "words_of_scales": scale_words(spec, kind) if kind.scaled else 0,
        "scale_blocks": scale_blocks(spec.n),
        "scales_at": spec.accumulators * width,
        "scales_a_step": plan.mma_k // kind.block if kind.scaled else 0,
        "staging_rows": result_lanes(spec),
        "map_type": kind.map_type,
        "out_map_type": _MAP_TYPES[spec.out],
        "grid": 2 * spec.cta_group,
        "ctas": spec.ctas_per_sm,
    }
    conditions = {
        "pair": spec.cta_group == 2,
        "single": spec.cta_group == 1,
        "tma": spec.epilogue == "tma",
        "direct": spec.epilogue == "direct",
        "scaled": kind.scaled,
        "plain": not kind.scaled,
        "half": spec.m == 64,  # of the lanes
        "whole": spec.m != 64,
        "folded": spec.m == 128 and spec.cta_group == 2,  # the halves of N below one another
        "unfolded": not (spec.m == 128 and spec.cta_group == 2),
    }
    return filled("gemm.txt", values, conditions)
