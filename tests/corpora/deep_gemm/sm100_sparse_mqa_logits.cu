// Logits for chosen blocks of keys.
// arch: sm_100a
// grid: 2
// set: num_kv_tokens=1024
#include <deep_gemm/impls/sm100_sparse_mqa_logits.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&sm100_sparse_mqa_logits<
    32, 16, 2, 2, 4, 4, 2, 2, false, false>);
