// Scale factors are transposed and packed.
// arch: sm_100a
// block: 512
// grid: 4
// set: mn=256
#include <deep_gemm/impls/smxx_layout.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&transpose_and_pack_fp32_into_ue8m0<
    512, 48, 8, 8>);
