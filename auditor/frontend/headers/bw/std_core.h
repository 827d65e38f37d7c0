// Standard library core: traits, move and forward, pair, limits, initializer_list, compile-time sequences.
#pragma once
#include <bw/types.h>

#pragma clang force_cuda_host_device begin
namespace std {

// ---- constants ----
template <class T, T v>
struct integral_constant {
    static constexpr T value = v;
    using value_type = T;
    using type = integral_constant;
    constexpr operator T() const noexcept { return v; }
    constexpr T operator()() const noexcept { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

// ---- type transformations ----
template <class T> struct type_identity { using type = T; };
template <class T> using type_identity_t = T;
template <class T> struct remove_const : type_identity<T> {};
template <class T> struct remove_const<const T> : type_identity<T> {};
template <class T> struct remove_volatile : type_identity<T> {};
template <class T> struct remove_volatile<volatile T> : type_identity<T> {};
template <class T> struct remove_cv : type_identity<T> {};
template <class T> struct remove_cv<const T> : type_identity<T> {};
template <class T> struct remove_cv<volatile T> : type_identity<T> {};
template <class T> struct remove_cv<const volatile T> : type_identity<T> {};
template <class T> struct remove_reference : type_identity<T> {};
template <class T> struct remove_reference<T &> : type_identity<T> {};
template <class T> struct remove_reference<T &&> : type_identity<T> {};
template <class T> struct remove_cvref : remove_cv<typename remove_reference<T>::type> {};
template <class T> struct remove_pointer : type_identity<T> {};
template <class T> struct remove_pointer<T *> : type_identity<T> {};
template <class T> struct remove_pointer<T *const> : type_identity<T> {};
template <class T> struct remove_extent : type_identity<T> {};
template <class T> struct remove_extent<T[]> : type_identity<T> {};
template <class T, size_t n> struct remove_extent<T[n]> : type_identity<T> {};
template <class T> struct remove_all_extents : type_identity<T> {};
template <class T, size_t n> struct remove_all_extents<T[n]> : remove_all_extents<T> {};
template <class T> struct add_pointer : type_identity<typename remove_reference<T>::type *> {};
template <class T> struct add_const : type_identity<const T> {};
template <class T> struct add_lvalue_reference : type_identity<T &> {};
template <> struct add_lvalue_reference<void> : type_identity<void> {};
template <class T> struct add_rvalue_reference : type_identity<T &&> {};
template <> struct add_rvalue_reference<void> : type_identity<void> {};
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_volatile_t = typename remove_volatile<T>::type;
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_cvref_t = typename remove_cvref<T>::type;
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> using remove_extent_t = typename remove_extent<T>::type;
template <class T> using remove_all_extents_t = typename remove_all_extents<T>::type;
template <class T> using add_pointer_t = typename add_pointer<T>::type;
template <class T> using add_const_t = const T;
template <class T> using add_lvalue_reference_t = typename add_lvalue_reference<T>::type;
template <class T> using add_rvalue_reference_t = typename add_rvalue_reference<T>::type;
template <bool c, class A, class B> struct conditional : type_identity<A> {};
template <class A, class B> struct conditional<false, A, B> : type_identity<B> {};
template <bool c, class A, class B> using conditional_t = typename conditional<c, A, B>::type;
template <bool c, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> : type_identity<T> {};
template <bool c, class T = void> using enable_if_t = typename enable_if<c, T>::type;
template <class...> using void_t = void;
template <class T> add_rvalue_reference_t<T> declval() noexcept;
template <class T> struct underlying_type : type_identity<__underlying_type(T)> {};
template <class T> using underlying_type_t = __underlying_type(T);
template <class T>
struct decay {
    using bare = remove_reference_t<T>;
    using type = __decay(T);
};
template <class T> using decay_t = __decay(T);
template <class T> struct make_unsigned : type_identity<__make_unsigned(T)> {};
template <class T> using make_unsigned_t = __make_unsigned(T);
template <class T> struct make_signed : type_identity<__make_signed(T)> {};
template <class T> using make_signed_t = __make_signed(T);
template <class... T> struct common_type;
template <class T> struct common_type<T> : decay<T> {};
template <class A, class B> struct common_type<A, B> : decay<decltype(false ? declval<A>() : declval<B>())> {};
template <class A, class B, class C, class... R>
struct common_type<A, B, C, R...> : common_type<typename common_type<A, B>::type, C, R...> {};
template <class... T> using common_type_t = typename common_type<T...>::type;
template <size_t size, size_t align = 16>
struct aligned_storage { struct type { alignas(align) unsigned char data[size]; }; };
template <size_t size, size_t align = 16> using aligned_storage_t = typename aligned_storage<size, align>::type;

// ---- type predicates ----
#define BW_TRAIT(name, ...)                                              \
    template <class T> struct name : bool_constant<__VA_ARGS__> {};      \
    template <class T> inline constexpr bool name##_v = __VA_ARGS__;
#define BW_TRAIT2(name, ...)                                                       \
    template <class T, class U> struct name : bool_constant<__VA_ARGS__> {};       \
    template <class T, class U> inline constexpr bool name##_v = __VA_ARGS__;
BW_TRAIT(is_void, __is_void(T))
BW_TRAIT(is_integral, __is_integral(T))
BW_TRAIT(is_floating_point, __is_floating_point(T))
BW_TRAIT(is_arithmetic, __is_arithmetic(T))
BW_TRAIT(is_fundamental, __is_fundamental(T))
BW_TRAIT(is_compound, __is_compound(T))
BW_TRAIT(is_object, __is_object(T))
BW_TRAIT(is_member_pointer, __is_member_pointer(T))
BW_TRAIT(is_scalar, __is_scalar(T))
BW_TRAIT(is_signed, __is_signed(T))
BW_TRAIT(is_unsigned, __is_unsigned(T))
BW_TRAIT(is_enum, __is_enum(T))
BW_TRAIT(is_class, __is_class(T))
BW_TRAIT(is_union, __is_union(T))
BW_TRAIT(is_pointer, __is_pointer(T))
BW_TRAIT(is_array, __is_array(T))
BW_TRAIT(is_reference, __is_reference(T))
BW_TRAIT(is_lvalue_reference, __is_lvalue_reference(T))
BW_TRAIT(is_rvalue_reference, __is_rvalue_reference(T))
BW_TRAIT(is_function, __is_function(T))
BW_TRAIT(is_const, __is_const(T))
BW_TRAIT(is_volatile, __is_volatile(T))
BW_TRAIT(is_empty, __is_empty(T))
BW_TRAIT(is_final, __is_final(T))
BW_TRAIT(is_abstract, __is_abstract(T))
BW_TRAIT(is_aggregate, __is_aggregate(T))
BW_TRAIT(is_trivial, __is_trivial(T))
BW_TRAIT(is_trivially_copyable, __is_trivially_copyable(T))
BW_TRAIT(is_standard_layout, __is_standard_layout(T))
BW_TRAIT(is_pod, __is_pod(T))
BW_TRAIT(is_default_constructible, __is_constructible(T))
BW_TRAIT(is_copy_constructible, __is_constructible(T, const T &))
BW_TRAIT(is_move_constructible, __is_constructible(T, T &&))
BW_TRAIT(is_trivially_destructible, __is_trivially_destructible(T))
BW_TRAIT2(is_same, __is_same(T, U))
BW_TRAIT2(is_base_of, __is_base_of(T, U))
BW_TRAIT2(is_convertible, __is_convertible(T, U))
BW_TRAIT2(is_assignable, __is_assignable(T, U))
#undef BW_TRAIT
#undef BW_TRAIT2
template <class T> struct is_null_pointer : bool_constant<__is_same(remove_cv_t<T>, nullptr_t)> {};
template <class T, class... A> struct is_constructible : bool_constant<__is_constructible(T, A...)> {};
template <class T, class... A> inline constexpr bool is_constructible_v = __is_constructible(T, A...);
template <class F, class... A>
concept __bw_invocable = requires(F f, A... a) { f(static_cast<A &&>(a)...); };
template <class F, class... A> struct is_invocable : bool_constant<__bw_invocable<F, A...>> {};
template <class F, class... A> inline constexpr bool is_invocable_v = __bw_invocable<F, A...>;
template <class F, class... A> struct invoke_result : type_identity<decltype(declval<F>()(declval<A>()...))> {};
template <class F, class... A> using invoke_result_t = typename invoke_result<F, A...>::type;
template <class... B> struct conjunction : bool_constant<(B::value && ...)> {};
template <class... B> struct disjunction : bool_constant<(B::value || ...)> {};
template <class B> struct negation : bool_constant<!B::value> {};
template <class... B> inline constexpr bool conjunction_v = (B::value && ...);
template <class... B> inline constexpr bool disjunction_v = (B::value || ...);
template <class B> inline constexpr bool negation_v = !B::value;
template <class T> struct rank : integral_constant<size_t, 0> {};
template <class T, size_t n> struct rank<T[n]> : integral_constant<size_t, rank<T>::value + 1> {};
template <class T, unsigned i = 0> struct extent : integral_constant<size_t, 0> {};
template <class T, size_t n> struct extent<T[n], 0> : integral_constant<size_t, n> {};
template <class T, size_t n, unsigned i> struct extent<T[n], i> : extent<T, i - 1> {};
template <class T, unsigned i = 0> inline constexpr size_t extent_v = extent<T, i>::value;
template <class T> struct alignment_of : integral_constant<size_t, alignof(T)> {};
template <class T> inline constexpr size_t alignment_of_v = alignof(T);
constexpr bool is_constant_evaluated() noexcept { return __builtin_is_constant_evaluated(); }

// ---- concepts ----
template <class T, class U> concept same_as = __is_same(T, U);
template <class T, class U> concept convertible_to = __is_convertible(T, U);
template <class T, class U> concept derived_from = __is_base_of(U, T);
template <class T> concept integral = __is_integral(T);
template <class T> concept signed_integral = integral<T> && __is_signed(T);
template <class T> concept unsigned_integral = integral<T> && __is_unsigned(T);
template <class T> concept floating_point = __is_floating_point(T);
template <class F, class... A> concept invocable = __bw_invocable<F, A...>;

// ---- utility ----
template <class T> constexpr T &&forward(remove_reference_t<T> &x) noexcept { return static_cast<T &&>(x); }
template <class T> constexpr T &&forward(remove_reference_t<T> &&x) noexcept { return static_cast<T &&>(x); }
template <class T> constexpr remove_reference_t<T> &&move(T &&x) noexcept { return static_cast<remove_reference_t<T> &&>(x); }
template <class T> constexpr const T &as_const(T &x) noexcept { return x; }
template <class T> constexpr T *addressof(T &x) noexcept { return __builtin_addressof(x); }
template <class T> constexpr void swap(T &a, T &b) { T t = static_cast<T &&>(a); a = static_cast<T &&>(b); b = static_cast<T &&>(t); }
template <class T, class U = T> constexpr T exchange(T &x, U &&v) { T old = static_cast<T &&>(x); x = static_cast<U &&>(v); return old; }
[[noreturn]] inline void unreachable() { __builtin_unreachable(); }
template <class E> constexpr underlying_type_t<E> to_underlying(E e) noexcept { return static_cast<underlying_type_t<E>>(e); }
template <class To, class From> constexpr To bit_cast(const From &x) noexcept { return __builtin_bit_cast(To, x); }

template <class T> constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T, class C> constexpr const T &min(const T &a, const T &b, C less) { return less(b, a) ? b : a; }
template <class T, class C> constexpr const T &max(const T &a, const T &b, C less) { return less(a, b) ? b : a; }
template <class T> constexpr const T &clamp(const T &v, const T &lo, const T &hi) { return v < lo ? lo : hi < v ? hi : v; }

template <class T> constexpr int popcount(T x) noexcept { int n = 0; for (; x; x &= x - 1) ++n; return n; }
template <class T> constexpr int countr_zero(T x) noexcept { int n = 0; if (!x) return sizeof(T) * 8; for (; !(x & 1); x >>= 1) ++n; return n; }
template <class T> constexpr int bit_width(T x) noexcept { int n = 0; for (; x; x >>= 1) ++n; return n; }
template <class T> constexpr int countl_zero(T x) noexcept { return int(sizeof(T) * 8) - bit_width(x); }
template <class T> constexpr bool has_single_bit(T x) noexcept { return x && !(x & (x - 1)); }
template <class T> constexpr T bit_ceil(T x) noexcept { T r = 1; while (r < x) r <<= 1; return r; }
template <class T> constexpr T bit_floor(T x) noexcept { return x ? T(T(1) << (bit_width(x) - 1)) : T(0); }

template <class A, class B>
struct pair {
    using first_type = A;
    using second_type = B;
    A first;
    B second;
    constexpr pair() : first(), second() {}
    constexpr pair(const A &a, const B &b) : first(a), second(b) {}
    template <class X, class Y> constexpr pair(X &&a, Y &&b) : first(static_cast<X &&>(a)), second(static_cast<Y &&>(b)) {}
    template <class X, class Y> constexpr pair(const pair<X, Y> &o) : first(o.first), second(o.second) {}
    friend constexpr bool operator==(const pair &a, const pair &b) { return a.first == b.first && a.second == b.second; }
    friend constexpr bool operator<(const pair &a, const pair &b) { return a.first < b.first || (!(b.first < a.first) && a.second < b.second); }
};
template <class A, class B> pair(A, B) -> pair<A, B>;
template <class A, class B> constexpr pair<decay_t<A>, decay_t<B>> make_pair(A &&a, B &&b)
{
    return pair<decay_t<A>, decay_t<B>>(static_cast<A &&>(a), static_cast<B &&>(b));
}
struct piecewise_construct_t { explicit piecewise_construct_t() = default; };
inline constexpr piecewise_construct_t piecewise_construct{};
struct in_place_t { explicit in_place_t() = default; };
inline constexpr in_place_t in_place{};

template <class T> struct tuple_size;
template <size_t i, class T> struct tuple_element;
template <size_t i, class T> using tuple_element_t = typename tuple_element<i, T>::type;
template <class T> inline constexpr size_t tuple_size_v = tuple_size<T>::value;
template <class T> requires requires { tuple_size<T>::value; } struct tuple_size<const T> : tuple_size<T> {};
template <size_t i, class T> struct tuple_element<i, const T> : type_identity<const tuple_element_t<i, T>> {};
template <class A, class B> struct tuple_size<pair<A, B>> : integral_constant<size_t, 2> {};
template <class A, class B> struct tuple_element<0, pair<A, B>> : type_identity<A> {};
template <class A, class B> struct tuple_element<1, pair<A, B>> : type_identity<B> {};
template <size_t i, class A, class B> constexpr auto &get(pair<A, B> &p) { if constexpr (i == 0) return p.first; else return p.second; }
template <size_t i, class A, class B> constexpr const auto &get(const pair<A, B> &p) { if constexpr (i == 0) return p.first; else return p.second; }

template <size_t i, class A, class B> constexpr auto &&get(pair<A, B> &&p) { if constexpr (i == 0) return static_cast<A &&>(p.first); else return static_cast<B &&>(p.second); }

template <class T, T... n>
struct integer_sequence {
    using value_type = T;
    static constexpr size_t size() noexcept { return sizeof...(n); }
};
template <size_t... n> using index_sequence = integer_sequence<size_t, n...>;
template <class T, T n> using make_integer_sequence = __make_integer_seq<integer_sequence, T, n>;
template <size_t n> using make_index_sequence = make_integer_sequence<size_t, n>;
template <class... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;

// The compiler fills the two members of a braced list.
template <class T>
class initializer_list {
    const T *first_;
    size_t size_;
    constexpr initializer_list(const T *p, size_t n) noexcept : first_(p), size_(n) {}

  public:
    using value_type = T;
    using iterator = const T *;
    using const_iterator = const T *;
    constexpr initializer_list() noexcept : first_(nullptr), size_(0) {}
    constexpr size_t size() const noexcept { return size_; }
    constexpr const T *begin() const noexcept { return first_; }
    constexpr const T *end() const noexcept { return first_ + size_; }
};
template <class T> constexpr T min(initializer_list<T> v) { T r = *v.begin(); for (const T &x : v) if (x < r) r = x; return r; }
template <class T> constexpr T max(initializer_list<T> v) { T r = *v.begin(); for (const T &x : v) if (r < x) r = x; return r; }
template <class C> constexpr auto begin(C &c) -> decltype(c.begin()) { return c.begin(); }
template <class C> constexpr auto end(C &c) -> decltype(c.end()) { return c.end(); }
template <class T, size_t n> constexpr T *begin(T (&a)[n]) noexcept { return a; }
template <class T, size_t n> constexpr T *end(T (&a)[n]) noexcept { return a + n; }
template <class C> constexpr auto size(const C &c) -> decltype(c.size()) { return c.size(); }
template <class T, size_t n> constexpr size_t size(const T (&)[n]) noexcept { return n; }
template <class C> constexpr auto data(C &c) -> decltype(c.data()) { return c.data(); }

// ---- limits ----
enum float_round_style {
    round_indeterminate = -1,
    round_toward_zero = 0,
    round_to_nearest = 1,
    round_toward_infinity = 2,
    round_toward_neg_infinity = 3
};
enum float_denorm_style { denorm_indeterminate = -1, denorm_absent = 0, denorm_present = 1 };
template <class T>
struct numeric_limits {
    static constexpr bool is_specialized = __is_arithmetic(T);
    static constexpr bool is_signed = T(-1) < T(0);
    static constexpr bool is_integer = __is_integral(T), is_exact = is_integer;
    static constexpr bool has_infinity = false, has_quiet_NaN = false;
    static constexpr int digits = int(sizeof(T) * 8) - int(is_signed), digits10 = digits * 3 / 10, radix = 2;
    static constexpr T max() noexcept { return T(is_signed ? ~(1ull << (sizeof(T) * 8 - 1)) : ~0ull); }
    static constexpr T min() noexcept { return is_signed ? T(-max() - 1) : T(0); }
    static constexpr T lowest() noexcept { return min(); }
    static constexpr T epsilon() noexcept { return T(); }
    static constexpr T infinity() noexcept { return T(); }
    static constexpr T quiet_NaN() noexcept { return T(); }
};
template <class T> struct numeric_limits<const T> : numeric_limits<T> {};
template <>
struct numeric_limits<bool> {
    static constexpr bool is_specialized = true, is_signed = false, is_integer = true;
    static constexpr bool max() noexcept { return true; }
    static constexpr bool min() noexcept { return false; }
};
template <>
struct numeric_limits<float> {
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
    static constexpr bool has_infinity = true, has_quiet_NaN = true, is_iec559 = true;
    static constexpr int digits = 24, radix = 2, min_exponent = -125, max_exponent = 128;
    static constexpr float max() noexcept { return __FLT_MAX__; }
    static constexpr float min() noexcept { return __FLT_MIN__; }
    static constexpr float lowest() noexcept { return -__FLT_MAX__; }
    static constexpr float epsilon() noexcept { return __FLT_EPSILON__; }
    static constexpr float infinity() noexcept { return __builtin_huge_valf(); }
    static constexpr float quiet_NaN() noexcept { return __builtin_nanf(""); }
};
template <>
struct numeric_limits<double> {
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
    static constexpr bool has_infinity = true, has_quiet_NaN = true, is_iec559 = true;
    static constexpr int digits = 53, radix = 2, min_exponent = -1021, max_exponent = 1024;
    static constexpr double max() noexcept { return __DBL_MAX__; }
    static constexpr double min() noexcept { return __DBL_MIN__; }
    static constexpr double lowest() noexcept { return -__DBL_MAX__; }
    static constexpr double epsilon() noexcept { return __DBL_EPSILON__; }
    static constexpr double infinity() noexcept { return __builtin_huge_val(); }
    static constexpr double quiet_NaN() noexcept { return __builtin_nan(""); }
};

template <long long n, long long d = 1> struct ratio { static constexpr long long num = n, den = d; };
using nano = ratio<1, 1000000000>;
using micro = ratio<1, 1000000>;
using milli = ratio<1, 1000>;

// ---- comparison results (what operator<=> needs) ----
struct strong_ordering {
    signed char v;
    static const strong_ordering less, equal, greater;
    friend constexpr bool operator==(strong_ordering a, strong_ordering b) { return a.v == b.v; }
    friend constexpr bool operator==(strong_ordering a, decltype(nullptr)) { return a.v == 0; }
    friend constexpr bool operator<(strong_ordering a, decltype(nullptr)) { return a.v < 0; }
    friend constexpr bool operator>(strong_ordering a, decltype(nullptr)) { return a.v > 0; }
};
inline constexpr strong_ordering strong_ordering::less{-1}, strong_ordering::equal{0}, strong_ordering::greater{1};

}  // namespace std
#pragma clang force_cuda_host_device end
