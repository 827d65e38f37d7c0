// 6-bit floating-point types: true sizes; conversions are declarations.
#pragma once
#include <cuda_fp8.h>

typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned int __nv_fp6x4_storage_t;
enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 };
BW_NARROW(__nv_fp6_e2m3, __nv_fp6_storage_t)
BW_NARROW(__nv_fp6_e3m2, __nv_fp6_storage_t)
BW_NARROW_PAIR(__nv_fp6x2_e2m3, __nv_fp6x2_storage_t)
BW_NARROW_PAIR(__nv_fp6x2_e3m2, __nv_fp6x2_storage_t)
BW_NARROW_QUAD(__nv_fp6x4_e2m3, __nv_fp6x4_storage_t)
BW_NARROW_QUAD(__nv_fp6x4_e3m2, __nv_fp6x4_storage_t)
