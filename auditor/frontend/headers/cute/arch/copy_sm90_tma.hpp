// Tensor and bulk copies of sm_90: a class for each kind and rank, whose copy() is one instruction.
#pragma once
#include <cute/arch/copy_sm90_desc.hpp>

namespace cute {

// Operands: %0 and %1 the two ends, %2 the mbarrier, %3 a CTA mask, %4 the cache hint, coordinates from %5 on.
#define BW_AT(p) "r"(cast_smem_ptr_to_uint(p))
#define BW_ALL(...) __VA_ARGS__
#define BW_C1 const int32_t &c0
#define BW_C2 BW_C1, const int32_t &c1
#define BW_C3 BW_C2, const int32_t &c2
#define BW_C4 BW_C3, const int32_t &c3
#define BW_C5 BW_C4, const int32_t &c4
#define BW_V1 "r"(c0)
#define BW_V2 BW_V1, "r"(c1)
#define BW_V3 BW_V2, "r"(c2)
#define BW_V4 BW_V3, "r"(c3)
#define BW_V5 BW_V4, "r"(c4)
#define BW_P1 "%5"
#define BW_P2 BW_P1 ", %6"
#define BW_P3 BW_P2 ", %7"
#define BW_P4 BW_P3 ", %8"
#define BW_P5 BW_P4 ", %9"
#define BW_N1 c0
#define BW_N2 c0, c1
#define BW_N3 c0, c1, c2
#define BW_N4 c0, c1, c2, c3
#define BW_N5 c0, c1, c2, c3, c4
// im2col: the offsets of the filter follow the coordinates.
#define BW_O3 BW_C3, const uint16_t &o0
#define BW_O4 BW_C4, const uint16_t &o0, const uint16_t &o1
#define BW_O5 BW_C5, const uint16_t &o0, const uint16_t &o1, const uint16_t &o2
#define BW_OV3 BW_V3, "h"(o0)
#define BW_OV4 BW_V4, "h"(o0), "h"(o1)
#define BW_OV5 BW_V5, "h"(o0), "h"(o1), "h"(o2)
#define BW_OP3 "{%8}"
#define BW_OP4 "{%9, %10}"
#define BW_OP5 "{%10, %11, %12}"
#define BW_ON3 BW_N3, o0
#define BW_ON4 BW_N4, o0, o1
#define BW_ON5 BW_N5, o0, o1, o2
#define BW_TILED(X) X(1) X(2) X(3) X(4) X(5)
#define BW_IM2COL(X) X(3) X(4) X(5)

#define BW_LOAD(n)                                                                                                       \
    struct SM90_TMA_LOAD_##n##D {                                                                                        \
        static __device__ void copy(const void *map, uint64_t *bar, uint64_t hint, void *to, BW_C##n)                    \
        {                                                                                                                \
            asm volatile("cp.async.bulk.tensor." #n "d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint" \
                         " [%0], [%1, {" BW_P##n "}], [%2], %4;"                                                         \
                         ::BW_AT(to), "l"(map), BW_AT(bar), "n"(0), "l"(hint), BW_V##n : "memory");                      \
        }                                                                                                                \
        struct PREFETCH {                                                                                                \
            static __device__ void copy(const void *map, BW_C##n)                                                        \
            {                                                                                                            \
                asm volatile("cp.async.bulk.prefetch.tensor." #n "d.L2.global [%1, {" BW_P##n "}];"                      \
                             ::"n"(0), "l"(map), "n"(0), "n"(0), "n"(0), BW_V##n : "memory");                            \
            }                                                                                                            \
        };                                                                                                               \
    };                                                                                                                   \
    struct SM90_TMA_LOAD_MULTICAST_##n##D {                                                                              \
        static __device__ void copy(const void *map, uint64_t *bar, uint16_t ctas, uint64_t hint, void *to, BW_C##n)     \
        {                                                                                                                \
            asm volatile("cp.async.bulk.tensor." #n "d.shared::cluster.global.mbarrier::complete_tx::bytes"              \
                         ".multicast::cluster.L2::cache_hint [%0], [%1, {" BW_P##n "}], [%2], %3, %4;"                   \
                         ::BW_AT(to), "l"(map), BW_AT(bar), "h"(ctas), "l"(hint), BW_V##n : "memory");                   \
        }                                                                                                                \
    };                                                                                                                   \
    struct SM90_TMA_STORE_##n##D {                                                                                       \
        static __device__ void copy(const void *map, const void *from, BW_C##n)                                          \
        {                                                                                                                \
            asm volatile("cp.async.bulk.tensor." #n "d.global.shared::cta.bulk_group [%1, {" BW_P##n "}], [%0];"         \
                         ::BW_AT(from), "l"(map), "n"(0), "n"(0), "n"(0), BW_V##n : "memory");                           \
        }                                                                                                                \
    };                                                                                                                   \
    struct SM90_TMA_REDUCE_ADD_##n##D {                                                                                  \
        static __device__ void copy(const void *map, const void *from, BW_C##n)                                          \
        {                                                                                                                \
            asm volatile("cp.reduce.async.bulk.tensor." #n "d.global.shared::cta.add.bulk_group [%1, {" BW_P##n "}], [%0];" \
                         ::BW_AT(from), "l"(map), "n"(0), "n"(0), "n"(0), BW_V##n : "memory");                           \
        }                                                                                                                \
    };
BW_TILED(BW_LOAD)
#undef BW_LOAD

#define BW_LOAD(n)                                                                                                       \
    struct SM90_TMA_LOAD_IM2COL_##n##D {                                                                                 \
        static __device__ void copy(const void *map, uint64_t *bar, void *to, BW_O##n)                                   \
        {                                                                                                                \
            asm volatile("cp.async.bulk.tensor." #n "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"       \
                         " [%0], [%1, {" BW_P##n "}], [%2], " BW_OP##n ";"                                               \
                         ::BW_AT(to), "l"(map), BW_AT(bar), "n"(0), "n"(0), BW_OV##n : "memory");                        \
        }                                                                                                                \
        struct PREFETCH {                                                                                                \
            static __device__ void copy(const void *map, BW_O##n)                                                        \
            {                                                                                                            \
                asm volatile("cp.async.bulk.prefetch.tensor." #n "d.L2.global.im2col [%1, {" BW_P##n "}], " BW_OP##n ";" \
                             ::"n"(0), "l"(map), "n"(0), "n"(0), "n"(0), BW_OV##n : "memory");                           \
            }                                                                                                            \
        };                                                                                                               \
    };                                                                                                                   \
    struct SM90_TMA_LOAD_IM2COL_MULTICAST_##n##D {                                                                       \
        static __device__ void copy(const void *map, uint64_t *bar, uint16_t ctas, void *to, BW_O##n)                    \
        {                                                                                                                \
            asm volatile("cp.async.bulk.tensor." #n "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"       \
                         ".multicast::cluster [%0], [%1, {" BW_P##n "}], [%2], " BW_OP##n ", %3;"                        \
                         ::BW_AT(to), "l"(map), BW_AT(bar), "h"(ctas), "n"(0), BW_OV##n : "memory");                     \
        }                                                                                                                \
    };                                                                                                                   \
    struct SM90_TMA_STORE_IM2COL_##n##D {                                                                                \
        static __device__ void copy(const void *map, const void *from, BW_C##n)                                          \
        {                                                                                                                \
            asm volatile("cp.async.bulk.tensor." #n "d.global.shared::cta.im2col_no_offs.bulk_group [%1, {" BW_P##n "}], [%0];" \
                         ::BW_AT(from), "l"(map), "n"(0), "n"(0), "n"(0), BW_V##n : "memory");                           \
        }                                                                                                                \
    };
BW_IM2COL(BW_LOAD)
#undef BW_LOAD

// The same without the rank in the name.
#define BW_FORWARD(n) \
    static __device__ void copy(const void *map, uint64_t *bar, uint64_t hint, void *to, BW_C##n) { SM90_TMA_LOAD_##n##D::copy(map, bar, hint, to, BW_N##n); }
#define BW_AHEAD(n) \
    static __device__ void copy(const void *map, BW_C##n) { SM90_TMA_LOAD_##n##D::PREFETCH::copy(map, BW_N##n); }
struct SM90_TMA_LOAD {
    BW_TILED(BW_FORWARD)
    struct PREFETCH {
        BW_TILED(BW_AHEAD)
    };
};
#undef BW_FORWARD
#undef BW_AHEAD
#define BW_FORWARD(n) \
    static __device__ void copy(const void *map, uint64_t *bar, uint16_t ctas, uint64_t hint, void *to, BW_C##n) { SM90_TMA_LOAD_MULTICAST_##n##D::copy(map, bar, ctas, hint, to, BW_N##n); }
struct SM90_TMA_LOAD_MULTICAST {
    BW_TILED(BW_FORWARD)
    using PREFETCH = SM90_TMA_LOAD::PREFETCH;
};
#undef BW_FORWARD
#define BW_FORWARD(n) \
    static __device__ void copy(const void *map, uint64_t *bar, void *to, BW_O##n) { SM90_TMA_LOAD_IM2COL_##n##D::copy(map, bar, to, BW_ON##n); }
#define BW_AHEAD(n) \
    static __device__ void copy(const void *map, BW_O##n) { SM90_TMA_LOAD_IM2COL_##n##D::PREFETCH::copy(map, BW_ON##n); }
struct SM90_TMA_LOAD_IM2COL {
    BW_IM2COL(BW_FORWARD)
    struct PREFETCH {
        BW_IM2COL(BW_AHEAD)
    };
};
#undef BW_FORWARD
#undef BW_AHEAD
#define BW_FORWARD(n) \
    static __device__ void copy(const void *map, uint64_t *bar, uint16_t ctas, void *to, BW_O##n) { SM90_TMA_LOAD_IM2COL_MULTICAST_##n##D::copy(map, bar, ctas, to, BW_ON##n); }
struct SM90_TMA_LOAD_IM2COL_MULTICAST {
    BW_IM2COL(BW_FORWARD)
    using PREFETCH = SM90_TMA_LOAD_IM2COL::PREFETCH;
};
#undef BW_FORWARD
#define BW_OUT(name, ranks)                                                                                              \
    struct name {                                                                                                        \
        ranks(BW_FORWARD)                                                                                                \
    };
#define BW_FORWARD(n) \
    static __device__ void copy(const void *map, const void *from, BW_C##n) { SM90_TMA_STORE_##n##D::copy(map, from, BW_N##n); }
BW_OUT(SM90_TMA_STORE, BW_TILED)
#undef BW_FORWARD
#define BW_FORWARD(n) \
    static __device__ void copy(const void *map, const void *from, BW_C##n) { SM90_TMA_STORE_IM2COL_##n##D::copy(map, from, BW_N##n); }
BW_OUT(SM90_TMA_STORE_IM2COL, BW_IM2COL)
#undef BW_FORWARD
#define BW_FORWARD(n) \
    static __device__ void copy(const void *map, const void *from, BW_C##n) { SM90_TMA_REDUCE_ADD_##n##D::copy(map, from, BW_N##n); }
BW_OUT(SM90_TMA_REDUCE_ADD, BW_TILED)
#undef BW_FORWARD
#undef BW_OUT

// ---- groups of stores ----
static BW_DEV void tma_store_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
static BW_DEV void tma_store_arrive() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
static BW_DEV void tma_desc_commit_group() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int n> static BW_DEV void tma_store_wait() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory"); }
static BW_DEV void tma_desc_wait_group() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

// ---- copies without a tensor map ----
struct SM90_BULK_COPY_G2S {
    static __device__ void copy(const void *from, uint64_t *bar, void *to, int32_t bytes)
    {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     ::BW_AT(to), "l"(from), "r"(bytes), BW_AT(bar) : "memory");
    }
    struct PREFETCH {
        static __device__ void copy(const void *from, int32_t bytes)
        {
            asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
        }
    };
};
struct SM90_BULK_COPY_S2G {
    static __device__ void copy(const void *from, void *to, int32_t bytes)
    {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), BW_AT(from), "r"(bytes) : "memory");
    }
};
struct SM90_BULK_COPY_AUTO {};

}  // namespace cute
