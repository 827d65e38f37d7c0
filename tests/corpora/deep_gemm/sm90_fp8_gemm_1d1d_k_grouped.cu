// K grouped: tensor maps are edited for each group.
// arch: sm_90a
// grid: 4
// cluster: 1
// set: shape_m=512
// set: shape_n=512
// set: shape_k=512
#include <deep_gemm/impls/sm90_fp8_gemm_1d1d.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&sm90_fp8_gemm_1d1d_impl<
    0, 0, 0, 2, 128, 128, 128, 128, 128, 4, 128, 256, 1, false, 4, GemmType::KGroupedContiguous, float>);
