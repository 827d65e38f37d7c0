// Shared addresses.
#pragma once
#include <cute/numeric/integral_constant.hpp>

namespace cute {
BW_DEV uint32_t cast_smem_ptr_to_uint(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
}  // namespace cute
