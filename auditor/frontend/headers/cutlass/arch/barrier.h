// mbarriers of a CTA and of its cluster, named barriers, fences, and the commits of tcgen05.
#pragma once
#include <cute/arch/cluster_sm90.hpp>
#include <cute/arch/copy_sm100_tma.hpp>
#include <cutlass/cutlass.h>

namespace cutlass {
namespace arch {

// ---- named barriers: the first eight ids belong to the library ----
enum class ReservedNamedBarriers {
    EpilogueBarrier = 1,
    TransposeBarrier = 2,
    TransformBarrier = 3,
    StreamkBarrier0 = 4,
    StreamkBarrier1 = 5,
    TmemAllocBarrier = 6,
    Sm120MainloopBarrier = 7,
    FirstUserBarrier = 8
};

class NamedBarrier {
    const uint32_t threads_;
    const uint32_t id_;

  public:
    static const uint32_t ReservedNamedBarrierCount = 8;
    static const uint32_t HardwareMaxNumNamedBarriers = 16;

    __device__ NamedBarrier(uint32_t threads, ReservedNamedBarriers id) : threads_(threads), id_((uint32_t)id) {}
    __device__ NamedBarrier(uint32_t threads, uint32_t id = 0) : threads_(threads), id_(id + ReservedNamedBarrierCount) {}

    __device__ void arrive_and_wait() const { __bw_meet(threads_, id_); }
    __device__ void arrive_and_wait_unaligned() const
    {
        asm volatile("barrier.sync %0, %1;" ::"r"(id_), "r"(threads_) : "memory");
    }
    __device__ void arrive() const { __bw_arrive(threads_, id_); }
    __device__ void arrive_unaligned() const { asm volatile("barrier.arrive %0, %1;" ::"r"(id_), "r"(threads_) : "memory"); }
    __device__ void sync() const { __bw_meet(threads_, id_); }

#define BW_STATIC(name, does)                                                                                           \
    static __device__ void name(uint32_t threads, uint32_t id) { does(threads, id + ReservedNamedBarrierCount); }       \
    static __device__ void name(uint32_t threads, ReservedNamedBarriers id) { does(threads, (uint32_t)id); }
    BW_STATIC(arrive_and_wait, __bw_meet)
    BW_STATIC(arrive, __bw_arrive)
    BW_STATIC(sync, __bw_meet)
#undef BW_STATIC

  private:
    static __device__ void __bw_meet(uint32_t threads, uint32_t id)
    {
        asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
    }
    static __device__ void __bw_arrive(uint32_t threads, uint32_t id)
    {
        asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
    }
};

// ---- mbarriers: objects laid over shared memory, and the same operations on an address ----
#define BW_BAR "r"(cute::cast_smem_ptr_to_uint(bar))
struct ClusterBarrier {
    using ValueType = uint64_t;

  protected:
    ValueType barrier_;

  public:
    ClusterBarrier() = delete;

    static __device__ void init(const ValueType *bar, uint32_t count)
    {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::BW_BAR, "r"(count) : "memory");
    }
    static __device__ void invalidate(const ValueType *bar)
    {
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::BW_BAR : "memory");
    }
    static __device__ void wait(const ValueType *bar, uint32_t parity)
    {
        asm volatile("{ .reg .pred over;\n"
                     "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1, %2;\n"
                     "@!over bra again; }" ::BW_BAR, "r"(parity), "r"(10000000) : "memory");
    }
    static __device__ bool try_wait(const ValueType *bar, uint32_t parity)
    {
        uint32_t over;
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                     : "=r"(over) : BW_BAR, "r"(parity) : "memory");
        return over != 0;
    }
    static __device__ bool test_wait(const ValueType *bar, uint32_t parity, uint32_t looks)
    {
        uint32_t over = 0;
        if (looks == 1)
            asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                         : "=r"(over) : BW_BAR, "r"(parity) : "memory");
        return over != 0;
    }
    static __device__ void arrive(const ValueType *bar)
    {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::BW_BAR : "memory");
    }
    static __device__ void arrive(const ValueType *bar, uint32_t rank, uint32_t does)
    {
        if (does)
            asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; mbarrier.arrive.shared::cluster.b64 _, [there]; }"
                         ::BW_BAR, "r"(rank) : "memory");
    }
    static __device__ void arrive_relaxed_cluster(const ValueType *bar, uint32_t rank, uint32_t does)
    {
        if (does)
            asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;"
                         " mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [there]; }" ::BW_BAR, "r"(rank) : "memory");
    }

    __device__ void init(uint32_t count) const { init(&barrier_, count); }
    __device__ bool test_wait(uint32_t parity, uint32_t looks = true) const { return test_wait(&barrier_, parity, looks); }
    __device__ bool try_wait(uint32_t parity) const { return try_wait(&barrier_, parity); }
    __device__ void wait(uint32_t parity) const { wait(&barrier_, parity); }
    __device__ void arrive() const { arrive(&barrier_); }
    __device__ void arrive(uint32_t rank, uint32_t does = true) const { arrive(&barrier_, rank, does); }
    __device__ void arrive_relaxed_cluster(uint32_t rank, uint32_t does = true) const
    {
        arrive_relaxed_cluster(&barrier_, rank, does);
    }
};

struct ClusterTransactionBarrier : public ClusterBarrier {
    ClusterTransactionBarrier() = delete;

    static __device__ void arrive_and_expect_tx(const ValueType *bar, uint32_t bytes)
    {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::BW_BAR, "r"(bytes) : "memory");
    }
    static __device__ void arrive_and_expect_tx(const ValueType *bar, uint32_t bytes, uint32_t rank, uint32_t does)
    {
        if (does == 1)
            asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;"
                         " mbarrier.arrive.expect_tx.shared::cluster.b64 _, [there], %2; }"
                         ::BW_BAR, "r"(rank), "r"(bytes) : "memory");
    }
    static __device__ void arrive_and_expect_tx_relaxed_cluster(const ValueType *bar, uint32_t bytes, uint32_t rank, uint32_t does)
    {
        if (does == 1)
            asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;"
                         " mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [there], %2; }"
                         ::BW_BAR, "r"(rank), "r"(bytes) : "memory");
    }
    static __device__ void expect_transaction(const ValueType *bar, uint32_t bytes)
    {
        asm volatile("mbarrier.expect_tx.shared::cta.b64 [%0], %1;" ::BW_BAR, "r"(bytes) : "memory");
    }
    static __device__ void complete_transaction(const ValueType *bar, uint32_t rank, uint32_t bytes, uint32_t does = 1)
    {
        if (does == 1)
            asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;"
                         " mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [there], %2; }"
                         ::BW_BAR, "r"(rank), "r"(bytes) : "memory");
    }

    __device__ void arrive_and_expect_tx(uint32_t bytes) const { arrive_and_expect_tx(&barrier_, bytes); }
    __device__ void arrive_and_expect_tx(uint32_t bytes, uint32_t rank, uint32_t does = 1) const
    {
        arrive_and_expect_tx(&barrier_, bytes, rank, does);
    }
    __device__ void arrive_and_expect_tx_relaxed_cluster(uint32_t bytes, uint32_t rank, uint32_t does = 1) const
    {
        arrive_and_expect_tx_relaxed_cluster(&barrier_, bytes, rank, does);
    }
    __device__ void expect_transaction(uint32_t bytes) const { expect_transaction(&barrier_, bytes); }
    __device__ void complete_transaction(uint32_t bytes, uint32_t does = 1) const
    {
        complete_transaction(&barrier_, cute::block_rank_in_cluster(), bytes, does);
    }
    __device__ void complete_transaction(uint32_t rank, uint32_t bytes, uint32_t does) const
    {
        complete_transaction(&barrier_, rank, bytes, does);
    }

    // Older names.
    __device__ void arrive_and_reset_bytes(uint32_t bytes) const { arrive_and_expect_tx(bytes); }
    __device__ void arrive_and_reset_bytes(uint32_t bytes, uint32_t rank) const { arrive_and_expect_tx(bytes, rank); }
    __device__ void reset_bytes(uint32_t bytes) const { expect_transaction(bytes); }
    __device__ void commit(uint32_t bytes, uint32_t does = 1) const { complete_transaction(bytes, does); }
    __device__ void commit(uint32_t rank, uint32_t bytes, uint32_t does) const { complete_transaction(rank, bytes, does); }
    static __device__ void arrive_and_reset_bytes(const ValueType *bar, uint32_t bytes) { arrive_and_expect_tx(bar, bytes); }
    static __device__ void arrive_and_reset_bytes(const ValueType *bar, uint32_t bytes, uint32_t rank, uint32_t does)
    {
        arrive_and_expect_tx(bar, bytes, rank, does);
    }
    static __device__ void reset_bytes(const ValueType *bar, uint32_t bytes) { expect_transaction(bar, bytes); }
    static __device__ void commit(const ValueType *bar, uint32_t rank, uint32_t bytes, uint32_t does = 1)
    {
        complete_transaction(bar, rank, bytes, does);
    }
};

// ---- fences ----
BW_DEV void fence_barrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
BW_DEV void fence_view_async_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
BW_DEV void fence_view_shared() { asm volatile("fence.release.sync_restrict::shared::cta.cluster;" ::: "memory"); }

// ---- arrival of the thread's cp.async operations ----
BW_DEV void cpasync_barrier_arrive(const uint64_t *bar)
{
    asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::BW_BAR : "memory");
}
BW_DEV void cpasync_barrier_arrive_noinc(const uint64_t *bar)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::BW_BAR : "memory");
}

// ---- commits of tcgen05, most of them by a lane that the call elects ----
#define BW_COMMIT(group) "tcgen05.commit.cta_group::" #group ".mbarrier::arrive::one.shared::cluster"
#define BW_COMMITS(suffix, group)                                                                                        \
    BW_DEV void umma_arrive##suffix(const uint64_t *bar)                                                                 \
    {                                                                                                                    \
        if (cute::elect_one_sync())                                                                                      \
            asm volatile(BW_COMMIT(group) ".b64 [%0];" ::BW_BAR : "memory");                                             \
    }                                                                                                                    \
    BW_DEV void umma_arrive_multicast##suffix##_no_elect(const uint64_t *bar, uint16_t ctas)                             \
    {                                                                                                                    \
        asm volatile(BW_COMMIT(group) ".multicast::cluster.b64 [%0], %1;" ::BW_BAR, "h"(ctas) : "memory");               \
    }                                                                                                                    \
    BW_DEV void umma_arrive_multicast##suffix(const uint64_t *bar, uint16_t ctas)                                        \
    {                                                                                                                    \
        if (cute::elect_one_sync())                                                                                      \
            asm volatile(BW_COMMIT(group) ".multicast::cluster.b64 [%0], %1;" ::BW_BAR, "h"(ctas) : "memory");           \
    }
BW_COMMITS(, 1)
BW_COMMITS(_2x1SM, 2)
#undef BW_COMMITS
#undef BW_COMMIT
BW_DEV void umma_arrive_2x1SM_sm0(const uint64_t *bar)
{
    const uint32_t even = cute::cast_smem_ptr_to_uint(bar) & cute::Sm100MmaPeerBitMask;
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(even) : "memory");
}
#undef BW_BAR

// ---- loads from and stores to tensor memory ----
BW_DEV void fence_view_async_tmem_load() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
BW_DEV void fence_view_async_tmem_store() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }

// ---- initialisation of rings ----
namespace detail {
template <class Bar, uint32_t n> __device__ void initialize_barrier_array(Bar bar, int count)
{
    for (uint32_t i = 0; i < n; ++i)
        bar[i].init(count);
}
template <class Bar, uint32_t n> __device__ void initialize_barrier_array(uint64_t *bar, int count)
{
    for (uint32_t i = 0; i < n; ++i)
        Bar::init(&bar[i], count);
}
template <class Full, class Empty, uint32_t n>
__device__ void initialize_barrier_array_pair(Full full, Empty empty, int full_count, int empty_count)
{
    for (uint32_t i = 0; i < n; ++i) {
        full[i].init(full_count);
        empty[i].init(empty_count);
    }
}
template <class Full, class Empty, uint32_t n>
__device__ void initialize_barrier_array_pair(uint64_t *full, uint64_t *empty, int full_count, int empty_count)
{
    for (uint32_t i = 0; i < n; ++i) {
        Full::init(&full[i], full_count);
        Empty::init(&empty[i], empty_count);
    }
}
template <class Bar, uint32_t n> __device__ void initialize_barrier_array_aligned(Bar bar, int count)
{
    if (cute::elect_one_sync())
        initialize_barrier_array<Bar, n>(bar, count);
}
template <class Bar, uint32_t n> __device__ void initialize_barrier_array_aligned(uint64_t *bar, int count)
{
    if (cute::elect_one_sync())
        initialize_barrier_array<Bar, n>(bar, count);
}
template <class Full, class Empty, uint32_t n>
__device__ void initialize_barrier_array_pair_aligned(Full full, Empty empty, int full_count, int empty_count)
{
    if (cute::elect_one_sync())
        initialize_barrier_array_pair<Full, Empty, n>(full, empty, full_count, empty_count);
}
template <class Full, class Empty, uint32_t n>
__device__ void initialize_barrier_array_pair_aligned(uint64_t *full, uint64_t *empty, int full_count, int empty_count)
{
    if (cute::elect_one_sync())
        initialize_barrier_array_pair<Full, Empty, n>(full, empty, full_count, empty_count);
}
}  // namespace detail

}  // namespace arch
}  // namespace cutlass
