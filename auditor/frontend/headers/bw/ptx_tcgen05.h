// cuda::ptx: tensor memory allocation, MMA, commit, copies into tensor memory, fences.
#pragma once
#include <bw/ptx_tags.h>

namespace cuda {
namespace ptx {

#define BW_GROUP template <dot_cta_group g>
#define BW_G "n"((int)g + 1)

BW_GROUP BW_DEV void tcgen05_alloc(cta_group_t<g>, uint32_t *dst, uint32_t columns)
{
    asm volatile("tcgen05.alloc.cta_group::%2.sync.aligned.shared::cta.b32 [%0], %1;"
                 ::"r"(__bw_smem(dst)), "r"(columns), BW_G : "memory");
}
BW_GROUP BW_DEV void tcgen05_dealloc(cta_group_t<g>, uint32_t taddr, uint32_t columns)
{
    asm volatile("tcgen05.dealloc.cta_group::%2.sync.aligned.b32 %0, %1;" ::"r"(taddr), "r"(columns), BW_G : "memory");
}
BW_GROUP BW_DEV void tcgen05_relinquish_alloc_permit(cta_group_t<g>)
{
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::%0.sync.aligned;" ::BW_G : "memory");
}
BW_GROUP BW_DEV void tcgen05_commit(cta_group_t<g>, uint64_t *bar)
{
    asm volatile("tcgen05.commit.cta_group::%1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(__bw_smem(bar)), BW_G : "memory");
}
BW_GROUP BW_DEV void tcgen05_commit_multicast(cta_group_t<g>, uint64_t *bar, uint16_t ctas)
{
    asm volatile("tcgen05.commit.cta_group::%2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
                 ::"r"(__bw_smem(bar)), "h"(ctas), BW_G : "memory");
}
BW_DEV void tcgen05_fence_before_thread_sync() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
BW_DEV void tcgen05_fence_after_thread_sync() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
BW_DEV void tcgen05_wait_ld() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
BW_DEV void tcgen05_wait_st() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }
BW_GROUP BW_DEV void tcgen05_shift_down(cta_group_t<g>, uint32_t taddr)
{
    asm volatile("tcgen05.shift.cta_group::%1.down [%0];" ::"r"(taddr), BW_G : "memory");
}

#define BW_CP(name, shape)                                                                                       \
    BW_CP1(name, shape) BW_CP1(name##_b8x16_b4x16_p64, shape ".b8x16.b4x16_p64") BW_CP1(name##_b8x16_b6x16_p32, shape ".b8x16.b6x16_p32")
#define BW_CP1(name, shape)                                                                                      \
    BW_GROUP BW_DEV void tcgen05_cp_##name(cta_group_t<g>, uint32_t taddr, uint64_t desc)                        \
    {                                                                                                            \
        asm volatile("tcgen05.cp.cta_group::%2." shape " [%0], %1;" ::"r"(taddr), "l"(desc), BW_G : "memory");    \
    }
BW_CP(128x256b, "128x256b") BW_CP(4x256b, "4x256b") BW_CP(128x128b, "128x128b")
BW_CP(64x128b_warpx2_02_13, "64x128b.warpx2::02_13") BW_CP(64x128b_warpx2_01_23, "64x128b.warpx2::01_23")
BW_CP(32x128b_warpx4, "32x128b.warpx4")
#undef BW_CP
#undef BW_CP1

// ---- MMA. A is a shared-memory descriptor, or (tmem_a) an address in tensor memory ----
#define BW_ON "setp.ne.b32 on, %4, 0; "
#define BW_OPERANDS(a) "r"(d), a, "l"(b), "r"(idesc), "r"((uint32_t)accumulate), BW_G
#define BW_MMA_FORM(name, kind, A, a_text, a_operand)                                                                        \
    BW_GROUP BW_DEV void name(kind_##kind##_t, cta_group_t<g>, uint32_t d, A a, uint64_t b, uint32_t idesc, bool accumulate) \
    {                                                                                                                        \
        asm volatile("{ .reg .pred on; " BW_ON "tcgen05.mma.cta_group::%5.kind::" #kind " [%0], " a_text ", %2, %3, on; }"    \
                     ::BW_OPERANDS(a_operand) : "memory");                                                                   \
    }                                                                                                                        \
    template <dot_cta_group g, int n>                                                                                        \
    BW_DEV void name(kind_##kind##_t, cta_group_t<g>, uint32_t d, A a, uint64_t b, uint32_t idesc, bool accumulate, n32_t<n>) \
    {                                                                                                                        \
        asm volatile("{ .reg .pred on; " BW_ON "tcgen05.mma.cta_group::%5.kind::" #kind " [%0], " a_text ", %2, %3, on, %6; }" \
                     ::BW_OPERANDS(a_operand), "n"(n) : "memory");                                                           \
    }                                                                                                                        \
    BW_DEV void name(kind_##kind##_t, cta_group_1_t, uint32_t d, A a, uint64_t b, uint32_t idesc, const uint32_t (&off)[4],   \
                     bool accumulate)                                                                                        \
    {                                                                                                                        \
        asm volatile("{ .reg .pred on; " BW_ON "tcgen05.mma.cta_group::1.kind::" #kind " [%0], " a_text                       \
                     ", %2, %3, {%5, %6, %7, %8}, on; }"                                                                     \
                     ::"r"(d), a_operand, "l"(b), "r"(idesc), "r"((uint32_t)accumulate), "r"(off[0]), "r"(off[1]),           \
                     "r"(off[2]), "r"(off[3]) : "memory");                                                                   \
    }                                                                                                                        \
    BW_DEV void name(kind_##kind##_t, cta_group_2_t, uint32_t d, A a, uint64_t b, uint32_t idesc, const uint32_t (&off)[8],   \
                     bool accumulate)                                                                                        \
    {                                                                                                                        \
        asm volatile("{ .reg .pred on; " BW_ON "tcgen05.mma.cta_group::2.kind::" #kind " [%0], " a_text                       \
                     ", %2, %3, {%5, %6, %7, %8, %9, %10, %11, %12}, on; }"                                                  \
                     ::"r"(d), a_operand, "l"(b), "r"(idesc), "r"((uint32_t)accumulate), "r"(off[0]), "r"(off[1]),           \
                     "r"(off[2]), "r"(off[3]), "r"(off[4]), "r"(off[5]), "r"(off[6]), "r"(off[7]) : "memory");               \
    }
#define BW_MMA(kind)                                                            \
    BW_MMA_FORM(tcgen05_mma, kind, uint64_t, "%1", "l"(a))                      \
    BW_MMA_FORM(tcgen05_mma_tmem_a, kind, uint32_t, "[%1]", "r"(a))
BW_MMA(f16) BW_MMA(tf32) BW_MMA(f8f6f4) BW_MMA(i8)
#undef BW_MMA
#undef BW_MMA_FORM

#ifdef BW_PTX_SCALED
// ---- block-scaled MMA: two more tensor memory operands hold the scale factors ----
#define BW_SCALED_FORM(name, kind, modifier, A, a_text, a_operand)                                                           \
    BW_GROUP BW_DEV void name(kind_##kind##_t, cta_group_t<g>, uint32_t d, A a, uint64_t b, uint32_t idesc, uint32_t scale_a, \
                              uint32_t scale_b, bool accumulate)                                                             \
    {                                                                                                                        \
        asm volatile("{ .reg .pred on; " BW_ON "tcgen05.mma.cta_group::%5.kind::" #kind ".block_scale" modifier               \
                     " [%0], " a_text ", %2, %3, [%6], [%7], on; }"                                                          \
                     ::BW_OPERANDS(a_operand), "r"(scale_a), "r"(scale_b) : "memory");                                       \
    }
#define BW_SCALED(name, kind, modifier)                                                                          \
    BW_SCALED_FORM(tcgen05_mma_block_scale##name, kind, modifier, uint64_t, "%1", "l"(a))                        \
    BW_SCALED_FORM(tcgen05_mma_block_scale##name##_tmem_a, kind, modifier, uint32_t, "[%1]", "r"(a))             \
    BW_SCALED_FORM(tcgen05_mma_block_scale##name##_collector_a_fill, kind, modifier ".collector::a::fill", uint64_t, "%1", "l"(a)) \
    BW_SCALED_FORM(tcgen05_mma_block_scale##name##_collector_a_use, kind, modifier ".collector::a::use", uint64_t, "%1", "l"(a)) \
    BW_SCALED_FORM(tcgen05_mma_block_scale##name##_collector_a_lastuse, kind, modifier ".collector::a::lastuse", uint64_t, "%1", "l"(a)) \
    BW_SCALED_FORM(tcgen05_mma_block_scale##name##_collector_a_discard, kind, modifier ".collector::a::discard", uint64_t, "%1", "l"(a))
BW_SCALED(_vec_1x, mxf8f6f4, ".scale_vec::1X")
BW_SCALED(_vec_2x, mxf4, ".scale_vec::2X")
BW_SCALED(_vec_2x, mxf4nvf4, ".scale_vec::2X")
BW_SCALED(_vec_4x, mxf4nvf4, ".scale_vec::4X")
BW_SCALED(_block32, mxf8f6f4, ".block32")
BW_SCALED(_block32, mxf4, ".block32")
BW_SCALED(_block32, mxf4nvf4, ".block32")
BW_SCALED(_block16, mxf4nvf4, ".block16")
#undef BW_SCALED
#undef BW_SCALED_FORM
#endif

#ifdef BW_PTX_WS
// ---- weight-stationary MMA (one CTA), by collector buffer ----
#define BW_WS_FORM(name, kind, collector, A, a_text, a_operand)                                                              \
    BW_DEV void name(cta_group_1_t, kind_##kind##_t, uint32_t d, A a, uint64_t b, uint32_t idesc, bool accumulate)           \
    {                                                                                                                        \
        asm volatile("{ .reg .pred on; " BW_ON "tcgen05.mma.ws.cta_group::1.kind::" #kind collector " [%0], " a_text          \
                     ", %2, %3, on; }" ::"r"(d), a_operand, "l"(b), "r"(idesc), "r"((uint32_t)accumulate) : "memory");        \
    }
#define BW_WS(kind, buffer, use)                                                                                             \
    BW_WS_FORM(tcgen05_mma_ws_collector_##buffer##_##use, kind, ".collector::" #buffer "::" #use, uint64_t, "%1", "l"(a))     \
    BW_WS_FORM(tcgen05_mma_ws_tmem_a_collector_##buffer##_##use, kind, ".collector::" #buffer "::" #use, uint32_t, "[%1]", "r"(a))
#define BW_WS_BUFFER(kind, buffer) BW_WS(kind, buffer, fill) BW_WS(kind, buffer, use) BW_WS(kind, buffer, lastuse) BW_WS(kind, buffer, discard)
#define BW_WS_KIND(kind) BW_WS_BUFFER(kind, b0) BW_WS_BUFFER(kind, b1) BW_WS_BUFFER(kind, b2) BW_WS_BUFFER(kind, b3)
BW_WS_KIND(f16) BW_WS_KIND(tf32) BW_WS_KIND(f8f6f4) BW_WS_KIND(i8)
#undef BW_WS
#undef BW_WS_FORM
#undef BW_WS_BUFFER
#undef BW_WS_KIND
#endif

#undef BW_ON
#undef BW_OPERANDS
#undef BW_GROUP
#undef BW_G

}  // namespace ptx
}  // namespace cuda
