// Experts in one kernel, fp8 and fp4.
// arch: sm_100a
// grid: 4
// cluster: 2
// set: num_tokens=64
#include <deep_gemm/impls/sm100_fp8_fp4_mega_moe.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&sm100_fp8_fp4_mega_moe_impl<
    128, 512, 512, 8, 0, 2, 32, 128, 128, 16, 16, 128, 128, MmaKind::MXFP8FP4, 1024, 1024, 4, 512, 128, 128, 256, 4, 1,
    10.0f, 1.0f, false, true, false, false, false, false, false, cutlass::detail::float_e2m1_unpacksmem_t>);
