"""Possible plans of many shapes and types."""

from __future__ import annotations

import itertools

from auditor.plans.attention import plan_attention
from auditor.plans.attention_spec import AttentionSpec
from auditor.plans.gemm import plan_gemm
from auditor.plans.kinds import KINDS
from auditor.plans.spec import GemmSpec


def gemm_grid() -> list[GemmSpec]:
    """GEMMs: element types, tiles, pairs, epilogues, accumulators, scale factors."""
    found = []
    for dtype, n, group, epilogue, accumulators in itertools.product(
        ("bf16", "f16", "e4m3", "tf32"), (32, 64, 96, 128, 256), (1, 2), ("direct", "tma"), (1, 2)
    ):
        for row_bytes in (64, 128, 256):
            k = row_bytes * 8 // KINDS[dtype].bits
            out = "bf16" if epilogue == "tma" and n % 64 == 0 else "f32"
            found.append(GemmSpec(128 * group, n, k, dtype, "f32", out, group, None, epilogue, accumulators))
    for dtype, n, group, epilogue, accumulators in itertools.product(
        ("mxf8", "mxf4", "nvf4"), (64, 96, 128, 192, 256), (1, 2), ("direct", "tma"), (1, 2)
    ):
        for k in (128, 256):  # scale factors beside the operands
            out = "f16" if epilogue == "tma" and n % 64 == 0 else "f32"
            found.append(GemmSpec(128 * group, n, k, dtype, "f32", out, group, None, epilogue, accumulators))
    for dtype, n, k, group, epilogue, out in itertools.product(
        ("f16", "e4m3"), (64, 128, 192, 256), (64, 128), (1, 2), ("direct", "tma"), ("f32", "f16", "bf16")
    ):
        for m, acc in ((64 * group, "f32"), (64 * group, "f16"), (128 * group, "f16")):
            found.append(GemmSpec(m, n, k, dtype, acc, out, group, None, epilogue, 2))
    return [spec for spec in found if plan_gemm(spec).possible]


def attention_grid() -> list[AttentionSpec]:
    """Attention: tiles, head sizes, element types, both places of P."""
    found = []
    for m, n, d, dtype, p in itertools.product(
        (128, 256), (32, 48, 64, 96, 128, 256), (32, 64, 80, 128, 192, 256), ("bf16", "f16", "e4m3"), ("alias", "own")
    ):
        spec = AttentionSpec(m, n, d, dtype, "f32" if dtype == "f16" else "bf16", p)
        if plan_attention(spec).possible:
            found.append(spec)
    return found
