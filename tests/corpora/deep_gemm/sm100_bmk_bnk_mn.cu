// Products of a batch added up, K split.
// arch: sm_100a
// grid: 4
// set: shape_s=8
#include <deep_gemm/impls/sm100_bmk_bnk_mn.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&sm100_bmn_bnk_mn_gemm_impl<
    256, 256, 256, 128, 128, 64, 4, 128, 128, 4, 128>);
