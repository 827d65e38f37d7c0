"""Less usual C++: allocators, guards, folds, unions, schedulers. The expected values are those of g++."""

from __future__ import annotations

from tests.unit.fake_strand import outputs_of

SOURCE = r"""
#define OUT(x) out[++out[0]] = (long)(x)
struct VBase { int a = 1; __device__ virtual int v() const { return a; } __device__ virtual ~VBase() {} };
  struct VD : VBase { int b = 2; __device__ int v() const override { return b * 10; } };
template <class T> struct Vec2 { T x, y; __device__ Vec2 operator*(T k) const { return {x * k, y * k}; }
  __device__ Vec2& operator+=(const Vec2& o) { x += o.x; y += o.y; return *this; }
  __device__ bool operator==(const Vec2& o) const { return x == o.x && y == o.y; } __device__ T& at(int i) {
  return i ? y : x; } __device__ const T* begin() const { return &x; } };
template <class T> __device__ Vec2<T> operator-(Vec2<T> a, Vec2<T> b) { return Vec2<T>{a.x - b.x, a.y - b.y}; }
template <int N> struct Ring { int slots[N]; int head = 0; struct Slot { int* p;
  __device__ Slot(int* q) : p(q) {} __device__ Slot& operator=(int v) { *p = v; return *this; }
  __device__ operator int() const { return *p; } }; __device__ Slot operator[](int i) {
  return Slot(&slots[i % N]); } __device__ int& next() { return slots[head++ % N]; } };
struct Guard { int& r; __device__ explicit Guard(int& x) : r(x) { ++r; } __device__ ~Guard() { r += 10; } };
struct Alloc { uint32_t base, off = 0; __device__ constexpr Alloc(uint32_t b) : base(b) {}
  __device__ uint32_t take(uint32_t n, uint32_t a = 16) { off = (off + a - 1) & ~(a - 1);
  uint32_t r = base + off; off += n; return r; } };
template <bool F> __device__ int pickif(int a) { if constexpr (F) { return a * 2; } else { return a * 3; } }
template <int... Is> struct Seq {}; template <int N, int... Is> struct MkSeq : MkSeq<N - 1, N - 1, Is...> {};
  template <int... Is> struct MkSeq<0, Is...> { using type = Seq<Is...>; };
template <class F, int... Is> __device__ void unroll_(F f, Seq<Is...>) { (f(Is), ...); }
template <int N, class F> __device__ void unroll(F&& f) { unroll_(f, typename MkSeq<N>::type{}); }
template <class T, class... R> __device__ int count(T, R... r) { if constexpr (sizeof...(R) == 0) return 1;
  else return 1 + count(r...); }
template <int S> __device__ void advance(int& st, uint32_t& ph) { st = st + 1 == S ? 0 : st + 1;
  if (st == 0) ph ^= 1; }
union F2 { float f; uint32_t u; };
namespace ns { constexpr int K = 6; namespace in { __device__ inline int g(int a) { return a + K; } }
  using in::g; inline namespace v1 { enum { Q = 4, R }; } }
static __device__ __forceinline__ int bitsel(int x, int n) { return (x >> n) & 1; }
__device__ int recur(int n, int (*f)(int)) { return n == 0 ? 0 : f(n) + recur(n - 1, f); }
__device__ int dbl(int x) { return 2 * x; }
struct Sched { int cur, end, step; __device__ Sched(int s, int e, int st) : cur(s), end(e), step(st) {}
  __device__ bool next(int& t) { if (cur >= end) return false; t = cur; cur += step; return true; } };
struct Opt { bool ok; int v; __device__ explicit operator bool() const { return ok; } };
  __device__ Opt find(int n) { if (n > 3) return {true, n}; return Opt{}; }
struct Outer { struct In { int z[3] = {1, 2, 3}; } in; In arr[2]; Outer* self() { return this; }
  __device__ int s() const { int t = 0; for (auto& e : arr) for (int q : e.z) t += q; return t; } };
constexpr int lut(int i) { int r = 0; for (int k = 0; k <= i; ++k) r += k; return r; }
__global__ void k(long *out, int n) {
  VD vd; OUT(vd.v()); Vec2<int> a{1, 2}, b = a * 3; b += a; OUT(b.x * 10 + b.y); OUT(a == b); b.at(1) = 77;
    OUT(b.y); OUT((b - a).y); auto cc = b - a; OUT(cc == (b - a)); OUT(*a.begin()); b.at(0)++; OUT(b.x);
  Ring<4> r{}; r[5] = 42; OUT(r.slots[1]); OUT(r[1]); r.next() = 5; r.next() += 6;
    OUT(r.slots[0] + r.slots[1]); OUT(r.head); int g = 0; { Guard gd(g); OUT(g); Guard g2(g); } OUT(g);
    for (int i = 0; i < 3; ++i) { Guard q(g); if (i == 1) continue; } OUT(g);
  Alloc al(1024); OUT(al.take(10)); OUT(al.take(8, 128)); OUT(al.off);
    OUT(pickif<true>(n) + pickif<false>(n)); int acc = 0; unroll<4>([&](int i) { acc = acc * 10 + i; });
    OUT(acc); OUT(count(1, 2u, 'c')); int st = 0; uint32_t ph = 0; for (int i = 0; i < 7; ++i) advance<3>(st,
    ph); OUT(st * 10 + ph);
  F2 f; f.f = 1.0f; OUT(f.u); f.u = 0x40000000; OUT((int)f.f); OUT(ns::g(n)); OUT(ns::Q + ns::R);
    OUT(bitsel(n, 2)); OUT(recur(n, dbl)); int tile; long tot = 0; Sched sc(n, 40, 9);
    while (sc.next(tile)) tot = tot * 7 + tile; OUT(tot); for (Sched s2(0, 9, 4);
    s2.next(tile);) tot += tile; OUT(tot);
  if (auto o = find(n)) OUT(o.v); if (Opt o = find(1)) OUT(1); else OUT(o.v + 100); Outer ou; OUT(ou.s());
    ou.arr[n - 4].z[2] = 50; OUT(ou.s()); Outer o2 = ou; o2.in.z[0] = 9; OUT(ou.in.z[0]);
    Outer::In& ir = ou.arr[1]; ir.z[0] = 8; OUT(ou.arr[1].z[0]); Outer::In* ip = &ou.arr[0]; ip[1].z[1] = 4;
    (ip + 1)->z[0]++; OUT(ou.s()); int* zp = ip->z; zp[2] = 30; OUT(ou.arr[0].z[2]);
  static_assert(lut(3) == 6); constexpr int L = lut(4); OUT(L); OUT(lut(n)); int arr2[L]; arr2[0] = 3;
    arr2[L - 1] = 4; OUT(arr2[9] + arr2[0]); const int N2 = n; OUT(N2 * 2); int vals[] = {n, n + 1, n + 2};
    OUT(sizeof(vals) / sizeof(vals[0]));
  uint32_t regs[4]; for (int i = 0; i < 4; ++i) regs[i] = i * 3; uint64_t* wide = nullptr;
    OUT(wide == nullptr); uint32_t* rp = regs; rp += 2; OUT(*rp--); OUT(*rp); OUT(rp[-1]);
    auto sw = [](int& x, int& y) { int t = x; x = y; y = t; }; int p = 1, q = 2; sw(p, q); OUT(p * 10 + q);
    auto fact = [](auto&& self, int m) -> int { return m <= 1 ? 1 : m * self(self, m - 1); }; OUT(fact(fact,
    n));
  int x = n; x = x++ + 1; OUT(x); int y = (x > 3 ? x : p) = 9; OUT(x + y); (n > 2 ? p : q) += 5; OUT(p);
    int *pa[2] = {&p, &q}; *pa[1] = 70; OUT(q); OUT(*pa[0]); bool fl = false; fl |= n > 3; OUT(fl);
    fl &= n > 9; OUT(fl); fl = !fl; OUT(fl); unsigned char ch = 200; ch <<= 1; OUT(ch); ch = ch + 200;
    OUT(ch); short ss = -1; ss >>= 1; OUT(ss); OUT((unsigned short)ss); long big = 1; big <<= 40; OUT(big);
    OUT(int(big >> 38)); int neg = -5; OUT(neg >> 1); OUT((unsigned)neg >> 28); OUT(neg / 2 * 2 + neg % 2);
    unsigned m1 = 3; m1 -= 4; OUT(m1 > 0); OUT(m1 / 2);
}
"""

EXPECTED = [
    20, 48, 0, 77, 75, 1, 1, 5, 42, 42, 53, 2, 1, 22, 55, 1024, 1152, 136, 25, 123, 3, 10, 1065353216, 2,
    11, 9, 1, 30, 2594, 2606, 5, 100, 12, 59, 1, 8, 69, 30, 10, 15, 7, 10, 3, 1, 6, 3, 0, 21, 120, 6, 18, 7,
    70, 7, 1, 0, 1, 144, 88, -1, 65535, 1099511627776, 4, -3, 15, -5, 1, 2147483647,
]  # fmt: skip


def test_idioms_agree_with_a_compiler() -> None:
    assert outputs_of(SOURCE, 5) == EXPECTED
