"""Classes of CuTe that are one instruction: each is what PTX has for it, and made only for a source that names it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from auditor.frontend import build_program
from auditor.frontend.atoms import TMEM_HEADER, WGMMA_HEADER, atom_headers
from auditor.frontend.options import Options
from auditor.frontend.parse import parse

K_MAJOR = "cute::SM90::GMMA::Major::K, cute::SM90::GMMA::Major::K"
REGISTERS_A = "u[0], u[1], u[2], u[3]"


def emitted(call: str, header: str, arch: str) -> list[str]:
    """The instructions of a kernel that makes one call: opcodes with their modifiers. They must be valid PTX."""
    body = f"unsigned u[64]; float f[128]; unsigned long d = p[1]; {call} p[0] = u[0] + f[0];"
    source = f"#include <cute/arch/{header}>\n__global__ void k(unsigned *p) {{ {body} }}\n"
    program = build_program("k.cu", source, Options(arch=arch))
    assert program.notes == []
    assert [block.errors for block in program.asm] == [()] * len(program.asm)
    return [".".join((instr.opcode, *instr.mods)) for block in program.asm for instr in block.instrs]


def listed(array: str, count: int) -> str:
    return ", ".join(f"{array}[{i}]" for i in range(count))


@pytest.mark.parametrize(
    ("name", "arguments", "opcode"),
    [
        (f"MMA_64x128x16_F32BF16BF16_SS<{K_MAJOR}>", f"d, d, {listed('f', 64)}", "m64n128k16.f32.bf16.bf16"),
        (f"MMA_64x64x16_F16F16F16_SS<{K_MAJOR}>", f"d, d, {listed('u', 16)}", "m64n64k16.f16.f16.f16"),
        (f"MMA_64x8x16_F32F16F16_RS<{K_MAJOR}>", f"{REGISTERS_A}, d, {listed('f', 4)}", "m64n8k16.f32.f16.f16"),
        ("MMA_64x16x8_F32TF32TF32_SS_TN<>", f"d, d, {listed('f', 8)}", "m64n16k8.f32.tf32.tf32"),
        ("MMA_64x16x32_F32E4M3E5M2_RS_TN<>", f"{REGISTERS_A}, d, {listed('f', 8)}", "m64n16k32.f32.e4m3.e5m2"),
        ("MMA_64x8x32_S32S8U8_SS_TN_SATURATE", f"d, d, {listed('u', 4)}", "m64n8k32.s32.s8.u8.satfinite"),
    ],
)
def test_wgmma(name: str, arguments: str, opcode: str) -> None:
    call = f"cute::SM90::GMMA::{name}::fma({arguments}, cute::SM90::GMMA::ScaleOut::Zero);"
    found = emitted(call, "mma_sm90_gmma.hpp", "sm_90a")
    assert f"wgmma.mma_async.sync.aligned.{opcode}" in found


def test_wgmma_by_its_older_name() -> None:
    call = f"cute::SM90_64x8x16_F32BF16BF16_SS<{K_MAJOR}>::fma(d, d, {listed('f', 4)});"
    assert "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16" in emitted(call, "mma_sm90_gmma.hpp", "sm_90a")


@pytest.mark.parametrize(
    ("name", "registers", "shape"),
    [
        ("32dp32b8x", 8, "32x32b.x8"),
        ("32dp32b64x_16b", 64, "32x32b.x64"),
        ("16dp64b4x", 4, "16x64b.x4"),
        ("16dp128b2x", 4, "16x128b.x2"),
        ("16dp256b1x", 4, "16x256b.x1"),
        ("16dp32b2x", 2, "16x32bx2.x2"),
    ],
)
def test_tensor_memory(name: str, registers: int, shape: str) -> None:
    packs, unpacks = (".pack::16b", ".unpack::16b") if name.endswith("_16b") else ("", "")
    load = f"cute::SM100_TMEM_LOAD_{name}::copy(64u, {listed('u', registers)});"
    store = f"cute::SM100_TMEM_STORE_{name}::copy({listed('u', registers)}, 64u);"
    found = emitted(load + store, "copy_sm100.hpp", "sm_100a")
    assert found == [f"tcgen05.ld.sync.aligned.{shape}{packs}.b32", f"tcgen05.st.sync.aligned.{shape}{unpacks}.b32"]


def test_made_only_for_what_is_named() -> None:
    made = dict(atom_headers("MMA_64x8x16_F32BF16BF16_SS and MMA_64x12x16_F32BF16BF16_SS"))
    assert re.findall(r"struct (\w+)", made[WGMMA_HEADER]) == ["MMA_64x8x16_F32BF16BF16_SS"]
    assert "struct" not in made[TMEM_HEADER]


def test_made_for_the_headers_of_a_user(tmp_path: Path) -> None:
    (tmp_path / "load.cuh").write_text("using Load = cute::SM100_TMEM_LOAD_16dp256b1x;\n")
    text = '#include <cute/arch/copy_sm100.hpp>\n#include "load.cuh"\n__global__ void k() { Load(); }\n'
    assert parse(str(tmp_path / "k.cu"), text).errors == []
