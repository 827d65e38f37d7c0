"""Writes an attention kernel with everything of a plan in place: it compiles, and an audit finds it clean."""

from __future__ import annotations

from auditor.plans.attention_model import AttentionPlan
from auditor.plans.kinds import KINDS
from auditor.plans.spec import PlanError
from auditor.plans.template import filled
from auditor.ptx.descriptors import k_extent

_ELEMENTS = {
    "f32": ("float", "value"),
    "f16": ("__half", "__float2half_rn(value)"),
    "bf16": ("__nv_bfloat16", "__float2bfloat16_rn(value)"),
}


def emit_attention(plan: AttentionPlan) -> str:
    """The source of the skeleton. Raises PlanError for an impossible plan."""
    if not plan.possible:
        raise PlanError("an impossible plan has no skeleton")
    spec, kind = plan.spec, KINDS[plan.spec.dtype]
    element, convert = _ELEMENTS[spec.out]
    scores, output = plan.mmas
    pack = 32 // kind.bits
    words = plan.chunk // pack
    first = {r.name.rstrip(" 01"): r.lo for r in reversed(plan.regions)}
    p_step = spec.n if spec.p == "alias" else spec.p_columns
    values = {
        "arch": spec.arch,
        "dtype": spec.dtype,
        "words": words,
        "m": spec.m,
        "n": spec.n,
        "d": spec.d,
        "tiles": plan.tiles,
        "stages": plan.stages,
        "span": plan.swizzle,
        "boxes": plan.maps[0].boxes,
        "q_bytes": plan.q_bytes,
        "kv_bytes": plan.kv_bytes,
        "shared": plan.shared_bytes,
        "columns": plan.columns,
        "threads": plan.threads,
        "roles": ", ".join(f"warps {r.warps} {r.name}" for r in plan.roles),
        "regions": ", ".join(f"{r.name} {r.lo}-{r.hi - 1}" for r in plan.regions),
        "s_at": first["scores S"],
        "s_step": spec.n,
        "p_at": first["operand A (P)"],
        "p_step": p_step,
        "o_at": first["output O"],
        "o_step": spec.d,
        "scores": f"{scores.instruction:#010x}",
        "output": f"{output.instruction:#010x}",
        "k_major": f"{scores.matrix:#018x}",
        "n_major": f"{output.matrix:#018x}",
        "s_count": scores.count,
        "o_count": output.count,
        "v_step": output.step,
        "step_keys": k_extent(plan.kind).elements,
        "pack": pack,
        "chunk": plan.chunk,
        "chunk_o": plan.chunk_o,
        "kind": plan.kind,
        "registers": _registers(plan.chunk),
        "outputs": _operands("=r", plan.chunk),
        "p_registers": _registers(words),
        "p_inputs": _operands("r", words),
        "o_registers": _registers(plan.chunk_o),
        "o_outputs": _operands("=r", plan.chunk_o),
        "o_inputs": _operands("r", plan.chunk_o),
        "cvt": f"{spec.dtype}x2",
        "element": element,
        "convert": convert,
        "load_warp": plan.roles[-2].first,
        "mma_warp": plan.roles[-3].first,
        "softmax_registers": plan.roles[0].registers,
        "correction_registers": plan.roles[-4].registers,
        "issue_registers": plan.roles[-1].registers,
        "element_bytes": kind.bits // 8,
        "map_type": kind.map_type,
        "blocks": plan.stages + 3,
    }
    conditions = {"alias": spec.p == "alias", "own": spec.p == "own", "pack2": pack == 2, "pack4": pack == 4}
    return filled("attention.txt", values | {"words_of_request": spec.words()}, conditions)


def _registers(count: int) -> str:
    return ", ".join(f"%{n}" for n in range(count))


def _operands(constraint: str, count: int) -> str:
    return ", ".join(f'"{constraint}"(v[{n}])' for n in range(count))
