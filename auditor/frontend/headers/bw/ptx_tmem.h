// cuda::ptx: loads from and stores to tensor memory, by shape and number of registers.
#pragma once
#include <bw/ptx_tags.h>

namespace cuda {
namespace ptx {

// Register placeholders from number n0 on, and the operands of n array elements from index i on.
#define BW_OUT1(i) "=r"(reinterpret_cast<uint32_t &>(v[i]))
#define BW_OUT2(i) BW_OUT1(i), BW_OUT1(i + 1)
#define BW_OUT4(i) BW_OUT2(i), BW_OUT2(i + 2)
#define BW_OUT8(i) BW_OUT4(i), BW_OUT4(i + 4)
#define BW_OUT16(i) BW_OUT8(i), BW_OUT8(i + 8)
#define BW_OUT32(i) BW_OUT16(i), BW_OUT16(i + 16)
#define BW_OUT64(i) BW_OUT32(i), BW_OUT32(i + 32)
#define BW_OUT128(i) BW_OUT64(i), BW_OUT64(i + 64)
#define BW_INP1(i) "r"(reinterpret_cast<const uint32_t &>(v[i]))
#define BW_INP2(i) BW_INP1(i), BW_INP1(i + 1)
#define BW_INP4(i) BW_INP2(i), BW_INP2(i + 2)
#define BW_INP8(i) BW_INP4(i), BW_INP4(i + 4)
#define BW_INP16(i) BW_INP8(i), BW_INP8(i + 8)
#define BW_INP32(i) BW_INP16(i), BW_INP16(i + 16)
#define BW_INP64(i) BW_INP32(i), BW_INP32(i + 32)
#define BW_INP128(i) BW_INP64(i), BW_INP64(i + 64)
#define BW_LIST1 "{%0}"
#define BW_LIST2 "{%0, %1}"
#define BW_LIST4 "{%0, %1, %2, %3}"
#define BW_LIST8 "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define BW_LIST16 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"
#define BW_LIST32 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define BW_LIST64 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
#define BW_LIST128 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"
#define BW_LAST1 "%1"
#define BW_LAST2 "%2"
#define BW_LAST4 "%4"
#define BW_LAST8 "%8"
#define BW_LAST16 "%16"
#define BW_LAST32 "%32"
#define BW_LAST64 "%64"
#define BW_LAST128 "%128"
#define BW_NEXT1 "%2"
#define BW_NEXT2 "%3"
#define BW_NEXT4 "%5"
#define BW_NEXT8 "%9"
#define BW_NEXT16 "%17"
#define BW_NEXT32 "%33"
#define BW_NEXT64 "%65"
#define BW_NEXT128 "%129"

#define BW_LD(shape, times, n)                                                                                   \
    template <class B32> BW_DEV void tcgen05_ld_##shape(B32 (&v)[n], uint32_t taddr)                             \
    {                                                                                                            \
        asm volatile("tcgen05.ld.sync.aligned." #shape ".x" #times ".b32 " BW_LIST##n ", [" BW_LAST##n "];"       \
                     : BW_OUT##n(0) : "r"(taddr) : "memory");                                                    \
    }                                                                                                            \
    template <class B32> BW_DEV void tcgen05_ld_##shape##_pack_16b(B32 (&v)[n], uint32_t taddr)                  \
    {                                                                                                            \
        asm volatile("tcgen05.ld.sync.aligned." #shape ".x" #times ".pack::16b.b32 " BW_LIST##n ", [" BW_LAST##n "];" \
                     : BW_OUT##n(0) : "r"(taddr) : "memory");                                                    \
    }
#define BW_ST(shape, times, n)                                                                                   \
    template <class B32> BW_DEV void tcgen05_st_##shape(uint32_t taddr, const B32 (&v)[n])                       \
    {                                                                                                            \
        asm volatile("tcgen05.st.sync.aligned." #shape ".x" #times ".b32 [" BW_LAST##n "], " BW_LIST##n ";"       \
                     ::BW_INP##n(0), "r"(taddr) : "memory");                                                     \
    }                                                                                                            \
    template <class B32> BW_DEV void tcgen05_st_##shape##_unpack_16b(uint32_t taddr, const B32 (&v)[n])          \
    {                                                                                                            \
        asm volatile("tcgen05.st.sync.aligned." #shape ".x" #times ".unpack::16b.b32 [" BW_LAST##n "], " BW_LIST##n ";" \
                     ::BW_INP##n(0), "r"(taddr) : "memory");                                                     \
    }
#define BW_BOTH(shape, times, n) BW_LD(shape, times, n) BW_ST(shape, times, n)
BW_BOTH(32x32b, 1, 1)
BW_BOTH(32x32b, 2, 2)
BW_BOTH(32x32b, 4, 4)
BW_BOTH(32x32b, 8, 8)
BW_BOTH(32x32b, 16, 16)
BW_BOTH(32x32b, 32, 32)
BW_BOTH(32x32b, 64, 64)
BW_BOTH(32x32b, 128, 128)
BW_BOTH(16x64b, 1, 1)
BW_BOTH(16x64b, 2, 2)
BW_BOTH(16x64b, 4, 4)
BW_BOTH(16x64b, 8, 8)
BW_BOTH(16x64b, 16, 16)
BW_BOTH(16x64b, 32, 32)
BW_BOTH(16x64b, 64, 64)
BW_BOTH(16x64b, 128, 128)
BW_BOTH(16x128b, 1, 2)
BW_BOTH(16x128b, 2, 4)
BW_BOTH(16x128b, 4, 8)
BW_BOTH(16x128b, 8, 16)
BW_BOTH(16x128b, 16, 32)
BW_BOTH(16x128b, 32, 64)
BW_BOTH(16x128b, 64, 128)
BW_BOTH(16x256b, 1, 4)
BW_BOTH(16x256b, 2, 8)
BW_BOTH(16x256b, 4, 16)
BW_BOTH(16x256b, 8, 32)
BW_BOTH(16x256b, 16, 64)
BW_BOTH(16x256b, 32, 128)

// 16x32bx2 has a second half at an immediate offset.
#define BW_HALVES(n)                                                                                             \
    template <class B32, int off> BW_DEV void tcgen05_ld_16x32bx2(B32 (&v)[n], uint32_t taddr, n32_t<off> = {})  \
    {                                                                                                            \
        asm volatile("tcgen05.ld.sync.aligned.16x32bx2.x" #n ".b32 " BW_LIST##n ", [" BW_LAST##n "], " BW_NEXT##n ";" \
                     : BW_OUT##n(0) : "r"(taddr), "n"(off) : "memory");                                          \
    }                                                                                                            \
    template <int off, class B32> BW_DEV void tcgen05_st_16x32bx2(uint32_t taddr, n32_t<off>, const B32 (&v)[n]) \
    {                                                                                                            \
        asm volatile("tcgen05.st.sync.aligned.16x32bx2.x" #n ".b32 [" BW_LAST##n "], " BW_NEXT##n ", " BW_LIST##n ";" \
                     ::BW_INP##n(0), "r"(taddr), "n"(off) : "memory");                                           \
    }
BW_HALVES(1) BW_HALVES(2) BW_HALVES(4) BW_HALVES(8) BW_HALVES(16) BW_HALVES(32) BW_HALVES(64) BW_HALVES(128)

}  // namespace ptx
}  // namespace cuda
