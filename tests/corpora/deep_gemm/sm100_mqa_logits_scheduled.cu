// Logits of attention with one key for all heads, work dealt out by a table.
// arch: sm_100a
// grid: 2
// set: num_q_tokens=16
// set: num_kv_tokens=1024
#include <deep_gemm/impls/sm100_mqa_logits.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&sm100_mqa_logits<
    32, 128, true, 4, 256, 128, 3, 5, 2, 2, 128, 256, cutlass::float_e4m3_t>);
