// The descriptors of tcgen05: of a matrix in shared memory, and of an MMA.
#pragma once
#include <cute/arch/util.hpp>
#include <cutlass/numeric_types.h>

namespace cute {
namespace UMMA {

enum class Major : uint8_t { K = 0, MN = 1 };
enum class ScaleIn : uint8_t { One = 0, Neg = 1 };
enum class ScaleOut : uint8_t { Zero = 0, One = 1 };
enum class Saturate : uint8_t { False = 0, True = 1 };
enum class LayoutType : uint8_t { SWIZZLE_NONE = 0, SWIZZLE_128B_BASE32B = 1, SWIZZLE_128B = 2, SWIZZLE_64B = 4, SWIZZLE_32B = 6 };
enum class F16F32Format : uint8_t { F16 = 0, BF16 = 1, TF32 = 2 };
enum class S8Format : uint8_t { UINT8 = 0, INT8 = 1 };
enum class MXF8F6F4Format : uint8_t { E4M3 = 0, E5M2 = 1, E2M3 = 3, E3M2 = 4, E2M1 = 5, INVALID = 7 };
enum class MXF4Format : uint8_t { E2M1 = 1 };
enum class ScaleFormat : uint8_t { UE4M3 = 0, UE8M0 = 1 };
enum class CFormat : uint8_t { F16 = 0, F32 = 1, S32 = 2 };
enum class MaxShift : uint8_t { NoShift = 0, MaxShift8 = 1, MaxShift16 = 2, MaxShift32 = 3 };

union SmemDescriptor {
    uint64_t desc_ = 0;
    struct {
        uint64_t start_address_ : 14, : 2, leading_byte_offset_ : 14, : 2;
        uint64_t stride_byte_offset_ : 14, version_ : 2, : 1, base_offset_ : 3, lbo_mode_ : 1, : 8, layout_type_ : 3;
    };
    struct {
        uint32_t lo;
        uint32_t hi;
    };
    __host__ __device__ constexpr operator uint64_t() const noexcept { return desc_; }
};

union InstrDescriptor {
    uint32_t desc_;
    struct {
        uint32_t sparse_id2_ : 2, sparse_flag_ : 1, saturate_ : 1, c_format_ : 2, : 1, a_format_ : 3, b_format_ : 3;
        uint32_t a_negate_ : 1, b_negate_ : 1, a_major_ : 1, b_major_ : 1, n_dim_ : 6, : 1, m_dim_ : 5, k_size_ : 1, max_shift_ : 2;
    };
    __host__ __device__ constexpr explicit operator uint32_t() const noexcept { return desc_; }
};

union InstrDescriptorBlockScaled {
    uint32_t desc_;
    struct {
        uint32_t sparse_id2_ : 2, sparse_flag_ : 1, : 1, b_sf_id_ : 2, : 1, a_format_ : 3, b_format_ : 3;
        uint32_t a_negate_ : 1, b_negate_ : 1, a_major_ : 1, b_major_ : 1, n_dim_ : 6, scale_format_ : 1, m_dim_ : 5, a_sf_id_ : 2, k_size_ : 1;
    };
    __host__ __device__ constexpr operator uint32_t() const noexcept { return desc_; }
};

// ---- the codes of types ----
template <class Type> inline constexpr int __bw_format = -1;
#define BW_FORMAT(type, code) template <> inline constexpr int __bw_format<type> = (int)code;
BW_FORMAT(half_t, F16F32Format::F16) BW_FORMAT(bfloat16_t, F16F32Format::BF16) BW_FORMAT(tfloat32_t, F16F32Format::TF32)
BW_FORMAT(uint8_t, S8Format::UINT8) BW_FORMAT(int8_t, S8Format::INT8)
BW_FORMAT(float_e4m3_t, MXF8F6F4Format::E4M3) BW_FORMAT(float_e5m2_t, MXF8F6F4Format::E5M2)
BW_FORMAT(float_e2m3_t, MXF8F6F4Format::E2M3) BW_FORMAT(float_e3m2_t, MXF8F6F4Format::E3M2)
BW_FORMAT(cutlass::detail::float_e2m3_unpacksmem_t, MXF8F6F4Format::E2M3)
BW_FORMAT(cutlass::detail::float_e3m2_unpacksmem_t, MXF8F6F4Format::E3M2)
BW_FORMAT(cutlass::detail::float_e2m1_unpacksmem_t, MXF8F6F4Format::E2M1)
BW_FORMAT(float_e2m1_t, MXF4Format::E2M1)
BW_FORMAT(type_erased_dynamic_float8_t, MXF8F6F4Format::INVALID)
BW_FORMAT(type_erased_dynamic_float6_t, MXF8F6F4Format::INVALID)
BW_FORMAT(type_erased_dynamic_float4_t, MXF8F6F4Format::INVALID)
#undef BW_FORMAT
template <class Type> __host__ __device__ constexpr int to_UMMAFormat()
{
    static_assert(__bw_format<Type> >= 0, "no operand type of tcgen05.mma");
    return __bw_format<Type>;
}
template <class Type> __host__ __device__ constexpr CFormat to_CFormat()
{
    return is_same_v<Type, half_t> ? CFormat::F16 : is_same_v<Type, float> ? CFormat::F32 : CFormat::S32;
}
template <class Type> __host__ __device__ constexpr ScaleFormat to_ScaleFormat()
{
    return is_same_v<Type, float_ue8m0_t> ? ScaleFormat::UE8M0 : ScaleFormat::UE4M3;
}

// ---- the descriptor of an MMA ----
template <class A_, class B_, int m, int n, Major a_major, Major b_major, ScaleIn a_sign, ScaleIn b_sign, bool sparse>
__host__ __device__ constexpr uint32_t __bw_instr()
{
    return (uint32_t)sparse << 2 | (uint32_t)to_UMMAFormat<A_>() << 7 | (uint32_t)to_UMMAFormat<B_>() << 10 | (uint32_t)a_sign << 13 |
           (uint32_t)b_sign << 14 | (uint32_t)a_major << 15 | (uint32_t)b_major << 16 | (uint32_t)(n >> 3) << 17 | (uint32_t)(m >> 4) << 24;
}
template <class A_, class B_, class C_, int m, int n, Major a_major, Major b_major, ScaleIn a_sign = ScaleIn::One,
          ScaleIn b_sign = ScaleIn::One, Saturate saturate = Saturate::False, bool sparse = false, MaxShift shift = MaxShift::NoShift>
__host__ __device__ constexpr InstrDescriptor make_instr_desc()
{
    return {__bw_instr<A_, B_, m, n, a_major, b_major, a_sign, b_sign, sparse>() | (uint32_t)saturate << 3 |
            (uint32_t)to_CFormat<C_>() << 4 | (uint32_t)shift << 30};
}
template <class A_, class B_, class C_, class S_, int m, int n, Major a_major, Major b_major, ScaleIn a_sign = ScaleIn::One,
          ScaleIn b_sign = ScaleIn::One, bool sparse = false>
__host__ __device__ constexpr InstrDescriptorBlockScaled make_instr_desc_block_scaled()
{
    return {__bw_instr<A_, B_, m, n, a_major, b_major, a_sign, b_sign, sparse>() | (uint32_t)to_ScaleFormat<S_>() << 23};
}

// In the upper half of a word, as the classes of MMAs take it.
template <class A_, class B_, class C_, int m, int n, Major a_major, Major b_major, ScaleIn a_sign = ScaleIn::One,
          ScaleIn b_sign = ScaleIn::One, Saturate saturate = Saturate::False, bool sparse = false, MaxShift shift = MaxShift::NoShift>
__host__ __device__ constexpr uint64_t make_runtime_instr_desc(uint16_t sparse_id = 0, uint32_t = 0)
{
    return (uint64_t)(make_instr_desc<A_, B_, C_, m, n, a_major, b_major, a_sign, b_sign, saturate, sparse, shift>().desc_ | sparse_id) << 32;
}
template <bool sparse = false>
__host__ __device__ constexpr uint64_t make_runtime_instr_desc(InstrDescriptor d, uint16_t sparse_id = 0, uint32_t = 0)
{
    return (uint64_t)(d.desc_ | sparse_id) << 32;
}
// The upper two bits of the addresses of scale factors choose bytes of their columns.
__host__ __device__ constexpr uint64_t __bw_scaled(uint32_t bits, uint32_t sfa, uint32_t sfb, uint16_t sparse_id)
{
    return (uint64_t)((bits & ~0x60000030u) | sparse_id | sfb >> 30 << 4 | sfa >> 30 << 29) << 32;
}
template <class A_, class B_, class C_, class S_, int m, int n, Major a_major, Major b_major, ScaleIn a_sign = ScaleIn::One,
          ScaleIn b_sign = ScaleIn::One, bool sparse = false>
__host__ __device__ constexpr uint64_t make_runtime_instr_desc_block_scaled(uint32_t sfa, uint32_t sfb, uint16_t sparse_id = 0, uint32_t = 0)
{
    return __bw_scaled(make_instr_desc_block_scaled<A_, B_, C_, S_, m, n, a_major, b_major, a_sign, b_sign, sparse>().desc_, sfa, sfb, sparse_id);
}
template <bool sparse = false>
__host__ __device__ constexpr uint64_t make_runtime_instr_desc_block_scaled(InstrDescriptorBlockScaled d, uint32_t sfa, uint32_t sfb,
                                                                            uint16_t sparse_id = 0, uint32_t = 0)
{
    return __bw_scaled(d.desc_, sfa, sfb, sparse_id);
}

struct DescriptorIterator {
    SmemDescriptor desc_;
    __host__ __device__ constexpr SmemDescriptor operator*() const { return desc_; }
    template <class Index> __host__ __device__ constexpr SmemDescriptor operator[](const Index &i) const { return *(*this + i); }
    template <class Index> __host__ __device__ constexpr DescriptorIterator operator+(const Index &i) const
    {
        SmemDescriptor r;
        r.desc_ = (desc_.desc_ & ~0xFFFFFFFFull) | (uint32_t)(desc_.desc_ + (uint64_t)i);
        return {r};
    }
};

}  // namespace UMMA
}  // namespace cute
