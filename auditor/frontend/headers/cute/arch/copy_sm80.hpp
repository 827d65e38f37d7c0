// cp.async: one copy of a thread, and its groups.
#pragma once
#include <cute/arch/util.hpp>

namespace cute {

#define BW_COPY(name, cache)                                                                                             \
    template <class From, class To = From> struct SM80_CP_ASYNC_##name {                                                 \
        static __device__ void copy(const From &from, To &to)                                                            \
        {                                                                                                                \
            asm volatile("cp.async." cache ".shared.global.L2::128B [%0], [%1], %2;"                                     \
                         ::"r"(cast_smem_ptr_to_uint(&to)), "l"(&from), "n"(sizeof(From)) : "memory");                   \
        }                                                                                                                \
    };                                                                                                                   \
    template <class From, class To = From> struct SM80_CP_ASYNC_##name##_ZFILL {                                         \
        static __device__ void copy(const From &from, To &to, bool reads)                                                \
        {                                                                                                                \
            asm volatile("cp.async." cache ".shared.global.L2::128B [%0], [%1], %2, %3;"                                 \
                         ::"r"(cast_smem_ptr_to_uint(&to)), "l"(&from), "n"(sizeof(From)),                               \
                         "r"(reads ? (int)sizeof(From) : 0) : "memory");                                                 \
        }                                                                                                                \
    };
BW_COPY(CACHEALWAYS, "ca")
BW_COPY(CACHEGLOBAL, "cg")
#undef BW_COPY

BW_DEV void cp_async_fence() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int n> BW_DEV void cp_async_wait()
{
    if constexpr (n == 0)
        asm volatile("cp.async.wait_all;" ::: "memory");
    else
        asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}
template <int n> BW_DEV void cp_async_wait(Int<n>) { cp_async_wait<n>(); }

}  // namespace cute
