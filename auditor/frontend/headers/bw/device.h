// Device built-ins as the PTX that they stand for.
#pragma once
#include <bw/vector_types.h>
#include <bw/math.h>

// ---- CTA and warp barriers ----
#define __syncthreads __bw_syncthreads  // the plain name is a compiler builtin, which cannot be defined
BW_DEV void __bw_syncthreads() { asm volatile("barrier.sync.aligned 0;" ::: "memory"); }
BW_DEV int __syncthreads_count(int p)
{
    int r;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; barrier.red.popc.aligned.u32 %0, 0, p; }" : "=r"(r) : "r"(p) : "memory");
    return r;
}
BW_DEV int __syncthreads_and(int p)
{
    int r;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; barrier.red.and.aligned.pred q, 0, p; selp.s32 %0, 1, 0, q; }"
                 : "=r"(r) : "r"(p) : "memory");
    return r;
}
BW_DEV int __syncthreads_or(int p)
{
    int r;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; barrier.red.or.aligned.pred q, 0, p; selp.s32 %0, 1, 0, q; }"
                 : "=r"(r) : "r"(p) : "memory");
    return r;
}
BW_DEV void __barrier_sync(unsigned id) { asm volatile("barrier.sync %0;" ::"r"(id) : "memory"); }
BW_DEV void __barrier_sync_count(unsigned id, unsigned n) { asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); }
BW_DEV void __syncwarp(unsigned mask = 0xffffffffu) { asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory"); }

// ---- fences ----
BW_DEV void __threadfence_block() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }
BW_DEV void __threadfence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
BW_DEV void __threadfence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }
BW_DEV void __threadfence_cluster() { asm volatile("fence.acq_rel.cluster;" ::: "memory"); }

// ---- votes ----
BW_DEV unsigned __activemask() { unsigned r; asm volatile("activemask.b32 %0;" : "=r"(r)); return r; }
BW_DEV unsigned __ballot_sync(unsigned mask, int p)
{
    unsigned r;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }" : "=r"(r) : "r"(p), "r"(mask));
    return r;
}
BW_DEV int __all_sync(unsigned mask, int p)
{
    int r;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync.all.pred q, p, %2; selp.s32 %0, 1, 0, q; }"
                 : "=r"(r) : "r"(p), "r"(mask));
    return r;
}
BW_DEV int __any_sync(unsigned mask, int p)
{
    int r;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync.any.pred q, p, %2; selp.s32 %0, 1, 0, q; }"
                 : "=r"(r) : "r"(p), "r"(mask));
    return r;
}
BW_DEV int __uni_sync(unsigned mask, int p)
{
    int r;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync.uni.pred q, p, %2; selp.s32 %0, 1, 0, q; }"
                 : "=r"(r) : "r"(p), "r"(mask));
    return r;
}
#define BW_MATCH(T, bits, constraint)                                                                                     \
    BW_DEV unsigned __match_any_sync(unsigned mask, T v)                                                                  \
    {                                                                                                                     \
        unsigned r;                                                                                                       \
        asm volatile("match.any.sync." bits " %0, %1, %2;" : "=r"(r) : constraint(v), "r"(mask));                         \
        return r;                                                                                                         \
    }                                                                                                                     \
    BW_DEV unsigned __match_all_sync(unsigned mask, T v, int *all)                                                        \
    {                                                                                                                     \
        unsigned r;                                                                                                       \
        asm volatile("{ .reg .pred p; match.all.sync." bits " %0|p, %2, %3; selp.s32 %1, 1, 0, p; }"                      \
                     : "=r"(r), "=r"(*all) : constraint(v), "r"(mask));                                                   \
        return r;                                                                                                         \
    }
BW_MATCH(int, "b32", "r")
BW_MATCH(unsigned, "b32", "r")
BW_MATCH(float, "b32", "f")
BW_MATCH(long, "b64", "l")
BW_MATCH(unsigned long, "b64", "l")
BW_MATCH(long long, "b64", "l")
BW_MATCH(unsigned long long, "b64", "l")
BW_MATCH(double, "b64", "d")
#undef BW_MATCH

// ---- shuffles: the last operand packs the segment mask (32 - width) << 8 and the clamp ----
#define BW_SHFL_WORD(name, mode, index, clamp)                                                        \
    BW_DEV unsigned __bw_##name(unsigned mask, unsigned v, index n, int width)                        \
    {                                                                                                 \
        unsigned r;                                                                                   \
        asm volatile("shfl.sync." mode ".b32 %0, %1, %2, %3, %4;"                                     \
                     : "=r"(r)                                                                        \
                     : "r"(v), "r"(n), "r"(((32 - width) << 8) | clamp), "r"(mask));                  \
        return r;                                                                                     \
    }
#define BW_SHFL_TYPED(name, index)                                                                                       \
    BW_DEV int name(unsigned m, int v, index n, int w = 32) { return (int)__bw_##name(m, (unsigned)v, n, w); }            \
    BW_DEV unsigned name(unsigned m, unsigned v, index n, int w = 32) { return __bw_##name(m, v, n, w); }                 \
    BW_DEV float name(unsigned m, float v, index n, int w = 32)                                                          \
    {                                                                                                                    \
        return __uint_as_float(__bw_##name(m, __float_as_uint(v), n, w));                                                \
    }                                                                                                                    \
    BW_DEV unsigned long long name(unsigned m, unsigned long long v, index n, int w = 32)                                 \
    {                                                                                                                    \
        unsigned lo = __bw_##name(m, (unsigned)v, n, w), hi = __bw_##name(m, (unsigned)(v >> 32), n, w);                  \
        return (unsigned long long)hi << 32 | lo;                                                                        \
    }                                                                                                                    \
    BW_DEV long long name(unsigned m, long long v, index n, int w = 32)                                                  \
    {                                                                                                                    \
        return (long long)name(m, (unsigned long long)v, n, w);                                                          \
    }                                                                                                                    \
    BW_DEV unsigned long name(unsigned m, unsigned long v, index n, int w = 32)                                           \
    {                                                                                                                    \
        return (unsigned long)name(m, (unsigned long long)v, n, w);                                                      \
    }                                                                                                                    \
    BW_DEV long name(unsigned m, long v, index n, int w = 32) { return (long)name(m, (unsigned long long)v, n, w); }      \
    BW_DEV double name(unsigned m, double v, index n, int w = 32)                                                        \
    {                                                                                                                    \
        return __longlong_as_double(name(m, __double_as_longlong(v), n, w));                                             \
    }
BW_SHFL_WORD(__shfl_sync, "idx", int, 0x1f)
BW_SHFL_WORD(__shfl_up_sync, "up", unsigned, 0x00)
BW_SHFL_WORD(__shfl_down_sync, "down", unsigned, 0x1f)
BW_SHFL_WORD(__shfl_xor_sync, "bfly", int, 0x1f)
BW_SHFL_TYPED(__shfl_sync, int)
BW_SHFL_TYPED(__shfl_up_sync, unsigned)
BW_SHFL_TYPED(__shfl_down_sync, unsigned)
BW_SHFL_TYPED(__shfl_xor_sync, int)
#undef BW_SHFL_WORD
#undef BW_SHFL_TYPED

#define BW_REDUX(name, op, T)                                                                \
    BW_DEV T name(unsigned mask, T v)                                                        \
    {                                                                                        \
        T r;                                                                                 \
        asm volatile("redux.sync." op " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask));         \
        return r;                                                                            \
    }
BW_REDUX(__reduce_add_sync, "add.u32", unsigned)
BW_REDUX(__reduce_add_sync, "add.s32", int)
BW_REDUX(__reduce_min_sync, "min.u32", unsigned)
BW_REDUX(__reduce_min_sync, "min.s32", int)
BW_REDUX(__reduce_max_sync, "max.u32", unsigned)
BW_REDUX(__reduce_max_sync, "max.s32", int)
BW_REDUX(__reduce_and_sync, "and.b32", unsigned)
BW_REDUX(__reduce_or_sync, "or.b32", unsigned)
BW_REDUX(__reduce_xor_sync, "xor.b32", unsigned)
#undef BW_REDUX

// ---- address spaces ----
#define BW_CVTA(name, space)                                                              \
    BW_DEV size_t __cvta_generic_to_##name(const void *p)                                 \
    {                                                                                     \
        size_t r;                                                                         \
        asm("cvta.to." space ".u64 %0, %1;" : "=l"(r) : "l"(p));                          \
        return r;                                                                         \
    }                                                                                     \
    BW_DEV void *__cvta_##name##_to_generic(size_t a)                                     \
    {                                                                                     \
        void *r;                                                                          \
        asm("cvta." space ".u64 %0, %1;" : "=l"(r) : "l"(a));                             \
        return r;                                                                         \
    }
BW_CVTA(shared, "shared")
BW_CVTA(global, "global")
BW_CVTA(local, "local")
BW_CVTA(constant, "const")
BW_CVTA(grid_constant, "param")
#undef BW_CVTA
#define BW_ISSPACE(name, space)                                                                                  \
    BW_DEV unsigned name(const void *p)                                                                          \
    {                                                                                                            \
        unsigned r;                                                                                              \
        asm("{ .reg .pred p; isspacep." space " p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "l"(p));             \
        return r;                                                                                                \
    }
BW_ISSPACE(__isShared, "shared")
BW_ISSPACE(__isGlobal, "global")
BW_ISSPACE(__isLocal, "local")
BW_ISSPACE(__isConstant, "const")
BW_ISSPACE(__isClusterShared, "shared::cluster")
#undef BW_ISSPACE

// ---- clusters ----
#define BW_SREG32(function, reg) \
    BW_DEV unsigned function() { unsigned r; asm volatile("mov.u32 %0, %%" reg ";" : "=r"(r)); return r; }
#define BW_SREG3(function, reg)                                                     \
    BW_DEV dim3 function()                                                          \
    {                                                                               \
        unsigned x, y, z;                                                           \
        asm volatile("mov.u32 %0, %%" reg ".x;" : "=r"(x));                         \
        asm volatile("mov.u32 %0, %%" reg ".y;" : "=r"(y));                         \
        asm volatile("mov.u32 %0, %%" reg ".z;" : "=r"(z));                         \
        return dim3(x, y, z);                                                       \
    }
BW_SREG3(__clusterDim, "cluster_nctaid")
BW_SREG3(__clusterRelativeBlockIdx, "cluster_ctaid")
BW_SREG3(__clusterGridDimInClusters, "nclusterid")
BW_SREG3(__clusterIdx, "clusterid")
BW_SREG32(__clusterRelativeBlockRank, "cluster_ctarank")
BW_SREG32(__clusterSizeInBlocks, "cluster_nctarank")
BW_SREG32(__bw_clock32, "clock")
#undef BW_SREG32
#undef BW_SREG3
BW_DEV void __cluster_barrier_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
BW_DEV void __cluster_barrier_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
BW_DEV void __cluster_barrier_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
BW_DEV void *__cluster_map_shared_rank(const void *p, unsigned rank)
{
    void *r;
    asm("mapa.u64 %0, %1, %2;" : "=l"(r) : "l"(p), "r"(rank));
    return r;
}
BW_DEV unsigned __cluster_query_shared_rank(const void *p)
{
    unsigned r;
    asm("getctarank.u64 %0, %1;" : "=r"(r) : "l"(p));
    return r;
}

// ---- clocks, pauses, ends ----
BW_DEV long clock() { return (long)__bw_clock32(); }
BW_DEV long long clock64() { long long r; asm volatile("mov.u64 %0, %%clock64;" : "=l"(r)::"memory"); return r; }
BW_DEV void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns) : "memory"); }
BW_DEV void __trap() { asm volatile("trap;" ::: "memory"); }
BW_DEV void __brkpt() { asm volatile("brkpt;" ::: "memory"); }
BW_DEV void __prof_trigger(int) {}
#define __assume(x) ((void)0)

// ---- programmatic dependent launch ----
BW_DEV void cudaGridDependencySynchronize() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
BW_DEV void cudaTriggerProgrammaticLaunchCompletion() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

// ---- loads and stores with a cache hint: an ordinary access ----
#define BW_LOADS(name) template <class T> BW_DEV T name(const T *p) { return *p; }
#define BW_STORES(name) template <class T> BW_DEV void name(T *p, T v) { *p = v; }
BW_LOADS(__ldg) BW_LOADS(__ldca) BW_LOADS(__ldcg) BW_LOADS(__ldcs) BW_LOADS(__ldcv) BW_LOADS(__ldlu)
BW_STORES(__stcg) BW_STORES(__stcs) BW_STORES(__stwb) BW_STORES(__stwt)
#undef BW_LOADS
#undef BW_STORES

// ---- cp.async through the pipeline primitives ----
BW_DEV void __pipeline_memcpy_async(void *dst, const void *src, size_t size, size_t zfill = 0)
{
    unsigned to = (unsigned)__cvta_generic_to_shared(dst), fill = (unsigned)(size - zfill);
    if (size == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(src), "r"(fill) : "memory");
    else if (size == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(src), "r"(fill) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(src), "r"(fill) : "memory");
}
BW_DEV void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
BW_DEV void __pipeline_wait_prior(int n)
{
    switch (n) {
    case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
    case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
    case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
    case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 7;" ::: "memory");
    }
}
