// Hyper-connections in one kernel, fp8 out.
// arch: sm_100a
// grid: 4
#include <deep_gemm/impls/sm100_mega_mhc.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&sm100_mega_mhc_impl<
    1024, 2, 4, false, false, true, 0>);
