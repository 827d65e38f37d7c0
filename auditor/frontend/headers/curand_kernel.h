// Random numbers on the device: declarations, for no protocol depends on what they give.
#pragma once
#include <bw/prelude.h>

struct curandStateXORWOW { unsigned d, v[5]; int boxmuller_flag, boxmuller_flag_double; float boxmuller_extra; double boxmuller_extra_double; };
struct curandStatePhilox4_32_10 { uint4 ctr, output; uint2 key; unsigned STATE; int boxmuller_flag, boxmuller_flag_double; float boxmuller_extra; double boxmuller_extra_double; };
typedef curandStateXORWOW curandStateXORWOW_t, curandState_t, curandState;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
#define BW_CURAND(T)                                                                                       \
    __device__ void curand_init(unsigned long long, unsigned long long, unsigned long long, T *);          \
    __device__ unsigned curand(T *);                                                                       \
    __device__ float curand_uniform(T *);                                                                  \
    __device__ double curand_uniform_double(T *);                                                          \
    __device__ float curand_normal(T *);                                                                   \
    __device__ float2 curand_normal2(T *);
BW_CURAND(curandStateXORWOW)
BW_CURAND(curandStatePhilox4_32_10)
#undef BW_CURAND
__device__ uint4 curand4(curandStatePhilox4_32_10 *);
__device__ float4 curand_uniform4(curandStatePhilox4_32_10 *);
__device__ float4 curand_normal4(curandStatePhilox4_32_10 *);
