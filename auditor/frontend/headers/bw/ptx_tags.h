// The tag types and constants of cuda::ptx: one integral constant for each PTX modifier.
#pragma once
#include <bw/prelude.h>

namespace cuda {
namespace std {
using namespace ::std;
}
namespace ptx {

#define BW_TAG(kind, name)                                           \
    using kind##_##name##_t = kind##_t<dot_##kind::name>;            \
    inline constexpr kind##_##name##_t kind##_##name{};

enum class dot_sem { acq_rel, acquire, relaxed, release, sc, weak };
template <dot_sem v> using sem_t = ::std::integral_constant<dot_sem, v>;
BW_TAG(sem, acq_rel) BW_TAG(sem, acquire) BW_TAG(sem, relaxed) BW_TAG(sem, release) BW_TAG(sem, sc) BW_TAG(sem, weak)

enum class dot_space { global, cluster, shared };
template <dot_space v> using space_t = ::std::integral_constant<dot_space, v>;
BW_TAG(space, global) BW_TAG(space, cluster) BW_TAG(space, shared)

enum class dot_scope { cta, cluster, gpu, sys };
template <dot_scope v> using scope_t = ::std::integral_constant<dot_scope, v>;
BW_TAG(scope, cta) BW_TAG(scope, cluster) BW_TAG(scope, gpu) BW_TAG(scope, sys)

enum class dot_op { add, dec, inc, max, min, and_op, or_op, xor_op, cas, exch };
template <dot_op v> using op_t = ::std::integral_constant<dot_op, v>;
BW_TAG(op, add) BW_TAG(op, dec) BW_TAG(op, inc) BW_TAG(op, max) BW_TAG(op, min) BW_TAG(op, and_op) BW_TAG(op, or_op)
BW_TAG(op, xor_op) BW_TAG(op, cas) BW_TAG(op, exch)

enum class dot_kind { f16, f8f6f4, i8, mxf4, mxf4nvf4, mxf8f6f4, tf32 };
template <dot_kind v> using kind_t = ::std::integral_constant<dot_kind, v>;
BW_TAG(kind, f16) BW_TAG(kind, f8f6f4) BW_TAG(kind, i8) BW_TAG(kind, mxf4) BW_TAG(kind, mxf4nvf4)
BW_TAG(kind, mxf8f6f4) BW_TAG(kind, tf32)
#undef BW_TAG

enum class dot_cta_group { cta_group_1, cta_group_2 };
template <dot_cta_group v> using cta_group_t = ::std::integral_constant<dot_cta_group, v>;
using cta_group_1_t = cta_group_t<dot_cta_group::cta_group_1>;
using cta_group_2_t = cta_group_t<dot_cta_group::cta_group_2>;
inline constexpr cta_group_1_t cta_group_1{};
inline constexpr cta_group_2_t cta_group_2{};

template <int n> using n32_t = ::std::integral_constant<int, n>;
template <int n> inline constexpr n32_t<n> n32{};

BW_DEV uint32_t __bw_smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
inline __attribute__((device)) uint64_t __bw_gmem(const void *p) { return __cvta_generic_to_global(p); }

}  // namespace ptx
}  // namespace cuda
