// cute::array, alignment helpers.
#pragma once
#include <cute/numeric/integral_constant.hpp>

namespace cute {

template <class Item, size_t n> struct array {
    using value_type = Item;
    using element_type = Item;
    using size_type = size_t;
    using reference = Item &;
    using const_reference = const Item &;
    using iterator = Item *;
    using const_iterator = const Item *;
    Item __elems_[n ? n : 1];
    __host__ __device__ constexpr Item &operator[](size_t i) { return __elems_[i]; }
    __host__ __device__ constexpr const Item &operator[](size_t i) const { return __elems_[i]; }
    __host__ __device__ constexpr Item *data() { return __elems_; }
    __host__ __device__ constexpr const Item *data() const { return __elems_; }
    __host__ __device__ constexpr Item *begin() { return __elems_; }
    __host__ __device__ constexpr const Item *begin() const { return __elems_; }
    __host__ __device__ constexpr Item *end() { return __elems_ + n; }
    __host__ __device__ constexpr const Item *end() const { return __elems_ + n; }
    __host__ __device__ constexpr Item &front() { return __elems_[0]; }
    __host__ __device__ constexpr Item &back() { return __elems_[n - 1]; }
    __host__ __device__ constexpr size_t size() const { return n; }
    __host__ __device__ constexpr bool empty() const { return n == 0; }
    __host__ __device__ constexpr void fill(const Item &value)
    {
        for (size_t i = 0; i < n; ++i)
            __elems_[i] = value;
    }
    __host__ __device__ constexpr void clear() { fill(Item(0)); }
};
template <class Item, size_t n, size_t alignment = 16> struct alignas(alignment) array_aligned : array<Item, n> {};

template <size_t i, class Item, size_t n> __host__ __device__ constexpr Item &get(array<Item, n> &a) { return a[i]; }
template <size_t i, class Item, size_t n> __host__ __device__ constexpr const Item &get(const array<Item, n> &a) { return a[i]; }
template <size_t n> __host__ __device__ constexpr bool is_byte_aligned(const void *p) { return ((uintptr_t)p & (n - 1)) == 0; }
#define CUTE_ALIGNAS(n) alignas(n)

}  // namespace cute
