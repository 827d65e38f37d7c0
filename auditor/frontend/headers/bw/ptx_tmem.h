// cuda::ptx: loads from and stores to tensor memory, by shape and number of registers.
#pragma once
#include <bw/ptx_tags.h>

namespace cuda {
namespace ptx {

// Register placeholders, and the operands of n array elements from index i on.
#define BW_OUT1(i) "=r"(r[i])
#define BW_OUT2(i) BW_OUT1(i), BW_OUT1(i + 1)
#define BW_OUT4(i) BW_OUT2(i), BW_OUT2(i + 2)
#define BW_OUT8(i) BW_OUT4(i), BW_OUT4(i + 4)
#define BW_OUT16(i) BW_OUT8(i), BW_OUT8(i + 8)
#define BW_OUT32(i) BW_OUT16(i), BW_OUT16(i + 16)
#define BW_OUT64(i) BW_OUT32(i), BW_OUT32(i + 32)
#define BW_OUT128(i) BW_OUT64(i), BW_OUT64(i + 64)
#define BW_IN1(i) "r"(r[i])
#define BW_IN2(i) BW_IN1(i), BW_IN1(i + 1)
#define BW_IN4(i) BW_IN2(i), BW_IN2(i + 2)
#define BW_IN8(i) BW_IN4(i), BW_IN4(i + 4)
#define BW_IN16(i) BW_IN8(i), BW_IN8(i + 8)
#define BW_IN32(i) BW_IN16(i), BW_IN16(i + 16)
#define BW_IN64(i) BW_IN32(i), BW_IN32(i + 32)
#define BW_IN128(i) BW_IN64(i), BW_IN64(i + 64)
#define BW_LIST1 "{%0}"
#define BW_LIST2 "{%0, %1}"
#define BW_LIST4 "{%0, %1, %2, %3}"
#define BW_LIST8 "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define BW_LIST16 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"
#define BW_LIST32 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define BW_LIST64 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
#define BW_LIST128 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"
#define BW_A1 "%1"
#define BW_B1 "%2"
#define BW_SHAPE1 "%2x%3b.x%4"
#define BW_A2 "%2"
#define BW_B2 "%3"
#define BW_SHAPE2 "%3x%4b.x%5"
#define BW_A4 "%4"
#define BW_B4 "%5"
#define BW_SHAPE4 "%5x%6b.x%7"
#define BW_A8 "%8"
#define BW_B8 "%9"
#define BW_SHAPE8 "%9x%10b.x%11"
#define BW_A16 "%16"
#define BW_B16 "%17"
#define BW_SHAPE16 "%17x%18b.x%19"
#define BW_A32 "%32"
#define BW_B32 "%33"
#define BW_SHAPE32 "%33x%34b.x%35"
#define BW_A64 "%64"
#define BW_B64 "%65"
#define BW_SHAPE64 "%65x%66b.x%67"
#define BW_A128 "%128"
#define BW_B128 "%129"
#define BW_SHAPE128 "%129x%130b.x%131"

// One implementation for each number of registers: the shape is completed by immediate operands, which PTX replaces in
// the instruction's name.
#define BW_LD(function, n, modifier)                                                                             \
    template <int lanes, int bits, int times, class B32> BW_DEV void function(B32 (&v)[n], uint32_t taddr)       \
    {                                                                                                            \
        auto &r = reinterpret_cast<uint32_t(&)[n]>(v);                                                           \
        asm volatile("tcgen05.ld.sync.aligned." BW_SHAPE##n modifier ".b32 " BW_LIST##n ", [" BW_A##n "];"        \
                     : BW_OUT##n(0) : "r"(taddr), "n"(lanes), "n"(bits), "n"(times) : "memory");                 \
    }
#define BW_ST(function, n, modifier)                                                                             \
    template <int lanes, int bits, int times, class B32> BW_DEV void function(uint32_t taddr, const B32 (&v)[n]) \
    {                                                                                                            \
        auto &r = reinterpret_cast<const uint32_t(&)[n]>(v);                                                     \
        asm volatile("tcgen05.st.sync.aligned." BW_SHAPE##n modifier ".b32 [" BW_A##n "], " BW_LIST##n ";"        \
                     ::BW_IN##n(0), "r"(taddr), "n"(lanes), "n"(bits), "n"(times) : "memory");                   \
    }
// The 16x32bx2 shape has a second half at an immediate offset.
#define BW_LD_HALVES(n)                                                                                          \
    template <class B32, int off> BW_DEV void tcgen05_ld_16x32bx2(B32 (&v)[n], uint32_t taddr, n32_t<off> = {})  \
    {                                                                                                            \
        auto &r = reinterpret_cast<uint32_t(&)[n]>(v);                                                           \
        asm volatile("tcgen05.ld.sync.aligned.16x32bx2.x" #n ".b32 " BW_LIST##n ", [" BW_A##n "], " BW_B##n ";"   \
                     : BW_OUT##n(0) : "r"(taddr), "n"(off) : "memory");                                          \
    }
#define BW_ST_HALVES(n)                                                                                          \
    template <int off, class B32> BW_DEV void tcgen05_st_16x32bx2(uint32_t taddr, n32_t<off>, const B32 (&v)[n]) \
    {                                                                                                            \
        auto &r = reinterpret_cast<const uint32_t(&)[n]>(v);                                                     \
        asm volatile("tcgen05.st.sync.aligned.16x32bx2.x" #n ".b32 [" BW_A##n "], " BW_B##n ", " BW_LIST##n ";"   \
                     ::BW_IN##n(0), "r"(taddr), "n"(off) : "memory");                                            \
    }
#define BW_SIZES(X) X(1) X(2) X(4) X(8) X(16) X(32) X(64) X(128)

// A thread's registers are n = times * bits * lanes / 1024.
#define BW_TIMES(lanes, bits) n * 1024 / (lanes * bits)
#define BW_NAMED_LD(lanes, bits, suffix, function)                                                               \
    template <class B32, int n> BW_DEV void tcgen05_ld_##lanes##x##bits##b##suffix(B32 (&v)[n], uint32_t taddr)  \
    {                                                                                                            \
        function<lanes, bits, BW_TIMES(lanes, bits)>(v, taddr);                                                  \
    }
#define BW_NAMED_ST(lanes, bits, suffix, function)                                                               \
    template <class B32, int n> BW_DEV void tcgen05_st_##lanes##x##bits##b##suffix(uint32_t taddr, const B32 (&v)[n]) \
    {                                                                                                            \
        function<lanes, bits, BW_TIMES(lanes, bits)>(taddr, v);                                                  \
    }
#define BW_SHAPES(X, ...) X(32, 32, __VA_ARGS__) X(16, 64, __VA_ARGS__) X(16, 128, __VA_ARGS__) X(16, 256, __VA_ARGS__)

// The frontend defines these for a source that mentions such functions: see feature_macros().
#ifdef BW_PTX_TMEM_LD
#define BW_ONE(n) BW_LD(__bw_tmem_ld, n, "")
BW_SIZES(BW_ONE)
#undef BW_ONE
BW_SHAPES(BW_NAMED_LD, , __bw_tmem_ld)
#endif
#ifdef BW_PTX_TMEM_PACK
#define BW_ONE(n) BW_LD(__bw_tmem_ld_pack, n, ".pack::16b")
BW_SIZES(BW_ONE)
#undef BW_ONE
BW_SHAPES(BW_NAMED_LD, _pack_16b, __bw_tmem_ld_pack)
#endif
#ifdef BW_PTX_TMEM_ST
#define BW_ONE(n) BW_ST(__bw_tmem_st, n, "")
BW_SIZES(BW_ONE)
#undef BW_ONE
BW_SHAPES(BW_NAMED_ST, , __bw_tmem_st)
#endif
#ifdef BW_PTX_TMEM_UNPACK
#define BW_ONE(n) BW_ST(__bw_tmem_st_unpack, n, ".unpack::16b")
BW_SIZES(BW_ONE)
#undef BW_ONE
BW_SHAPES(BW_NAMED_ST, _unpack_16b, __bw_tmem_st_unpack)
#endif
#ifdef BW_PTX_TMEM_HALVES
BW_SIZES(BW_LD_HALVES)
BW_SIZES(BW_ST_HALVES)
#endif

}  // namespace ptx
}  // namespace cuda
