// Clang's device builtins as the PTX that they stand for, included behind a toolkit's headers, whose functions call them.
// bw_NAME is executed where the builtin NAME is called: a builtin itself cannot be defined.
#pragma once
#pragma clang system_header

// With __clang__ it says that clang compiles CUDA, for which sources leave out what nvcc takes. The toolkit's headers and
// clang's own are past asking, or take it for nvcc.
#undef __CUDA__

#define BW_MODEL static __inline__ __attribute__((device, always_inline, used))

// ---- barriers and fences ----
BW_MODEL void bw___syncthreads() { asm volatile("barrier.sync.aligned 0;" ::: "memory"); }
BW_MODEL void bw___nvvm_barrier_sync(unsigned id) { asm volatile("barrier.sync %0;" ::"r"(id) : "memory"); }
BW_MODEL void bw___nvvm_barrier_sync_cnt(unsigned id, unsigned n)
{
    asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(n) : "memory");
}
BW_MODEL void bw___nvvm_bar_warp_sync(unsigned mask) { asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory"); }
BW_MODEL void bw___nvvm_membar_cta() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }
BW_MODEL void bw___nvvm_membar_gl() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
BW_MODEL void bw___nvvm_membar_sys() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }
BW_MODEL void bw___nvvm_fence_sc_cluster() { asm volatile("fence.sc.cluster;" ::: "memory"); }
BW_MODEL void bw___nvvm_barrier_cluster_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
BW_MODEL void bw___nvvm_barrier_cluster_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed;"); }
BW_MODEL void bw___nvvm_barrier_cluster_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
BW_MODEL int bw___nvvm_bar0_popc(int p)
{
    int r;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; barrier.red.popc.aligned.u32 %0, 0, p; }"
                 : "=r"(r) : "r"(p) : "memory");
    return r;
}
#define BW_BARRIER_VOTE(name, op)                                                                                     \
    BW_MODEL int bw___nvvm_bar0_##name(int p)                                                                         \
    {                                                                                                                 \
        int r;                                                                                                        \
        asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; barrier.red." op ".aligned.pred q, 0, p; selp.s32 %0, 1, 0, q; }" \
                     : "=r"(r) : "r"(p) : "memory");                                                                  \
        return r;                                                                                                     \
    }
BW_BARRIER_VOTE(and, "and")
BW_BARRIER_VOTE(or, "or")

// ---- votes ----
BW_MODEL unsigned bw___nvvm_activemask()
{
    unsigned r;
    asm volatile("activemask.b32 %0;" : "=r"(r));
    return r;
}
BW_MODEL unsigned bw___nvvm_vote_ballot_sync(unsigned mask, bool p)
{
    unsigned r;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }" : "=r"(r) : "r"((int)p), "r"(mask));
    return r;
}
#define BW_VOTE(name)                                                                                                 \
    BW_MODEL bool bw___nvvm_vote_##name##_sync(unsigned mask, bool p)                                                 \
    {                                                                                                                 \
        int r;                                                                                                        \
        asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync." #name ".pred q, p, %2; selp.s32 %0, 1, 0, q; }" \
                     : "=r"(r) : "r"((int)p), "r"(mask));                                                             \
        return r != 0;                                                                                                \
    }
BW_VOTE(all)
BW_VOTE(any)
BW_VOTE(uni)
#define BW_MATCH(name, type, constraint, suffix)                                                                      \
    BW_MODEL unsigned bw___nvvm_match_any_sync_##name(unsigned mask, type v)                                          \
    {                                                                                                                 \
        unsigned r;                                                                                                   \
        asm volatile("match.any.sync." suffix " %0, %1, %2;" : "=r"(r) : constraint(v), "r"(mask));                   \
        return r;                                                                                                     \
    }                                                                                                                 \
    BW_MODEL unsigned bw___nvvm_match_all_sync_##name##p(unsigned mask, type v, int *all)                             \
    {                                                                                                                 \
        unsigned r;                                                                                                   \
        asm volatile("{ .reg .pred p; match.all.sync." suffix " %0|p, %2, %3; selp.s32 %1, 1, 0, p; }"                \
                     : "=r"(r), "=r"(*all) : constraint(v), "r"(mask));                                               \
        return r;                                                                                                     \
    }
BW_MATCH(i32, unsigned, "r", "b32")
BW_MATCH(i64, unsigned long long, "l", "b64")

// ---- shuffles ----
#define BW_SHUFFLE(mode)                                                                                              \
    BW_MODEL int bw___nvvm_shfl_sync_##mode##_i32(unsigned mask, int v, int n, int clamp)                             \
    {                                                                                                                 \
        int r;                                                                                                        \
        asm volatile("shfl.sync." #mode ".b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(v), "r"(n), "r"(clamp), "r"(mask)); \
        return r;                                                                                                     \
    }                                                                                                                 \
    BW_MODEL float bw___nvvm_shfl_sync_##mode##_f32(unsigned mask, float v, int n, int clamp)                         \
    {                                                                                                                 \
        float r;                                                                                                      \
        asm volatile("shfl.sync." #mode ".b32 %0, %1, %2, %3, %4;" : "=f"(r) : "f"(v), "r"(n), "r"(clamp), "r"(mask)); \
        return r;                                                                                                     \
    }
BW_SHUFFLE(idx)
BW_SHUFFLE(up)
BW_SHUFFLE(down)
BW_SHUFFLE(bfly)

// ---- reductions of a warp ----
#define BW_REDUCTION(name, op, type)                                                                                  \
    BW_MODEL type bw___nvvm_redux_sync_##name(type v, unsigned mask)                                                  \
    {                                                                                                                 \
        type r;                                                                                                       \
        asm volatile("redux.sync." op " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask));                                  \
        return r;                                                                                                     \
    }
BW_REDUCTION(add, "add.s32", int)
BW_REDUCTION(min, "min.s32", int)
BW_REDUCTION(max, "max.s32", int)
BW_REDUCTION(umin, "min.u32", unsigned)
BW_REDUCTION(umax, "max.u32", unsigned)
BW_REDUCTION(and, "and.b32", int)
BW_REDUCTION(or, "or.b32", int)
BW_REDUCTION(xor, "xor.b32", int)

// ---- atomics ----
#define BW_ATOMIC(scope, name, op, type, constraint)                                                                  \
    BW_MODEL type bw___nvvm_atom_##scope##name(volatile void *p, type v)                                              \
    {                                                                                                                 \
        type r;                                                                                                       \
        asm volatile("atom." op " %0, [%1], %2;" : "=" constraint(r) : "l"(p), constraint(v) : "memory");             \
        return r;                                                                                                     \
    }
#define BW_COMPARE_AND_SWAP(scope, name, suffix, type, constraint)                                                    \
    BW_MODEL type bw___nvvm_atom_##scope##cas_gen_##name(volatile void *p, type expected, type v)                     \
    {                                                                                                                 \
        type r;                                                                                                       \
        asm volatile("atom." suffix " %0, [%1], %2, %3;"                                                              \
                     : "=" constraint(r) : "l"(p), constraint(expected), constraint(v) : "memory");                   \
        return r;                                                                                                     \
    }
#define BW_ATOMICS(scope, at)                                                                                         \
    BW_ATOMIC(scope, add_gen_i, at "add.u32", int, "r")                                                               \
    BW_ATOMIC(scope, add_gen_ll, at "add.u64", long long, "l")                                                        \
    BW_ATOMIC(scope, add_gen_f, at "add.f32", float, "f")                                                             \
    BW_ATOMIC(scope, add_gen_d, at "add.f64", double, "d")                                                            \
    BW_ATOMIC(scope, and_gen_i, at "and.b32", int, "r")                                                               \
    BW_ATOMIC(scope, and_gen_ll, at "and.b64", long long, "l")                                                        \
    BW_ATOMIC(scope, or_gen_i, at "or.b32", int, "r")                                                                 \
    BW_ATOMIC(scope, or_gen_ll, at "or.b64", long long, "l")                                                          \
    BW_ATOMIC(scope, xor_gen_i, at "xor.b32", int, "r")                                                               \
    BW_ATOMIC(scope, xor_gen_ll, at "xor.b64", long long, "l")                                                        \
    BW_ATOMIC(scope, xchg_gen_i, at "exch.b32", int, "r")                                                             \
    BW_ATOMIC(scope, xchg_gen_ll, at "exch.b64", long long, "l")                                                      \
    BW_ATOMIC(scope, min_gen_i, at "min.s32", int, "r")                                                               \
    BW_ATOMIC(scope, min_gen_ll, at "min.s64", long long, "l")                                                        \
    BW_ATOMIC(scope, min_gen_ui, at "min.u32", unsigned, "r")                                                         \
    BW_ATOMIC(scope, min_gen_ull, at "min.u64", unsigned long long, "l")                                              \
    BW_ATOMIC(scope, max_gen_i, at "max.s32", int, "r")                                                               \
    BW_ATOMIC(scope, max_gen_ll, at "max.s64", long long, "l")                                                        \
    BW_ATOMIC(scope, max_gen_ui, at "max.u32", unsigned, "r")                                                         \
    BW_ATOMIC(scope, max_gen_ull, at "max.u64", unsigned long long, "l")                                              \
    BW_ATOMIC(scope, inc_gen_ui, at "inc.u32", unsigned, "r")                                                         \
    BW_ATOMIC(scope, dec_gen_ui, at "dec.u32", unsigned, "r")                                                         \
    BW_COMPARE_AND_SWAP(scope, i, at "cas.b32", int, "r")                                                             \
    BW_COMPARE_AND_SWAP(scope, ll, at "cas.b64", long long, "l")                                                      \
    BW_COMPARE_AND_SWAP(scope, us, at "cas.b16", unsigned short, "h")
BW_ATOMICS(, "")
BW_ATOMICS(cta_, "cta.")
BW_ATOMICS(sys_, "sys.")

// ---- addresses ----
BW_MODEL unsigned bw___nvvm_get_smem_pointer(void *p)
{
    unsigned long long r;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(r) : "l"(p));
    return (unsigned)r;
}
BW_MODEL void *bw___nvvm_mapa(void *p, int rank)
{
    void *r;
    asm("mapa.u64 %0, %1, %2;" : "=l"(r) : "l"(p), "r"(rank));
    return r;
}
BW_MODEL int bw___nvvm_getctarank(void *p)
{
    int r;
    asm("getctarank.u64 %0, %1;" : "=r"(r) : "l"(p));
    return r;
}
#define BW_IN_SPACE(name, space)                                                                                      \
    BW_MODEL bool bw___nvvm_isspacep_##name(const void *p)                                                            \
    {                                                                                                                 \
        int r;                                                                                                        \
        asm("{ .reg .pred p; isspacep." space " p, %1; selp.s32 %0, 1, 0, p; }" : "=r"(r) : "l"(p));                  \
        return r != 0;                                                                                                \
    }
BW_IN_SPACE(shared, "shared::cta")
BW_IN_SPACE(shared_cluster, "shared::cluster")
BW_IN_SPACE(global, "global")
BW_IN_SPACE(local, "local")
BW_IN_SPACE(const, "const")
#define BW_COPY_ASYNC(bytes)                                                                                          \
    BW_MODEL void bw___nvvm_cp_async_ca_shared_global_##bytes(void *to, const void *from)                             \
    {                                                                                                                 \
        asm volatile("cp.async.ca.shared.global [%0], [%1], " #bytes ";" ::"r"(bw___nvvm_get_smem_pointer(to)), "l"(from) \
                     : "memory");                                                                                     \
    }
BW_COPY_ASYNC(4)
BW_COPY_ASYNC(8)
BW_COPY_ASYNC(16)

// ---- special registers ----
#define BW_REGISTER(name, spelling)                                                                                   \
    BW_MODEL int bw___nvvm_read_ptx_sreg_##name()                                                                     \
    {                                                                                                                 \
        int r;                                                                                                        \
        asm("mov.u32 %0, %%" spelling ";" : "=r"(r));                                                                 \
        return r;                                                                                                     \
    }
#define BW_REGISTERS(name, spelling)                                                                                  \
    BW_REGISTER(name##_x, spelling ".x")                                                                              \
    BW_REGISTER(name##_y, spelling ".y")                                                                              \
    BW_REGISTER(name##_z, spelling ".z")
BW_REGISTERS(tid, "tid")
BW_REGISTERS(ntid, "ntid")
BW_REGISTERS(ctaid, "ctaid")
BW_REGISTERS(nctaid, "nctaid")
BW_REGISTERS(cluster_ctaid, "cluster_ctaid")
BW_REGISTERS(cluster_nctaid, "cluster_nctaid")
BW_REGISTERS(clusterid, "clusterid")
BW_REGISTERS(nclusterid, "nclusterid")
BW_REGISTER(cluster_ctarank, "cluster_ctarank")
BW_REGISTER(cluster_nctarank, "cluster_nctarank")
BW_REGISTER(clock, "clock")
BW_MODEL bool bw___nvvm_is_explicit_cluster()
{
    int r;
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.s32 %0, 1, 0, p; }" : "=r"(r));
    return r != 0;
}
BW_MODEL long long bw___nvvm_read_ptx_sreg_clock64()
{
    long long r;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(r));
    return r;
}

// ---- integers, as clang's library of the device has them ----
#define BW_INTEGER(name, type)                                                                                        \
    BW_MODEL type bw___nv_##name##min(type a, type b) { return a < b ? a : b; }                                       \
    BW_MODEL type bw___nv_##name##max(type a, type b) { return a < b ? b : a; }
BW_INTEGER(, int)
BW_INTEGER(u, unsigned)
BW_INTEGER(ll, long long)
BW_INTEGER(ull, unsigned long long)
BW_MODEL int bw___nv_abs(int v) { return v < 0 ? -v : v; }
BW_MODEL long long bw___nv_llabs(long long v) { return v < 0 ? -v : v; }
#define BW_BITS(name, result, type, op, constraint)                                                                   \
    BW_MODEL result bw___nv_##name(type v)                                                                            \
    {                                                                                                                 \
        result r;                                                                                                     \
        asm(op " %0, %1;" : "=" constraint(r) : constraint(v));                                                       \
        return r;                                                                                                     \
    }
BW_BITS(popc, int, int, "popc.b32", "r")
BW_BITS(clz, int, int, "clz.b32", "r")
BW_BITS(brev, int, int, "brev.b32", "r")
BW_BITS(brevll, long long, long long, "brev.b64", "l")
#define BW_COUNT(name, op)                                                                                            \
    BW_MODEL int bw___nv_##name(long long v)                                                                          \
    {                                                                                                                 \
        int r;                                                                                                        \
        asm(op " %0, %1;" : "=r"(r) : "l"(v));                                                                        \
        return r;                                                                                                     \
    }
BW_COUNT(popcll, "popc.b64")
BW_COUNT(clzll, "clz.b64")
BW_MODEL int bw___nv_ffs(int v) { return v == 0 ? 0 : 32 - bw___nv_clz(v & -v); }
BW_MODEL int bw___nv_ffsll(long long v) { return v == 0 ? 0 : 64 - bw___nv_clzll(v & -v); }

// ---- loads through the read-only cache ----
#define BW_LOAD(name, type) \
    BW_MODEL type bw___nvvm_ldg_##name(const type *p) { return *p; }
BW_LOAD(i, int)
BW_LOAD(ui, unsigned)
BW_LOAD(l, long)
BW_LOAD(ul, unsigned long)
BW_LOAD(ll, long long)
BW_LOAD(ull, unsigned long long)
BW_LOAD(f, float)
BW_LOAD(d, double)
BW_LOAD(s, short)
BW_LOAD(us, unsigned short)

#undef BW_INTEGER
#undef BW_BITS
#undef BW_COUNT
#undef BW_LOAD
#undef BW_BARRIER_VOTE
#undef BW_VOTE
#undef BW_MATCH
#undef BW_SHUFFLE
#undef BW_REDUCTION
#undef BW_ATOMIC
#undef BW_COMPARE_AND_SWAP
#undef BW_ATOMICS
#undef BW_IN_SPACE
#undef BW_COPY_ASYNC
#undef BW_REGISTER
#undef BW_REGISTERS
#undef BW_MODEL
