// The matrix descriptor of wgmma.
#pragma once
#include <cute/arch/util.hpp>

namespace cute {

namespace SM90::GMMA {
enum class LayoutType : uint8_t { INTERLEAVE = 0, B128 = 1, B64 = 2, B32 = 3 };
}
namespace GMMA = SM90::GMMA;

union GmmaDescriptor {
    uint64_t desc_;
    uint32_t reg32_[2];
    uint16_t reg16_[4];
    struct {
        uint16_t start_address_ : 14, : 2;
        uint16_t leading_byte_offset_ : 14, : 2;
        uint16_t stride_byte_offset_ : 14, : 2;
        uint8_t : 1, base_offset_ : 3, : 4;
        uint8_t : 6, layout_type_ : 2;
    } bitfield;
    __host__ __device__ constexpr GmmaDescriptor() noexcept : desc_(0) {}
    __host__ __device__ constexpr GmmaDescriptor(uint64_t bits) noexcept : desc_(bits) {}
    __host__ __device__ constexpr operator uint64_t() const noexcept { return desc_; }
};

}  // namespace cute
