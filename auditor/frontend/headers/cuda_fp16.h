// __half: true size and layout; arithmetic and conversions are declarations, for no protocol depends on them.
#pragma once
#include <bw/prelude.h>
#include <bw/half_ops.h>

struct __half_raw { unsigned short x; };
struct alignas(4) __half2_raw { unsigned short x, y; };
struct __half;
__host__ __device__ __half __float2half(float);
__host__ __device__ float __half2float(__half);
struct __attribute__((aligned(2))) __half {
    unsigned short __x;
    __half() = default;
    constexpr __host__ __device__ __half(const __half_raw &r) : __x(r.x) {}
    __host__ __device__ __half(float f) { *this = __float2half(f); }
    __host__ __device__ __half(double f) { *this = __float2half((float)f); }
    __host__ __device__ __half(int f) { *this = __float2half((float)f); }
    __host__ __device__ __half(unsigned f) { *this = __float2half((float)f); }
    __host__ __device__ __half(long f) { *this = __float2half((float)f); }
    __host__ __device__ __half(long long f) { *this = __float2half((float)f); }
    __host__ __device__ operator float() const { return __half2float(*this); }
    constexpr __host__ __device__ operator __half_raw() const { return __half_raw{__x}; }
    __host__ __device__ __half &operator=(float f) { return *this = __float2half(f); }
    __host__ __device__ __half &operator+=(__half o) { return *this = __float2half(float(*this) + float(o)); }
    __host__ __device__ __half &operator-=(__half o) { return *this = __float2half(float(*this) - float(o)); }
    __host__ __device__ __half &operator*=(__half o) { return *this = __float2half(float(*this) * float(o)); }
    __host__ __device__ __half &operator/=(__half o) { return *this = __float2half(float(*this) / float(o)); }
};
struct __attribute__((aligned(4))) __half2 {
    __half x, y;
    __half2() = default;
    constexpr __host__ __device__ __half2(const __half &a, const __half &b) : x(a), y(b) {}
};

BW_OPS(__half)
BW_ARITH(__half)
BW_ARITH2(__half2)
__host__ __device__ __half __float2half_rn(float);
__host__ __device__ __half __float2half_rz(float);
__host__ __device__ __half __float2half_rd(float);
__host__ __device__ __half __float2half_ru(float);
__host__ __device__ __half __double2half(double);
__host__ __device__ __half __int2half_rn(int);
__host__ __device__ __half __uint2half_rn(unsigned);
__host__ __device__ int __half2int_rn(__half);
__host__ __device__ int __half2int_rz(__half);
inline __host__ __device__ __half __ushort_as_half(unsigned short v) { return __half(__half_raw{v}); }
inline __host__ __device__ __half __short_as_half(short v) { return __half(__half_raw{(unsigned short)v}); }
inline __host__ __device__ unsigned short __half_as_ushort(__half v) { return v.__x; }
inline __host__ __device__ short __half_as_short(__half v) { return (short)v.__x; }

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
__host__ __device__ __half2 __floats2half2_rn(float, float);
__host__ __device__ __half2 __float22half2_rn(float2);
__host__ __device__ __half2 __float2half2_rn(float);
__host__ __device__ float2 __half22float2(__half2);
inline __host__ __device__ __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
inline __host__ __device__ __half2 make_half2(__half a, __half b) { return __half2(a, b); }
inline __host__ __device__ __half2 __half2half2(__half a) { return __half2(a, a); }
inline __host__ __device__ __half __low2half(__half2 v) { return v.x; }
inline __host__ __device__ __half __high2half(__half2 v) { return v.y; }
inline __host__ __device__ __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
inline __host__ __device__ __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
inline __host__ __device__ __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }
inline __host__ __device__ float __low2float(__half2 v) { return __half2float(v.x); }
inline __host__ __device__ float __high2float(__half2 v) { return __half2float(v.y); }
__device__ __half __shfl_sync(unsigned, __half, int, int = 32);
__device__ __half __shfl_xor_sync(unsigned, __half, int, int = 32);
__device__ __half2 __shfl_xor_sync(unsigned, __half2, int, int = 32);
__device__ __half atomicAdd(__half *, __half);
__device__ __half2 atomicAdd(__half2 *, __half2);
