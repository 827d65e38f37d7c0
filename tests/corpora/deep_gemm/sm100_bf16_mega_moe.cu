// Experts in one kernel: dispatch, two products, combine.
// arch: sm_100a
// grid: 4
// cluster: 2
// set: num_tokens=64
#include <deep_gemm/impls/sm100_bf16_mega_moe.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&sm100_bf16_mega_moe_impl<
    128, 512, 512, 8, 0, 2, 32, 128, 64, 16, 1024, 4, 1024, 128, 128, 256, 4, 1, 10.0f, true>);
