// Scale factors are transposed.
// arch: sm_100a
// block: 512
// grid: 4
// set: mn=256
#include <deep_gemm/impls/smxx_layout.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&transpose_fp32<
    512, 64, 4, 16>);
