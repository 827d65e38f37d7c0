"""The real headers of a CUDA toolkit, where one is on the machine, give what our own give."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from auditor.config import AuditOptions
from auditor.engine import audit_file
from auditor.frontend.headers_store import header_text
from auditor.frontend.options import COMPILER_BUILTINS, Options
from auditor.frontend.parse import parse
from tests.test_fixtures import ROOT, expectations

NVCC = shutil.which("nvcc")


def _toolkit() -> Path:
    """The folder of the toolkit that nvcc belongs to."""
    if NVCC is None:
        return Path("/none")
    said = subprocess.run([NVCC, "--dryrun", "-c", "none.cu"], capture_output=True, text=True).stderr
    top = re.search(r"^#\$ TOP=(.+)$", said, re.M)
    return Path(top[1]) if top else Path("/none")


TOOLKIT = _toolkit()
pytestmark = pytest.mark.skipif(not (TOOLKIT / "include" / "cccl").is_dir(), reason="no CUDA toolkit")

# Each kind of library, and kernels with none: barriers and shuffles are functions of the toolkit, too.
KERNELS = """
    field/bad_al05_barrier_object_not_initialised.cu field/good_al05_barrier_object_initialised.cu
    odd/bad_result_not_awaited.cu odd/good_cuda_pipeline.cu
    BW303/bad_moved_base.cu BW303/good_saved_base.cu BW318/good_fp8.cu
    kernels/warp_specialised.cu kernels/hopper_bulk_cluster.cu
""".split()


@pytest.mark.parametrize("name", KERNELS)
def test_findings_are_those_of_our_own_headers(name: str) -> None:
    path = ROOT / name
    text = path.read_text()
    arch = re.search(r"^// arch: (\w+)", text, re.M)
    result = audit_file(str(path), AuditOptions(arches=(arch[1],) if arch else (), cuda_path=str(TOOLKIT)))
    assert not result.failure
    assert sorted((f.code, f.loc.line) for f in result.findings) == sorted(expectations(text))
    assert result.coverage.executed == result.coverage.kernels
    assert [note for note in result.coverage.notes if note[0] == "unanalysed"] == []


def test_exchanges_of_a_warp_keep_their_values(tmp_path: Path) -> None:
    """What the toolkit calls for them are builtins of the compiler, for which models stand in."""
    source = tmp_path / "k.cu"
    source.write_text(
        """
__global__ void __launch_bounds__(32) k(int *out)
{
    __shared__ int row[32];
    const int lane = threadIdx.x;
    int all;
    bool right = __shfl_sync(~0u, lane, 5) == 5 && __shfl_xor_sync(~0u, lane, 1) == (lane ^ 1);
    right = right && __popc(__ballot_sync(~0u, lane < 8)) == 8;
    right = right && __match_any_sync(~0u, lane / 8) == 0xffu << lane / 8 * 8;
    right = right && __match_all_sync(~0u, 3, &all) == ~0u && all && __ffs(__activemask()) == 1;
    right = right && __reduce_add_sync(~0u, 1) == 32 && min(lane, 40) == lane && __any_sync(~0u, lane == 3);
    row[lane] = lane;
    if (right) __syncwarp();
    out[lane] = row[31 - lane];
}
"""
    )
    for cuda_path in (None, str(TOOLKIT)):
        result = audit_file(str(source), AuditOptions(cuda_path=cuda_path))
        assert (result.failure, [f.code for f in result.findings]) == ("", [])
        source.write_text(source.read_text().replace("if (right) __syncwarp", "if (!right) __syncwarp"))
        result = audit_file(str(source), AuditOptions(cuda_path=cuda_path))
        assert [f.code for f in result.findings] == ["BW606"]
        source.write_text(source.read_text().replace("if (!right) __syncwarp", "if (right) __syncwarp"))


def test_sources_see_nvcc_and_not_clang() -> None:
    source = """
#include <cuda/std/utility>
#if defined(__clang__) && defined(__CUDA__) || !defined(__NVCC__)
#error for clang's CUDA
#endif
"""
    unit = parse("k.cu", source, Options(cuda_path=str(TOOLKIT), own_headers=False))
    assert [error.message for error in unit.errors] == []


def test_the_models_of_builtins_are_valid_ptx(tmp_path: Path) -> None:
    text = header_text(COMPILER_BUILTINS)
    inline = "static __inline__ __attribute__((device, always_inline, used))"
    assert inline in text
    source = tmp_path / "models.cu"
    source.write_text(text.replace(inline, 'extern "C" __device__ __noinline__').replace("#pragma once", ""))
    command = [str(NVCC), "-arch=sm_90a", "-rdc=true", "-cubin", "-o", str(tmp_path / "models.cubin"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
