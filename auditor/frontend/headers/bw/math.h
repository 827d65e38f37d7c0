// Math: floating-point functions are declarations (their results never decide a protocol); integer functions and bit
// casts have bodies, since addresses, counts and descriptors are computed with them.
#pragma once
#include <bw/types.h>

#pragma clang force_cuda_host_device begin
#define BW_MATH1(name)          \
    double name(double) noexcept; \
    float name##f(float) noexcept;
#define BW_MATH2(name)                  \
    double name(double, double) noexcept; \
    float name##f(float, float) noexcept;
extern "C" {
BW_MATH1(sqrt) BW_MATH1(cbrt) BW_MATH1(exp) BW_MATH1(exp2) BW_MATH1(exp10) BW_MATH1(expm1) BW_MATH1(log)
BW_MATH1(log2) BW_MATH1(log10) BW_MATH1(log1p) BW_MATH1(sin) BW_MATH1(cos) BW_MATH1(tan) BW_MATH1(asin)
BW_MATH1(acos) BW_MATH1(atan) BW_MATH1(sinh) BW_MATH1(cosh) BW_MATH1(tanh) BW_MATH1(floor) BW_MATH1(ceil)
BW_MATH1(trunc) BW_MATH1(round) BW_MATH1(rint) BW_MATH1(nearbyint) BW_MATH1(fabs) BW_MATH1(erf) BW_MATH1(erfc)
BW_MATH1(rsqrt) BW_MATH1(tgamma) BW_MATH1(lgamma) BW_MATH1(sinpi) BW_MATH1(cospi)
BW_MATH2(pow) BW_MATH2(fmod) BW_MATH2(atan2) BW_MATH2(fmax) BW_MATH2(fmin) BW_MATH2(hypot) BW_MATH2(copysign)
BW_MATH2(fdim) BW_MATH2(remainder) BW_MATH2(nextafter)
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
double ldexp(double, int) noexcept;
float ldexpf(float, int) noexcept;
double frexp(double, int *) noexcept;
float frexpf(float, int *) noexcept;
double scalbn(double, int) noexcept;
float scalbnf(float, int) noexcept;
long lround(double) noexcept;
long lroundf(float) noexcept;
long lrint(double) noexcept;
long lrintf(float) noexcept;
int ilogbf(float) noexcept;
void sincosf(float, float *, float *) noexcept;
void sincos(double, double *, double *) noexcept;
}
#undef BW_MATH1
#undef BW_MATH2

inline constexpr int abs(int x) noexcept { return x < 0 ? -x : x; }
inline constexpr long abs(long x) noexcept { return x < 0 ? -x : x; }
inline constexpr long long abs(long long x) noexcept { return x < 0 ? -x : x; }
inline float abs(float x) noexcept { return fabsf(x); }
inline double abs(double x) noexcept { return fabs(x); }
inline constexpr long labs(long x) noexcept { return x < 0 ? -x : x; }
inline constexpr long long llabs(long long x) noexcept { return x < 0 ? -x : x; }
inline bool isnan(float x) noexcept { return x != x; }
inline bool isnan(double x) noexcept { return x != x; }
// glibc's values
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
int fpclassify(float) noexcept;
int fpclassify(double) noexcept;
bool isnormal(float) noexcept;
bool isnormal(double) noexcept;
bool isinf(float) noexcept;
bool isinf(double) noexcept;
bool isfinite(float) noexcept;
bool isfinite(double) noexcept;
bool signbit(float) noexcept;
bool signbit(double) noexcept;

#define BW_MINMAX(T)                                                      \
    inline constexpr T min(T a, T b) noexcept { return b < a ? b : a; }   \
    inline constexpr T max(T a, T b) noexcept { return a < b ? b : a; }
BW_MINMAX(int) BW_MINMAX(unsigned) BW_MINMAX(long) BW_MINMAX(unsigned long) BW_MINMAX(long long)
BW_MINMAX(unsigned long long) BW_MINMAX(float) BW_MINMAX(double)
#undef BW_MINMAX
#define BW_MIXED(T, U)                                                                \
    inline constexpr T min(T a, U b) noexcept { return (T)b < a ? (T)b : a; }         \
    inline constexpr T min(U a, T b) noexcept { return b < (T)a ? b : (T)a; }         \
    inline constexpr T max(T a, U b) noexcept { return a < (T)b ? (T)b : a; }         \
    inline constexpr T max(U a, T b) noexcept { return (T)a < b ? b : (T)a; }
BW_MIXED(unsigned, int) BW_MIXED(unsigned long, long) BW_MIXED(unsigned long long, long long)
BW_MIXED(double, float)
#undef BW_MIXED
inline unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
inline unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }

#define BW_STD1(name) \
    inline float name(float x) noexcept { return ::name##f(x); } \
    inline double name(double x) noexcept { return ::name(x); }
namespace std {
BW_STD1(sqrt) BW_STD1(exp) BW_STD1(exp2) BW_STD1(log) BW_STD1(log2) BW_STD1(log10) BW_STD1(sin) BW_STD1(cos)
BW_STD1(tan) BW_STD1(tanh) BW_STD1(floor) BW_STD1(ceil) BW_STD1(trunc) BW_STD1(round) BW_STD1(rint) BW_STD1(fabs)
BW_STD1(erf) BW_STD1(cbrt) BW_STD1(expm1) BW_STD1(log1p) BW_STD1(nearbyint) BW_STD1(atan) BW_STD1(acos)
using ::fpclassify, ::isnormal, ::abs, ::isnan, ::isinf, ::isfinite, ::signbit, ::lround, ::lrint, ::ldexp, ::frexp, ::labs, ::llabs;
inline float pow(float x, float y) noexcept { return ::powf(x, y); }
inline double pow(double x, double y) noexcept { return ::pow(x, y); }
template <class A, class B> requires(!__is_same(A, B) || __is_integral(A))
inline double pow(A x, B y) noexcept { return ::pow((double)x, (double)y); }
inline float fmax(float x, float y) noexcept { return ::fmaxf(x, y); }
inline double fmax(double x, double y) noexcept { return ::fmax(x, y); }
inline float fmin(float x, float y) noexcept { return ::fminf(x, y); }
inline double fmin(double x, double y) noexcept { return ::fmin(x, y); }
inline float fmod(float x, float y) noexcept { return ::fmodf(x, y); }
inline double fmod(double x, double y) noexcept { return ::fmod(x, y); }
inline float fma(float x, float y, float z) noexcept { return ::fmaf(x, y, z); }
inline double fma(double x, double y, double z) noexcept { return ::fma(x, y, z); }
inline float copysign(float x, float y) noexcept { return ::copysignf(x, y); }
inline double copysign(double x, double y) noexcept { return ::copysign(x, y); }
using ::expf, ::exp2f, ::fabsf, ::fmaf, ::fmaxf, ::fminf, ::logf, ::log2f, ::powf, ::sqrtf, ::tanhf, ::floorf, ::ceilf,
    ::roundf, ::truncf, ::rintf, ::sinf, ::cosf, ::erff, ::nearbyintf;
}  // namespace std
#undef BW_STD1
// At global scope CUDA overloads the C names for float.
inline float sqrt(float x) noexcept { return ::sqrtf(x); }
inline float rsqrt(float x) noexcept { return ::rsqrtf(x); }
inline float exp(float x) noexcept { return ::expf(x); }
inline float exp2(float x) noexcept { return ::exp2f(x); }
inline float log(float x) noexcept { return ::logf(x); }
inline float log2(float x) noexcept { return ::log2f(x); }
inline float tanh(float x) noexcept { return ::tanhf(x); }
inline float erf(float x) noexcept { return ::erff(x); }
inline float floor(float x) noexcept { return ::floorf(x); }
inline float ceil(float x) noexcept { return ::ceilf(x); }
inline float round(float x) noexcept { return ::roundf(x); }
inline float rint(float x) noexcept { return ::rintf(x); }
inline float trunc(float x) noexcept { return ::truncf(x); }
inline float fabs(float x) noexcept { return ::fabsf(x); }
inline float sin(float x) noexcept { return ::sinf(x); }
inline float cos(float x) noexcept { return ::cosf(x); }
inline float pow(float x, float y) noexcept { return ::powf(x, y); }
inline float fmod(float x, float y) noexcept { return ::fmodf(x, y); }
inline float fmax(float x, float y) noexcept { return ::fmaxf(x, y); }
inline float fmin(float x, float y) noexcept { return ::fminf(x, y); }
inline float fma(float x, float y, float z) noexcept { return ::fmaf(x, y, z); }
#pragma clang force_cuda_host_device end

// Device intrinsics.
#define BW_DEV inline __attribute__((device))
#define BW_F1(name) __attribute__((device)) float name(float);
#define BW_F2(name) __attribute__((device)) float name(float, float);
#define BW_F3(name) __attribute__((device)) float name(float, float, float);
BW_F1(__expf) BW_F1(__exp2f) BW_F1(__exp10f) BW_F1(__logf) BW_F1(__log2f) BW_F1(__log10f) BW_F1(__sinf) BW_F1(__cosf)
BW_F1(__tanf) BW_F1(__tanhf) BW_F1(__saturatef) BW_F1(__frcp_rn) BW_F1(__frcp_rz) BW_F1(__fsqrt_rn) BW_F1(__frsqrt_rn)
BW_F1(__frcp_ru) BW_F1(__frcp_rd)
BW_F2(__fadd_rn) BW_F2(__fsub_rn) BW_F2(__fmul_rn) BW_F2(__fdividef) BW_F2(__fdiv_rn) BW_F2(__powf) BW_F2(__fadd_rz)
BW_F2(__fmul_rz) BW_F2(__fadd_ru) BW_F2(__fadd_rd) BW_F2(__fmul_ru) BW_F2(__fmul_rd)
BW_F3(__fmaf_rn) BW_F3(__fmaf_rz) BW_F3(__fmaf_ru) BW_F3(__fmaf_rd)
#undef BW_F1
#undef BW_F2
#undef BW_F3
__attribute__((device)) void __sincosf(float, float *, float *);
__attribute__((device)) double __dadd_rn(double, double);
__attribute__((device)) double __dmul_rn(double, double);
__attribute__((device)) double __fma_rn(double, double, double);
__attribute__((device)) float2 __fadd2_rn(float2, float2);
__attribute__((device)) float2 __fmul2_rn(float2, float2);
__attribute__((device)) float2 __ffma2_rn(float2, float2, float2);

BW_DEV unsigned __float_as_uint(float x) { unsigned r; asm("mov.b32 %0, %1;" : "=r"(r) : "f"(x)); return r; }
BW_DEV int __float_as_int(float x) { int r; asm("mov.b32 %0, %1;" : "=r"(r) : "f"(x)); return r; }
BW_DEV float __uint_as_float(unsigned x) { float r; asm("mov.b32 %0, %1;" : "=f"(r) : "r"(x)); return r; }
BW_DEV float __int_as_float(int x) { float r; asm("mov.b32 %0, %1;" : "=f"(r) : "r"(x)); return r; }
BW_DEV long long __double_as_longlong(double x) { long long r; asm("mov.b64 %0, %1;" : "=l"(r) : "d"(x)); return r; }
BW_DEV double __longlong_as_double(long long x) { double r; asm("mov.b64 %0, %1;" : "=d"(r) : "l"(x)); return r; }
BW_DEV int __double2loint(double x) { return (int)__double_as_longlong(x); }
BW_DEV int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
#define BW_CONVERT(name, T, U) BW_DEV T name(U x) { return (T)x; }
BW_CONVERT(__float2int_rn, int, float) BW_CONVERT(__float2int_rz, int, float) BW_CONVERT(__float2int_ru, int, float)
BW_CONVERT(__float2int_rd, int, float) BW_CONVERT(__float2uint_rn, unsigned, float)
BW_CONVERT(__float2uint_rz, unsigned, float) BW_CONVERT(__int2float_rn, float, int)
BW_CONVERT(__int2float_rz, float, int) BW_CONVERT(__uint2float_rn, float, unsigned)
BW_CONVERT(__uint2float_rz, float, unsigned) BW_CONVERT(__double2float_rn, float, double)
BW_CONVERT(__float2ll_rn, long long, float) BW_CONVERT(__ll2float_rn, float, long long)
BW_CONVERT(__ull2float_rn, float, unsigned long long)
#undef BW_CONVERT

BW_DEV int __popc(unsigned x) { int r; asm("popc.b32 %0, %1;" : "=r"(r) : "r"(x)); return r; }
BW_DEV int __popcll(unsigned long long x) { int r; asm("popc.b64 %0, %1;" : "=r"(r) : "l"(x)); return r; }
BW_DEV int __clz(int x) { int r; asm("clz.b32 %0, %1;" : "=r"(r) : "r"(x)); return r; }
BW_DEV int __clzll(long long x) { int r; asm("clz.b64 %0, %1;" : "=r"(r) : "l"(x)); return r; }
BW_DEV unsigned __brev(unsigned x) { unsigned r; asm("brev.b32 %0, %1;" : "=r"(r) : "r"(x)); return r; }
BW_DEV unsigned long long __brevll(unsigned long long x)
{
    unsigned long long r;
    asm("brev.b64 %0, %1;" : "=l"(r) : "l"(x));
    return r;
}
BW_DEV int __ffs(int x) { return x == 0 ? 0 : 32 - __clz(x & -x); }
BW_DEV int __ffsll(long long x) { return x == 0 ? 0 : 64 - __clzll(x & -x); }
BW_DEV unsigned __fns(unsigned mask, unsigned base, int offset)
{
    unsigned r;
    asm("fns.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(mask), "r"(base), "r"(offset));
    return r;
}
BW_DEV unsigned __byte_perm(unsigned a, unsigned b, unsigned s)
{
    unsigned r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(s));
    return r;
}
BW_DEV int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
BW_DEV unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
BW_DEV unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
BW_DEV long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
BW_DEV int __mul24(int a, int b) { return a * b; }
BW_DEV unsigned __umul24(unsigned a, unsigned b) { return a * b; }
BW_DEV unsigned __sad(int a, int b, unsigned c) { return c + (unsigned)(a < b ? b - a : a - b); }
BW_DEV unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n)
{
    return (unsigned)(((((unsigned long long)hi << 32) | lo) << (n & 31)) >> 32);
}
BW_DEV unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n)
{
    return (unsigned)((((unsigned long long)hi << 32) | lo) >> (n & 31));
}
__attribute__((device)) int __dp4a(int, int, int);
__attribute__((device)) unsigned __vadd4(unsigned, unsigned);
__attribute__((device)) unsigned __vmaxs4(unsigned, unsigned);
__attribute__((device)) unsigned __vcmpeq4(unsigned, unsigned);
