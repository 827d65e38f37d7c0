// Tensor memory: allocation by one warp, alone or together with that of the peer CTA.
#pragma once
#include <cute/arch/util.hpp>

namespace cute::TMEM {

static constexpr int Sm100TmemCapacityRows = 128;
static constexpr int Sm100TmemCapacityColumns = 512;
static constexpr int TargetTmemCapacityColumns = 512;
template <class Type = uint32_t> using DP = cute::constant<int32_t, (1 << 16) * 4 / (int)sizeof(Type)>;

#define BW_ALLOCATOR(name, group)                                                                                        \
    class name {                                                                                                         \
      public:                                                                                                            \
        static constexpr int ColumnsPerAllocationSlice = 32;                                                             \
        static constexpr int Sm100TmemCapacityColumns = 512;                                                             \
        __device__ name() {}                                                                                             \
        __device__ void allocate(int columns, uint32_t *slot)                                                            \
        {                                                                                                                \
            asm volatile("tcgen05.alloc.cta_group::" #group ".sync.aligned.shared::cta.b32 [%0], %1;"                    \
                         ::"r"(cute::cast_smem_ptr_to_uint(slot)), "r"(columns) : "memory");                             \
        }                                                                                                                \
        __device__ void free(uint32_t base, int columns)                                                                 \
        {                                                                                                                \
            asm volatile("tcgen05.dealloc.cta_group::" #group ".sync.aligned.b32 %0, %1;" ::"r"(base), "r"(columns) : "memory"); \
        }                                                                                                                \
        __device__ void release_allocation_lock()                                                                        \
        {                                                                                                                \
            asm volatile("tcgen05.relinquish_alloc_permit.cta_group::" #group ".sync.aligned;" ::: "memory");            \
        }                                                                                                                \
    };
BW_ALLOCATOR(Allocator1Sm, 1)
BW_ALLOCATOR(Allocator2Sm, 2)
#undef BW_ALLOCATOR

}  // namespace cute::TMEM
