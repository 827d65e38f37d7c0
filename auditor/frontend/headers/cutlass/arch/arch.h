// Tags of architectures, and where a thread runs.
#pragma once
#include <cutlass/cutlass.h>

namespace cutlass {
namespace arch {

BW_DEV int LaneId()
{
    int r;
    asm("mov.u32 %0, %%laneid;" : "=r"(r));
    return r;
}
BW_DEV int SmId()
{
    int r;
    asm("mov.u32 %0, %%smid;" : "=r"(r));
    return r;
}
#define BW_ARCH(n)                                                                                                       \
    struct Sm##n {                                                                                                       \
        static const int kMinComputeCapability = n;                                                                      \
    };
BW_ARCH(70) BW_ARCH(75) BW_ARCH(80) BW_ARCH(86) BW_ARCH(89) BW_ARCH(90) BW_ARCH(100) BW_ARCH(101) BW_ARCH(103) BW_ARCH(120)
#undef BW_ARCH

}  // namespace arch
}  // namespace cutlass
