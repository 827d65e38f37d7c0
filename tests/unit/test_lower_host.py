"""Generated host code: launches, tensor maps, and what is not run."""

from __future__ import annotations

from auditor.values import OPAQUE, Ref
from tests.unit.fake_strand import FakeHost, program_of


def run_host(source: str) -> FakeHost:
    program = program_of("#include <cuda.h>\n#include <cuda_runtime.h>\n#include <vector>\n" + source)
    assert [n for n in program.notes if n.kind == "unanalysed"] == []
    host = FakeHost(program)
    host.run(program.host_entries[0])
    return host


def test_launch_shapes_and_arguments() -> None:
    host = run_host(
        """
template <int N> __global__ void k(int *p, int n, float f) {}
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
template <int N> void go(int n)
{
  dim3 grid(ceil_div(n, N), 2);
  k<N><<<grid, N, N * sizeof(float)>>>(nullptr, n - 1, 0.5f);
}
int main(int argc, char **argv) { int n = argc > 1 ? 7 : 1000; go<128>(n); k<32><<<3, dim3(8, 4)>>>(nullptr, 1, 2.f); }
"""
    )
    names = {k.entry: k.display for k in host.program.kernels}
    assert [(names[e], g, b, s, a) for e, g, b, s, a in host.launches] == [
        ("k<128>", (8, 2, 1), (128, 1, 1), 512, (0, 999, 0.5)),
        ("k<32>", (3, 1, 1), (8, 4, 1), 0, (0, 1, 2.0)),
    ]


def test_tensor_map_through_a_function_pointer() -> None:
    host = run_host(
        """
__global__ void k(const __grid_constant__ CUtensorMap m) {}
static CUtensorMap encode(void *base, uint64_t rows, uint32_t box_rows) {
  void *fn = nullptr; cudaDriverEntryPointQueryResult q;
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &fn, cudaEnableDefault, &q);
  cuuint64_t dims[2], strides[1] = {128}; cuuint32_t box[2] = {64, box_rows}, step[2] = {1, 1};
  for (int i = 0; i < 2; ++i) dims[i] = i ? rows : 64;
  CUtensorMap m;
  ((PFN_cuTensorMapEncodeTiled_v12000)fn)(&m, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, base, dims, strides, box, step,
    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return m;
}
int main() {
  float *d; cudaMalloc(&d, 4096);
  std::vector<float> host(1024); for (size_t i = 0; i < host.size(); ++i) host[i] = i;
  cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 70000);
  k<<<1, 32, 70000>>>(encode(d, 256, 32));
}
"""
    )
    calls = dict(host.api_calls)
    args = calls["cuTensorMapEncodeTiled"]
    assert args[1:3] == (9, 2) and args[9] == 3
    target, dims, box = args[0], args[4], args[6]
    assert isinstance(target, Ref) and target.box[target.key] == [OPAQUE]
    assert dims.box == [64, 256] and box.box == [64, 32]
    entry = host.program.kernels[0].entry
    assert calls["cudaFuncSetAttribute"] == (entry, 8, 70000)
    assert host.launches == [(entry, (1, 1, 1), (32, 1, 1), 70000, ([OPAQUE],))]


def test_loops_without_launches_are_not_run() -> None:
    host = run_host(
        """
__global__ void k(long a, long b) {}
int main() {
  long sum = 0, other = 5;
  std::vector<int> v(1 << 20);
  for (size_t i = 0; i < v.size(); ++i) { v[i] = i; sum += v[i]; }
  for (int rep = 0; rep < 2; ++rep) k<<<1, 1>>>(sum, other + rep);
}
"""
    )
    assert [a for *_, a in host.launches] == [(OPAQUE, 5), (OPAQUE, 6)]


def test_launch_with_attributes() -> None:
    host = run_host(
        """
__global__ void k(int a) {}
int main() {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(4); config.blockDim = 64; config.dynamicSmemBytes = 1024;
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = 2; attribute[0].val.clusterDim.y = 1; attribute[0].val.clusterDim.z = 1;
  config.attrs = attribute; config.numAttrs = 1;
  cudaLaunchKernelEx(&config, k, 3);
}
"""
    )
    (config, kernel, argument) = dict(host.api_calls)["cudaLaunchKernelEx"]
    fields = config.box[config.key]
    assert fields[0] == [4, 1, 1] and fields[1] == [64, 1, 1] and fields[2] == 1024
    assert kernel == host.program.kernels[0].entry and argument == 3
    assert fields[4].box[0][0] == 4
