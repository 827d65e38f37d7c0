// cuda::ptx: mbarriers, fences, cluster barriers, registers, misc.
#pragma once
#include <bw/ptx_tags.h>

namespace cuda {
namespace ptx {

// ---- mbarrier ----
BW_DEV void mbarrier_init(uint64_t *bar, uint32_t count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(__bw_smem(bar)), "r"(count) : "memory");
}
BW_DEV void mbarrier_inval(uint64_t *bar) { asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(__bw_smem(bar)) : "memory"); }
BW_DEV uint64_t mbarrier_arrive(uint64_t *bar)
{
    uint64_t state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(__bw_smem(bar)) : "memory");
    return state;
}
BW_DEV uint64_t mbarrier_arrive(uint64_t *bar, uint32_t count)
{
    uint64_t state;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;" : "=l"(state) : "r"(__bw_smem(bar)), "r"(count) : "memory");
    return state;
}
BW_DEV uint64_t mbarrier_arrive_no_complete(uint64_t *bar, uint32_t count)
{
    uint64_t state;
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;" : "=l"(state) : "r"(__bw_smem(bar)), "r"(count) : "memory");
    return state;
}
BW_DEV uint32_t mbarrier_pending_count(uint64_t state)
{
    uint32_t n;
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(state));
    return n;
}

// An arrival on a barrier of this CTA returns its state; one on another CTA's barrier returns nothing.
#define BW_ARRIVE_LOCAL(function, op, sem, scope)                                                                \
    BW_DEV uint64_t function(sem_##sem##_t, scope_##scope##_t, space_shared_t, uint64_t *bar)                    \
    {                                                                                                            \
        uint64_t state;                                                                                          \
        asm volatile("mbarrier." op "." #sem "." #scope ".shared::cta.b64 %0, [%1];"                             \
                     : "=l"(state) : "r"(__bw_smem(bar)) : "memory");                                            \
        return state;                                                                                            \
    }                                                                                                            \
    BW_DEV uint64_t function(sem_##sem##_t, scope_##scope##_t, space_shared_t, uint64_t *bar, uint32_t count)    \
    {                                                                                                            \
        uint64_t state;                                                                                          \
        asm volatile("mbarrier." op "." #sem "." #scope ".shared::cta.b64 %0, [%1], %2;"                         \
                     : "=l"(state) : "r"(__bw_smem(bar)), "r"(count) : "memory");                                \
        return state;                                                                                            \
    }
#define BW_ARRIVE_REMOTE(function, op, sem)                                                                      \
    BW_DEV void function(sem_##sem##_t, scope_cluster_t, space_cluster_t, uint64_t *bar)                         \
    {                                                                                                            \
        asm volatile("mbarrier." op "." #sem ".cluster.shared::cluster.b64 _, [%0];" ::"r"(__bw_smem(bar)) : "memory"); \
    }                                                                                                            \
    BW_DEV void function(sem_##sem##_t, scope_cluster_t, space_cluster_t, uint64_t *bar, uint32_t count)         \
    {                                                                                                            \
        asm volatile("mbarrier." op "." #sem ".cluster.shared::cluster.b64 _, [%0], %1;"                         \
                     ::"r"(__bw_smem(bar)), "r"(count) : "memory");                                              \
    }
#define BW_ARRIVES(function, op)                        \
    BW_ARRIVE_LOCAL(function, op, release, cta)         \
    BW_ARRIVE_LOCAL(function, op, release, cluster)     \
    BW_ARRIVE_LOCAL(function, op, relaxed, cta)         \
    BW_ARRIVE_LOCAL(function, op, relaxed, cluster)     \
    BW_ARRIVE_REMOTE(function, op, release)             \
    BW_ARRIVE_REMOTE(function, op, relaxed)
BW_ARRIVES(mbarrier_arrive, "arrive")
BW_ARRIVES(mbarrier_arrive_drop, "arrive_drop")
#undef BW_ARRIVES
#undef BW_ARRIVE_LOCAL
#undef BW_ARRIVE_REMOTE

#define BW_EXPECT_LOCAL(sem, scope)                                                                              \
    BW_DEV uint64_t mbarrier_arrive_expect_tx(sem_##sem##_t, scope_##scope##_t, space_shared_t, uint64_t *bar, uint32_t tx) \
    {                                                                                                            \
        uint64_t state;                                                                                          \
        asm volatile("mbarrier.arrive.expect_tx." #sem "." #scope ".shared::cta.b64 %0, [%1], %2;"               \
                     : "=l"(state) : "r"(__bw_smem(bar)), "r"(tx) : "memory");                                   \
        return state;                                                                                            \
    }
#define BW_EXPECT_REMOTE(sem)                                                                                    \
    BW_DEV void mbarrier_arrive_expect_tx(sem_##sem##_t, scope_cluster_t, space_cluster_t, uint64_t *bar, uint32_t tx) \
    {                                                                                                            \
        asm volatile("mbarrier.arrive.expect_tx." #sem ".cluster.shared::cluster.b64 _, [%0], %1;"               \
                     ::"r"(__bw_smem(bar)), "r"(tx) : "memory");                                                 \
    }
BW_EXPECT_LOCAL(release, cta) BW_EXPECT_LOCAL(release, cluster) BW_EXPECT_LOCAL(relaxed, cta)
BW_EXPECT_LOCAL(relaxed, cluster) BW_EXPECT_REMOTE(release) BW_EXPECT_REMOTE(relaxed)
#undef BW_EXPECT_LOCAL
#undef BW_EXPECT_REMOTE

#define BW_TX(op, scope, space, spelling)                                                                        \
    BW_DEV void mbarrier_##op(sem_relaxed_t, scope_##scope##_t, space_##space##_t, uint64_t *bar, uint32_t tx)   \
    {                                                                                                            \
        asm volatile("mbarrier." #op ".relaxed." #scope "." spelling ".b64 [%0], %1;"                            \
                     ::"r"(__bw_smem(bar)), "r"(tx) : "memory");                                                 \
    }
#define BW_TX_ALL(op)                                                                          \
    BW_TX(op, cta, shared, "shared::cta") BW_TX(op, cluster, shared, "shared::cta")            \
    BW_TX(op, cta, cluster, "shared::cluster") BW_TX(op, cluster, cluster, "shared::cluster")
BW_TX_ALL(expect_tx)
BW_TX_ALL(complete_tx)
#undef BW_TX
#undef BW_TX_ALL

#define BW_POLL(instruction, operands, ...)                                                             \
    uint32_t done;                                                                                      \
    asm volatile("{ .reg .pred p; mbarrier." instruction ".b64 p, " operands "; selp.b32 %0, 1, 0, p; }" \
                 : "=r"(done) : "r"(__bw_smem(bar)), __VA_ARGS__ : "memory");                           \
    return done != 0;
// what: try_wait or test_wait, with a state or a parity. A hint is the time for which a try may sleep.
#define BW_WAITS(function, op, T)                                                                                         \
    BW_DEV bool function(uint64_t *bar, T v) { BW_POLL(op ".shared::cta", "[%1], %2", BW_IN(v)) }                         \
    BW_DEV bool function(sem_acquire_t, scope_cta_t, uint64_t *bar, T v) { BW_POLL(op ".acquire.cta.shared::cta", "[%1], %2", BW_IN(v)) } \
    BW_DEV bool function(sem_acquire_t, scope_cluster_t, uint64_t *bar, T v) { BW_POLL(op ".acquire.cluster.shared::cta", "[%1], %2", BW_IN(v)) } \
    BW_DEV bool function(sem_relaxed_t, scope_cta_t, uint64_t *bar, T v) { BW_POLL(op ".relaxed.cta.shared::cta", "[%1], %2", BW_IN(v)) } \
    BW_DEV bool function(sem_relaxed_t, scope_cluster_t, uint64_t *bar, T v) { BW_POLL(op ".relaxed.cluster.shared::cta", "[%1], %2", BW_IN(v)) }
#define BW_HINTED(function, op, T)                                                                                        \
    BW_DEV bool function(uint64_t *bar, T v, uint32_t ns) { BW_POLL(op ".shared::cta", "[%1], %2, %3", BW_IN(v), "r"(ns)) } \
    BW_DEV bool function(sem_acquire_t, scope_cta_t, uint64_t *bar, T v, uint32_t ns) { BW_POLL(op ".acquire.cta.shared::cta", "[%1], %2, %3", BW_IN(v), "r"(ns)) } \
    BW_DEV bool function(sem_acquire_t, scope_cluster_t, uint64_t *bar, T v, uint32_t ns) { BW_POLL(op ".acquire.cluster.shared::cta", "[%1], %2, %3", BW_IN(v), "r"(ns)) } \
    BW_DEV bool function(sem_relaxed_t, scope_cta_t, uint64_t *bar, T v, uint32_t ns) { BW_POLL(op ".relaxed.cta.shared::cta", "[%1], %2, %3", BW_IN(v), "r"(ns)) } \
    BW_DEV bool function(sem_relaxed_t, scope_cluster_t, uint64_t *bar, T v, uint32_t ns) { BW_POLL(op ".relaxed.cluster.shared::cta", "[%1], %2, %3", BW_IN(v), "r"(ns)) }
#define BW_IN(v) "l"(v)
BW_WAITS(mbarrier_test_wait, "test_wait", uint64_t)
BW_WAITS(mbarrier_try_wait, "try_wait", uint64_t)
BW_HINTED(mbarrier_try_wait, "try_wait", uint64_t)
#undef BW_IN
#define BW_IN(v) "r"(v)
BW_WAITS(mbarrier_test_wait_parity, "test_wait.parity", uint32_t)
BW_WAITS(mbarrier_try_wait_parity, "try_wait.parity", uint32_t)
BW_HINTED(mbarrier_try_wait_parity, "try_wait.parity", uint32_t)
#undef BW_IN
#undef BW_WAITS
#undef BW_HINTED
#undef BW_POLL

// ---- cluster barrier ----
BW_DEV void barrier_cluster_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
BW_DEV void barrier_cluster_arrive(sem_release_t) { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
BW_DEV void barrier_cluster_arrive(sem_relaxed_t) { asm volatile("barrier.cluster.arrive.relaxed;"); }
BW_DEV void barrier_cluster_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
BW_DEV void barrier_cluster_wait(sem_acquire_t) { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }

// ---- fences ----
#define BW_FENCE(sem, scope) \
    BW_DEV void fence(sem_##sem##_t, scope_##scope##_t) { asm volatile("fence." #sem "." #scope ";" ::: "memory"); }
#define BW_FENCES(sem) BW_FENCE(sem, cta) BW_FENCE(sem, cluster) BW_FENCE(sem, gpu) BW_FENCE(sem, sys)
BW_FENCES(sc) BW_FENCES(acq_rel) BW_FENCES(acquire) BW_FENCES(release)
#undef BW_FENCE
#undef BW_FENCES
BW_DEV void fence_mbarrier_init(sem_release_t, scope_cluster_t) { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
BW_DEV void fence_proxy_alias() { asm volatile("fence.proxy.alias;" ::: "memory"); }
BW_DEV void fence_proxy_async() { asm volatile("fence.proxy.async;" ::: "memory"); }
BW_DEV void fence_proxy_async(space_global_t) { asm volatile("fence.proxy.async.global;" ::: "memory"); }
BW_DEV void fence_proxy_async(space_cluster_t) { asm volatile("fence.proxy.async.shared::cluster;" ::: "memory"); }
BW_DEV void fence_proxy_async(space_shared_t) { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
BW_DEV void fence_proxy_async_generic_sync_restrict(sem_acquire_t, space_cluster_t, scope_cluster_t)
{
    asm volatile("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
}
BW_DEV void fence_proxy_async_generic_sync_restrict(sem_release_t, space_shared_t, scope_cluster_t)
{
    asm volatile("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;" ::: "memory");
}
BW_DEV void fence_sync_restrict(sem_acquire_t, space_cluster_t, scope_cluster_t)
{
    asm volatile("fence.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
}
BW_DEV void fence_sync_restrict(sem_release_t, space_shared_t, scope_cluster_t)
{
    asm volatile("fence.release.sync_restrict::shared::cta.cluster;" ::: "memory");
}
#define BW_TENSORMAP_FENCE(scope)                                                                                \
    BW_DEV void fence_proxy_tensormap_generic(sem_release_t, scope_##scope##_t)                                  \
    {                                                                                                            \
        asm volatile("fence.proxy.tensormap::generic.release." #scope ";" ::: "memory");                         \
    }                                                                                                            \
    template <int n = 128>                                                                                       \
    BW_DEV void fence_proxy_tensormap_generic(sem_acquire_t, scope_##scope##_t, const void *p, n32_t<n> = {})    \
    {                                                                                                            \
        asm volatile("fence.proxy.tensormap::generic.acquire." #scope " [%0], %1;" ::"l"(p), "n"(n) : "memory"); \
    }                                                                                                            \
    template <int n = 128>                                                                                       \
    BW_DEV void tensormap_cp_fenceproxy(sem_release_t, scope_##scope##_t, void *dst, const void *src, n32_t<n> = {}) \
    {                                                                                                            \
        asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release." #scope             \
                     ".sync.aligned [%0], [%1], %2;" ::"l"(__bw_gmem(dst)), "r"(__bw_smem(src)), "n"(n) : "memory"); \
    }
BW_TENSORMAP_FENCE(cta) BW_TENSORMAP_FENCE(cluster) BW_TENSORMAP_FENCE(gpu) BW_TENSORMAP_FENCE(sys)
#undef BW_TENSORMAP_FENCE

// ---- edits of a tensor map ----
#define BW_REPLACE(field, bits, c)                                                                                     \
    template <class T> BW_DEV void tensormap_replace_##field(space_global_t, void *m, T v)                             \
    {                                                                                                                  \
        asm volatile("tensormap.replace.tile." #field ".global.b1024." bits " [%0], %1;" ::"l"(__bw_gmem(m)), c(v) : "memory"); \
    }                                                                                                                  \
    template <class T> BW_DEV void tensormap_replace_##field(space_shared_t, void *m, T v)                             \
    {                                                                                                                  \
        asm volatile("tensormap.replace.tile." #field ".shared::cta.b1024." bits " [%0], %1;" ::"r"(__bw_smem(m)), c(v) : "memory"); \
    }
#define BW_REPLACE_ORDINAL(field, bits, c)                                                                             \
    template <int n, class T> BW_DEV void tensormap_replace_##field(space_global_t, void *m, n32_t<n>, T v)            \
    {                                                                                                                  \
        asm volatile("tensormap.replace.tile." #field ".global.b1024." bits " [%0], %1, %2;"                           \
                     ::"l"(__bw_gmem(m)), "n"(n), c(v) : "memory");                                                    \
    }                                                                                                                  \
    template <int n, class T> BW_DEV void tensormap_replace_##field(space_shared_t, void *m, n32_t<n>, T v)            \
    {                                                                                                                  \
        asm volatile("tensormap.replace.tile." #field ".shared::cta.b1024." bits " [%0], %1, %2;"                      \
                     ::"r"(__bw_smem(m)), "n"(n), c(v) : "memory");                                                    \
    }
#define BW_REPLACE_CODE(field)                                                                                         \
    template <int n> BW_DEV void tensormap_replace_##field(space_global_t, void *m, n32_t<n> = {})                     \
    {                                                                                                                  \
        asm volatile("tensormap.replace.tile." #field ".global.b1024.b32 [%0], %1;" ::"l"(__bw_gmem(m)), "n"(n) : "memory"); \
    }                                                                                                                  \
    template <int n> BW_DEV void tensormap_replace_##field(space_shared_t, void *m, n32_t<n> = {})                     \
    {                                                                                                                  \
        asm volatile("tensormap.replace.tile." #field ".shared::cta.b1024.b32 [%0], %1;" ::"r"(__bw_smem(m)), "n"(n) : "memory"); \
    }
BW_REPLACE(global_address, "b64", "l") BW_REPLACE(rank, "b32", "r")
BW_REPLACE_ORDINAL(box_dim, "b32", "r") BW_REPLACE_ORDINAL(global_dim, "b32", "r")
BW_REPLACE_ORDINAL(global_stride, "b64", "l") BW_REPLACE_ORDINAL(element_stride, "b32", "r")
BW_REPLACE_CODE(elemtype) BW_REPLACE_CODE(interleave_layout) BW_REPLACE_CODE(swizzle_mode) BW_REPLACE_CODE(fill_mode)
BW_REPLACE_CODE(swizzle_atomicity)
#undef BW_REPLACE
#undef BW_REPLACE_ORDINAL
#undef BW_REPLACE_CODE

// ---- threads and clusters ----
BW_DEV bool elect_sync(uint32_t mask)
{
    uint32_t r;
    asm volatile("{ .reg .pred p; elect.sync _|p, %1; selp.b32 %0, 1, 0, p; }" : "=r"(r) : "r"(mask) : "memory");
    return r != 0;
}
template <class T> BW_DEV T *mapa(space_cluster_t, const T *p, uint32_t rank)
{
    uint32_t r;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(__bw_smem(p)), "r"(rank));
    return (T *)__cvta_shared_to_generic(r);
}
BW_DEV uint32_t getctarank(space_cluster_t, const void *p)
{
    uint32_t r;
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(r) : "r"(__bw_smem(p)));
    return r;
}
template <int n = 32> BW_DEV void setmaxnreg_inc(n32_t<n> = {}) { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n)); }
template <int n = 32> BW_DEV void setmaxnreg_dec(n32_t<n> = {}) { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n)); }
BW_DEV void trap() { asm volatile("trap;"); }
BW_DEV void exit() { asm volatile("exit;"); }

#define BW_SREG(name, reg) \
    BW_DEV uint32_t get_sreg_##name() { uint32_t r; asm volatile("mov.u32 %0, %%" reg ";" : "=r"(r)); return r; }
#define BW_SREG64(name, reg) \
    BW_DEV uint64_t get_sreg_##name() { uint64_t r; asm volatile("mov.u64 %0, %%" reg ";" : "=l"(r)); return r; }
#define BW_SREG_XYZ(name) BW_SREG(name##_x, #name ".x") BW_SREG(name##_y, #name ".y") BW_SREG(name##_z, #name ".z")
BW_SREG_XYZ(tid) BW_SREG_XYZ(ntid) BW_SREG_XYZ(ctaid) BW_SREG_XYZ(nctaid) BW_SREG_XYZ(clusterid) BW_SREG_XYZ(nclusterid)
BW_SREG_XYZ(cluster_ctaid) BW_SREG_XYZ(cluster_nctaid)
BW_SREG(cluster_ctarank, "cluster_ctarank") BW_SREG(cluster_nctarank, "cluster_nctarank")
BW_SREG(laneid, "laneid") BW_SREG(warpid, "warpid") BW_SREG(nwarpid, "nwarpid") BW_SREG(smid, "smid") BW_SREG(nsmid, "nsmid")
BW_SREG(lanemask_eq, "lanemask_eq") BW_SREG(lanemask_le, "lanemask_le") BW_SREG(lanemask_lt, "lanemask_lt")
BW_SREG(lanemask_ge, "lanemask_ge") BW_SREG(lanemask_gt, "lanemask_gt")
BW_SREG(clock, "clock") BW_SREG(clock_hi, "clock_hi") BW_SREG64(clock64, "clock64") BW_SREG64(gridid, "gridid")
BW_SREG64(globaltimer, "globaltimer") BW_SREG(globaltimer_lo, "globaltimer_lo") BW_SREG(globaltimer_hi, "globaltimer_hi")
BW_SREG(total_smem_size, "total_smem_size") BW_SREG(dynamic_smem_size, "dynamic_smem_size")
BW_SREG(aggr_smem_size, "aggr_smem_size")
#undef BW_SREG
#undef BW_SREG64
#undef BW_SREG_XYZ

// ---- programmatic dependent launch ----
BW_DEV void griddepcontrol_launch_dependents() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
BW_DEV void griddepcontrol_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// ---- cluster launch control ----
BW_DEV void clusterlaunchcontrol_try_cancel(void *dst, uint64_t *bar)
{
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];"
                 ::"r"(__bw_smem(dst)), "r"(__bw_smem(bar)) : "memory");
}
BW_DEV void clusterlaunchcontrol_try_cancel_multicast(void *dst, uint64_t *bar)
{
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                 ".multicast::cluster::all.b128 [%0], [%1];" ::"r"(__bw_smem(dst)), "r"(__bw_smem(bar)) : "memory");
}
template <class T> BW_DEV bool clusterlaunchcontrol_query_cancel_is_canceled(T answer)
{
    const uint64_t *half = reinterpret_cast<const uint64_t *>(&answer);
    uint32_t r;
    asm("{ .reg .b128 a; .reg .pred p; mov.b128 a, {%1, %2}; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, a;"
        " selp.b32 %0, 1, 0, p; }" : "=r"(r) : "l"(half[0]), "l"(half[1]));
    return r != 0;
}
#define BW_FIRST_CTA(axis)                                                                                       \
    template <class B32, class T> BW_DEV B32 clusterlaunchcontrol_query_cancel_get_first_ctaid_##axis(T answer)  \
    {                                                                                                            \
        const uint64_t *half = reinterpret_cast<const uint64_t *>(&answer);                                      \
        uint32_t r;                                                                                              \
        asm("{ .reg .b128 a; mov.b128 a, {%1, %2}; clusterlaunchcontrol.query_cancel.get_first_ctaid::" #axis    \
            ".b32.b128 %0, a; }" : "=r"(r) : "l"(half[0]), "l"(half[1]));                                        \
        return (B32)r;                                                                                           \
    }
BW_FIRST_CTA(x) BW_FIRST_CTA(y) BW_FIRST_CTA(z)
#undef BW_FIRST_CTA

}  // namespace ptx
}  // namespace cuda
