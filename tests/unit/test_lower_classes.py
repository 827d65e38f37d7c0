"""Classes, templates and lambdas of generated code agree with C++. The expected values are those of g++."""

from __future__ import annotations

from tests.unit.fake_strand import outputs_of

SOURCE = r"""
#define OUT(x) out[++out[0]] = (long)(x)
struct Base { int q; __device__ Base(int a = 3) : q(a) {} __device__ int twice() const { return 2 * q; } };
struct Mid : Base { int x = 4; unsigned y; __device__ Mid(int a) : Base(a), y(a + 1) { x += 1; }
  __device__ int get() const { return x * 100 + q * 10 + y; } __device__ operator int() const { return x; }
  __device__ Mid& operator++() { ++x; return *this; } __device__ Mid operator++(int) { Mid o = *this;
  x += 10; return o; } __device__ int operator[](int i) { return i + x; }
  __device__ Mid operator+(const Mid& o) const { Mid r = *this; r.x += o.x; return r; }
  __device__ int operator()(int a, int b = 7) const { return a * b + x; } };
struct Deep : Mid { int z[2]; __device__ Deep() : Mid(8) { z[0] = twice(); z[1] = get(); }
  __device__ explicit Deep(int k) : Deep() { z[0] = k; } };
struct Dtor { int* p; int v; __device__ Dtor(int* p_, int v_) : p(p_), v(v_) { *p = *p * 10 + v; }
  __device__ ~Dtor() { *p = *p * 10 + v + 5; } };
template <int N> struct State { uint32_t stage = 0, phase = 0; __device__ void adv() { if (++stage == N) {
  stage = 0; phase ^= 1; } } __device__ State& operator++() { adv(); return *this; }
  static constexpr int K = N * 2; __device__ static int twice(int a) { return a * K; }
  template <int M> __device__ int mul() const { return stage * M * N; } };
template <class T> struct Tracker { T& r; __device__ Tracker(T& x) : r(x) {} __device__ void bump() { r += 1;
  } };
union U { uint64_t d; struct { uint32_t lo, hi; } p; uint16_t h[4]; };
struct Desc { union { uint64_t d; struct { uint64_t addr : 14, : 2, lbo : 14, : 2, sbo : 14, : 2;
  uint64_t ver : 2, : 14; } bf; struct { uint32_t lo, hi; }; }; __device__ operator uint64_t() const {
  return d; } };
struct Bits { unsigned a : 3; unsigned b : 7; int c : 4; };
struct Pair { int a, b; }; struct Nest { Pair p[2]; int t; Pair q = {5, 6}; };
enum class Role { Load, Mma };
__device__ int dt(int n, int* log) { Dtor a(log, 1); if (n > 3) { Dtor b(log, 2); if (n == 5) return 1; }
  for (int i = 0; i < 3; ++i) { Dtor c(log, 3); if (i == 1) break; } return 2; }
__device__ Pair mk(int a) { return {a, a + 1}; }
__device__ Pair mk2(int a) { Pair p; p.a = a; p.b = 2; return p; }
__device__ int sum(Pair p) { p.a += 100; return p.a + p.b; }
__device__ void fill(int (&v)[4], int base) { for (int i = 0; i < 4; ++i) v[i] = base + i; }
__device__ void swap_(Pair& a, Pair& b) { Pair t = a; a = b; b = t; }
template <class T, int... I> __device__ int pick(T (&a)[sizeof...(I)]) { return ((a[I] * (I + 1)) + ...); }
template <class... Ts> __device__ int addall(Ts... ts) { return (ts + ... + 0); }
template <int (*F)(int)> __device__ int ap(int x) { return F(x); }
__device__ int neg(int x) { return -x; }
constexpr int tab[4] = {10, 20, 30, 40}; constexpr Pair cp = {7, 8};
__global__ void k(long *out, int n) {
  Mid o(2); OUT(o.get()); Mid o2 = o; ++o; OUT(o.get()); OUT(o2.get()); OUT((o++).x); OUT(o.x); OUT(o[1]);
    Mid o3 = o + o2; OUT(o3.x); OUT(o(2)); OUT(o(2, 3)); int w = o; OUT(w); Base b; OUT(b.twice());
    Base& rb = o; rb.q = 9; OUT(o.twice()); OUT(o.get());
  Deep d; OUT(d.z[0]); OUT(d.z[1]); Deep e(5); OUT(e.z[0] + e.x); int log = 0; OUT(dt(5, &log)); OUT(log);
    log = 0; OUT(dt(4, &log)); OUT(log); log = 0; OUT(dt(1, &log)); OUT(log);
  State<3> st; for (int i = 0; i < 7; ++i) ++st; OUT(st.stage * 10 + st.phase); OUT(State<3>::twice(2));
    OUT(st.mul<4>()); OUT(State<5>::K); State<3>* ps = &st; ps->adv(); OUT(ps->stage); (*ps).adv();
    OUT(st.stage);
  int cnt = 4; Tracker<int> tr(cnt); tr.bump(); tr.bump(); OUT(cnt); tr.r = 50; OUT(cnt);
  U u; u.d = 0x1122334455667788ull; OUT(u.p.lo); OUT(u.p.hi); OUT(u.h[1]); u.p.hi = n; OUT(u.d); u.h[0] = 1;
    OUT(u.d); for (int i = 0; i < 4; ++i) u.h[i] = i; OUT(u.d); U u2 = u; u2.d++; OUT(u.d); OUT(u2.d);
  Desc ds; ds.d = 0; ds.bf.addr = 0x12345 >> 4; ds.bf.sbo = 64; ds.bf.ver = 1; OUT((uint64_t)ds);
    uint64_t dd = ds; OUT(dd >> 3); ds.lo += 2; OUT(ds.d); OUT(ds.hi); Desc de{}; de.bf.lbo = n; OUT(de.d);
    de = ds; OUT(de.bf.sbo);
  Bits bi{}; bi.a = 9; bi.b = 100; bi.c = -3; OUT(bi.a); OUT(bi.b); OUT(bi.c); bi.b += 50; OUT(bi.b);
    Bits bj{1, 2, 3}; OUT(bj.a + bj.b * 10 + bj.c * 100);
  Pair p = mk(n); OUT(p.a * 10 + p.b); p = mk2(8); OUT(p.a); OUT(sum(p)); OUT(p.a); OUT(mk(3).b);
    Pair arr[3] = {{1, 2}, {3, 4}}; swap_(arr[0], arr[1]); OUT(arr[0].a * 1000 + arr[1].b); arr[2] = arr[0];
    arr[0].a = 99; OUT(arr[2].a); Nest ne{{{1, 2}, {3, 4}}, 5}; OUT(ne.p[1].b + ne.t * 10 + ne.q.b * 100);
    Nest nf = ne; nf.p[n - 4].a = 44; OUT(ne.p[1].a); OUT(nf.p[1].a); Nest ng{1, 2, 3, 4, 5}; OUT(ng.p[1].a);
  int v[4]; fill(v, n); OUT(v[3]); OUT((pick<int, 0, 1, 2, 3>(v))); OUT(addall(1, 2u, 3l)); OUT(ap<neg>(n));
    int (*fp)(int) = neg; OUT(fp(3)); fp = &neg; OUT((*fp)(4)); OUT(tab[n % 4]); OUT(tab[2] + cp.b);
  auto l1 = [&](int a) { cnt += a; return cnt; }; OUT(l1(2)); OUT(l1(3)); OUT(cnt); auto l2 = [=](int a) {
    return a + cnt + n; }; cnt = 0; OUT(l2(1)); auto l3 = [cnt, &w](auto a) mutable { cnt += a; w += cnt;
    return cnt; }; OUT(l3(5)); OUT(l3(6u)); OUT(w); OUT(cnt); auto l4 = [y = n + 1, &z = v[1]] { z = y;
    return y * 2; }; OUT(l4()); OUT(v[1]);
  auto twice = [](auto&& f, int x) { return f(x) + f(x); }; OUT(twice(l1, 4)); OUT(twice([](int q) {
    return q * q; }, 3)); auto outer = [&](int a) { auto inner = [&](int b) { cnt += b; return a + b + v[0];
    }; return inner(a) + inner(1); }; OUT(outer(7)); OUT(cnt);
  Role r = n > 2 ? Role::Mma : Role::Load; OUT(r == Role::Mma); OUT((int)r); State<2> sa[2]; sa[n & 1].adv();
    OUT(sa[1].stage); int* pi = &sa[0].stage == nullptr ? nullptr : &v[2]; OUT(*pi); const Pair& cpr = mk(6);
    OUT(cpr.a); Pair&& rr = mk(9); rr.a++; OUT(rr.a);
}
"""

EXPECTED = [
    523, 623, 523, 6, 16, 17, 21, 30, 22, 16, 6, 18, 1693, 16, 589, 10, 1, 1276, 2, 12738386, 2, 138386, 10,
    12, 12, 10, 2, 0, 6, 50, 1432778632, 287454020, 21862, 22907615112, 22907584513, 844433520132096,
    844433520132096, 844433520132097, 281749854622260, 35218731827782, 281749854622262, 65600, 327680, 64,
    1, 100, -3, 22, 321, 56, 8, 110, 8, 4, 3002, 3, 654, 3, 44, 3, 8, 70, 6, -5, -3, -4, 20, 38, 52, 55, 55,
    61, 5, 11, 32, 0, 12, 6, 12, 18, 32, 16, 1, 1, 1, 7, 6, 10,
]  # fmt: skip


def test_classes_agree_with_a_compiler() -> None:
    assert outputs_of(SOURCE, 5) == EXPECTED


INHERITED = r"""
#define OUT(x) out[++out[0]] = (long)(x)
struct Base { int s; int z = 4; __device__ Base(int x, int y = 2) : s(10 * x + y) {} };
template <class T> struct Holder { T v; __device__ Holder(T x) : v(x) {} };
struct Plain { int n = 6; };
struct One : Plain, Base { int w = 7; using Base::Base; };
struct Two : One { using One::One; };
template <class T> struct Held : Holder<T> { using Holder<T>::Holder; __device__ int get() const { return this->v; } };
__device__ int took(Held<int> h = {8}) { return h.get(); }
__global__ void k(long *out, int n) {
  One a(1); OUT(a.s); OUT(a.z); OUT(a.n); OUT(a.w); One b{3, n}; OUT(b.s);
  Two c(9); OUT(c.s); OUT(c.w); OUT(c.n); Held<int> h{n}; OUT(h.get()); OUT(took()); OUT(took({n + 1}));
}
"""


def test_inherited_constructors() -> None:
    assert outputs_of(INHERITED, 5) == [12, 4, 6, 7, 35, 92, 7, 6, 5, 8, 6]


TUPLE_LIKE = r"""
#define OUT(x) out[++out[0]] = (long)(x)
namespace q {
template <class... T> struct Pack;
template <> struct Pack<> {};
template <class H, class... T> struct Pack<H, T...> { H head; Pack<T...> rest; };
template <size_t i, class H, class... T> __device__ auto &get(Pack<H, T...> &p) {
  if constexpr (i == 0) return p.head; else return get<i - 1>(p.rest); }
template <size_t i, class H, class... T> __device__ auto &&get(Pack<H, T...> &&p) {
  return static_cast<decltype(get<i>(p)) &&>(get<i>(p)); }
struct Inner { int a; float b; };
}
namespace std {
template <class... T> struct tuple_size<q::Pack<T...>> : integral_constant<size_t, sizeof...(T)> {};
template <class H, class... T> struct tuple_element<0, q::Pack<H, T...>> { using type = H; };
template <size_t i, class H, class... T>
struct tuple_element<i, q::Pack<H, T...>> : tuple_element<i - 1, q::Pack<T...>> {};
}
__global__ void k(long *out, int n) {
  q::Pack<int, q::Inner, int, float> p{n, {{7, 2.f}, {9, {4.f}}}};
  auto [a, b, c, d] = p; OUT(a); OUT(b.a); OUT(c); OUT(d); c = 1; OUT(p.rest.rest.head);
  auto &[e, f, g, h] = p; g = 11; f.a += e; OUT(p.rest.rest.head); OUT(p.rest.head.a); h = 3;
  OUT(p.rest.rest.rest.head);
}
"""


def test_structured_bindings_of_a_class_with_get() -> None:
    assert outputs_of(TUPLE_LIKE, 5) == [5, 7, 9, 4, 9, 11, 12, 3]


MEMBER_TEMPLATES = r"""
#define OUT(x) out[++out[0]] = (long)(x)
template <int B> struct Dealer {
  int left, at;
  __device__ Dealer(int n) : left(n), at(10) {}
  template <bool twice> __device__ bool deal(int &item) { if (left == 0) return false; --left; item = at;
    at += twice ? 2 * B : B; return true; }
  __device__ bool next(int &item) { return deal<false>(item); }
  __device__ bool next2(int &item) { return this->deal<true>(item); }
};
__global__ void k(long *out, int n) {
  Dealer<3> d(n); int item = 0;
  while (d.next(item)) OUT(item);
  Dealer<3> e(2); e.next2(item); e.next2(item); OUT(item);
}
"""


def test_member_templates_called_with_arguments_and_without_this() -> None:
    assert outputs_of(MEMBER_TEMPLATES, 2) == [10, 13, 16]


ARRAY_PARAMETERS = r"""
#define OUT(x) out[++out[0]] = (long)(x)
struct B { int w; __device__ void set(int n) { w = n; } };
__device__ int sum(int v[4]) { int s = 0; for (int i = 0; i < 4; ++i) s += v[i]; v[1] = 9; return s; }
template <class T> __device__ int total(T v) {
  int s = 0; for (int i = 0; i < 4; ++i) s += v[i]; v[1] = 7; ++v; return s + *v; }
template <class T, int N> __device__ void each(T p, int n) { for (int i = 0; i < N; ++i) p[i].set(n + i); }
struct S { int x; B full[3]; };
__global__ void k(long *out, int n) {
  int a[4] = {1, 2, 3, n}; OUT(sum(a)); OUT(a[1]); OUT(total<int[4]>(a)); OUT(a[1]);
  S s; each<decltype(s.full), 3>(s.full, n); OUT(s.full[2].w);
}
"""


def test_parameters_written_as_arrays_are_pointers() -> None:
    assert outputs_of(ARRAY_PARAMETERS, 5) == [11, 9, 25, 7, 7]


IN_A_ROW = r"""
#define OUT(x) out[++out[0]] = (long)(x)
struct V { int x; __device__ V operator*(const V& o) const { return {x * o.x}; } };
__device__ V operator+(const V& a, const V& b) { return {a.x + b.x}; }
struct F { int k; __device__ F operator()(int n) const { return {k * 10 + n}; } };
__device__ F first(int n) { return {n}; }
__global__ void k(long *out, int n) {
  V a{1}, b{2}, c{n};
  OUT((a + b + c).x); OUT((a + b * c * b + a).x); OUT(first(1)(2)(n).k);
}
"""


def test_overloaded_operators_in_a_row() -> None:
    assert outputs_of(IN_A_ROW, 5) == [8, 22, 125]
