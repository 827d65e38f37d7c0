// Tensor maps: their type, prefetch, edits and fences; and mbarriers as plain words.
#pragma once
#include <cute/arch/util.hpp>
#include <cute/container/array.hpp>
#include <cuda.h>

namespace cute {

using TmaDescriptor = CUtensorMap;
using Im2ColTmaDescriptor = CUtensorMap;

namespace TMA {
enum class SmemSwizzleBits : uint8_t { DISABLE = 0, B32 = 1, B64 = 2, B128 = 3 };
enum class SmemSwizzleBase : uint8_t { SWIZZLE_BASE_16B = 0, SWIZZLE_BASE_32B = 1, SWIZZLE_BASE_32B_FLIP_8B = 2, SWIZZLE_BASE_64B = 3 };
enum class OOBFill : uint8_t { ZERO = 0, CONSTANT = 1 };
enum class L2Promotion : uint8_t { DISABLE = 0, B64 = 1, B128 = 2, B256 = 3 };
enum class CacheHintSm90 : uint64_t { EVICT_NORMAL = 0x1000000000000000, EVICT_FIRST = 0x12F0000000000000, EVICT_LAST = 0x14F0000000000000 };
enum class CacheHintSm100 : uint64_t { EVICT_NORMAL = 0x1000000000000000, EVICT_FIRST = 0x12F0000000000000, EVICT_LAST = 0x14F0000000000000 };
}  // namespace TMA

// ---- mbarriers ----
BW_DEV void initialize_barrier(uint64_t &bar, int count = 1)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(cast_smem_ptr_to_uint(&bar)), "r"(count) : "memory");
}
BW_DEV void set_barrier_transaction_bytes(uint64_t &bar, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(cast_smem_ptr_to_uint(&bar)), "r"(bytes) : "memory");
}
BW_DEV void wait_barrier(uint64_t &bar, int parity)
{
    asm volatile("{ .reg .pred over;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
                 "@!over bra again; }" ::"r"(cast_smem_ptr_to_uint(&bar)), "r"(parity) : "memory");
}
BW_DEV void arrive_barrier(uint64_t &bar)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(cast_smem_ptr_to_uint(&bar)) : "memory");
}

// ---- tensor maps ----
BW_DEV void prefetch_tma_descriptor(const TmaDescriptor *map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }
BW_DEV void tma_descriptor_replace_addr_in_global_mem(const TmaDescriptor *map, const void *base)
{
    asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(map), "l"(base) : "memory");
}
BW_DEV void tma_descriptor_replace_addr_in_shared_mem(TmaDescriptor &map, const void *base)
{
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;"
                 ::"r"(cast_smem_ptr_to_uint(&map)), "l"(base) : "memory");
}
BW_DEV void tma_descriptor_replace_dims_strides_in_shared_mem(TmaDescriptor &map, const array<uint32_t, 5> &dims,
                                                              const array<uint64_t, 5> &strides)
{
    const uint32_t at = cast_smem_ptr_to_uint(&map);
#define BW_DIM(i) asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], " #i ", %1;" ::"r"(at), "r"(dims[i]) : "memory");
    BW_DIM(0) BW_DIM(1) BW_DIM(2) BW_DIM(3) BW_DIM(4)
#undef BW_DIM
#define BW_STRIDE(i) asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], " #i ", %1;" ::"r"(at), "l"(strides[i + 1]) : "memory");
    BW_STRIDE(0) BW_STRIDE(1) BW_STRIDE(2) BW_STRIDE(3)
#undef BW_STRIDE
}
BW_DEV void tma_descriptor_cp_fence_release(const TmaDescriptor *to, TmaDescriptor &from)
{
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
                 ::"l"(to), "r"(cast_smem_ptr_to_uint(&from)) : "memory");
}
BW_DEV void tma_descriptor_fence_release() { asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory"); }
BW_DEV void tma_descriptor_fence_acquire(const TmaDescriptor *map)
{
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

}  // namespace cute
