// Scale factors for 32 elements, 192 columns.
// arch: sm_100a
// grid: 4
// cluster: 1
// set: shape_m=512
// set: shape_n=512
// set: shape_k=512
#include <deep_gemm/impls/sm100_fp8_fp4_gemm_1d1d.cuh>

using namespace deep_gemm;
using cute::UMMA::Major;

void* const instance = reinterpret_cast<void*>(&sm100_fp8_fp4_gemm_1d1d_impl<
    Major::K, Major::K, 32, 32, 128, 0, 0, 0, 128, 192, 128, 1, 128, 128, 128, 4, 2, 128, 128,
    1, false, 4, false, false, GemmType::Normal, false, cutlass::float_e4m3_t, cutlass::float_e4m3_t, cutlass::bfloat16_t, epilogue::operators::Identity>);
