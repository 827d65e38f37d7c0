// Registers that a warpgroup takes from and returns to the CTA.
#pragma once
#include <cutlass/cutlass.h>

namespace cutlass {
namespace arch {
template <uint32_t n> __device__ void warpgroup_reg_alloc() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n)); }
template <uint32_t n> __device__ void warpgroup_reg_dealloc() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n)); }
}  // namespace arch
}  // namespace cutlass
