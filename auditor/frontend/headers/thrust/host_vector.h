// Vectors on the host and on the device: sizes and addresses, not contents.
#pragma once
#include <bw/runtime.h>
#include <bw/std_containers.h>

namespace thrust {
template <class T> struct device_ptr {
    T *p;
    device_ptr() : p(nullptr) {}
    explicit device_ptr(T *p_) : p(p_) {}
    T *get() const { return p; }
    T &operator*() const { return *p; }
    T &operator[](long i) const { return p[i]; }
    friend device_ptr operator+(device_ptr a, long n) { return device_ptr(a.p + n); }
};
template <class T> T *raw_pointer_cast(device_ptr<T> p) { return p.get(); }
template <class T> T *raw_pointer_cast(T *p) { return p; }
template <class T> struct device_vector;
template <class T>
struct host_vector {
    T *first_;
    size_t size_;
    host_vector() : first_(nullptr), size_(0) {}
    explicit host_vector(size_t n) : first_(new T[n]), size_(n) {}
    host_vector(size_t n, const T &) : first_(new T[n]), size_(n) {}
    host_vector(const device_vector<T> &v) : first_(new T[v.size_]), size_(v.size_) {}
    T *data() { return first_; }
    const T *data() const { return first_; }
    size_t size() const { return size_; }
    void resize(size_t n) { size_ = n; }
    T &operator[](size_t i) { return first_[i]; }
    const T &operator[](size_t i) const { return first_[i]; }
    T *begin() { return first_; }
    T *end() { return first_ + size_; }
};
template <class T>
struct device_vector {
    T *first_;
    size_t size_;
    static T *room(size_t n)
    {
        T *p = nullptr;
        cudaMalloc(&p, n * sizeof(T));
        return p;
    }
    device_vector() : first_(nullptr), size_(0) {}
    explicit device_vector(size_t n) : first_(room(n)), size_(n) {}
    device_vector(size_t n, const T &) : first_(room(n)), size_(n) {}
    device_vector(const host_vector<T> &v) : first_(room(v.size_)), size_(v.size_) {}
    device_vector &operator=(const host_vector<T> &v)
    {
        first_ = room(v.size_);
        size_ = v.size_;
        return *this;
    }
    device_ptr<T> data() { return device_ptr<T>(first_); }
    device_ptr<const T> data() const { return device_ptr<const T>(first_); }
    size_t size() const { return size_; }
    void resize(size_t n)
    {
        first_ = room(n);
        size_ = n;
    }
    device_ptr<T> begin() { return device_ptr<T>(first_); }
    device_ptr<T> end() { return device_ptr<T>(first_ + size_); }
};
}  // namespace thrust
