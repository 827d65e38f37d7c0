// Rows grouped by prefix sums.
// arch: sm_100a
// grid: 4
// cluster: 1
// set: shape_m=512
// set: shape_n=512
// set: shape_k=512
#include <deep_gemm/impls/sm100_bf16_gemm.cuh>

using namespace deep_gemm;
using cute::UMMA::Major;

void* const instance = reinterpret_cast<void*>(&sm100_bf16_gemm_impl<
    Major::K, Major::K, 0, 0, 0, 128, 128, 64, 2, 128, 128, 128, 6, 128, 128,
    1, false, 4, 128, true, false, GemmType::MGroupedContiguousWithPsumLayout, false, cutlass::bfloat16_t, epilogue::operators::Identity, 100>);
