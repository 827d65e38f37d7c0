"""Integer arithmetic of generated code agrees with C++. The expected values are those of g++."""

from __future__ import annotations

from tests.unit.fake_strand import outputs_of

SOURCE = r"""
#define OUT(x) out[++out[0]] = (long)(x)
enum class E : uint8_t { A = 3, B }; enum F { X, Y = 7 };
__device__ constexpr int sq(int x) { return x * x; }
__global__ void k(long *out, int n) {
  unsigned u = n; int s = -n; unsigned char c = 250; signed char sc = -3; short sh = 32767;
    unsigned long ul = 1ul << 40; long l = -7;
  OUT(u - 10); OUT(s * 3 / 2); OUT(s / 2); OUT(s % 3); OUT(u / 2); OUT((unsigned)s / 3u);
    OUT((unsigned char)(c + 10)); c += 10; OUT(c); sc -= 126; OUT(sc); sh++; OUT(sh);
  OUT(ul * 3); OUT((unsigned)(ul + 5)); OUT((int)(ul >> 9)); OUT(l >> 1); OUT(u >> 1); OUT(s >> 1);
    OUT(1 << n); OUT(1u << 31); OUT(1 << 31); OUT(~u); OUT(~s); OUT(-u); OUT(-s); OUT(!s); OUT(!!u);
  OUT(s < u); OUT(s < (int)u); OUT((unsigned)-1 > 0); OUT(E::B == E::A); OUT((int)E::B); OUT(Y);
    OUT(sizeof(long) * n); OUT(sq(4)); OUT(sq(n));
  OUT(n > 3 ? 1 : 2u); OUT((n > 3) + 5); bool b = n; OUT(b); b = n & 2; OUT(b); OUT(b + b); OUT(~(n > 1));
  OUT((n, 3)); int i = 0; OUT(i++); OUT(++i); OUT(i--); OUT(--i); i = 5; i <<= 2; OUT(i); i >>= 1; OUT(i);
    i ^= 3; OUT(i); i |= 64; OUT(i); i &= ~1; OUT(i); i %= 7; OUT(i); i /= 2; OUT(i); i *= -3; OUT(i);
  unsigned w = 0xffffffff; w += 2; OUT(w); w -= 5; OUT(w); w = w * w; OUT(w); w = 0x80000000u; OUT(w + w);
    OUT(w >> 31); OUT((int)w); OUT((long)(int)w); OUT((uint64_t)w << 4);
  OUT((n > 2 && s < 0) || u == 3); OUT(n > 100 && s / (n - 5)); OUT(s ? n ? 1 : 2 : 3);
  long long big = 0x7fffffffffffffffLL; OUT(big + (unsigned long)1); OUT(10u - 11 < 0); OUT((uint8_t)~c);
    OUT((uint16_t)(sh * 3)); OUT('a' + 1); OUT(u * 4294967295u); OUT((u ^ 0xffu) - 300);
  uint64_t d = (uint64_t(2) << 61) | (uint64_t(1) << 46) | uint64_t(1024 / 16) << 32 | ((0x12345 / 16) &
    0x3FFF); OUT(d); OUT(d >> 61); OUT((d & ~0xffull)); OUT(s % 4); OUT(s / 4); OUT(u % 4); OUT((s & 3));
    OUT((-17) / 4); OUT(-17 % 4);
  float f = 2.5f; f *= n; OUT((int)f); OUT((int)(f / 2)); OUT(f > 3); OUT((int)-1.7); double dd = n;
    OUT((long)(dd * 1.5)); unsigned char uc = -1; OUT(uc); OUT(uc == 255); OUT(uc == -1); OUT((int8_t)uc);
  OUT(u - 6 > 0); OUT(n - 6 > 0); OUT((u - 6) >> 28); OUT((u - 6) / 3); OUT((u - 6) % 10);
    OUT((uint64_t)(u - 6)); OUT((int)(u - 6)); OUT(int64_t(int(u - 6)) * 2); OUT((u << 30));
    OUT((u << 30) >> 30); OUT(uint64_t(u << 30));
}
"""

EXPECTED = [
    4294967291, -7, -2, -2, 2, 1431655763, 4, 4, 127, -32768, 3298534883328, 5, -2147483648, -4, 2, -3, 32,
    2147483648, -2147483648, 4294967290, 4, 4294967291, 5, 0, 1, 0, 1, 1, 0, 4, 7, 40, 16, 25, 1, 6, 1, 0,
    0, -2, 3, 0, 2, 2, 0, 20, 10, 9, 73, 72, 2, 1, -3, 1, 4294967292, 16, 0, 1, -2147483648, -2147483648,
    34359738368, 1, 0, 1, -9223372036854775808, 0, 251, 32768, 98, 4294967291, 4294967246,
    4611756662049477172, 2, 4611756662049477120, -1, -1, 1, 3, -4, -1, 12, 6, 1, -1, 7, 255, 1, 0, -1, 1, 0,
    15, 1431655765, 5, 4294967295, -1, -2, 1073741824, 1, 1073741824,
]  # fmt: skip


def test_integers_agree_with_a_compiler() -> None:
    assert outputs_of(SOURCE, 5) == EXPECTED
