"""CuTe's algorithms hide what they do: the run is judged up to the first, and the coverage line says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.config import AuditOptions
from auditor.engine import audit_file
from auditor.findings import FileResult

# A warp fills two stages, the others empty them. FILL is how a stage is filled, WAIT the wait for a free one.
KERNEL = """
#include <cute/tensor.hpp>
#include <cutlass/arch/barrier.h>
using namespace cute;
using Bar = cutlass::arch::ClusterTransactionBarrier;
__global__ void __launch_bounds__(160) k(const __grid_constant__ CUtensorMap map, float *out, int n)
{
    __shared__ alignas(128) float tile[2][1024];
    __shared__ alignas(8) uint64_t words[4];
    auto *full = reinterpret_cast<Bar *>(words), *empty = full + 2;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; ++i) { full[i].init(1); empty[i].init(128); }
        cutlass::arch::fence_barrier_init();
    }
    __syncthreads();
    START
    if (threadIdx.x >= 128) {
        if (threadIdx.x == 128)
            for (int i = 0; i < n; ++i) {
                empty[i % 2].wait((i / 2 & 1) ^ 1);
                full[i % 2].arrive_and_expect_tx(4096);
                FILL
            }
    } else {
        float x = 0;
        for (int i = 0; i < n; ++i) {
            full[i % 2].wait(i / 2 & 1);
            x += tile[i % 2][threadIdx.x];
            empty[i % 2].arrive();
        }
        out[threadIdx.x] = x;
    }
}
"""
TENSOR = "Tensor s = make_tensor(make_smem_ptr(tile[i % 2]), Layout<Shape<_32, _32>>{});"
COPY = f"{TENSOR} cute::copy(Copy_Atom<SM90_TMA_LOAD, float>{{}}.with(&map, words[i % 2]), s(_, 0), s(_, 0));"


def audited(folder: Path, fill: str, start: str = "") -> FileResult:
    path = folder / "k.cu"
    path.write_text(KERNEL.replace("FILL", fill).replace("START", start))
    return audit_file(str(path), AuditOptions(arches=("sm_90a",)))


@pytest.mark.parametrize("name", ["copy", "gemm", "cooperative_copy"])
def test_silent_behind_a_hidden_operation(tmp_path: Path, name: str) -> None:
    result = audited(tmp_path, COPY.replace("cute::copy", f"cute::{name}"))
    assert result.findings == []
    assert result.coverage.executed == 0
    assert [(kind, f"cute::{name} is not modelled" in message) for kind, message, _ in result.coverage.notes] == [
        ("unanalysed", True)
    ]


def test_the_same_without_the_copy_hangs(tmp_path: Path) -> None:
    assert "BW106" in {finding.code for finding in audited(tmp_path, "").findings}


def test_tensors_alone_hide_nothing(tmp_path: Path) -> None:
    assert "BW106" in {finding.code for finding in audited(tmp_path, TENSOR).findings}


def test_what_lies_before_is_judged(tmp_path: Path) -> None:
    start = "const int t = threadIdx.x; if (t < 32) tile[0][t] = 1; else if (t < 64) out[1] = tile[0][t - 32];"
    assert "BW606" in {finding.code for finding in audited(tmp_path, COPY, start).findings}
