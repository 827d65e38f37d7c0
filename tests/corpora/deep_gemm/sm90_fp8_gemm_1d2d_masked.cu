// Rows grouped with a mask.
// arch: sm_90a
// grid: 4
// cluster: 1
// set: shape_m=512
// set: shape_n=512
// set: shape_k=512
#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>

using namespace deep_gemm;
using cute::UMMA::Major;

void* const instance = reinterpret_cast<void*>(&sm90_fp8_gemm_1d2d_impl<
    Major::K, 0, 0, 0, 2, 128, 128, 128, 128, 128, 128, 4, 128, 256, 1, false, 4,
    GemmType::MGroupedMasked, cutlass::bfloat16_t, 128>);
