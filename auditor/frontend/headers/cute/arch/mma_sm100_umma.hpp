// MMAs of tcgen05: classes whose fma() is one instruction, issued by a lane that the call elects.
#pragma once
#include <cute/arch/cluster_sm90.hpp>
#include <cute/arch/mma_sm100_desc.hpp>

namespace cute {

// Template parameters: types, shape, majors, and then signs and saturation, which the instruction descriptor holds.
#define BW_DENSE template <class A_, class B_, class C_, int m, int n, UMMA::Major, UMMA::Major, auto...>
#define BW_SHIFTED template <class A_, class B_, class C_, int m, int n, UMMA::Major, UMMA::Major, uint32_t scale, auto...>
#define BW_SCALED template <class A_, class B_, class C_, class S_, int m, int n, UMMA::Major, UMMA::Major, auto...>
#define BW_VECTOR template <class A_, class B_, class C_, class S_, int m, int n, int vector, UMMA::Major, UMMA::Major, auto...>

#define BW_NOTHING
#define BW_SCALES , const uint32_t &sfa, const uint32_t &sfb
#define BW_META , const uint32_t &meta
#define BW_SCALES_META BW_SCALES BW_META

// Operands: %0 accumulator, %1 A, %2 B, %3 instruction descriptor, %4 whether to accumulate; from %5 on those of a form.
#define BW_ISSUE(instruction, ...)                                                                                       \
    if (elect_one_sync())                                                                                                \
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma" instruction "; }"                               \
                     ::"r"(c), __VA_ARGS__ : "memory");
#define BW_COMMON "l"(b), "r"((uint32_t)(idesc >> 32)), "r"(accumulate)
#define BW_CLASS(head, name, word, parameters, body)                                                                     \
    head struct name {                                                                                                   \
        using DRegisters = void;                                                                                         \
        using ARegisters = word[1];                                                                                      \
        using BRegisters = uint64_t[1];                                                                                  \
        using CRegisters = uint32_t[1];                                                                                  \
        static __device__ void fma(const word &a, const uint64_t &b, const uint32_t &c, const uint32_t &accumulate,      \
                                   const uint64_t &idesc parameters)                                                     \
        {                                                                                                                \
            body                                                                                                         \
        }                                                                                                                \
    };

// ---- dense and sparse, A in shared memory (SS) or in tensor memory (TS), with or without a scaled accumulator ----
#define BW_KIND(name, kind, group)                                                                                       \
    BW_CLASS(BW_DENSE, name##_SS, uint64_t, BW_NOTHING,                                                                  \
             BW_ISSUE(".cta_group::" #group ".kind::" #kind " [%0], %1, %2, %3, p", "l"(a), BW_COMMON))                  \
    BW_CLASS(BW_DENSE, name##_TS, uint32_t, BW_NOTHING,                                                                  \
             BW_ISSUE(".cta_group::" #group ".kind::" #kind " [%0], [%1], %2, %3, p", "r"(a), BW_COMMON))                \
    BW_CLASS(BW_DENSE, name##_SS_SPARSE, uint64_t, BW_META,                                                              \
             BW_ISSUE(".sp.cta_group::" #group ".kind::" #kind " [%0], %1, %2, [%5], %3, p", "l"(a), BW_COMMON, "r"(meta)))
#define BW_KIND_SHIFTED(name, kind, group)                                                                               \
    BW_CLASS(BW_SHIFTED, name##_SS_SCALED, uint64_t, BW_NOTHING,                                                         \
             BW_ISSUE(".cta_group::" #group ".kind::" #kind " [%0], %1, %2, %3, p, %5", "l"(a), BW_COMMON, "n"(scale)))  \
    BW_CLASS(BW_SHIFTED, name##_TS_SCALED, uint32_t, BW_NOTHING,                                                         \
             BW_ISSUE(".cta_group::" #group ".kind::" #kind " [%0], [%1], %2, %3, p, %5", "r"(a), BW_COMMON, "n"(scale)))
#define BW_KINDS(X, operands, kind) X(SM100_MMA_##operands, kind, 1) X(SM100_MMA_##operands##_2x1SM, kind, 2)
BW_KINDS(BW_KIND, F16BF16, f16)
BW_KINDS(BW_KIND, TF32, tf32)
BW_KINDS(BW_KIND, S8, i8)
BW_KINDS(BW_KIND, F8F6F4, f8f6f4)
BW_KINDS(BW_KIND_SHIFTED, F16BF16, f16)
BW_KINDS(BW_KIND_SHIFTED, TF32, tf32)
#undef BW_KIND
#undef BW_KIND_SHIFTED
#undef BW_KINDS

// ---- with scale factors of blocks in tensor memory ----
#define BW_BLOCKS(kind, sparse, group)                                                                             \
    BW_ISSUE(sparse ".cta_group::" #group ".kind::" kind " [%0], %1, %2, %3, [%5], [%6], p", "l"(a), BW_COMMON, "r"(sfa), "r"(sfb))
#define BW_BLOCKS_SPARSE(kind, sparse, group)                                                                      \
    BW_ISSUE(sparse ".cta_group::" #group ".kind::" kind " [%0], %1, %2, [%7], %3, [%5], [%6], p", "l"(a), BW_COMMON,    \
             "r"(sfa), "r"(sfb), "r"(meta))
#define BW_SHORT_OR_LONG(X, sparse, group, length, kind_of_long)                                                   \
    if constexpr (vector == length) {                                                                                    \
        X("mxf4nvf4.block_scale.block16", sparse, group)                                                           \
    } else {                                                                                                             \
        X(kind_of_long ".block_scale.block32", sparse, group)                                                      \
    }
#define BW_GROUP_OF(infix, group)                                                                                        \
    BW_CLASS(BW_SCALED, SM100_MMA_MXF8F6F4##infix##_SS, uint64_t, BW_SCALES,                                             \
             BW_BLOCKS("mxf8f6f4.block_scale", "", group))                                                             \
    BW_CLASS(BW_SCALED, SM100_MMA_MXF8F6F4##infix##_SS_SPARSE, uint64_t, BW_SCALES_META,                                 \
             BW_BLOCKS_SPARSE("mxf8f6f4.block_scale", ".sp", group))                                                   \
    BW_CLASS(BW_VECTOR, SM100_MMA_MXF4##infix##_SS, uint64_t, BW_SCALES,                                                 \
             BW_SHORT_OR_LONG(BW_BLOCKS, "", group, 16, "mxf4"))                                                       \
    BW_CLASS(BW_VECTOR, SM100_MMA_MXF4NVF4##infix##_SS_SPARSE, uint64_t, BW_SCALES_META,                                 \
             BW_SHORT_OR_LONG(BW_BLOCKS_SPARSE, ".sp", group, 32, "mxf4"))                                             \
    BW_CLASS(BW_VECTOR, SM103_MXF4_ULTRA##infix##_SS_VS, uint64_t, BW_SCALES,                                            \
             BW_SHORT_OR_LONG(BW_BLOCKS, "", group, 16, "mxf4nvf4"))
BW_GROUP_OF(, 1)
BW_GROUP_OF(_2x1SM, 2)
#undef BW_GROUP_OF
#undef BW_SHORT_OR_LONG
#undef BW_BLOCKS_SPARSE
#undef BW_BLOCKS
#undef BW_CLASS
#undef BW_COMMON
#undef BW_ISSUE
#undef BW_NOTHING
#undef BW_SCALES
#undef BW_META
#undef BW_SCALES_META
#undef BW_DENSE
#undef BW_SHIFTED
#undef BW_SCALED
#undef BW_VECTOR

}  // namespace cute
