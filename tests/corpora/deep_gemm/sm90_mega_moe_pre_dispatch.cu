// Tokens are quantised before they are sent to experts.
// arch: sm_90a
// block: 128
// grid: 8
// set: num_tokens=8
// set: padded_max=16
// set: hidden=1024
// set: num_groups=8
// set: top_k=2
#include <deep_gemm/impls/sm90_mega_moe_pre_dispatch.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&sm90_mega_moe_pre_dispatch_kernel<
    128, true>);
