// cuda::ptx: bulk and tensor copies, reductions, async stores, group commits and waits, prefetches.
#pragma once
#include <bw/ptx_tags.h>

namespace cuda {
namespace ptx {

// ---- bulk copies ----
BW_DEV void cp_async_bulk(space_cluster_t, space_global_t, void *dst, const void *src, uint32_t size, uint64_t *bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(__bw_smem(dst)), "l"(__bw_gmem(src)), "r"(size), "r"(__bw_smem(bar)) : "memory");
}
BW_DEV void cp_async_bulk(space_shared_t, space_global_t, void *dst, const void *src, uint32_t size, uint64_t *bar)
{
    asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(__bw_smem(dst)), "l"(__bw_gmem(src)), "r"(size), "r"(__bw_smem(bar)) : "memory");
}
BW_DEV void cp_async_bulk(space_cluster_t, space_shared_t, void *dst, const void *src, uint32_t size, uint64_t *bar)
{
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(__bw_smem(dst)), "r"(__bw_smem(src)), "r"(size), "r"(__bw_smem(bar)) : "memory");
}
BW_DEV void cp_async_bulk(space_cluster_t, space_global_t, void *dst, const void *src, uint32_t size, uint64_t *bar, uint16_t ctas)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                 ::"r"(__bw_smem(dst)), "l"(__bw_gmem(src)), "r"(size), "r"(__bw_smem(bar)), "h"(ctas) : "memory");
}
BW_DEV void cp_async_bulk(space_global_t, space_shared_t, void *dst, const void *src, uint32_t size)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(__bw_gmem(dst)), "r"(__bw_smem(src)), "r"(size) : "memory");
}
BW_DEV void cp_async_bulk_cp_mask(space_global_t, space_shared_t, void *dst, const void *src, uint32_t size, uint16_t bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%0], [%1], %2, %3;"
                 ::"l"(__bw_gmem(dst)), "r"(__bw_smem(src)), "r"(size), "h"(bytes) : "memory");
}
BW_DEV void cp_async_bulk_prefetch(const void *src, uint32_t size, uint64_t policy = 0x10F0000000000000)
{
    asm volatile("cp.async.bulk.prefetch.L2.global.L2::cache_hint [%0], %1, %2;" ::"l"(__bw_gmem(src)), "r"(size), "l"(policy) : "memory");
}

// ---- bulk groups ----
BW_DEV void cp_async_bulk_commit_group() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int n = 0> BW_DEV void cp_async_bulk_wait_group(n32_t<n> = {}) { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory"); }
template <int n = 0> BW_DEV void cp_async_bulk_wait_group_read(n32_t<n> = {}) { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory"); }

// ---- non-bulk cp.async completion ----
BW_DEV void cp_async_mbarrier_arrive(uint64_t *bar) { asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(__bw_smem(bar)) : "memory"); }
BW_DEV void cp_async_mbarrier_arrive_noinc(uint64_t *bar)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(__bw_smem(bar)) : "memory");
}

// ---- tensor copies: coordinates are operands from %5 on ----

// rank, the list of coordinate placeholders, the list of coordinate operands
#define BW_TENSOR(rank, list, ...)                                                                                       \
    BW_TENSOR_LOAD(rank, list, space_cluster_t, "shared::cluster", __VA_ARGS__)                                           \
    BW_TENSOR_LOAD(rank, list, space_shared_t, "shared::cta", __VA_ARGS__)                                                \
    BW_DEV void cp_async_bulk_tensor(space_cluster_t, space_global_t, void *dst, const void *map, const int32_t (&at)[rank], \
                                     uint64_t *bar, uint16_t ctas)                                                       \
    {                                                                                                                    \
        asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"           \
                     ".multicast::cluster [%0], [%1, " list "], [%2], %3;"                                               \
                     ::"r"(__bw_smem(dst)), "l"(map), "r"(__bw_smem(bar)), "h"(ctas), "n"(0), __VA_ARGS__ : "memory");    \
    }                                                                                                                    \
    template <dot_cta_group g>                                                                                           \
    BW_DEV void cp_async_bulk_tensor(space_cluster_t, space_global_t, cta_group_t<g>, void *dst, const void *map,         \
                                     const int32_t (&at)[rank], uint64_t *bar, uint16_t ctas)                            \
    {                                                                                                                    \
        asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"           \
                     ".multicast::cluster.cta_group::%4 [%0], [%1, " list "], [%2], %3;"                                 \
                     ::"r"(__bw_smem(dst)), "l"(map), "r"(__bw_smem(bar)), "h"(ctas), "n"((int)g + 1), __VA_ARGS__ : "memory"); \
    }                                                                                                                    \
    BW_DEV void cp_async_bulk_tensor(space_global_t, space_shared_t, const void *map, const int32_t (&at)[rank], const void *src) \
    {                                                                                                                    \
        asm volatile("cp.async.bulk.tensor." #rank "d.global.shared::cta.tile.bulk_group [%0, " list "], [%1];"           \
                     ::"l"(map), "r"(__bw_smem(src)), "n"(0), "n"(0), "n"(0), __VA_ARGS__ : "memory");                    \
    }                                                                                                                    \
    BW_TENSOR_REDUCTIONS(rank, list, __VA_ARGS__)                                                                        \
    BW_DEV void cp_async_bulk_prefetch_tensor(space_global_t, const void *map, const int32_t (&at)[rank],                \
                                              uint64_t policy = 0x10F0000000000000)                                      \
    {                                                                                                                    \
        asm volatile("cp.async.bulk.prefetch.tensor." #rank "d.L2.global.tile.L2::cache_hint [%0, " list "], %1;"         \
                     ::"l"(map), "l"(policy), "n"(0), "n"(0), "n"(0), __VA_ARGS__ : "memory");                            \
    }
#define BW_TENSOR_LOAD(rank, list, space, spelling, ...)                                                                  \
    BW_DEV void cp_async_bulk_tensor(space, space_global_t, void *dst, const void *map, const int32_t (&at)[rank], uint64_t *bar) \
    {                                                                                                                    \
        asm volatile("cp.async.bulk.tensor." #rank "d." spelling ".global.tile.mbarrier::complete_tx::bytes"              \
                     " [%0], [%1, " list "], [%2];"                                                                      \
                     ::"r"(__bw_smem(dst)), "l"(map), "r"(__bw_smem(bar)), "n"(0), "n"(0), __VA_ARGS__ : "memory");       \
    }                                                                                                                    \
    template <dot_cta_group g>                                                                                           \
    BW_DEV void cp_async_bulk_tensor(space, space_global_t, cta_group_t<g>, void *dst, const void *map,                   \
                                     const int32_t (&at)[rank], uint64_t *bar)                                           \
    {                                                                                                                    \
        asm volatile("cp.async.bulk.tensor." #rank "d." spelling ".global.tile.mbarrier::complete_tx::bytes"              \
                     ".cta_group::%4 [%0], [%1, " list "], [%2];"                                                        \
                     ::"r"(__bw_smem(dst)), "l"(map), "r"(__bw_smem(bar)), "n"(0), "n"((int)g + 1), __VA_ARGS__ : "memory"); \
    }
#ifdef BW_PTX_REDUCE
#define BW_TENSOR_REDUCTIONS(rank, list, ...)                                          \
    BW_TENSOR_REDUCE(rank, list, add, "add", __VA_ARGS__) BW_TENSOR_REDUCE(rank, list, min, "min", __VA_ARGS__)           \
    BW_TENSOR_REDUCE(rank, list, max, "max", __VA_ARGS__) BW_TENSOR_REDUCE(rank, list, inc, "inc", __VA_ARGS__)           \
    BW_TENSOR_REDUCE(rank, list, dec, "dec", __VA_ARGS__) BW_TENSOR_REDUCE(rank, list, and_op, "and", __VA_ARGS__)        \
    BW_TENSOR_REDUCE(rank, list, or_op, "or", __VA_ARGS__) BW_TENSOR_REDUCE(rank, list, xor_op, "xor", __VA_ARGS__)
#else
#define BW_TENSOR_REDUCTIONS(rank, list, ...)
#endif
#define BW_TENSOR_REDUCE(rank, list, op, spelling, ...)                                                                   \
    BW_DEV void cp_reduce_async_bulk_tensor(space_global_t, space_shared_t, op_##op##_t, const void *map,                \
                                            const int32_t (&at)[rank], const void *src)                                  \
    {                                                                                                                    \
        asm volatile("cp.reduce.async.bulk.tensor." #rank "d.global.shared::cta." spelling ".tile.bulk_group"             \
                     " [%0, " list "], [%1];"                                                                            \
                     ::"l"(map), "r"(__bw_smem(src)), "n"(0), "n"(0), "n"(0), __VA_ARGS__ : "memory");                    \
    }
BW_TENSOR(1, "{%5}", "r"(at[0]))
BW_TENSOR(2, "{%5, %6}", "r"(at[0]), "r"(at[1]))
BW_TENSOR(3, "{%5, %6, %7}", "r"(at[0]), "r"(at[1]), "r"(at[2]))
BW_TENSOR(4, "{%5, %6, %7, %8}", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]))
BW_TENSOR(5, "{%5, %6, %7, %8, %9}", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]))
#undef BW_TENSOR
#undef BW_TENSOR_LOAD
#undef BW_TENSOR_REDUCE
#undef BW_TENSOR_REDUCTIONS

// gather4 and scatter4: one column coordinate and four rows
#define BW_AT5 "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])
BW_DEV void cp_async_bulk_tensor_tile_gather4(space_shared_t, space_global_t, void *dst, const void *map, const int32_t (&at)[5], uint64_t *bar)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, %7}], [%2];"
                 ::"r"(__bw_smem(dst)), "l"(map), "r"(__bw_smem(bar)), BW_AT5 : "memory");
}
template <dot_cta_group g>
BW_DEV void cp_async_bulk_tensor_tile_gather4(space_shared_t, space_global_t, cta_group_t<g>, void *dst, const void *map, const int32_t (&at)[5], uint64_t *bar)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes.cta_group::%8 [%0], [%1, {%3, %4, %5, %6, %7}], [%2];"
                 ::"r"(__bw_smem(dst)), "l"(map), "r"(__bw_smem(bar)), BW_AT5, "n"((int)g + 1) : "memory");
}
BW_DEV void cp_async_bulk_tensor_tile_gather4(space_cluster_t, space_global_t, void *dst, const void *map, const int32_t (&at)[5], uint64_t *bar, uint16_t ctas)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;"
                 ::"r"(__bw_smem(dst)), "l"(map), "r"(__bw_smem(bar)), BW_AT5, "h"(ctas) : "memory");
}
BW_DEV void cp_async_bulk_tensor_tile_scatter4(space_global_t, space_shared_t, const void *map, const int32_t (&at)[5], const void *src)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];"
                 ::"l"(map), "r"(__bw_smem(src)), BW_AT5 : "memory");
}
#undef BW_AT5

#ifdef BW_PTX_REDUCE
// ---- bulk reductions ----
#define BW_REDUCE_GLOBAL(op, spelling, T)                                                                                \
    BW_DEV void cp_reduce_async_bulk(space_global_t, space_shared_t, op_##op##_t, T *dst, const T *src, uint32_t size)    \
    {                                                                                                                    \
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." spelling " [%0], [%1], %2;"                    \
                     ::"l"(__bw_gmem(dst)), "r"(__bw_smem(src)), "r"(size) : "memory");                                   \
    }
#define BW_REDUCE_CLUSTER(op, spelling, T)                                                                               \
    BW_DEV void cp_reduce_async_bulk(space_cluster_t, space_shared_t, op_##op##_t, T *dst, const T *src, uint32_t size, uint64_t *bar) \
    {                                                                                                                    \
        asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." spelling            \
                     " [%0], [%1], %2, [%3];"                                                                            \
                     ::"r"(__bw_smem(dst)), "r"(__bw_smem(src)), "r"(size), "r"(__bw_smem(bar)) : "memory");              \
    }
#define BW_REDUCE_INT(T, t) BW_REDUCE_GLOBAL(add, "add." t, T) BW_REDUCE_GLOBAL(min, "min." t, T) BW_REDUCE_GLOBAL(max, "max." t, T)
BW_REDUCE_INT(uint32_t, "u32") BW_REDUCE_INT(int32_t, "s32") BW_REDUCE_INT(uint64_t, "u64")
BW_REDUCE_GLOBAL(add, "add.u64", int64_t) BW_REDUCE_GLOBAL(min, "min.s64", int64_t) BW_REDUCE_GLOBAL(max, "max.s64", int64_t)
BW_REDUCE_GLOBAL(inc, "inc.u32", uint32_t) BW_REDUCE_GLOBAL(dec, "dec.u32", uint32_t)
BW_REDUCE_GLOBAL(and_op, "and.b32", uint32_t) BW_REDUCE_GLOBAL(or_op, "or.b32", uint32_t) BW_REDUCE_GLOBAL(xor_op, "xor.b32", uint32_t)
BW_REDUCE_GLOBAL(add, "add.f32", float) BW_REDUCE_GLOBAL(add, "add.f64", double)
BW_REDUCE_CLUSTER(add, "add.u32", uint32_t) BW_REDUCE_CLUSTER(min, "min.u32", uint32_t) BW_REDUCE_CLUSTER(max, "max.u32", uint32_t)
BW_REDUCE_CLUSTER(inc, "inc.u32", uint32_t) BW_REDUCE_CLUSTER(dec, "dec.u32", uint32_t)
BW_REDUCE_CLUSTER(and_op, "and.b32", uint32_t) BW_REDUCE_CLUSTER(or_op, "or.b32", uint32_t) BW_REDUCE_CLUSTER(xor_op, "xor.b32", uint32_t)
BW_REDUCE_CLUSTER(add, "add.s32", int32_t) BW_REDUCE_CLUSTER(min, "min.s32", int32_t) BW_REDUCE_CLUSTER(max, "max.s32", int32_t)
BW_REDUCE_CLUSTER(add, "add.u64", uint64_t) BW_REDUCE_CLUSTER(add, "add.u64", int64_t)
#undef BW_REDUCE_INT
#endif

// ---- async stores and reductions into another CTA ----
#define BW_RED_ASYNC(op, spelling, T, c)                                                                                  \
    BW_DEV void red_async(op_##op##_t, T *dst, T v, uint64_t *bar)                                                        \
    {                                                                                                                    \
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." spelling " [%0], %1, [%2];" \
                     ::"r"(__bw_smem(dst)), c(v), "r"(__bw_smem(bar)) : "memory");                                        \
    }
BW_RED_ASYNC(inc, "inc.u32", uint32_t, "r") BW_RED_ASYNC(dec, "dec.u32", uint32_t, "r") BW_RED_ASYNC(add, "add.u32", uint32_t, "r")
BW_RED_ASYNC(min, "min.u32", uint32_t, "r") BW_RED_ASYNC(max, "max.u32", uint32_t, "r") BW_RED_ASYNC(and_op, "and.b32", uint32_t, "r")
BW_RED_ASYNC(or_op, "or.b32", uint32_t, "r") BW_RED_ASYNC(xor_op, "xor.b32", uint32_t, "r") BW_RED_ASYNC(add, "add.s32", int32_t, "r")
BW_RED_ASYNC(min, "min.s32", int32_t, "r") BW_RED_ASYNC(max, "max.s32", int32_t, "r") BW_RED_ASYNC(add, "add.u64", uint64_t, "l")
#undef BW_RED_ASYNC
#define BW_BITS(T, v) reinterpret_cast<const T &>(v)
template <class T> BW_DEV void st_async(T *dst, const T &v, uint64_t *bar)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    if constexpr (sizeof(T) == 4)
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                     ::"r"(__bw_smem(dst)), "r"(BW_BITS(uint32_t, v)), "r"(__bw_smem(bar)) : "memory");
    else
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];"
                     ::"r"(__bw_smem(dst)), "l"(BW_BITS(uint64_t, v)), "r"(__bw_smem(bar)) : "memory");
}
template <class T> BW_DEV void st_async(T *dst, const T (&v)[2], uint64_t *bar)
{
    if constexpr (sizeof(T) == 4)
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];"
                     ::"r"(__bw_smem(dst)), "r"(BW_BITS(uint32_t, v[0])), "r"(BW_BITS(uint32_t, v[1])), "r"(__bw_smem(bar)) : "memory");
    else
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];"
                     ::"r"(__bw_smem(dst)), "l"(BW_BITS(uint64_t, v[0])), "l"(BW_BITS(uint64_t, v[1])), "r"(__bw_smem(bar)) : "memory");
}
template <class T> BW_DEV void st_async(T *dst, const T (&v)[4], uint64_t *bar)
{
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];"
                 ::"r"(__bw_smem(dst)), "r"(BW_BITS(uint32_t, v[0])), "r"(BW_BITS(uint32_t, v[1])), "r"(BW_BITS(uint32_t, v[2])),
                 "r"(BW_BITS(uint32_t, v[3])), "r"(__bw_smem(bar)) : "memory");
}
#undef BW_BITS
template <int n = 0> BW_DEV void st_bulk(void *dst, uint64_t size, n32_t<n> = {})
{
    asm volatile("st.bulk.weak.shared::cta [%0], %1, %2;" ::"r"(__bw_smem(dst)), "l"(size), "n"(n) : "memory");
}

// ---- matrices ----
template <class T> BW_DEV void ldmatrix_m8n8(space_shared_t, uint32_t (&v)[1], const T *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v[0]) : "r"(__bw_smem(p)) : "memory");
}
template <class T> BW_DEV void ldmatrix_m8n8(space_shared_t, uint32_t (&v)[2], const T *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(__bw_smem(p)) : "memory");
}
template <class T> BW_DEV void ldmatrix_m8n8(space_shared_t, uint32_t (&v)[4], const T *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(__bw_smem(p)) : "memory");
}
template <class T> BW_DEV void stmatrix_m8n8(T *p, const uint32_t (&v)[1])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(__bw_smem(p)), "r"(v[0]) : "memory");
}
template <class T> BW_DEV void stmatrix_m8n8(T *p, const uint32_t (&v)[2])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(__bw_smem(p)), "r"(v[0]), "r"(v[1]) : "memory");
}
template <class T> BW_DEV void stmatrix_m8n8(T *p, const uint32_t (&v)[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 ::"r"(__bw_smem(p)), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
}

// ---- prefetch ----
BW_DEV void prefetch_L1(const void *p) { asm volatile("prefetch.global.L1 [%0];" ::"l"(__bw_gmem(p)) : "memory"); }
BW_DEV void prefetch_L2(const void *p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(__bw_gmem(p)) : "memory"); }
BW_DEV void prefetch_tensormap(const void *p) { asm volatile("prefetch.tensormap [%0];" ::"l"(p) : "memory"); }

}  // namespace ptx
}  // namespace cuda
