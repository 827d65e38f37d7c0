// Logits of attention with one key for all heads.
// arch: sm_90a
// grid: 2
// set: seq_len=16
// set: seq_len_kv=1024
#include <deep_gemm/impls/sm90_fp8_mqa_logits.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&sm90_fp8_mqa_logits<
    64, 128, 4, 256, 3, 3, 2, 128, 512, float>);
