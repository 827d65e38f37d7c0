"""Matrix and instruction descriptors, and extents in shared and tensor memory."""

from __future__ import annotations

from typing import Any

import pytest

from auditor.ptx.descriptors import (
    InstructionDescriptor,
    MatrixDescriptor,
    TmemAddress,
    WgmmaDescriptor,
    accumulator_columns,
    accumulator_lanes,
    cp_bytes,
    cp_extent,
    k_extent,
    operand_footprint,
    scale_columns,
    tmem_ld_extent,
    tmem_split,
)


def matrix(start: int, lbo: int, sbo: int, swizzle: int, version: int = 1, extra: int = 0) -> MatrixDescriptor:
    value = start >> 4 | (lbo >> 4) << 16 | (sbo >> 4) << 32 | version << 46 | swizzle << 61 | extra
    return MatrixDescriptor.decode(value)


def idesc(
    m: int, n: int, kind: str = "f16", d: int = 1, a: int = 1, b: int = 1, extra: int = 0
) -> InstructionDescriptor:
    value = d << 4 | a << 7 | b << 10 | (n >> 3) << 17 | (m >> 4) << 24 | extra
    return InstructionDescriptor.decode(value, kind)


def scaled(m: int, n: int, kind: str, extra: int = 0, ue8m0: bool = True) -> InstructionDescriptor:
    types = 0 if kind == "mxf8f6f4" else 1 << 7 | 1 << 10
    return InstructionDescriptor.decode(types | (n >> 3) << 17 | int(ue8m0) << 23 | (m >> 7) << 27 | extra, kind)


def test_matrix_descriptor() -> None:
    desc = matrix(0x8400, 16, 1024, 2)
    assert (desc.start, desc.lbo, desc.sbo, desc.span, desc.atom_32b) == (0x8400, 16, 1024, 128, False)
    assert desc.problems() == []


@pytest.mark.parametrize(
    ("desc", "text"),
    [
        (matrix(0, 16, 1024, 2, version=0), "Hopper"),
        (matrix(0, 16, 1024, 3), "swizzle code 3"),
        (matrix(0, 16, 1024, 2, extra=1 << 55), "53-60"),
        (matrix(0, 16, 1024, 2, extra=1 << 52), "bit 52"),
    ],
)
def test_matrix_descriptor_problems(desc: MatrixDescriptor, text: str) -> None:
    (problem,) = desc.problems()
    assert text in problem


def test_absolute_leading_address_on_sm_103() -> None:
    assert MatrixDescriptor.decode(1 << 46 | 1 << 52, "sm_103a").problems() == []


def test_wgmma_descriptor() -> None:
    desc = WgmmaDescriptor.decode(0x400 >> 4 | 1 << 16 | 64 << 32 | 1 << 62)
    assert (desc.start, desc.lbo, desc.sbo, desc.span) == (0x400, 16, 1024, 128)
    assert desc.problems() == []
    assert WgmmaDescriptor.decode(1 << 61).problems()
    assert [WgmmaDescriptor.decode(code << 62).span for code in range(4)] == [0, 128, 64, 32]


@pytest.mark.parametrize("step", [0, 32, 64, 96])
def test_k_steps_stay_inside_the_tile(step: int) -> None:
    # 128 rows of 128 bytes: 16 KiB, however far the K loop has advanced in the row
    assert operand_footprint(matrix(0x4000 + step, 16, 1024, 2), 128, 32) == ((0x4000, 0x8000),)


def test_k_major_without_swizzle() -> None:
    # 64 rows x 32 bytes of K in core matrices of 128 bytes, K neighbours far apart
    desc = matrix(0x1000, 0x2000, 128, 0)
    assert operand_footprint(desc, 64, 32) == ((0x1000, 0x1400), (0x3000, 0x3400))


def test_k_major_with_gaps_between_groups() -> None:
    assert operand_footprint(matrix(0, 16, 1024, 6), 16, 32) == ((0, 256), (1024, 1280))


def test_mn_major() -> None:
    # bf16, 128 of M in two atoms of 64 elements, 16 of K in two groups of 8
    desc = matrix(0, 0x4000, 1024, 2)
    assert operand_footprint(desc, 128, 32, "MN", 16) == ((0, 2048), (0x4000, 0x4800))
    plain = matrix(0, 0x400, 128, 0)
    assert operand_footprint(plain, 64, 32, "MN", 16) == ((0, 2048),)


def test_mn_major_32_byte_atoms_claims_the_first_group_only() -> None:
    assert operand_footprint(matrix(0, 0x1000, 512, 1), 64, 32, "MN", 32) == ((0, 512), (0x1000, 0x1200))


def test_instruction_descriptor() -> None:
    desc = idesc(128, 256, extra=1 << 16 | 1 << 13)
    assert (desc.m, desc.n, desc.a_type, desc.b_type, desc.d_type) == (128, 256, "bf16", "bf16", "f32")
    assert (desc.a_major, desc.b_major, desc.negate_a, desc.negate_b) == ("K", "MN", True, False)
    assert desc.problems() == []
    assert (idesc(256, 128).a_rows(2), idesc(256, 128).b_rows(2)) == (128, 64)


@pytest.mark.parametrize(
    ("desc", "options", "text"),
    [
        (idesc(96, 64), {}, "M = 96"),
        (idesc(128, 0), {}, "N = 0"),
        (idesc(256, 128), {}, "M = 256"),
        (idesc(64, 128), {"cta_group": 2}, "M = 64"),
        (idesc(256, 24), {"cta_group": 2}, "N = 24"),
        (idesc(64, 96), {"ws": True}, "N = 96"),
        (idesc(128, 64), {"sparse": True}, "sparsity bit is clear"),
        (idesc(128, 64, extra=1 << 2), {}, "no .sp"),
        (idesc(128, 64, extra=1 << 29), {}, "reserved bit 29"),
        (idesc(128, 64, a=3), {}, "type code of A"),
        (idesc(128, 64, d=0), {}, "f16 accumulator"),
        (idesc(128, 40, kind="i8", d=2), {}, "N = 40"),
        (idesc(128, 64, kind="i8", d=2, extra=1 << 13), {}, "negate"),
        (idesc(128, 24, kind="f8f6f4", a=0, b=0, extra=1 << 16), {}, "multiple of 16"),
        (scaled(128, 64, "mxf8f6f4", ue8m0=False), {}, "ue8m0"),
        (scaled(256, 64, "mxf8f6f4"), {}, "M = 256"),
        (scaled(128, 64, "mxf4", extra=1 << 29), {}, "id 1 of A"),
        (scaled(128, 64, "mxf4nvf4", ue8m0=False), {"scale_vec": "2X"}, "ue4m3"),
        (scaled(128, 64, "mxf4nvf4", extra=2 << 4, ue8m0=False), {"scale_vec": "4X"}, "id 2 of B"),
        (scaled(128, 64, "mxf4", extra=1 << 31), {}, "K = 96"),
        (scaled(128, 64, "mxf4nvf4", extra=1 << 31 | 3 << 4), {"scale_vec": "block16", "arch": "sm_103a"}, "id 3 of B"),
        (scaled(128, 64, "mxf4"), {"ws": True}, ".ws"),
    ],
)
def test_instruction_descriptor_problems(desc: InstructionDescriptor, options: dict[str, Any], text: str) -> None:
    (problem,) = desc.problems(**options)
    assert text in problem


@pytest.mark.parametrize(
    ("desc", "options"),
    [
        (idesc(64, 8), {}),
        (idesc(256, 256), {"cta_group": 2}),
        (idesc(32, 64), {"ws": True}),
        (idesc(128, 24, kind="i8", d=2, extra=1 << 3), {}),
        (idesc(128, 64, a=2, b=2, kind="tf32"), {}),
        (idesc(128, 64, a=5, b=0, d=0, kind="f8f6f4"), {}),
        (idesc(128, 64, extra=1 << 2), {"sparse": True}),
        (scaled(128, 64, "mxf8f6f4", extra=3 << 29 | 1 << 4), {"scale_vec": "1X"}),
        (scaled(128, 64, "mxf4", extra=2 << 29 | 2 << 4), {}),
        (scaled(128, 64, "mxf4nvf4", ue8m0=False), {"scale_vec": "4X"}),
        (scaled(128, 64, "mxf4", extra=1 << 31), {"arch": "sm_103a"}),
        (scaled(128, 64, "mxf4", extra=1 << 31 | 3 << 29 | 1 << 4), {"arch": "sm_103a"}),
        (
            scaled(128, 64, "mxf4nvf4", extra=1 << 31 | 2 << 29 | 2 << 4, ue8m0=False),
            {"scale_vec": "block16", "arch": "sm_103a"},
        ),
    ],
)
def test_legal_instruction_descriptors(desc: InstructionDescriptor, options: dict[str, Any]) -> None:
    assert desc.problems(**options) == []


def test_warnings() -> None:
    assert idesc(128, 24).warnings() == []
    assert "multiple of 16" in idesc(128, 24).warnings(a_in_tmem=True)[0]
    tf32 = idesc(128, 64, a=2, b=2, kind="tf32", extra=1 << 16)
    assert "32-byte atoms" in tf32.warnings(b_desc=matrix(0, 16, 1024, 2))[0]
    assert tf32.warnings(b_desc=matrix(0, 16, 1024, 1)) == []
    assert "M = 128" in scaled(128, 64, "mxf8f6f4").warnings(cta_group=2)[0]


def test_k_extent() -> None:
    assert k_extent("f16") == (16, 32, 32)
    assert k_extent("mxf4") == (64, 32, 32)
    assert k_extent("f8f6f4", sparse=True) == (64, 32, 64)


def test_tensor_memory() -> None:
    assert tmem_split(96 << 16 | 0x140) == TmemAddress(96, 320)
    assert tmem_ld_extent("32x32b", 32) == (32, 32)
    assert tmem_ld_extent("16x256b", 8) == (16, 64)
    assert tmem_ld_extent("16x64b", 2, pack=True) == (16, 8)
    assert cp_extent("32x128b") == (128, 4)
    assert cp_bytes("128x256b") == 4096


@pytest.mark.parametrize(
    ("m", "options", "columns", "lanes"),
    [
        (128, {}, 64, 128),
        (64, {}, 64, 64),
        (256, {"cta_group": 2}, 64, 128),
        (128, {"cta_group": 2}, 32, 128),
        (128, {"cta_group": 2, "sparse": True}, 64, 64),
        (64, {"ws": True}, 32, 128),
        (32, {"ws": True}, 16, 128),
    ],
)
def test_accumulator(m: int, options: dict[str, Any], columns: int, lanes: int) -> None:
    assert accumulator_columns(m, 64, **options) == columns
    assert sum(end - first for first, end in accumulator_lanes(m, **options)) == lanes


def test_scale_columns() -> None:
    assert [scale_columns(rows) for rows in (128, 256, 48)] == [4, 8, 2]
