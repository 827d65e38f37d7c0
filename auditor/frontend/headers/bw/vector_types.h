// CUDA's built-in vector types, with their true sizes and alignments, and make_*.
#pragma once
#include <bw/types.h>

#define BW_VEC(T, name, a1, a2, a3, a4)                                                                     \
    struct name##1 { T x; };                                                                                \
    struct __attribute__((aligned(a2))) name##2 { T x, y; };                                                \
    struct name##3 { T x, y, z; };                                                                          \
    struct __attribute__((aligned(a4))) name##4 { T x, y, z, w; };                                          \
    static __inline__ constexpr name##1 make_##name##1(T x) { return name##1{x}; }                          \
    static __inline__ constexpr name##2 make_##name##2(T x, T y) { return name##2{x, y}; }                  \
    static __inline__ constexpr name##3 make_##name##3(T x, T y, T z) { return name##3{x, y, z}; }          \
    static __inline__ constexpr name##4 make_##name##4(T x, T y, T z, T w) { return name##4{x, y, z, w}; }

#pragma clang force_cuda_host_device begin
BW_VEC(signed char, char, 1, 2, 1, 4)
BW_VEC(unsigned char, uchar, 1, 2, 1, 4)
BW_VEC(short, short, 2, 4, 2, 8)
BW_VEC(unsigned short, ushort, 2, 4, 2, 8)
BW_VEC(int, int, 4, 8, 4, 16)
BW_VEC(unsigned int, uint, 4, 8, 4, 16)
BW_VEC(long, long, 8, 16, 8, 16)
BW_VEC(unsigned long, ulong, 8, 16, 8, 16)
BW_VEC(long long, longlong, 8, 16, 8, 16)
BW_VEC(unsigned long long, ulonglong, 8, 16, 8, 16)
BW_VEC(float, float, 4, 8, 4, 16)
BW_VEC(double, double, 8, 16, 8, 16)
#undef BW_VEC

// Four-element 64-bit types with a chosen alignment (CUDA 13).
#define BW_VEC4(T, name)                                                                                            \
    struct __attribute__((aligned(16))) name##4_16a { T x, y, z, w; };                                              \
    struct __attribute__((aligned(32))) name##4_32a { T x, y, z, w; };                                              \
    static __inline__ constexpr name##4_16a make_##name##4_16a(T x, T y, T z, T w) { return name##4_16a{x, y, z, w}; } \
    static __inline__ constexpr name##4_32a make_##name##4_32a(T x, T y, T z, T w) { return name##4_32a{x, y, z, w}; }
BW_VEC4(long, long)
BW_VEC4(unsigned long, ulong)
BW_VEC4(long long, longlong)
BW_VEC4(unsigned long long, ulonglong)
BW_VEC4(double, double)
#undef BW_VEC4

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};
#pragma clang force_cuda_host_device end

extern __attribute__((device)) const uint3 threadIdx;
extern __attribute__((device)) const uint3 blockIdx;
extern __attribute__((device)) const dim3 blockDim;
extern __attribute__((device)) const dim3 gridDim;
constexpr int warpSize = 32;
