// __nv_bfloat16: true size and layout; arithmetic and conversions are declarations, for no protocol depends on them.
#pragma once
#include <bw/prelude.h>
#include <bw/half_ops.h>
#include <cuda_fp16.h>

struct __nv_bfloat16_raw { unsigned short x; };
struct alignas(4) __nv_bfloat162_raw { unsigned short x, y; };
struct __nv_bfloat16;
__host__ __device__ __nv_bfloat16 __float2bfloat16(float);
__host__ __device__ float __bfloat162float(__nv_bfloat16);
struct __attribute__((aligned(2))) __nv_bfloat16 {
    unsigned short __x;
    __nv_bfloat16() = default;
    constexpr __host__ __device__ __nv_bfloat16(const __nv_bfloat16_raw &r) : __x(r.x) {}
    __host__ __device__ __nv_bfloat16(float f) { *this = __float2bfloat16(f); }
    __host__ __device__ __nv_bfloat16(double f) { *this = __float2bfloat16((float)f); }
    __host__ __device__ __nv_bfloat16(int f) { *this = __float2bfloat16((float)f); }
    __host__ __device__ __nv_bfloat16(unsigned f) { *this = __float2bfloat16((float)f); }
    __host__ __device__ __nv_bfloat16(long f) { *this = __float2bfloat16((float)f); }
    __host__ __device__ __nv_bfloat16(long long f) { *this = __float2bfloat16((float)f); }
    __host__ __device__ operator float() const { return __bfloat162float(*this); }
    constexpr __host__ __device__ operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
    __host__ __device__ __nv_bfloat16 &operator=(float f) { return *this = __float2bfloat16(f); }
    __host__ __device__ __nv_bfloat16 &operator+=(__nv_bfloat16 o) { return *this = __float2bfloat16(float(*this) + float(o)); }
    __host__ __device__ __nv_bfloat16 &operator-=(__nv_bfloat16 o) { return *this = __float2bfloat16(float(*this) - float(o)); }
    __host__ __device__ __nv_bfloat16 &operator*=(__nv_bfloat16 o) { return *this = __float2bfloat16(float(*this) * float(o)); }
    __host__ __device__ __nv_bfloat16 &operator/=(__nv_bfloat16 o) { return *this = __float2bfloat16(float(*this) / float(o)); }
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    constexpr __host__ __device__ __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b) : x(a), y(b) {}
};

BW_OPS(__nv_bfloat16)
BW_ARITH(__nv_bfloat16)
BW_ARITH2(__nv_bfloat162)
__host__ __device__ __nv_bfloat16 __float2bfloat16_rn(float);
__host__ __device__ __nv_bfloat16 __float2bfloat16_rz(float);
__host__ __device__ __nv_bfloat16 __float2bfloat16_rd(float);
__host__ __device__ __nv_bfloat16 __float2bfloat16_ru(float);
__host__ __device__ __nv_bfloat16 __double2bfloat16(double);
__host__ __device__ __nv_bfloat16 __int2bfloat16_rn(int);
__host__ __device__ __nv_bfloat16 __uint2bfloat16_rn(unsigned);
__host__ __device__ int __bfloat162int_rn(__nv_bfloat16);
__host__ __device__ int __bfloat162int_rz(__nv_bfloat16);
inline __host__ __device__ __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) { return __nv_bfloat16(__nv_bfloat16_raw{v}); }
inline __host__ __device__ __nv_bfloat16 __short_as_bfloat16(short v) { return __nv_bfloat16(__nv_bfloat16_raw{(unsigned short)v}); }
inline __host__ __device__ unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return v.__x; }
inline __host__ __device__ short __bfloat16_as_short(__nv_bfloat16 v) { return (short)v.__x; }

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
__host__ __device__ __nv_bfloat162 __floats2bfloat162_rn(float, float);
__host__ __device__ __nv_bfloat162 __float22bfloat162_rn(float2);
__host__ __device__ __nv_bfloat162 __float2bfloat162_rn(float);
__host__ __device__ float2 __bfloat1622float2(__nv_bfloat162);
inline __host__ __device__ __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
inline __host__ __device__ __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
inline __host__ __device__ __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
inline __host__ __device__ __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
inline __host__ __device__ __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
inline __host__ __device__ __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.x, v.x); }
inline __host__ __device__ __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.y, v.y); }
inline __host__ __device__ __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 v) { return __nv_bfloat162(v.y, v.x); }
inline __host__ __device__ float __low2float(__nv_bfloat162 v) { return __bfloat162float(v.x); }
inline __host__ __device__ float __high2float(__nv_bfloat162 v) { return __bfloat162float(v.y); }
__device__ __nv_bfloat16 __shfl_sync(unsigned, __nv_bfloat16, int, int = 32);
__device__ __nv_bfloat16 __shfl_xor_sync(unsigned, __nv_bfloat16, int, int = 32);
__device__ __nv_bfloat162 __shfl_xor_sync(unsigned, __nv_bfloat162, int, int = 32);
__device__ __nv_bfloat16 atomicAdd(__nv_bfloat16 *, __nv_bfloat16);
__device__ __nv_bfloat162 atomicAdd(__nv_bfloat162 *, __nv_bfloat162);
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80u)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80u)
