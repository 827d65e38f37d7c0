// Number types: true sizes in memory and in bits; conversions and arithmetic are declarations.
#pragma once
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <cute/numeric/integral_constant.hpp>
#include <cutlass/cutlass.h>

namespace cutlass {

template <class Type> struct sizeof_bits { static constexpr int value = int(sizeof(Type) * 8); };
template <class Type> struct sizeof_bits<const Type> : sizeof_bits<Type> {};
template <class Type> inline constexpr int sizeof_bits_v = sizeof_bits<Type>::value;
template <class Type> struct is_subbyte : cute::C<(sizeof_bits<Type>::value < 8)> {};
template <class Type = int> __host__ __device__ constexpr Type bits_to_bytes(Type bits) { return (bits + 7) / 8; }
template <class Type = int> __host__ __device__ constexpr Type bytes_to_bits(Type bytes) { return bytes * 8; }

#define BW_NUMBER(name, word, bits)                                                                                      \
    struct name {                                                                                                        \
        word storage;                                                                                                    \
        name() = default;                                                                                                \
        __host__ __device__ explicit name(float);                                                                        \
        __host__ __device__ explicit name(double);                                                                       \
        __host__ __device__ explicit name(int);                                                                          \
        __host__ __device__ explicit name(unsigned);                                                                     \
        __host__ __device__ operator float() const;                                                                      \
        __host__ __device__ word &raw() { return storage; }                                                              \
        __host__ __device__ word raw() const { return storage; }                                                         \
        static __host__ __device__ constexpr name bitcast(word bits_of_it)                                               \
        {                                                                                                                \
            name r{};                                                                                                    \
            r.storage = bits_of_it;                                                                                      \
            return r;                                                                                                    \
        }                                                                                                                \
        friend __host__ __device__ name operator+(const name &, const name &);                                           \
        friend __host__ __device__ name operator-(const name &, const name &);                                           \
        friend __host__ __device__ name operator*(const name &, const name &);                                           \
        friend __host__ __device__ name operator/(const name &, const name &);                                           \
        __host__ __device__ name &operator+=(const name &);                                                              \
        __host__ __device__ name &operator-=(const name &);                                                              \
        __host__ __device__ name &operator*=(const name &);                                                              \
    };                                                                                                                   \
    template <> struct sizeof_bits<name> { static constexpr int value = bits; };
BW_NUMBER(half_t, uint16_t, 16)
BW_NUMBER(bfloat16_t, uint16_t, 16)
BW_NUMBER(tfloat32_t, uint32_t, 32)
BW_NUMBER(float_e4m3_t, uint8_t, 8)
BW_NUMBER(float_e5m2_t, uint8_t, 8)
BW_NUMBER(float_ue4m3_t, uint8_t, 8)
BW_NUMBER(float_ue8m0_t, uint8_t, 8)
BW_NUMBER(float_e2m1_t, uint8_t, 4)
BW_NUMBER(float_e2m3_t, uint8_t, 6)
BW_NUMBER(float_e3m2_t, uint8_t, 6)
BW_NUMBER(int2b_t, uint8_t, 2)
BW_NUMBER(uint2b_t, uint8_t, 2)
BW_NUMBER(int4b_t, uint8_t, 4)
BW_NUMBER(uint4b_t, uint8_t, 4)
BW_NUMBER(uint1b_t, uint8_t, 1)
// Types that are chosen when a kernel starts.
BW_NUMBER(type_erased_dynamic_float8_t, uint8_t, 8)
BW_NUMBER(type_erased_dynamic_float6_t, uint8_t, 6)
BW_NUMBER(type_erased_dynamic_float4_t, uint8_t, 4)
// Types of 4 and 6 bits that take a byte in shared memory.
namespace detail {
struct float_e2m1_unpacksmem_t : float_e2m1_t {};
struct float_e2m3_unpacksmem_t : float_e2m3_t {};
struct float_e3m2_unpacksmem_t : float_e3m2_t {};
struct type_erased_dynamic_float4_unpacksmem_t : type_erased_dynamic_float4_t {};
struct type_erased_dynamic_float6_unpacksmem_t : type_erased_dynamic_float6_t {};
}  // namespace detail
template <> struct sizeof_bits<detail::float_e2m1_unpacksmem_t> { static constexpr int value = 8; };
template <> struct sizeof_bits<detail::float_e2m3_unpacksmem_t> { static constexpr int value = 8; };
template <> struct sizeof_bits<detail::float_e3m2_unpacksmem_t> { static constexpr int value = 8; };
#undef BW_NUMBER
using bin1_t = bool;
template <> struct sizeof_bits<bool> { static constexpr int value = 1; };

}  // namespace cutlass

namespace cute {
using cutlass::bfloat16_t, cutlass::half_t, cutlass::tfloat32_t, cutlass::float_e4m3_t, cutlass::float_e5m2_t;
using cutlass::float_ue4m3_t, cutlass::float_ue8m0_t, cutlass::float_e2m1_t, cutlass::float_e2m3_t, cutlass::float_e3m2_t;
using cutlass::int2b_t, cutlass::uint2b_t, cutlass::int4b_t, cutlass::uint4b_t, cutlass::uint1b_t, cutlass::bin1_t;
using cutlass::type_erased_dynamic_float4_t, cutlass::type_erased_dynamic_float6_t, cutlass::type_erased_dynamic_float8_t;
using cutlass::sizeof_bits, cutlass::sizeof_bits_v, cutlass::is_subbyte, cutlass::bits_to_bytes, cutlass::bytes_to_bits;
struct alignas(16) uint128_t {
    uint64_t lo, hi;
};
}  // namespace cute
