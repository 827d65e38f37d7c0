// Placement new. The compiler declares the allocation functions itself.
#pragma once
#include <bw/types.h>

#pragma clang force_cuda_host_device begin
namespace std {
struct nothrow_t { explicit nothrow_t() = default; };
inline constexpr nothrow_t nothrow{};
enum class align_val_t : size_t {};
}  // namespace std
inline void *operator new(size_t, void *place) noexcept { return place; }
inline void *operator new[](size_t, void *place) noexcept { return place; }
inline void operator delete(void *, void *) noexcept {}
#pragma clang force_cuda_host_device end
