// Layouts, tensors and what is made of them, so that sources parse: none of their values is known.
#pragma once
#include <cute/container/array.hpp>
#include <cutlass/numeric_types.h>

namespace cute {

struct __bw_Unknown {
    constexpr __bw_Unknown() = default;
    template <class First, class... Rest> __host__ __device__ constexpr __bw_Unknown(const First &, const Rest &...) {}
    template <class Type> __host__ __device__ operator Type() const;
    template <class... Index> __host__ __device__ __bw_Unknown operator()(const Index &...) const;
    template <class Index> __host__ __device__ __bw_Unknown operator[](const Index &) const;
    template <class Type> __host__ __device__ __bw_Unknown &operator=(const Type &);
#define BW_MEMBER(name) template <class... Argument> __host__ __device__ __bw_Unknown name(Argument &&...) const;
    BW_MEMBER(data) BW_MEMBER(layout) BW_MEMBER(shape) BW_MEMBER(stride) BW_MEMBER(begin) BW_MEMBER(with) BW_MEMBER(get_slice)
    BW_MEMBER(get_thread_slice) BW_MEMBER(get_tma_tensor) BW_MEMBER(get_tma_descriptor) BW_MEMBER(partition_A)
    BW_MEMBER(partition_B) BW_MEMBER(partition_C) BW_MEMBER(partition_S) BW_MEMBER(partition_D) BW_MEMBER(make_fragment_A)
    BW_MEMBER(make_fragment_B) BW_MEMBER(make_fragment_C) BW_MEMBER(partition_fragment_A) BW_MEMBER(partition_fragment_B)
    BW_MEMBER(partition_fragment_C) BW_MEMBER(retile_S) BW_MEMBER(retile_D) BW_MEMBER(compose) BW_MEMBER(tile)
#undef BW_MEMBER
};
template <bool> struct __bw_When {};
template <> struct __bw_When<true> {
    using type = __bw_Unknown;
};
#define BW_ARITHMETIC(op)                                                                                                \
    template <class Left, class Right>                                                                                   \
    __host__ __device__ typename __bw_When<__is_base_of(__bw_Unknown, Left) || __is_base_of(__bw_Unknown, Right)>::type  \
    operator op(const Left &, const Right &);
BW_ARITHMETIC(+) BW_ARITHMETIC(-) BW_ARITHMETIC(*) BW_ARITHMETIC(/) BW_ARITHMETIC(%)
#undef BW_ARITHMETIC

// Classes with types as parameters, and with numbers.
#define BW_OF_TYPES(name)                                                                                                \
    template <class... Argument> struct name : __bw_Unknown {                                                            \
        using __bw_Unknown::__bw_Unknown;                                                                                \
    };                                                                                                                   \
    template <class... Argument> name(const Argument &...) -> name<>;
BW_OF_TYPES(Layout) BW_OF_TYPES(ComposedLayout) BW_OF_TYPES(Tensor) BW_OF_TYPES(Copy_Atom) BW_OF_TYPES(TiledCopy)
BW_OF_TYPES(MMA_Atom) BW_OF_TYPES(TiledMMA) BW_OF_TYPES(ThrMMA) BW_OF_TYPES(ThrCopy) BW_OF_TYPES(Copy_Traits) BW_OF_TYPES(MMA_Traits)
#undef BW_OF_TYPES
template <int... number> struct Swizzle : __bw_Unknown {};
template <class Item, auto count> using ArrayEngine = array_aligned<Item, (size_t)count>;
struct Underscore : Int<0> {};
inline constexpr Underscore _{};
using X = Underscore;

#define BW_FUNCTION(name) template <auto... number, class... Argument> __host__ __device__ __bw_Unknown name(Argument &&...);
BW_FUNCTION(make_tensor) BW_FUNCTION(make_tensor_like) BW_FUNCTION(make_fragment_like) BW_FUNCTION(make_identity_tensor)
BW_FUNCTION(make_layout) BW_FUNCTION(make_smem_ptr) BW_FUNCTION(make_gmem_ptr) BW_FUNCTION(make_tmem_ptr) BW_FUNCTION(make_rmem_ptr)
BW_FUNCTION(make_tiled_mma) BW_FUNCTION(make_tiled_copy) BW_FUNCTION(make_tiled_copy_A) BW_FUNCTION(make_tiled_copy_B)
BW_FUNCTION(make_tiled_copy_C) BW_FUNCTION(make_tmem_copy) BW_FUNCTION(make_tma_copy) BW_FUNCTION(make_tma_atom)
BW_FUNCTION(local_tile) BW_FUNCTION(local_partition) BW_FUNCTION(tma_partition) BW_FUNCTION(group_modes) BW_FUNCTION(flatten)
BW_FUNCTION(tile_to_shape) BW_FUNCTION(tile_to_mma_shape) BW_FUNCTION(logical_divide) BW_FUNCTION(zipped_divide)
BW_FUNCTION(tiled_divide) BW_FUNCTION(flat_divide) BW_FUNCTION(composition) BW_FUNCTION(coalesce) BW_FUNCTION(filter)
BW_FUNCTION(filter_zeros) BW_FUNCTION(recast_ptr) BW_FUNCTION(raw_pointer_cast) BW_FUNCTION(tensor) BW_FUNCTION(layout)
BW_FUNCTION(shape) BW_FUNCTION(stride) BW_FUNCTION(slice) BW_FUNCTION(dice) BW_FUNCTION(append) BW_FUNCTION(prepend) BW_FUNCTION(select)
BW_FUNCTION(as_position_independent_swizzle_tensor) BW_FUNCTION(create_tma_multicast_mask) BW_FUNCTION(make_cotiled_copy)
BW_FUNCTION(partition_fragment_A) BW_FUNCTION(partition_fragment_B) BW_FUNCTION(partition_fragment_C) BW_FUNCTION(partition_shape_A)
BW_FUNCTION(partition_shape_B) BW_FUNCTION(partition_shape_C) BW_FUNCTION(clear) BW_FUNCTION(fill) BW_FUNCTION(print)
BW_FUNCTION(print_tensor) BW_FUNCTION(cosize) BW_FUNCTION(elem_less) BW_FUNCTION(idx2crd) BW_FUNCTION(crd2idx) BW_FUNCTION(prefetch)
#undef BW_FUNCTION
template <class Type> __host__ __device__ __bw_Unknown recast(const __bw_Unknown &);
template <class Type> inline constexpr int cosize_v = 1;

}  // namespace cute
