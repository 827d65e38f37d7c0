// Compile-time integers, tuples of them, and what kernels ask of a shape.
#pragma once
#include <cute/config.hpp>

namespace cute {

using std::conditional_t, std::decay_t, std::enable_if_t, std::is_empty, std::is_empty_v, std::is_integral, std::is_same, std::is_same_v;
using std::remove_const_t, std::remove_cv_t, std::remove_cvref_t, std::remove_pointer_t, std::remove_reference_t;
using std::declval, std::forward, std::move, std::numeric_limits, std::swap;

// ---- one integer ----
template <auto v> struct C {
    static constexpr auto value = v;
    using type = C;
    using value_type = decltype(v);
    __host__ __device__ constexpr operator value_type() const noexcept { return value; }
    __host__ __device__ constexpr value_type operator()() const noexcept { return value; }
};
template <class Type, Type v> using constant = C<v>;
template <class Type, Type v> using integral_constant = C<v>;
template <int v> using Int = C<v>;
template <bool v> using bool_constant = C<v>;
using true_type = C<true>;
using false_type = C<false>;

#define BW_NUMBER(n) using _##n = Int<n>;
BW_NUMBER(0) BW_NUMBER(1) BW_NUMBER(2) BW_NUMBER(3) BW_NUMBER(4) BW_NUMBER(5) BW_NUMBER(6) BW_NUMBER(7) BW_NUMBER(8)
BW_NUMBER(9) BW_NUMBER(10) BW_NUMBER(12) BW_NUMBER(16) BW_NUMBER(24) BW_NUMBER(32) BW_NUMBER(40) BW_NUMBER(48) BW_NUMBER(56)
BW_NUMBER(64) BW_NUMBER(72) BW_NUMBER(80) BW_NUMBER(88) BW_NUMBER(96) BW_NUMBER(104) BW_NUMBER(112) BW_NUMBER(120)
BW_NUMBER(128) BW_NUMBER(136) BW_NUMBER(144) BW_NUMBER(152) BW_NUMBER(160) BW_NUMBER(168) BW_NUMBER(176) BW_NUMBER(184)
BW_NUMBER(192) BW_NUMBER(200) BW_NUMBER(208) BW_NUMBER(216) BW_NUMBER(224) BW_NUMBER(232) BW_NUMBER(240) BW_NUMBER(248)
BW_NUMBER(256) BW_NUMBER(384) BW_NUMBER(512) BW_NUMBER(768) BW_NUMBER(1024) BW_NUMBER(2048) BW_NUMBER(4096)
BW_NUMBER(8192) BW_NUMBER(16384) BW_NUMBER(32768) BW_NUMBER(65536)
#undef BW_NUMBER

#define BW_BINARY(op) \
    template <auto a, auto b> __host__ __device__ constexpr C<(a op b)> operator op(C<a>, C<b>) { return {}; }
BW_BINARY(+) BW_BINARY(-) BW_BINARY(*) BW_BINARY(/) BW_BINARY(%) BW_BINARY(&) BW_BINARY(|) BW_BINARY(^) BW_BINARY(<<)
BW_BINARY(>>) BW_BINARY(&&) BW_BINARY(||) BW_BINARY(==) BW_BINARY(!=) BW_BINARY(<) BW_BINARY(>) BW_BINARY(<=) BW_BINARY(>=)
#undef BW_BINARY
template <auto a> __host__ __device__ constexpr C<(-a)> operator-(C<a>) { return {}; }
template <auto a> __host__ __device__ constexpr C<(!a)> operator!(C<a>) { return {}; }

// ---- several ----
template <class... Part> struct tuple;
template <> struct tuple<> {};
template <class First, class... Rest> struct tuple<First, Rest...> {
    First first;
    tuple<Rest...> rest;
    constexpr tuple() = default;
    __host__ __device__ constexpr tuple(const First &f, const Rest &...r) : first(f), rest(r...) {}
};
template <class... Part> using Shape = tuple<Part...>;
template <class... Part> using Stride = tuple<Part...>;
template <class... Part> using Step = tuple<Part...>;
template <class... Part> using Coord = tuple<Part...>;
template <class... Part> using Tile = tuple<Part...>;

template <size_t i, class First, class... Rest>
__host__ __device__ constexpr auto &get(tuple<First, Rest...> &t)
{
    if constexpr (i == 0)
        return t.first;
    else
        return get<i - 1>(t.rest);
}
template <size_t i, class First, class... Rest>
__host__ __device__ constexpr const auto &get(const tuple<First, Rest...> &t)
{
    if constexpr (i == 0)
        return t.first;
    else
        return get<i - 1>(t.rest);
}
template <size_t i, class First, class... Rest>
__host__ __device__ constexpr auto &&get(tuple<First, Rest...> &&t)
{
    return static_cast<std::remove_reference_t<decltype(get<i>(t))> &&>(get<i>(t));
}
template <class... Part> __host__ __device__ constexpr tuple<Part...> make_tuple(const Part &...p) { return {p...}; }
template <class... Part> __host__ __device__ constexpr tuple<Part...> make_shape(const Part &...p) { return {p...}; }
template <class... Part> __host__ __device__ constexpr tuple<Part...> make_stride(const Part &...p) { return {p...}; }
template <class... Part> __host__ __device__ constexpr tuple<Part...> make_coord(const Part &...p) { return {p...}; }
template <class... Part> __host__ __device__ constexpr tuple<Part...> make_tile(const Part &...p) { return {p...}; }

template <class Type> struct tuple_size;
template <class... Part> struct tuple_size<tuple<Part...>> : std::integral_constant<size_t, sizeof...(Part)> {};
template <class... Part> struct tuple_size<const tuple<Part...>> : std::integral_constant<size_t, sizeof...(Part)> {};
template <class Type> inline constexpr size_t tuple_size_v = tuple_size<Type>::value;
template <size_t i, class Type> struct tuple_element;
template <class First, class... Rest> struct tuple_element<0, tuple<First, Rest...>> { using type = First; };
template <size_t i, class First, class... Rest>
struct tuple_element<i, tuple<First, Rest...>> : tuple_element<i - 1, tuple<Rest...>> {};
template <size_t i, class Type> struct tuple_element<i, const Type> { using type = const typename tuple_element<i, Type>::type; };
template <size_t i, class Type> using tuple_element_t = typename tuple_element<i, Type>::type;

template <class Type> struct is_tuple : false_type {};
template <class... Part> struct is_tuple<tuple<Part...>> : true_type {};
template <class Type> struct is_static : C<std::is_empty_v<Type>> {};
template <class Type> struct is_static<const Type> : is_static<Type> {};
template <class Type> struct is_static<Type &> : is_static<Type> {};
template <class... Part> struct is_static<tuple<Part...>> : C<(is_static<Part>::value && ...)> {};
template <class Type> inline constexpr bool is_static_v = is_static<Type>::value;

// ---- the number of elements of a shape, of one mode of it with an index ----
template <class Type> __host__ __device__ constexpr auto size(const Type &n) { return n; }
__host__ __device__ constexpr Int<1> size(const tuple<> &) { return {}; }
template <class First, class... Rest> __host__ __device__ constexpr auto size(const tuple<First, Rest...> &t)
{
    return size(t.first) * size(t.rest);
}
template <int i, class Type> __host__ __device__ constexpr auto size(const Type &t)
{
    if constexpr (is_tuple<Type>::value)
        return size(get<i>(t));
    else
        return (int)t;
}
template <class... Part> __host__ __device__ constexpr Int<(int)sizeof...(Part)> rank(const tuple<Part...> &) { return {}; }

// ---- arithmetic ----
#define BW_OF_TWO(name, result) \
    template <class Left, class Right> __host__ __device__ constexpr auto name(Left a, Right b) { return result; }
BW_OF_TWO(ceil_div, (a + b - Int<1>{}) / b)
BW_OF_TWO(round_up, ((a + b - Int<1>{}) / b) * b)
BW_OF_TWO(round_down, (a / b) * b)
BW_OF_TWO(max, a < b ? b : a)
BW_OF_TWO(min, b < a ? b : a)
#undef BW_OF_TWO
template <class Left> __host__ __device__ constexpr Left abs(Left a) { return a < Left(0) ? Left(-a) : a; }
template <class Left> __host__ __device__ constexpr bool has_single_bit(Left a) { return a != 0 && (a & (a - 1)) == 0; }

template <int... i> using int_sequence = std::integer_sequence<int, i...>;
template <size_t... i> using index_sequence = std::integer_sequence<size_t, i...>;
template <int n> using make_int_sequence = std::make_integer_sequence<int, n>;
template <size_t n> using make_index_sequence = std::make_integer_sequence<size_t, n>;

}  // namespace cute

namespace std {
template <class... Part> struct tuple_size<cute::tuple<Part...>> : integral_constant<size_t, sizeof...(Part)> {};
template <size_t i, class... Part> struct tuple_element<i, cute::tuple<Part...>> : cute::tuple_element<i, cute::tuple<Part...>> {};
}  // namespace std
