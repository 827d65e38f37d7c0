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

}  // namespace std
#pragma clang force_cuda_host_device end
