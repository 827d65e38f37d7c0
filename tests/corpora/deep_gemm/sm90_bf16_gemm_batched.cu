// A batch of products.
// arch: sm_90a
// grid: 4
// cluster: 1
// set: shape_m=512
// set: shape_n=512
// set: shape_k=512
#include <deep_gemm/impls/sm90_bf16_gemm.cuh>

using namespace deep_gemm;
using cute::UMMA::Major;

void* const instance = reinterpret_cast<void*>(&sm90_bf16_gemm_impl<
    Major::K, Major::K, 0, 0, 0, 2, 128, 128, 64, 128, 128, 128, 4, 128, 256,
    1, false, 4, GemmType::Batched, false, cutlass::bfloat16_t>);
