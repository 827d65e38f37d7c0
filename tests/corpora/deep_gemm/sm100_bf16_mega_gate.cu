// Routing of tokens to experts.
// arch: sm_100a
// grid: 4
// cluster: 1
// set: num_tokens=128
// set: block_tokens=64
// set: num_stages=4
// set: num_worker_groups=2
// set: num_token_blocks=2
#include <deep_gemm/impls/sm100_bf16_mega_gate.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&sm100_bf16_mega_gate_impl<
    1024, 256, 128, 1, 1, 2, 8, false, true, false, false, false, false, false, false>);
