// A chain of loads that measures latencies.
// arch: sm_100a
// grid: 2
#include <deep_gemm/impls/sm100_locality_domain.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&locality_domain_probe_chase<
    64, 8, 4096>);
