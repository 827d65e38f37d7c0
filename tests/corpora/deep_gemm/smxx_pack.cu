// Scale factors of groups are packed.
// arch: sm_100a
// block: 128
// grid: 4
// set: mn=256
// set: sf_k=16
// set: packed_sf_k=4
// set: gran_k=128
// set: k_alignment=128
#include <deep_gemm/impls/smxx_layout.cuh>

using namespace deep_gemm;

void* const instance = reinterpret_cast<void*>(&pack_fp32_into_ue8m0<
    2, 128, 48, 4>);
