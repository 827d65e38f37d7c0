// Rows grouped.
// arch: sm_100a
// grid: 4
// cluster: 2
// set: shape_m=512
// set: shape_n=512
// set: shape_k=512
#include <deep_gemm/impls/sm100_fp8_fp4_gemm_1d1d.cuh>

using namespace deep_gemm;
using cute::UMMA::Major;

void* const instance = reinterpret_cast<void*>(&sm100_fp8_fp4_gemm_1d1d_impl<
    Major::K, Major::K, 128, 128, 128, 0, 0, 0, 128, 128, 128, 2, 128, 128, 128, 6, 2, 128, 128,
    2, true, 4, true, true, GemmType::MGroupedContiguous, false, cutlass::float_e4m3_t, cutlass::float_e4m3_t, cutlass::bfloat16_t, epilogue::operators::Identity>);
