// CuTe's algorithms on tensors. What they copy or multiply depends on layouts and atoms that are not modelled, so each
// ends what can be judged of a run.
#pragma once
#include <cute/config.hpp>

#define BW_HIDES(name)                                                                                                   \
    __attribute__((device)) void __bw_hides_##name();                                                                    \
    namespace cute {                                                                                                     \
    template <class... Argument> __device__ void name(Argument &&...) { __bw_hides_##name(); }                           \
    }
BW_HIDES(copy)
BW_HIDES(copy_if)
BW_HIDES(copy_aligned)
BW_HIDES(copy_vec)
BW_HIDES(cooperative_copy)
BW_HIDES(gemm)
BW_HIDES(cooperative_gemm)
#undef BW_HIDES
