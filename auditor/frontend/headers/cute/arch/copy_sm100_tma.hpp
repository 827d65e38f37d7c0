// Tensor copies of a pair of CTAs: the bytes count at the barrier of the even one.
#pragma once
#include <cute/arch/copy_sm90_tma.hpp>

namespace cute {

constexpr uint32_t Sm100MmaPeerBitMask = 0xFEFFFFFF;  // clears the bit of a shared::cluster address that is set in odd CTAs
constexpr uint64_t Sm100MemDescDefault = 0x1000000000000000;

#define BW_LOAD(n)                                                                                                       \
    struct SM100_TMA_2SM_LOAD_##n##D {                                                                                   \
        static __device__ void copy(const void *map, uint64_t *bar, uint64_t hint, void *to, BW_C##n)                    \
        {                                                                                                                \
            asm volatile("cp.async.bulk.tensor." #n "d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes" \
                         ".L2::cache_hint [%0], [%1, {" BW_P##n "}], [%2], %4;"                                          \
                         ::BW_AT(to), "l"(map), "r"(cast_smem_ptr_to_uint(bar) & Sm100MmaPeerBitMask), "n"(0), "l"(hint), \
                         BW_V##n : "memory");                                                                            \
        }                                                                                                                \
    };                                                                                                                   \
    struct SM100_TMA_2SM_LOAD_MULTICAST_##n##D {                                                                         \
        static __device__ void copy(const void *map, uint64_t *bar, uint16_t ctas, uint64_t hint, void *to, BW_C##n)     \
        {                                                                                                                \
            asm volatile("cp.async.bulk.tensor." #n "d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes" \
                         ".multicast::cluster.L2::cache_hint [%0], [%1, {" BW_P##n "}], [%2], %3, %4;"                   \
                         ::BW_AT(to), "l"(map), "r"(cast_smem_ptr_to_uint(bar) & Sm100MmaPeerBitMask), "h"(ctas), "l"(hint), \
                         BW_V##n : "memory");                                                                            \
        }                                                                                                                \
    };
BW_TILED(BW_LOAD)
#undef BW_LOAD

#define BW_FORWARD(n) \
    static __device__ void copy(const void *map, uint64_t *bar, uint64_t hint, void *to, BW_C##n) { SM100_TMA_2SM_LOAD_##n##D::copy(map, bar, hint, to, BW_N##n); }
struct SM100_TMA_2SM_LOAD {
    BW_TILED(BW_FORWARD)
    using PREFETCH = SM90_TMA_LOAD::PREFETCH;
};
#undef BW_FORWARD
#define BW_FORWARD(n) \
    static __device__ void copy(const void *map, uint64_t *bar, uint16_t ctas, uint64_t hint, void *to, BW_C##n) { SM100_TMA_2SM_LOAD_MULTICAST_##n##D::copy(map, bar, ctas, hint, to, BW_N##n); }
struct SM100_TMA_2SM_LOAD_MULTICAST {
    BW_TILED(BW_FORWARD)
    using PREFETCH = SM90_TMA_LOAD::PREFETCH;
};
#undef BW_FORWARD

}  // namespace cute
