"""Objects behind pointers and references, functors, defaults and bit patterns agree with C++ (g++)."""

from __future__ import annotations

import pytest

from auditor.frontend import build_program
from auditor.frontend.options import Options
from auditor.values import OPAQUE
from tests.unit.fake_strand import OUTPUT, FakeStrand, outputs, outputs_of, run_kernel

SOURCE = r"""
#define OUT(x) out[++out[0]] = (long)(x)
template <class T, int N> struct Arr { T v[N]; __device__ T& operator[](int i) { return v[i]; }
  __device__ T* begin() { return v; } __device__ T* end() { return v + N; } };
struct Pt { int x, y; }; struct Holder { Pt* p; int n; __device__ Pt& get(int i) { return p[i]; }
  __device__ int total() { int t = 0; for (int i = 0; i < n; ++i) t += get(i).x; return t; } };
__device__ int& pick(int* a, int i) { return a[i]; }
__device__ void outp(int a, int* lo, int* hi) { *lo = a - 1; if (hi) *hi = a + 1; }
template <int D> struct Tree { Tree<D - 1> l, r; int v = D; __device__ int sum() {
  return v + l.sum() + r.sum(); } }; template <> struct Tree<0> { int v = 1; __device__ int sum() { return v;
  } };
struct Pipe { uint32_t idx = 0, ph = 1; __device__ Pipe() = default; __device__ Pipe(uint32_t i,
  uint32_t p) : idx(i), ph(p) {} __device__ Pipe next(int n) const { Pipe q = *this; if (++q.idx == n) {
  q.idx = 0; q.ph ^= 1; } return q; } __device__ void operator++(int) { *this = next(3); } };
__device__ Pipe make_start() { return Pipe{0, 0}; }
struct WithRef { const int& a; int& b; }; struct Callback { int k;
  template <class T> __device__ int operator()(T x) const { return x * k; } };
template <class F> struct Wrap { F f; int c = 2; __device__ int run(int x) { return f(x) + c; } };
  template <class F> __device__ Wrap<F> wrap(F f) { return Wrap<F>{f}; }
enum Flags : unsigned { FA = 1, FB = 2, FC = FA | FB };
__device__ int many(int a, int b = 2, int c = sizeof(long)) { return a * 100 + b * 10 + c; }
static constexpr int LIST[] = {3, 1, 4, 1, 5}; struct Cfg { static constexpr int A = 3;
  static constexpr int B[2] = {7, 9}; enum { E1 = 11 }; using T = unsigned char; };
template <class C> __device__ int use() { typename C::T t = 300; return C::A + C::B[1] + C::E1 + t; }
__global__ void k(long *out, int n) {
  Arr<int, 3> a{{1, 2, 3}}; for (auto& e : a) e *= 2; int s = 0; for (int e : a) s += e; OUT(s); a[1] = 50;
    OUT(a.v[1]); Pt pts[3] = {{1, 2}, {3, 4}, {5, 6}}; Holder h{pts, 3}; OUT(h.total()); h.get(1).x = 40;
    OUT(pts[1].x); OUT(h.total()); Pt q = h.get(2); q.y = 1; OUT(pts[2].y);
  int raw[4] = {9, 8, 7, 6}; pick(raw, 2) = 70; OUT(raw[2]); int lo, hi = 0; outp(n, &lo, &hi);
    OUT(lo * 10 + hi); outp(n, &lo, nullptr); OUT(lo); Tree<2> t; OUT(t.sum()); t.l.r.v = 10; OUT(t.sum());
  Pipe p; for (int i = 0; i < 5; ++i) p++; OUT(p.idx * 10 + p.ph); Pipe p2 = make_start(); p2 = p2.next(1);
    OUT(p2.ph); auto [pi, pp] = p; OUT(pi + pp); int m = 4; WithRef wr{n, m}; wr.b += wr.a; OUT(m);
    Callback cb{3}; OUT(cb(n)); OUT(wrap(cb).run(5)); OUT(wrap([&](int z) { return z + m; }).run(1));
    auto w2 = wrap([m](int z) { return z * m; }); m = 0; OUT(w2.run(2));
  OUT(FC & ~FA); Flags f = Flags(FA | FC); OUT(f == FC); OUT(many(1)); OUT(many(1, 5)); OUT(LIST[n - 1]);
    s = 0; for (int v : LIST) s += v; OUT(s); OUT(use<Cfg>()); int i = 0; raw[i++] = 3; OUT(i);
    raw[i] += raw[i + 1]++; OUT(raw[1] + raw[2]); int *e = raw + 4, *b = raw; s = 0;
    while (b != e) s += *b++; OUT(s); OUT(e - raw); b = e - 1; OUT(*b); OUT(b[-1]); OUT(&raw[3] - &raw[1]);
  unsigned mask = 0; for (int j = 0; j < 5; ++j) mask |= 1u << (j * n % 7); OUT(mask); int cnt = 0;
    for (unsigned x = mask; x; x &= x - 1) ++cnt; OUT(cnt); bool flip = false; for (int j = 0; j < n;
    ++j) flip ^= 1; OUT(flip); uint64_t big = ~0ull; OUT(big >> 60); OUT((uint32_t)(big * 3) >> 4);
    big <<= 8; OUT((big & 0xfff) == 0xf00); OUT((int8_t)(n * 60)); OUT((uint16_t)-n); OUT(n * 0x7fffffffL);
    OUT((unsigned)n * -1 % 7); OUT(-7 / 2 + -7 % 2); OUT((n ^ -1) < 0); OUT(1 - n >> 1);
    OUT(n & 1 ? -1 : 1u > 0);
  const char* str = "ab"; OUT(str != nullptr); int v2[2][2] = {{1, 2}, {3, 4}}; int (&row)[2] = v2[n & 1];
    row[0] = 30; OUT(v2[1][0]); Pt& pr = pts[n % 2]; pr = {8, 9}; OUT(pts[1].x + pts[1].y);
    Pt* arr2[2] = {&pts[0], &pts[2]}; arr2[1]->x = 77; OUT(pts[2].x); (*arr2[0]).y++; OUT(pts[0].y); do {
    s -= 3; } while (s > 10 && n); OUT(s);
}
"""

EXPECTED = [
    12, 50, 9, 40, 46, 6, 70, 46, 4, 8, 17, 20, 1, 2, 9, 15, 17, 12, 20, 2, 1, 128, 158, 5, 14, 67, 1, 149,
    158, 4, 6, 71, 2, 107, 5, 1, 15, 268435455, 1, 44, 65531, 10737418235, 6, -4, 1, -2, -1, 1, 30, 17, 77,
    3, 8,
]  # fmt: skip


def test_objects_agree_with_a_compiler() -> None:
    assert outputs_of(SOURCE, 5) == EXPECTED


def test_an_object_written_as_a_number_of_another_type() -> None:
    strand = run_kernel(
        """
struct alignas(8) Two { float x, y; };
__device__ void fill(unsigned long long &to) { to = 7; }
__global__ void k(float *out)
{
  Two a{1, 2}, b{3, 4}, c{5, 6}, d{7, 8};
  fill(reinterpret_cast<unsigned long long &>(a));
  reinterpret_cast<unsigned long long &>(b) = 0;
  out[0] = a.x; out[1] = b.y; out[2] = c.x; out[3] = d.y;
}
""",
        OUTPUT,
    )
    assert [strand.memory[OUTPUT + 4 * n] for n in range(4)] == [OPAQUE, OPAQUE, 5.0, 8.0]


COPIES = """
struct State { int index; unsigned phase; int count; __device__ State() : index(0), phase(0), count(0) {}
  __device__ State(int i, unsigned p, int c) : index(i), phase(p), count(c) {}
  __device__ State &operator=(const State &o) { index = o.index; phase = o.phase; count = o.count; return *this; } };
struct Holder { State state; __device__ Holder(int n) : state({n, n == 5, 0}) {} };
__device__ State make(int n) { return State(n, 2, 3); }
__device__ long sum(State s) { return s.index + 10 * s.phase + 100 * s.count; }
__global__ void k(long *out, int n) {
  Holder h(n); State listed({n, 1, 2}), called = make(n), braced = State{4, 5, 6}; auto plain = State(7, 8, 9);
  out[0] = sum(h.state); out[1] = sum(listed); out[2] = sum(called); out[3] = sum(braced); out[4] = sum(plain);
  out[5] = sum(make(1)); out[6] = sum({3, 2, 1}); out[7] = sum(State(make(n)));
}
"""


@pytest.mark.parametrize("standard", ["c++14", "c++17", "c++20"])
def test_copies_that_are_left_out(standard: str) -> None:
    """Clang names no constructor for them; before C++17 every initialisation by a call has one."""
    program = build_program("test.cu", COPIES, Options(std=standard))
    assert [note for note in program.notes if note.kind == "unanalysed"] == []
    strand = FakeStrand(program)
    strand.run(program.kernels[0].entry, OUTPUT, 5)
    assert outputs(strand, 8) == [15, 215, 325, 654, 987, 321, 123, 325]
