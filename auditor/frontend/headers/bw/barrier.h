// cuda::barrier, cuda::device helpers and memcpy_async: thin layers over one 8-byte mbarrier.
#pragma once
#include <bw/ptx_mbarrier.h>
#include <bw/ptx_copy.h>

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

template <size_t n> struct aligned_size_t {
    static constexpr size_t align = n;
    size_t value;
    __host__ __device__ explicit constexpr aligned_size_t(size_t v) : value(v) {}
    __host__ __device__ constexpr operator size_t() const { return value; }
};

struct __bw_no_completion {
    __host__ __device__ void operator()() const {}
};

template <thread_scope scope, class Completion = __bw_no_completion>
class barrier {
    uint64_t state_;

  public:
    using arrival_token = uint64_t;
    barrier() = default;
    __device__ explicit barrier(long expected, Completion = {}) { init(this, expected); }
    __device__ ~barrier() {}
    barrier(const barrier &) = delete;
    barrier &operator=(const barrier &) = delete;

    friend __device__ void init(barrier *b, long expected) { ptx::mbarrier_init(&b->state_, (uint32_t)expected); }
    friend __device__ void init(barrier *b, long expected, Completion) { ptx::mbarrier_init(&b->state_, (uint32_t)expected); }
    static constexpr long max() { return (1l << 20) - 1; }
    __device__ uint64_t *__bw_state() { return &state_; }

    __device__ arrival_token arrive(long n = 1) { return ptx::mbarrier_arrive(&state_, (uint32_t)n); }
    __device__ bool try_wait(const arrival_token &token) { return ptx::mbarrier_try_wait(&state_, token); }
    __device__ bool try_wait_parity(bool parity) { return ptx::mbarrier_try_wait_parity(&state_, (uint32_t)parity); }
    __device__ void wait(arrival_token &&token)
    {
        while (!ptx::mbarrier_try_wait(&state_, token)) {
        }
    }
    __device__ void wait(arrival_token &token)
    {
        while (!ptx::mbarrier_try_wait(&state_, token)) {
        }
    }
    __device__ void wait_parity(bool parity)
    {
        while (!ptx::mbarrier_try_wait_parity(&state_, (uint32_t)parity)) {
        }
    }
    __device__ void arrive_and_wait() { wait(arrive()); }
    __device__ void arrive_and_drop() { ptx::mbarrier_arrive_drop(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &state_); }
};

namespace device {

template <thread_scope s, class C> __device__ uint64_t *barrier_native_handle(barrier<s, C> &b) { return b.__bw_state(); }
template <thread_scope s, class C> __device__ uint64_t barrier_arrive_tx(barrier<s, C> &b, long n, long bytes)
{
    uint64_t *bar = b.__bw_state();
    if (n == 1)
        return ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, (uint32_t)bytes);
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, bar, (uint32_t)bytes);
    return ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, (uint32_t)n);
}
template <thread_scope s, class C> __device__ void barrier_expect_tx(barrier<s, C> &b, long bytes)
{
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, b.__bw_state(), (uint32_t)bytes);
}
template <class Bytes, thread_scope s, class C>
__device__ void memcpy_async_tx(void *dst, const void *src, Bytes bytes, barrier<s, C> &b)
{
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, dst, src, (uint32_t)(size_t)bytes, b.__bw_state());
}

namespace experimental {
inline __device__ void fence_proxy_async_shared_cta() { ptx::fence_proxy_async(ptx::space_shared); }
inline __device__ void cp_async_bulk_commit_group() { ptx::cp_async_bulk_commit_group(); }
template <int n> __device__ void cp_async_bulk_wait_group_read() { ptx::cp_async_bulk_wait_group_read<n>(); }
template <class B> __device__ void cp_async_bulk_global_to_shared(void *dst, const void *src, uint32_t bytes, B &b)
{
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, dst, src, bytes, b.__bw_state());
}
inline __device__ void cp_async_bulk_shared_to_global(void *dst, const void *src, uint32_t bytes)
{
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, dst, src, bytes);
}
#define BW_COPY(rank, parameters, ...)                                                                                  \
    template <class B>                                                                                                 \
    __device__ void cp_async_bulk_tensor_##rank##d_global_to_shared(void *dst, const CUtensorMap *map, BW_UNPACK parameters, B &b) \
    {                                                                                                                  \
        const int32_t at[rank] = {__VA_ARGS__};                                                                        \
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, dst, map, at, b.__bw_state());                \
    }                                                                                                                  \
    inline __device__ void cp_async_bulk_tensor_##rank##d_shared_to_global(const CUtensorMap *map, BW_UNPACK parameters, const void *src) \
    {                                                                                                                  \
        const int32_t at[rank] = {__VA_ARGS__};                                                                        \
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, map, at, src);                                 \
    }
#define BW_UNPACK(...) __VA_ARGS__
BW_COPY(1, (int c0), c0)
BW_COPY(2, (int c0, int c1), c0, c1)
BW_COPY(3, (int c0, int c1, int c2), c0, c1, c2)
BW_COPY(4, (int c0, int c1, int c2, int c3), c0, c1, c2, c3)
BW_COPY(5, (int c0, int c1, int c2, int c3, int c4), c0, c1, c2, c3, c4)
#undef BW_COPY
#undef BW_UNPACK
}  // namespace experimental
}  // namespace device

enum class __bw_completion { group, barrier };

// One thread's share of a copy: 16-byte cp.async where size and alignment promise it, else 4-byte ones.
inline __device__ void __bw_copy_part(char *dst, const char *src, size_t from, size_t bytes, size_t step)
{
    for (size_t at = from; at + 4 <= bytes; at += step)
        if (bytes % 16 == 0)
            __pipeline_memcpy_async(dst + at, src + at, 16);
        else
            __pipeline_memcpy_async(dst + at, src + at, 4);
}
template <class T, class Bytes, thread_scope s, class C>
__device__ void memcpy_async(T *dst, const T *src, Bytes bytes, barrier<s, C> &b)
{
    size_t n = (size_t)bytes, unit = n % 16 == 0 ? 16 : 4;
    __bw_copy_part((char *)dst, (const char *)src, 0, n, unit);
    ptx::cp_async_mbarrier_arrive(b.__bw_state());
}
template <class Group, class T, class Bytes, thread_scope s, class C>
__device__ void memcpy_async(const Group &group, T *dst, const T *src, Bytes bytes, barrier<s, C> &b)
{
    size_t n = (size_t)bytes, unit = n % 16 == 0 ? 16 : 4;
    __bw_copy_part((char *)dst, (const char *)src, group.thread_rank() * unit, n, group.size() * unit);
    ptx::cp_async_mbarrier_arrive(b.__bw_state());
}

}  // namespace cuda
