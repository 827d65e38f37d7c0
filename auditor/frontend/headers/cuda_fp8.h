// 8-bit floating-point types: true sizes; conversions are declarations.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

#define BW_NARROW(T, S)                                                          \
    struct T {                                                                   \
        S __x;                                                                   \
        T() = default;                                                           \
        __host__ __device__ explicit T(float);                                   \
        __host__ __device__ explicit T(double);                                  \
        __host__ __device__ explicit T(int);                                     \
        __host__ __device__ explicit T(__half);                                  \
        __host__ __device__ explicit T(__nv_bfloat16);                           \
        __host__ __device__ explicit operator float() const;                     \
        __host__ __device__ explicit operator double() const;                    \
        __host__ __device__ explicit operator __half() const;                    \
        __host__ __device__ explicit operator __nv_bfloat16() const;             \
    };
#define BW_NARROW_PAIR(T, S)                                                     \
    struct T {                                                                   \
        S __x;                                                                   \
        T() = default;                                                           \
        __host__ __device__ explicit T(float2);                                  \
        __host__ __device__ explicit T(__half2);                                 \
        __host__ __device__ explicit T(__nv_bfloat162);                          \
        __host__ __device__ explicit operator float2() const;                    \
        __host__ __device__ explicit operator __half2() const;                   \
    };
#define BW_NARROW_QUAD(T, S)                                                     \
    struct T {                                                                   \
        S __x;                                                                   \
        T() = default;                                                           \
        __host__ __device__ explicit T(float4);                                  \
        __host__ __device__ explicit operator float4() const;                    \
    };
BW_NARROW(__nv_fp8_e4m3, __nv_fp8_storage_t)
BW_NARROW(__nv_fp8_e5m2, __nv_fp8_storage_t)
BW_NARROW(__nv_fp8_e8m0, __nv_fp8_storage_t)
BW_NARROW_PAIR(__nv_fp8x2_e4m3, __nv_fp8x2_storage_t)
BW_NARROW_PAIR(__nv_fp8x2_e5m2, __nv_fp8x2_storage_t)
BW_NARROW_PAIR(__nv_fp8x2_e8m0, __nv_fp8x2_storage_t)
BW_NARROW_QUAD(__nv_fp8x4_e4m3, __nv_fp8x4_storage_t)
BW_NARROW_QUAD(__nv_fp8x4_e5m2, __nv_fp8x4_storage_t)
BW_NARROW_QUAD(__nv_fp8x4_e8m0, __nv_fp8x4_storage_t)

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
__host__ __device__ __nv_fp8_storage_t __nv_cvt_float_to_fp8(float, __nv_saturation_t, __nv_fp8_interpretation_t);
__host__ __device__ __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2, __nv_saturation_t, __nv_fp8_interpretation_t);
__host__ __device__ __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw, __nv_saturation_t, __nv_fp8_interpretation_t);
__host__ __device__ __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t, __nv_fp8_interpretation_t);
__host__ __device__ __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t, __nv_fp8_interpretation_t);
__host__ __device__ __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float, __nv_saturation_t, cudaRoundMode);
__host__ __device__ __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t);
