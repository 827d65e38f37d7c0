// Atomic functions as PTX atom instructions (relaxed, device scope unless the name says otherwise).
#pragma once
#include <bw/device.h>

#define BW_ATOM(name, op, T, c)                                                                            \
    BW_DEV T name(T *p, T v)                                                                               \
    {                                                                                                      \
        T r;                                                                                               \
        asm volatile("atom." op " %0, [%1], %2;" : "=" c(r) : "l"(p), c(v) : "memory");                    \
        return r;                                                                                          \
    }
#define BW_ATOM_SCOPES(name, op, type, T, c)                \
    BW_ATOM(name, "gpu." op "." type, T, c)                 \
    BW_ATOM(name##_block, "cta." op "." type, T, c)         \
    BW_ATOM(name##_system, "sys." op "." type, T, c)

BW_ATOM_SCOPES(atomicAdd, "add", "u32", int, "r")
BW_ATOM_SCOPES(atomicAdd, "add", "u32", unsigned, "r")
BW_ATOM_SCOPES(atomicAdd, "add", "u64", unsigned long long, "l")
BW_ATOM_SCOPES(atomicAdd, "add", "u64", unsigned long, "l")
BW_ATOM_SCOPES(atomicAdd, "add", "f32", float, "f")
BW_ATOM_SCOPES(atomicAdd, "add", "f64", double, "d")
BW_ATOM_SCOPES(atomicMin, "min", "s32", int, "r")
BW_ATOM_SCOPES(atomicMin, "min", "u32", unsigned, "r")
BW_ATOM_SCOPES(atomicMin, "min", "u64", unsigned long long, "l")
BW_ATOM_SCOPES(atomicMin, "min", "s64", long long, "l")
BW_ATOM_SCOPES(atomicMax, "max", "s32", int, "r")
BW_ATOM_SCOPES(atomicMax, "max", "u32", unsigned, "r")
BW_ATOM_SCOPES(atomicMax, "max", "u64", unsigned long long, "l")
BW_ATOM_SCOPES(atomicMax, "max", "s64", long long, "l")
BW_ATOM_SCOPES(atomicAnd, "and", "b32", int, "r")
BW_ATOM_SCOPES(atomicAnd, "and", "b32", unsigned, "r")
BW_ATOM_SCOPES(atomicAnd, "and", "b64", unsigned long long, "l")
BW_ATOM_SCOPES(atomicOr, "or", "b32", int, "r")
BW_ATOM_SCOPES(atomicOr, "or", "b32", unsigned, "r")
BW_ATOM_SCOPES(atomicOr, "or", "b64", unsigned long long, "l")
BW_ATOM_SCOPES(atomicXor, "xor", "b32", int, "r")
BW_ATOM_SCOPES(atomicXor, "xor", "b32", unsigned, "r")
BW_ATOM_SCOPES(atomicXor, "xor", "b64", unsigned long long, "l")
BW_ATOM_SCOPES(atomicExch, "exch", "b32", int, "r")
BW_ATOM_SCOPES(atomicExch, "exch", "b32", unsigned, "r")
BW_ATOM_SCOPES(atomicExch, "exch", "b64", unsigned long long, "l")
BW_ATOM_SCOPES(atomicExch, "exch", "b32", float, "f")
BW_ATOM_SCOPES(atomicInc, "inc", "u32", unsigned, "r")
BW_ATOM_SCOPES(atomicDec, "dec", "u32", unsigned, "r")
BW_DEV int atomicSub(int *p, int v) { return atomicAdd(p, -v); }
BW_DEV unsigned atomicSub(unsigned *p, unsigned v) { return atomicAdd(p, 0u - v); }

#define BW_CAS(name, scope, T, bits, c)                                                                            \
    BW_DEV T name(T *p, T expected, T v)                                                                           \
    {                                                                                                              \
        T r;                                                                                                       \
        asm volatile("atom." scope ".cas." bits " %0, [%1], %2, %3;"                                               \
                     : "=" c(r) : "l"(p), c(expected), c(v) : "memory");                                           \
        return r;                                                                                                  \
    }
#define BW_CAS_SCOPES(T, bits, c)                     \
    BW_CAS(atomicCAS, "gpu", T, bits, c)              \
    BW_CAS(atomicCAS_block, "cta", T, bits, c)        \
    BW_CAS(atomicCAS_system, "sys", T, bits, c)
BW_CAS_SCOPES(int, "b32", "r")
BW_CAS_SCOPES(unsigned, "b32", "r")
BW_CAS_SCOPES(unsigned long long, "b64", "l")
BW_CAS_SCOPES(unsigned short, "b16", "h")
#undef BW_ATOM
#undef BW_ATOM_SCOPES
#undef BW_CAS
#undef BW_CAS_SCOPES

// ---- vectors: each element by itself ----
BW_DEV float2 atomicAdd(float2 *p, float2 v)
{
    return make_float2(atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y));
}
BW_DEV float4 atomicAdd(float4 *p, float4 v)
{
    return make_float4(atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z), atomicAdd(&p->w, v.w));
}
