// Loads from and stores to tensor memory by shape, and copies into it.
#pragma once
#include <cute/arch/util.hpp>

namespace cute {

#include <bw/tmem_atoms.h>  // made by the frontend for the shapes that the source names

namespace SM100::TMEM::UTCCP {
#define BW_CP(name, shape, group)                                                                                        \
    struct SM100_UTCCP_##name##_##group##cta {                                                                           \
        using SRegisters = uint64_t[1];                                                                                  \
        using DRegisters = uint32_t[1];                                                                                  \
        static __device__ void copy(const uint64_t &from, const uint32_t &to)                                            \
        {                                                                                                                \
            asm volatile("tcgen05.cp.cta_group::" #group "." shape " [%0], %1;" ::"r"(to), "l"(from) : "memory");        \
        }                                                                                                                \
    };
#define BW_CPS(name, shape) BW_CP(name, shape, 1) BW_CP(name, shape, 2)
BW_CPS(128dp256bit, "128x256b")
BW_CPS(128dp128bit, "128x128b")
BW_CPS(4dp256bit, "4x256b")
BW_CPS(4x32dp128bit, "32x128b.warpx4")
BW_CPS(2x64dp128bitlw0213, "64x128b.warpx2::02_13")
BW_CPS(2x64dp128bitlw0123, "64x128b.warpx2::01_23")
#undef BW_CPS
#undef BW_CP
}  // namespace SM100::TMEM::UTCCP

using namespace SM100::TMEM::LOAD;
using namespace SM100::TMEM::STORE;
using namespace SM100::TMEM::UTCCP;

}  // namespace cute
