// Cooperative groups: each group's barrier is the PTX barrier that it stands for.
#pragma once
#include <bw/prelude.h>

namespace cooperative_groups {

class thread_group {
  protected:
    unsigned mask_ = 0, size_ = 0, rank_ = 0;

  public:
    __device__ unsigned size() const { return size_; }
    __device__ unsigned num_threads() const { return size_; }
    __device__ unsigned thread_rank() const { return rank_; }
    __device__ void sync() const { asm volatile("bar.warp.sync %0;" ::"r"(mask_) : "memory"); }
};

class thread_block {
  public:
    struct arrival_token {};
    static __device__ void sync() { __syncthreads(); }
    static __device__ arrival_token barrier_arrive() { asm volatile("barrier.arrive.aligned 0, %0;" ::"r"(size()) : "memory"); return {}; }
    static __device__ void barrier_wait(arrival_token &&) { __syncthreads(); }
    static __device__ unsigned thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
    static __device__ unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static __device__ unsigned num_threads() { return size(); }
    static __device__ dim3 thread_index() { return threadIdx; }
    static __device__ dim3 group_index() { return blockIdx; }
    static __device__ dim3 dim_threads() { return blockDim; }
    static __device__ dim3 group_dim() { return blockDim; }
};
inline __device__ thread_block this_thread_block() { return {}; }

class cluster_group {
  public:
    struct arrival_token {};
    static __device__ void sync() { __cluster_barrier_arrive(); __cluster_barrier_wait(); }
    static __device__ arrival_token barrier_arrive() { __cluster_barrier_arrive(); return {}; }
    static __device__ void barrier_wait() { __cluster_barrier_wait(); }
    static __device__ void barrier_wait(arrival_token &&) { __cluster_barrier_wait(); }
    static __device__ unsigned block_rank() { return __clusterRelativeBlockRank(); }
    static __device__ unsigned num_blocks() { return __clusterSizeInBlocks(); }
    static __device__ dim3 block_index() { return __clusterRelativeBlockIdx(); }
    static __device__ dim3 dim_blocks() { return __clusterDim(); }
    static __device__ unsigned num_threads() { return num_blocks() * thread_block::size(); }
    static __device__ unsigned size() { return num_threads(); }
    static __device__ unsigned thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
    template <class T> static __device__ T *map_shared_rank(T *p, int rank) { return (T *)__cluster_map_shared_rank(p, rank); }
    static __device__ unsigned query_shared_rank(const void *p) { return __cluster_query_shared_rank(p); }
};
inline __device__ cluster_group this_cluster() { return {}; }

// A barrier of the whole grid. Its arrivals are counted in global memory by the driver: opaque here.
__device__ void __bw_grid_sync();
class grid_group {
  public:
    __device__ void sync() const { __bw_grid_sync(); }
    __device__ bool is_valid() const { return true; }
    __device__ unsigned long long size() const { return (unsigned long long)num_blocks() * thread_block::size(); }
    __device__ unsigned num_blocks() const { return gridDim.x * gridDim.y * gridDim.z; }
    __device__ unsigned block_rank() const { return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
    __device__ unsigned long long thread_rank() const { return (unsigned long long)block_rank() * thread_block::size() + thread_block::thread_rank(); }
};
inline __device__ grid_group this_grid() { return {}; }

template <unsigned n, class Parent = void>
class thread_block_tile {
  public:
    static __device__ unsigned thread_rank() { return thread_block::thread_rank() % n; }
    static constexpr __device__ unsigned size() { return n; }
    static constexpr __device__ unsigned num_threads() { return n; }
    static __device__ unsigned meta_group_rank() { return thread_block::thread_rank() / n; }
    static __device__ unsigned meta_group_size() { return (thread_block::size() + n - 1) / n; }
    static __device__ unsigned __bw_mask() { return n >= 32 ? 0xffffffffu : ((1u << (n & 31)) - 1) << (thread_block::thread_rank() % 32 / n * n); }
    static __device__ void sync()
    {
        if constexpr (n <= 32) __syncwarp(__bw_mask());
        else asm volatile("barrier.sync %0, %1;" ::"r"(1 + meta_group_rank()), "r"(n) : "memory");
    }
    template <class T> __device__ T shfl(T v, int lane) const { return __shfl_sync(__bw_mask(), v, lane, n); }
    template <class T> __device__ T shfl_up(T v, unsigned d) const { return __shfl_up_sync(__bw_mask(), v, d, n); }
    template <class T> __device__ T shfl_down(T v, unsigned d) const { return __shfl_down_sync(__bw_mask(), v, d, n); }
    template <class T> __device__ T shfl_xor(T v, unsigned m) const { return __shfl_xor_sync(__bw_mask(), v, m, n); }
    __device__ int any(int p) const { return __any_sync(__bw_mask(), p); }
    __device__ int all(int p) const { return __all_sync(__bw_mask(), p); }
    __device__ unsigned ballot(int p) const { return __ballot_sync(__bw_mask(), p); }
};
template <unsigned n, class G> __device__ thread_block_tile<n, G> tiled_partition(const G &) { return {}; }

class coalesced_group : public thread_group {
  public:
    __device__ coalesced_group()
    {
        mask_ = __activemask();
        size_ = __popc(mask_);
        unsigned below;
        asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
        rank_ = __popc(mask_ & below);
    }
    template <class T> __device__ T shfl(T v, int lane) const { return __shfl_sync(mask_, v, __fns(mask_, 0, lane + 1)); }
};
inline __device__ coalesced_group coalesced_threads() { return {}; }

template <class G> __device__ void sync(const G &g) { g.sync(); }
template <class G> __device__ unsigned thread_rank(const G &g) { return g.thread_rank(); }
template <class G> __device__ unsigned group_size(const G &g) { return g.size(); }
template <class G> __device__ bool invoke_one_is_leader(const G &g) { return g.thread_rank() == 0; }
template <class G, class F, class... A> __device__ void invoke_one(const G &g, F &&f, A &&...a)
{
    if (g.thread_rank() == 0) f(a...);
}

// cp.async copies of a group, and the waits for them.
template <class G, class T, class Bytes> __device__ void memcpy_async(const G &g, T *dst, const T *src, Bytes bytes)
{
    size_t n = (size_t)bytes, unit = n % 16 == 0 ? 16 : 4;
    for (size_t at = g.thread_rank() * unit; at < n; at += g.size() * unit)
        __pipeline_memcpy_async((char *)dst + at, (const char *)src + at, unit);
    __pipeline_commit();
}
template <class G> __device__ void wait(const G &g) { __pipeline_wait_prior(0); g.sync(); }
template <unsigned n, class G> __device__ void wait_prior(const G &g) { __pipeline_wait_prior(n); g.sync(); }

template <class T> struct plus { __host__ __device__ T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { __host__ __device__ T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { __host__ __device__ T operator()(T a, T b) const { return a < b ? b : a; } };
template <class G, class T, class F> __device__ T reduce(const G &g, T v, F f)
{
    for (unsigned d = g.size() / 2; d > 0; d /= 2) v = f(v, g.shfl_xor(v, d));
    return v;
}

}  // namespace cooperative_groups
