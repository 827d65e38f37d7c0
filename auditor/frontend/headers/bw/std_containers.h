// Containers and algorithms with the parts that launchers use. Sizes and element access have bodies.
#pragma once
#include <bw/std_core.h>
#include <bw/new.h>

#pragma clang force_cuda_host_device begin
namespace std {

template <class T> struct allocator { using value_type = T; };

template <class T, size_t n>
struct array {
    using value_type = T;
    using size_type = size_t;
    using iterator = T *;
    using const_iterator = const T *;
    T items[n ? n : 1];
    constexpr T &operator[](size_t i) { return items[i]; }
    constexpr const T &operator[](size_t i) const { return items[i]; }
    constexpr T &at(size_t i) { return items[i]; }
    constexpr const T &at(size_t i) const { return items[i]; }
    constexpr size_t size() const { return n; }
    constexpr bool empty() const { return n == 0; }
    constexpr T *data() { return items; }
    constexpr const T *data() const { return items; }
    constexpr T *begin() { return items; }
    constexpr const T *begin() const { return items; }
    constexpr T *end() { return items + n; }
    constexpr const T *end() const { return items + n; }
    constexpr T &front() { return items[0]; }
    constexpr T &back() { return items[n - 1]; }
    constexpr void fill(const T &v) { for (size_t i = 0; i < n; ++i) items[i] = v; }
};
template <class T, class... U> array(T, U...) -> array<T, 1 + sizeof...(U)>;
template <class T, size_t n> struct tuple_size<array<T, n>> : integral_constant<size_t, n> {};
template <size_t i, class T, size_t n> struct tuple_element<i, array<T, n>> : type_identity<T> {};
template <size_t i, class T, size_t n> constexpr T &get(array<T, n> &a) { return a.items[i]; }
template <size_t i, class T, size_t n> constexpr const T &get(const array<T, n> &a) { return a.items[i]; }

template <class T, class A = allocator<T>>
class vector {
    T *first_ = nullptr;
    size_t size_ = 0;

  public:
    using value_type = T;
    using size_type = size_t;
    using iterator = T *;
    using const_iterator = const T *;
    using reference = T &;
    vector() {}
    explicit vector(size_t n) : first_(new T[n]), size_(n) {}
    vector(size_t n, const T &) : first_(new T[n]), size_(n) {}
    vector(initializer_list<T> v) : first_(new T[v.size()]), size_(v.size()) {}
    template <class I> requires requires(I i) { *i; ++i; }
    vector(I first, I last);
    vector(const vector &);
    vector(vector &&) noexcept;
    ~vector() {}
    vector &operator=(const vector &);
    vector &operator=(vector &&) noexcept;
    vector &operator=(initializer_list<T>);
    T &operator[](size_t i) { return first_[i]; }
    const T &operator[](size_t i) const { return first_[i]; }
    T &at(size_t i) { return first_[i]; }
    const T &at(size_t i) const { return first_[i]; }
    size_t size() const { return size_; }
    size_t capacity() const { return size_; }
    bool empty() const { return size_ == 0; }
    T *data() { return first_; }
    const T *data() const { return first_; }
    T *begin() { return first_; }
    const T *begin() const { return first_; }
    const T *cbegin() const { return first_; }
    T *end() { return first_ + size_; }
    const T *end() const { return first_ + size_; }
    const T *cend() const { return first_ + size_; }
    T &front() { return first_[0]; }
    const T &front() const { return first_[0]; }
    T &back() { return first_[size_ - 1]; }
    const T &back() const { return first_[size_ - 1]; }
    void push_back(const T &);
    void push_back(T &&);
    template <class... U> T &emplace_back(U &&...);
    void pop_back();
    void resize(size_t n) { size_ = n; }
    void resize(size_t n, const T &) { size_ = n; }
    void reserve(size_t) {}
    void assign(size_t, const T &);
    template <class I> requires requires(I i) { *i; ++i; }
    void assign(I, I);
    void clear() { size_ = 0; }
    void shrink_to_fit() {}
    T *insert(const T *, const T &);
    template <class I> T *insert(const T *, I, I);
    T *erase(const T *);
    T *erase(const T *, const T *);
    void swap(vector &);
    friend bool operator==(const vector &, const vector &);
};
template <class I> vector(I, I) -> vector<remove_cvref_t<decltype(*declval<I>())>>;

// ---- tuple ----
// Members lie side by side, in order: a structured binding is then a field.
template <class... T> struct tuple;
template <> struct tuple<> {};
template <class T0>
struct tuple<T0> {
    T0 v0;
    constexpr tuple() : v0() {}
    template <class U0> requires(!is_same_v<remove_cvref_t<U0>, tuple>) constexpr tuple(U0 &&u0) : v0(static_cast<U0 &&>(u0)) {}
};
template <class T0, class T1>
struct tuple<T0, T1> {
    T0 v0;
    T1 v1;
    constexpr tuple() : v0(), v1() {}
    template <class U0, class U1> constexpr tuple(U0 &&u0, U1 &&u1) : v0(static_cast<U0 &&>(u0)), v1(static_cast<U1 &&>(u1)) {}
};
template <class T0, class T1, class T2>
struct tuple<T0, T1, T2> {
    T0 v0;
    T1 v1;
    T2 v2;
    constexpr tuple() : v0(), v1(), v2() {}
    template <class U0, class U1, class U2> constexpr tuple(U0 &&u0, U1 &&u1, U2 &&u2) : v0(static_cast<U0 &&>(u0)), v1(static_cast<U1 &&>(u1)), v2(static_cast<U2 &&>(u2)) {}
};
template <class T0, class T1, class T2, class T3>
struct tuple<T0, T1, T2, T3> {
    T0 v0;
    T1 v1;
    T2 v2;
    T3 v3;
    constexpr tuple() : v0(), v1(), v2(), v3() {}
    template <class U0, class U1, class U2, class U3> constexpr tuple(U0 &&u0, U1 &&u1, U2 &&u2, U3 &&u3) : v0(static_cast<U0 &&>(u0)), v1(static_cast<U1 &&>(u1)), v2(static_cast<U2 &&>(u2)), v3(static_cast<U3 &&>(u3)) {}
};
template <class T0, class T1, class T2, class T3, class T4>
struct tuple<T0, T1, T2, T3, T4> {
    T0 v0;
    T1 v1;
    T2 v2;
    T3 v3;
    T4 v4;
    constexpr tuple() : v0(), v1(), v2(), v3(), v4() {}
    template <class U0, class U1, class U2, class U3, class U4> constexpr tuple(U0 &&u0, U1 &&u1, U2 &&u2, U3 &&u3, U4 &&u4) : v0(static_cast<U0 &&>(u0)), v1(static_cast<U1 &&>(u1)), v2(static_cast<U2 &&>(u2)), v3(static_cast<U3 &&>(u3)), v4(static_cast<U4 &&>(u4)) {}
};
template <class T0, class T1, class T2, class T3, class T4, class T5>
struct tuple<T0, T1, T2, T3, T4, T5> {
    T0 v0;
    T1 v1;
    T2 v2;
    T3 v3;
    T4 v4;
    T5 v5;
    constexpr tuple() : v0(), v1(), v2(), v3(), v4(), v5() {}
    template <class U0, class U1, class U2, class U3, class U4, class U5> constexpr tuple(U0 &&u0, U1 &&u1, U2 &&u2, U3 &&u3, U4 &&u4, U5 &&u5) : v0(static_cast<U0 &&>(u0)), v1(static_cast<U1 &&>(u1)), v2(static_cast<U2 &&>(u2)), v3(static_cast<U3 &&>(u3)), v4(static_cast<U4 &&>(u4)), v5(static_cast<U5 &&>(u5)) {}
};
template <class T0, class T1, class T2, class T3, class T4, class T5, class T6>
struct tuple<T0, T1, T2, T3, T4, T5, T6> {
    T0 v0;
    T1 v1;
    T2 v2;
    T3 v3;
    T4 v4;
    T5 v5;
    T6 v6;
    constexpr tuple() : v0(), v1(), v2(), v3(), v4(), v5(), v6() {}
    template <class U0, class U1, class U2, class U3, class U4, class U5, class U6> constexpr tuple(U0 &&u0, U1 &&u1, U2 &&u2, U3 &&u3, U4 &&u4, U5 &&u5, U6 &&u6) : v0(static_cast<U0 &&>(u0)), v1(static_cast<U1 &&>(u1)), v2(static_cast<U2 &&>(u2)), v3(static_cast<U3 &&>(u3)), v4(static_cast<U4 &&>(u4)), v5(static_cast<U5 &&>(u5)), v6(static_cast<U6 &&>(u6)) {}
};
template <class T0, class T1, class T2, class T3, class T4, class T5, class T6, class T7>
struct tuple<T0, T1, T2, T3, T4, T5, T6, T7> {
    T0 v0;
    T1 v1;
    T2 v2;
    T3 v3;
    T4 v4;
    T5 v5;
    T6 v6;
    T7 v7;
    constexpr tuple() : v0(), v1(), v2(), v3(), v4(), v5(), v6(), v7() {}
    template <class U0, class U1, class U2, class U3, class U4, class U5, class U6, class U7> constexpr tuple(U0 &&u0, U1 &&u1, U2 &&u2, U3 &&u3, U4 &&u4, U5 &&u5, U6 &&u6, U7 &&u7) : v0(static_cast<U0 &&>(u0)), v1(static_cast<U1 &&>(u1)), v2(static_cast<U2 &&>(u2)), v3(static_cast<U3 &&>(u3)), v4(static_cast<U4 &&>(u4)), v5(static_cast<U5 &&>(u5)), v6(static_cast<U6 &&>(u6)), v7(static_cast<U7 &&>(u7)) {}
};
template <class... T> tuple(T...) -> tuple<T...>;
template <class... T> struct tuple_size<tuple<T...>> : integral_constant<size_t, sizeof...(T)> {};
template <class H, class... T> struct tuple_element<0, tuple<H, T...>> : type_identity<H> {};
template <size_t i, class H, class... T> struct tuple_element<i, tuple<H, T...>> : tuple_element<i - 1, tuple<T...>> {};
#define BW_GET(qualifier)                                                                                              \
    template <size_t i, class... T> constexpr qualifier auto &get(qualifier tuple<T...> &t)                            \
    {                                                                                                                  \
        if constexpr (i == 0) return t.v0;                                                                             \
        else if constexpr (i == 1) return t.v1;                                                                        \
        else if constexpr (i == 2) return t.v2;                                                                        \
        else if constexpr (i == 3) return t.v3;                                                                        \
        else if constexpr (i == 4) return t.v4;                                                                        \
        else if constexpr (i == 5) return t.v5;                                                                        \
        else if constexpr (i == 6) return t.v6;                                                                        \
        else if constexpr (i == 7) return t.v7;                                                                        \
    }
BW_GET()
BW_GET(const)
#undef BW_GET
template <size_t i, class... T> constexpr auto &&get(tuple<T...> &&t) { return static_cast<tuple_element_t<i, tuple<T...>> &&>(get<i>(t)); }
template <class... T> constexpr tuple<decay_t<T>...> make_tuple(T &&...v) { return tuple<decay_t<T>...>(static_cast<T &&>(v)...); }
template <class... T> constexpr tuple<T &...> tie(T &...v) { return tuple<T &...>(v...); }
template <class F, class Tuple, size_t... i> constexpr decltype(auto) __bw_apply(F &&f, Tuple &&t, index_sequence<i...>) { return f(get<i>(t)...); }
template <class F, class Tuple> constexpr decltype(auto) apply(F &&f, Tuple &&t)
{
    return __bw_apply(static_cast<F &&>(f), static_cast<Tuple &&>(t), make_index_sequence<tuple_size<remove_cvref_t<Tuple>>::value>());
}

// ---- optional, span, function objects ----
struct nullopt_t {};
inline constexpr nullopt_t nullopt{};
template <class T>
class optional {
    T value_;
    bool has_ = false;

  public:
    constexpr optional() : value_() {}
    constexpr optional(nullopt_t) : value_() {}
    constexpr optional(const T &v) : value_(v), has_(true) {}
    constexpr bool has_value() const { return has_; }
    constexpr explicit operator bool() const { return has_; }
    constexpr T &value() { return value_; }
    constexpr const T &value() const { return value_; }
    constexpr T value_or(const T &v) const { return has_ ? value_ : v; }
    constexpr T &operator*() { return value_; }
    constexpr const T &operator*() const { return value_; }
    constexpr T *operator->() { return &value_; }
    constexpr const T *operator->() const { return &value_; }
    constexpr void reset() { has_ = false; }
};
inline constexpr size_t dynamic_extent = ~size_t(0);
template <class T, size_t n = dynamic_extent>
class span {
    T *first_ = nullptr;
    size_t size_ = 0;

  public:
    constexpr span() {}
    constexpr span(T *p, size_t count) : first_(p), size_(count) {}
    template <size_t k> constexpr span(T (&a)[k]) : first_(a), size_(k) {}
    template <class C> requires requires(C &c) { c.data(); c.size(); }
    constexpr span(C &c) : first_(c.data()), size_(c.size()) {}
    constexpr T &operator[](size_t i) const { return first_[i]; }
    constexpr size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr T *data() const { return first_; }
    constexpr T *begin() const { return first_; }
    constexpr T *end() const { return first_ + size_; }
};
template <class T = void> struct plus { template <class A, class B> constexpr auto operator()(const A &a, const B &b) const { return a + b; } };
template <class T = void> struct multiplies { template <class A, class B> constexpr auto operator()(const A &a, const B &b) const { return a * b; } };
template <class T = void> struct less { template <class A, class B> constexpr bool operator()(const A &a, const B &b) const { return a < b; } };
template <class T = void> struct greater { template <class A, class B> constexpr bool operator()(const A &a, const B &b) const { return b < a; } };
template <class T = void> struct equal_to { template <class A, class B> constexpr bool operator()(const A &a, const B &b) const { return a == b; } };
template <class T> struct hash { size_t operator()(const T &) const; };
template <class F> class function;
template <class R, class... A>
class function<R(A...)> {
  public:
    function() {}
    function(decltype(nullptr)) {}
    template <class F> function(F) {}
    R operator()(A...) const;
    explicit operator bool() const;
};
template <class T> class reference_wrapper {
    T *p_;

  public:
    constexpr reference_wrapper(T &v) : p_(&v) {}
    constexpr operator T &() const { return *p_; }
    constexpr T &get() const { return *p_; }
};
template <class T> constexpr reference_wrapper<T> ref(T &v) { return reference_wrapper<T>(v); }

// ---- smart pointers ----
template <class T> struct default_delete { void operator()(T *) const; };
template <class T, class D = default_delete<T>>
class unique_ptr {
    T *p_ = nullptr;

  public:
    unique_ptr() {}
    unique_ptr(decltype(nullptr)) {}
    explicit unique_ptr(T *p) : p_(p) {}
    unique_ptr(T *p, D) : p_(p) {}
    unique_ptr(unique_ptr &&o) noexcept : p_(o.p_) { o.p_ = nullptr; }
    unique_ptr &operator=(unique_ptr &&o) noexcept { p_ = o.p_; o.p_ = nullptr; return *this; }
    T *get() const { return p_; }
    T *release() { T *p = p_; p_ = nullptr; return p; }
    void reset(T *p = nullptr) { p_ = p; }
    T &operator*() const { return *p_; }
    T *operator->() const { return p_; }
    explicit operator bool() const { return p_ != nullptr; }
};
template <class T, class D>
class unique_ptr<T[], D> {
    T *p_ = nullptr;

  public:
    unique_ptr() {}
    explicit unique_ptr(T *p) : p_(p) {}
    T *get() const { return p_; }
    T &operator[](size_t i) const { return p_[i]; }
    explicit operator bool() const { return p_ != nullptr; }
};
template <class T, class... A> requires(!__is_array(T)) unique_ptr<T> make_unique(A &&...);
template <class T> requires(__is_array(T)) unique_ptr<T> make_unique(size_t);
template <class T>
class shared_ptr {
    T *p_ = nullptr;

  public:
    shared_ptr() {}
    shared_ptr(decltype(nullptr)) {}
    explicit shared_ptr(T *p) : p_(p) {}
    template <class D> shared_ptr(T *p, D) : p_(p) {}
    T *get() const { return p_; }
    T &operator*() const { return *p_; }
    T *operator->() const { return p_; }
    explicit operator bool() const { return p_ != nullptr; }
};
template <class T, class... A> shared_ptr<T> make_shared(A &&...);

// ---- strings ----
class string;
class string_view {
    const char *p_ = "";
    size_t n_ = 0;

  public:
    constexpr string_view() {}
    constexpr string_view(const char *p) : p_(p), n_(__builtin_strlen(p)) {}
    constexpr string_view(const char *p, size_t n) : p_(p), n_(n) {}
    constexpr const char *data() const { return p_; }
    constexpr size_t size() const { return n_; }
    constexpr bool empty() const { return n_ == 0; }
    constexpr char operator[](size_t i) const { return p_[i]; }
    bool starts_with(string_view) const;
    size_t find(string_view, size_t = 0) const;
    friend bool operator==(string_view, string_view);
};
class string {
  public:
    static constexpr size_t npos = ~size_t(0);
    string();
    string(const char *);
    string(const char *, size_t);
    string(size_t, char);
    explicit string(string_view);
    string(const string &);
    string(string &&) noexcept;
    ~string() {}
    string &operator=(const string &);
    string &operator=(const char *);
    operator string_view() const;
    const char *c_str() const;
    const char *data() const;
    char *data();
    size_t size() const;
    size_t length() const;
    bool empty() const;
    char &operator[](size_t);
    const char &operator[](size_t) const;
    char *begin();
    char *end();
    const char *begin() const;
    const char *end() const;
    char &back();
    void push_back(char);
    void pop_back();
    void clear();
    void resize(size_t, char = 0);
    void reserve(size_t);
    string &append(const string &);
    string substr(size_t, size_t = npos) const;
    size_t find(const string &, size_t = 0) const;
    size_t find(char, size_t = 0) const;
    size_t rfind(const string &, size_t = npos) const;
    int compare(const string &) const;
    bool starts_with(string_view) const;
    bool ends_with(string_view) const;
    string &operator+=(const string &);
    string &operator+=(char);
    friend string operator+(const string &, const string &);
    friend string operator+(const string &, char);
    friend bool operator==(const string &, const string &);
    friend bool operator==(const string &, const char *);
    friend bool operator<(const string &, const string &);
};
string to_string(int);
string to_string(unsigned);
string to_string(long);
string to_string(unsigned long);
string to_string(long long);
string to_string(unsigned long long);
string to_string(float);
string to_string(double);
int stoi(const string &, size_t * = nullptr, int = 10);
long stol(const string &, size_t * = nullptr, int = 10);
long long stoll(const string &, size_t * = nullptr, int = 10);
unsigned long stoul(const string &, size_t * = nullptr, int = 10);
float stof(const string &, size_t * = nullptr);
double stod(const string &, size_t * = nullptr);

// ---- associative and other containers: declarations ----
template <class T, class R>
struct __bw_iterator {
    R &operator*() const;
    R *operator->() const;
    __bw_iterator &operator++();
    __bw_iterator operator++(int);
    __bw_iterator &operator--();
    friend bool operator==(const __bw_iterator &, const __bw_iterator &);
};
template <class K, class V>
class __bw_dictionary {
  public:
    using key_type = K;
    using mapped_type = V;
    using value_type = pair<const K, V>;
    using iterator = __bw_iterator<__bw_dictionary, value_type>;
    using const_iterator = __bw_iterator<__bw_dictionary, const value_type>;
    __bw_dictionary();
    __bw_dictionary(initializer_list<value_type>);
    V &operator[](const K &);
    V &at(const K &);
    const V &at(const K &) const;
    size_t size() const;
    size_t count(const K &) const;
    bool contains(const K &) const;
    bool empty() const;
    void clear();
    size_t erase(const K &);
    iterator begin();
    iterator end();
    const_iterator begin() const;
    const_iterator end() const;
    iterator find(const K &);
    const_iterator find(const K &) const;
    pair<iterator, bool> insert(const value_type &);
    template <class... A> pair<iterator, bool> emplace(A &&...);
};
template <class K, class V, class... R> class map : public __bw_dictionary<K, V> { using __bw_dictionary<K, V>::__bw_dictionary; };
template <class K, class V, class... R> class unordered_map : public __bw_dictionary<K, V> { using __bw_dictionary<K, V>::__bw_dictionary; };
template <class T>
class __bw_bag {
  public:
    using value_type = T;
    using iterator = __bw_iterator<__bw_bag, const T>;
    __bw_bag();
    __bw_bag(initializer_list<T>);
    size_t size() const;
    size_t count(const T &) const;
    bool contains(const T &) const;
    bool empty() const;
    void clear();
    iterator begin() const;
    iterator end() const;
    iterator find(const T &) const;
    pair<iterator, bool> insert(const T &);
    size_t erase(const T &);
};
template <class T, class... R> class set : public __bw_bag<T> { using __bw_bag<T>::__bw_bag; };
template <class T, class... R> class unordered_set : public __bw_bag<T> { using __bw_bag<T>::__bw_bag; };
template <class T> class deque : public vector<T> {
  public:
    using vector<T>::vector;
    void push_front(const T &);
    void pop_front();
};
template <class T> class list : public deque<T> { using deque<T>::deque; };
template <class T>
class queue {
  public:
    void push(const T &);
    void pop();
    T &front();
    bool empty() const;
    size_t size() const;
};
template <class... T> class variant {
  public:
    variant();
    template <class U> variant(U &&);
    size_t index() const;
};
template <class T, class... V> T &get(variant<V...> &);
template <class T, class... V> bool holds_alternative(const variant<V...> &);
template <class F, class V> void visit(F &&, V &&) {}

// ---- algorithms. Those that take a function have bodies, since clang demands one where a lambda is an argument. ----
template <class I, class T> void fill(I, I, const T &);
template <class I, class N, class T> I fill_n(I, N, const T &);
template <class I, class T> void iota(I, I, T);
template <class I, class O> O copy(I, I, O);
template <class I, class N, class O> O copy_n(I, N, O);
template <class I> void sort(I, I);
template <class I> void nth_element(I, I, I);
template <class I> void reverse(I, I);
template <class I> I unique(I, I);
template <class I, class T> I find(I, I, const T &);
template <class I, class T> I lower_bound(I, I, const T &);
template <class I, class T> I upper_bound(I, I, const T &);
template <class I, class T> long count(I, I, const T &);
template <class I, class J> bool equal(I, I, J);
template <class I> I max_element(I, I);
template <class I> I min_element(I, I);
template <class I, class J, class T> T inner_product(I, I, J, T);
template <class I, class O> O partial_sum(I, I, O);
template <class I, class F> void sort(I, I, F) {}
template <class I, class F> void stable_sort(I, I, F) {}
template <class I, class G> void shuffle(I, I, G &&) {}
template <class I, class F> void generate(I a, I b, F f) { for (; a != b; ++a) *a = f(); }
template <class I, class F> F for_each(I a, I b, F f) { for (; a != b; ++a) f(*a); return f; }
template <class I, class O, class F> O transform(I a, I b, O o, F f) { for (; a != b; ++a, ++o) *o = f(*a); return o; }
template <class I, class J, class O, class F> O transform(I a, I b, J c, O o, F f) { for (; a != b; ++a, ++c, ++o) *o = f(*a, *c); return o; }
template <class I, class F> I find_if(I a, I b, F f) { for (; a != b; ++a) if (f(*a)) return a; return b; }
template <class I, class F> long count_if(I a, I b, F f) { long n = 0; for (; a != b; ++a) n += f(*a) ? 1 : 0; return n; }
template <class I, class F> bool all_of(I a, I b, F f) { for (; a != b; ++a) if (!f(*a)) return false; return true; }
template <class I, class F> bool any_of(I a, I b, F f) { for (; a != b; ++a) if (f(*a)) return true; return false; }
template <class I, class F> bool none_of(I a, I b, F f) { return !any_of(a, b, f); }
template <class I, class F> I max_element(I a, I b, F less) { I r = a; for (; a != b; ++a) if (less(*r, *a)) r = a; return r; }
template <class I, class F> I min_element(I a, I b, F less) { I r = a; for (; a != b; ++a) if (less(*a, *r)) r = a; return r; }
template <class I, class T> constexpr T accumulate(I first, I last, T v) { for (; first != last; ++first) v = v + *first; return v; }
template <class I, class T, class F> constexpr T accumulate(I first, I last, T v, F f) { for (; first != last; ++first) v = f(v, *first); return v; }
template <class I> constexpr auto distance(I a, I b) { return b - a; }
template <class I> constexpr I next(I i, long n = 1) { return i + n; }
template <class I> constexpr I prev(I i, long n = 1) { return i - n; }
template <class C> struct back_insert_iterator {
    back_insert_iterator &operator*();
    back_insert_iterator &operator++();
    back_insert_iterator operator++(int);
    template <class T> back_insert_iterator &operator=(const T &);
};
template <class C> back_insert_iterator<C> back_inserter(C &);
template <class T> constexpr T gcd(T a, T b) { while (b) { T r = a % b; a = b; b = r; } return a; }
template <class T> constexpr T lcm(T a, T b) { return a / gcd(a, b) * b; }

template <size_t n> class bitset {
  public:
    bitset();
    bitset(unsigned long long);
    bool test(size_t) const;
    bitset &set(size_t, bool = true);
    size_t count() const;
};
template <class T> class complex {
    T re_, im_;

  public:
    constexpr complex(T re = T(), T im = T()) : re_(re), im_(im) {}
    constexpr T real() const { return re_; }
    constexpr T imag() const { return im_; }
};
struct type_info { const char *name() const; };

}  // namespace std
#pragma clang force_cuda_host_device end
