// The same with pages of keys.
// arch: sm_90a
// grid: 2
// set: batch_size=8
#include <deep_gemm/impls/sm90_fp8_paged_mqa_logits.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&sm90_fp8_paged_mqa_logits<
    1, 64, 128, 64, false, false, 3, 3, 256, 128, 512, float>);
