// tf32 product with the sum of squares.
// arch: sm_100a
// grid: 2
// set: shape_m=128
#include <deep_gemm/impls/sm100_tf32_hc_prenorm_gemm.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&sm100_tf32_hc_prenorm_gemm_impl<
    24, 1024, 64, 32, 64, 1, 128, 6, 128, 128>);
