// Macros that declare the arithmetic of a 16-bit floating-point type.
#pragma once
#include <bw/prelude.h>

#define BW_OPS(T)                                                                                   \
    __host__ __device__ T operator+(T, T);                                                          \
    __host__ __device__ T operator-(T, T);                                                          \
    __host__ __device__ T operator*(T, T);                                                          \
    __host__ __device__ T operator/(T, T);                                                          \
    __host__ __device__ T operator-(T);                                                             \
    __host__ __device__ bool operator==(T, T);                                                      \
    __host__ __device__ bool operator!=(T, T);                                                      \
    __host__ __device__ bool operator<(T, T);                                                       \
    __host__ __device__ bool operator>(T, T);                                                       \
    __host__ __device__ bool operator<=(T, T);                                                      \
    __host__ __device__ bool operator>=(T, T);
#define BW_ARITH(T)                                                                                 \
    __host__ __device__ T __hadd_rn(T, T);                                                          \
    __host__ __device__ T __hsub_rn(T, T);                                                          \
    __host__ __device__ T __hmul_rn(T, T);                                                          \
    __host__ __device__ T __hadd(T, T);                                                             \
    __host__ __device__ T __hsub(T, T);                                                             \
    __host__ __device__ T __hmul(T, T);                                                             \
    __host__ __device__ T __hdiv(T, T);                                                             \
    __host__ __device__ T __hfma(T, T, T);                                                          \
    __host__ __device__ T __hfma_relu(T, T, T);                                                     \
    __host__ __device__ T __hneg(T);                                                                \
    __host__ __device__ T __habs(T);                                                                \
    __host__ __device__ T __hmax(T, T);                                                             \
    __host__ __device__ T __hmin(T, T);                                                             \
    __host__ __device__ T __hmax_nan(T, T);                                                         \
    __host__ __device__ T __hmin_nan(T, T);                                                         \
    __device__ T hexp(T);                                                                           \
    __device__ T hexp2(T);                                                                          \
    __device__ T hlog(T);                                                                           \
    __device__ T hlog2(T);                                                                          \
    __device__ T hrcp(T);                                                                           \
    __device__ T hrsqrt(T);                                                                         \
    __device__ T hsqrt(T);                                                                          \
    __device__ T htanh(T);                                                                          \
    __host__ __device__ bool __hgt(T, T);                                                           \
    __host__ __device__ bool __hge(T, T);                                                           \
    __host__ __device__ bool __hlt(T, T);                                                           \
    __host__ __device__ bool __hle(T, T);                                                           \
    __host__ __device__ bool __heq(T, T);                                                           \
    __host__ __device__ bool __hne(T, T);                                                           \
    __host__ __device__ bool __hisnan(T);
#define BW_ARITH2(T)                                                                                \
    __host__ __device__ T __hadd2_rn(T, T);                                                         \
    __host__ __device__ T __hsub2_rn(T, T);                                                         \
    __host__ __device__ T __hmul2_rn(T, T);                                                         \
    __host__ __device__ unsigned __hgtu2_mask(T, T);                                                \
    __host__ __device__ unsigned __hgt2_mask(T, T);                                                 \
    __host__ __device__ unsigned __hge2_mask(T, T);                                                 \
    __host__ __device__ unsigned __hlt2_mask(T, T);                                                 \
    __host__ __device__ unsigned __hle2_mask(T, T);                                                 \
    __host__ __device__ unsigned __heq2_mask(T, T);                                                 \
    __host__ __device__ T __hadd2(T, T);                                                            \
    __host__ __device__ T __hsub2(T, T);                                                            \
    __host__ __device__ T __hmul2(T, T);                                                            \
    __host__ __device__ T __h2div(T, T);                                                            \
    __host__ __device__ T __hfma2(T, T, T);                                                         \
    __host__ __device__ T __hfma2_relu(T, T, T);                                                    \
    __host__ __device__ T __hneg2(T);                                                               \
    __host__ __device__ T __habs2(T);                                                               \
    __host__ __device__ T __hmax2(T, T);                                                            \
    __host__ __device__ T __hmin2(T, T);                                                            \
    __host__ __device__ T __hmax2_nan(T, T);                                                        \
    __host__ __device__ T __hmin2_nan(T, T);                                                            \
    __device__ T h2exp2(T);                                                                         \
    __device__ T h2exp(T);                                                                          \
    __device__ T h2rsqrt(T);                                                                        \
    __device__ T h2sqrt(T);                                                                         \
    __device__ T h2log(T);                                                                          \
    __device__ T h2log2(T);                                                                         \
    __device__ T h2rcp(T);                                                                          \
    __device__ T h2tanh(T);                                                                         \
    __host__ __device__ T operator+(T, T);                                                          \
    __host__ __device__ T operator-(T, T);                                                          \
    __host__ __device__ T operator*(T, T);
