// 4-bit floating-point types: true sizes; conversions are declarations.
#pragma once
#include <cuda_fp8.h>

typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
enum __nv_fp4_interpretation_t { __NV_E2M1 };
BW_NARROW(__nv_fp4_e2m1, __nv_fp4_storage_t)
BW_NARROW_PAIR(__nv_fp4x2_e2m1, __nv_fp4x2_storage_t)
BW_NARROW_QUAD(__nv_fp4x4_e2m1, __nv_fp4x4_storage_t)
__host__ __device__ __nv_fp4_storage_t __nv_cvt_float_to_fp4(float, __nv_fp4_interpretation_t, cudaRoundMode);
__host__ __device__ __nv_fp4x2_storage_t __nv_cvt_float2_to_fp4x2(float2, __nv_fp4_interpretation_t, cudaRoundMode);
__host__ __device__ __nv_fp4x2_storage_t __nv_cvt_halfraw2_to_fp4x2(__half2_raw, __nv_fp4_interpretation_t, cudaRoundMode);
__host__ __device__ __nv_fp4x2_storage_t
__nv_cvt_bfloat16raw2_to_fp4x2(__nv_bfloat162_raw, __nv_fp4_interpretation_t, cudaRoundMode);
__host__ __device__ __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t, __nv_fp4_interpretation_t);
__host__ __device__ __half2_raw __nv_cvt_fp4x2_to_halfraw2(__nv_fp4x2_storage_t, __nv_fp4_interpretation_t);
