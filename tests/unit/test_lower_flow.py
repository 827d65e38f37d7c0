"""Control flow, references, pointers and local arrays of generated code agree with C++ (g++)."""

from __future__ import annotations

from tests.unit.fake_strand import outputs_of

SOURCE = r"""
#define OUT(x) out[++out[0]] = (long)(x)
__device__ int sw(int v) { int r = 0; switch (v) { case 1: case 2: r = 12; break; case 3: r += 3;
  case 4: r += 4; break; case 5: { for (int i = 0; i < 4; ++i) { if (i == 2) break; r += i; } return 50 + r;
  } default: r = 99; } return r; }
__device__ int sw2(int v) { int c = 0; for (int i = 0; i < 6; ++i) { switch (i & 3) { case 0: continue;
  case 1: c += 10; break; case 2: if (v > 2) break; c += 100; [[fallthrough]]; default: c += 1; } c += 1000;
  } return c; }
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ int side(int& x) { x += 3; return x; }
__global__ void k(long *out, int n) {
  for (int v = 0; v < 8; ++v) OUT(sw(v));
  OUT(sw2(1)); OUT(sw2(5)); OUT(fib(n + 4)); switch (3) { case 1: OUT(1); break; case 3: OUT(33);
    case 4: OUT(44); break; case 5: OUT(55); }
  int x = 1; int y = side(x) + 1; OUT(y); OUT(x); if (side(x) > 3 && side(x) > 100) OUT(1); else OUT(2);
    OUT(x); if (n > 100 && side(x)) OUT(3); OUT(x); OUT(n > 1 || side(x)); OUT(x);
    OUT(n > 10 || side(x) > 1); OUT(x);
  OUT(n > 2 ? side(x) : 7); OUT(n < 2 ? side(x) : 7); OUT(x);
  int i = 0; while (i < 10) { if (i == 3) { i += 2; continue; } if (i == 8) break; ++i; } OUT(i);
  do { i--; if (i == 5) continue; if (i < 3) break; } while (i > 0); OUT(i); do { i = 77; } while (0); OUT(i);
  for (;;) { if (++i > 80) break; } OUT(i); for (i = 0; i < n; ) { i += 2; } OUT(i); int s = 0;
    for (int a = 0, b = 10; a < b; ++a, --b) { if (a == 2) continue; s += b; } OUT(s);
  for (int a = n; a--; ) s += a; OUT(s); for (int a = 10; a > 0; a -= 3) s = s * 2 + a; OUT(s);
    for (unsigned a = 0; a <= 4; a += 2) { s += a; if (a == n) break; } OUT(s);
  for (int a = 0; a < 5; ++a) { if (a == 3) a++; s += a; } OUT(s); for (int a = 0; a != 4;
    a++) for (int b = a; b < 4; b++) { if (b == 3) continue; s += a * b; } OUT(s);
  if (int q = n - 5) OUT(q); else OUT(q + 1); if (int q = n; q > 3) OUT(q); while (int q = n - i) { OUT(q);
    i++; if (i > n) break; }
  int arr[4] = {1, 2}; int m[2][3] = {{1, 2, 3}, {4}}; for (auto& e : arr) e += 10; for (int e : arr) s += e;
    OUT(s); OUT(m[1][0] + m[0][2] + m[1][2]); for (auto& r : m) for (int e : r) s += e; OUT(s);
    m[n % 2][n - 4] = 9; OUT(m[1][1]);
  int *p = arr; *p++ = 5; *p = 6; p[1] = 7; OUT(arr[0]); OUT(arr[1]); OUT(arr[2]); OUT(p - arr);
    OUT(*(p + 1)); int *q = &arr[3]; *q += 2; OUT(arr[3]); OUT(q - p); int **pp = &p; **pp = 50; OUT(arr[1]);
    ++*pp; OUT(*p); OUT(p == &arr[2]); OUT(p != q); OUT(p == nullptr);
  int (*row)[3] = m; row[1][2] = 8; OUT(m[1][2]); ++row; OUT((*row)[2]); int& ref = arr[n - 4]; ref = 71;
    OUT(arr[1]); int& r2 = x; r2++; OUT(x); const int& cr = n * 2; OUT(cr);
  int u = 5; int* pu = &u; *pu += 2; OUT(u); u *= 2; OUT(*pu); auto [a0, a1, a2, a3] = arr; OUT(a0 + a1);
    auto& [b0, b1, b2, b3] = arr; b0 = 1000; OUT(arr[0]); OUT(a0);
  unsigned ph = 0; for (int t = 0; t < 9; t++) { ph ^= (t % 3 == 2); } OUT(ph); long acc = 0; for (int t = 0;
    t < 20; ++t) { int st = t % 3; int par = (t / 3) & 1; acc = acc * 3 + (st ^ par); } OUT(acc);
    goto_skip: OUT(1);
  { struct L { int a = 4; int b; } l{}, l2{.b = 9}; OUT(l.a + l.b); OUT(l2.a + l2.b); l = l2; l2.b = 1;
    OUT(l.b); L la[2] = {{1, 2}, {3}}; OUT(la[1].a + la[1].b + la[0].b); L* lp = la; lp++; lp->b = 6;
    OUT(la[1].b); (*lp).a++; OUT(la[1].a); }
}
"""

EXPECTED = [
    99, 12, 12, 7, 4, 51, 99, 99, 4122, 4021, 34, 33, 44, 5, 4, 2, 10, 10, 1, 10, 1, 13, 16, 7, 16, 8, 2,
    77, 81, 6, 32, 42, 789, 795, 802, 809, 1, 5, -1, 852, 7, 862, 9, 5, 6, 7, 1, 7, 12, 2, 50, 7, 1, 1, 0,
    8, 8, 71, 17, 10, 7, 14, 76, 1000, 5, 1, 704062234, 1, 4, 13, 9, 5, 6, 4,
]  # fmt: skip


def test_flow_agree_with_a_compiler() -> None:
    assert outputs_of(SOURCE, 5) == EXPECTED


def test_range_for_over_a_list_in_braces() -> None:
    source = """
#include <initializer_list>
#define OUT(x) out[++out[0]] = (x)
__global__ void k(long *out, int n)
{
  int a = 2, b = 5, sum = 0;
  for (int *p : {&a, &b}) *p += n;
  for (const int &v : {a, b, 100}) sum += v;
  OUT(a); OUT(b); OUT(sum);
}
"""
    assert outputs_of(source, 3) == [5, 8, 113]
