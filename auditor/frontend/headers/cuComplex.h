// Complex numbers of CUDA: layout and the functions that other headers name.
#pragma once
#include <bw/prelude.h>

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
#pragma clang force_cuda_host_device begin
#define BW_COMPLEX(T, S, f)                                                          \
    inline S cuCreal##f(T v) { return v.x; }                                         \
    inline S cuCimag##f(T v) { return v.y; }                                         \
    inline T cuConj##f(T v) { return T{v.x, -v.y}; }                                 \
    inline T cuCadd##f(T a, T b) { return T{a.x + b.x, a.y + b.y}; }                 \
    inline T cuCsub##f(T a, T b) { return T{a.x - b.x, a.y - b.y}; }                 \
    inline T cuCmul##f(T a, T b) { return T{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
BW_COMPLEX(cuFloatComplex, float, f)
BW_COMPLEX(cuDoubleComplex, double, )
#undef BW_COMPLEX
inline cuFloatComplex make_cuFloatComplex(float re, float im) { return cuFloatComplex{re, im}; }
inline cuDoubleComplex make_cuDoubleComplex(double re, double im) { return cuDoubleComplex{re, im}; }
inline cuComplex make_cuComplex(float re, float im) { return cuComplex{re, im}; }
#pragma clang force_cuda_host_device end
