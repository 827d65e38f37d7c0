"""Rules of tensor memory, clusters, launches and warps: levels that depend on more than the pattern, and causes."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.config import AuditOptions
from auditor.engine import audit_file
from auditor.findings import Finding
from auditor.registry import stems

HEAD = "#include <cuda/ptx>\nnamespace ptx = cuda::ptx;\n"

TMEM = """\
__global__ void kernel(uint32_t* out)
{
    __shared__ uint32_t base;
    const uint32_t warp = threadIdx.x / 32;
    if (warp == 0) ptx::tcgen05_alloc(ptx::cta_group_1, &base, 32);
    __syncthreads();
    const uint32_t row = base + (warp % 4 << 21);
    uint32_t v[1] = {threadIdx.x};
    ptx::tcgen05_st_32x32b(row, v);
    ptx::tcgen05_wait_st();
    BODY
    __syncthreads();
    if (warp == 0) ptx::tcgen05_dealloc(ptx::cta_group_1, base, 32);
}
void launch(uint32_t* out) { kernel<<<1, 128>>>(out); }
"""

LOAD = "ptx::tcgen05_ld_32x32b(v, row);"
USE = "out[threadIdx.x] = v[0];"


def audit(tmp_path: Path, source: str) -> list[Finding]:
    path = tmp_path / "kernel.cu"
    path.write_text(HEAD + source, encoding="utf-8")
    result = audit_file(str(path), AuditOptions(strict=True))
    assert not result.failure
    assert result.coverage.executed == result.coverage.kernels == 1
    return [f for f in result.findings if not f.code.startswith("BW00")]


def levels(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(f.code, f.level.value) for f in findings]


def test_load_without_wait_whose_values_were_used_is_a_note(tmp_path: Path) -> None:
    assert levels(audit(tmp_path, TMEM.replace("BODY", LOAD + USE))) == [("BW308", "note")]


def test_load_without_wait_whose_values_are_used_later_is_an_error(tmp_path: Path) -> None:
    source = TMEM.replace("BODY", LOAD).replace("base, 32);\n}", f"base, 32);\n    {USE}\n}}")
    assert levels(audit(tmp_path, source)) == [("BW308", "error")]


def test_load_with_wait_is_clean(tmp_path: Path) -> None:
    assert audit(tmp_path, TMEM.replace("BODY", LOAD + "ptx::tcgen05_wait_ld();" + USE)) == []


def test_warps_that_left_are_behind_a_whole_barrier(tmp_path: Path) -> None:
    assert audit(tmp_path, TMEM.replace("BODY", "if (warp == 3) return;")) == []


def test_lane_part_within_the_warps_quarter_may_be_relative(tmp_path: Path) -> None:
    source = TMEM.replace("BODY", "").replace("(warp % 4 << 21)", "0u")
    assert audit(tmp_path, source) == []


NAMED = """\
__device__ void meet(int id, int n) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(n) : "memory"); }
__global__ void kernel(float* out)
{
    BODY
    out[threadIdx.x] = 1;
}
void launch(float* out) { kernel<<<1, 128>>>(out); }
"""


def test_syncthreads_and_its_spelled_out_form_agree(tmp_path: Path) -> None:
    body = "if (threadIdx.x < 64) meet(0, 128); else __syncthreads();"
    assert audit(tmp_path, NAMED.replace("BODY", body)) == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("meet(16, 128);", "BW602"),
        ("meet(1, 100);", "BW602"),
        ("if (threadIdx.x < 64) meet(1, 128);", "BW602"),
        ("if (threadIdx.x < 64) meet(1, 64); else meet(1, 128);", "BW602"),
        ("if (threadIdx.x < 64) __syncthreads(); else meet(1, 128);", "BW603"),
    ],
)
def test_barriers_that_do_not_work(tmp_path: Path, body: str, code: str) -> None:
    assert {f.code for f in audit(tmp_path, NAMED.replace("BODY", body))} == {code}


REGISTERS = """\
__global__ void BOUNDS kernel(float* out)
{
    if (threadIdx.x < 128) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    else asm volatile("setmaxnreg.inc.sync.aligned.u32 COUNT;");
    out[threadIdx.x] = 1;
}
void launch(float* out) { kernel<<<1, 384>>>(out); }
"""


@pytest.mark.parametrize(
    ("bounds", "count", "expected"),
    [
        ("__launch_bounds__(384, 1)", "232", []),
        ("__launch_bounds__(384, 1)", "240", [("BW604", "error")]),
        ("__launch_bounds__(384)", "240", [("BW604", "note")]),
    ],
)
def test_register_pool(tmp_path: Path, bounds: str, count: str, expected: list[tuple[str, str]]) -> None:
    source = REGISTERS.replace("BOUNDS", bounds).replace("COUNT", count)
    assert levels(audit(tmp_path, source)) == expected


def test_rules_cost_nothing_without_their_operations(tmp_path: Path) -> None:
    source = "__global__ void kernel(float* out) { out[threadIdx.x] = 1; }\n"
    source += "void launch(float* out) { kernel<<<1, 128>>>(out); }\n"
    assert audit(tmp_path, source) == []
    assert len([code for code in stems() if "BW300" < code < "BW700"]) >= 36
