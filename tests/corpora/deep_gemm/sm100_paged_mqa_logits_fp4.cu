// The same with pages of keys, fp4.
// arch: sm_100a
// grid: 2
// set: num_q_tokens_total=16
#include <deep_gemm/impls/sm100_mqa_logits.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&sm100_paged_mqa_logits<
    64, 128, 64, 2, 128, 3, 10, 2, 256, 4, 128, 256, cutlass::float_e2m1_t>);
