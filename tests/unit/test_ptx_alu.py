"""PTX arithmetic against plain Python integers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.ptx.alu import PURE, evaluate
from auditor.ptx.grammar import parse_asm
from auditor.ptx.mnemonics import OPCODES
from auditor.values import GLOBAL_WINDOW, LANES, M32, M64, OPAQUE, SHARED_WINDOW, Loaded, Ref, Vec

U32 = st.integers(0, M32)
U64 = st.integers(0, M64)


def ev(text: str, *args: Any) -> Any:
    return evaluate(parse_asm(text, [], 0, {}).instrs[0], args)


def signed(x: int, bits: int = 32) -> int:
    return x - (1 << bits) if x >> (bits - 1) else x


class Record:
    def __init__(self) -> None:
        self.consumed = False


def test_pure_opcodes_exist() -> None:
    assert PURE <= OPCODES


@given(U32, U32)
def test_32_bit_arithmetic(a: int, b: int) -> None:
    assert ev("add.u32 d, a, b;", a, b) == (a + b) & M32
    assert ev("sub.s32 d, a, b;", a, b) == signed((a - b) & M32)
    assert ev("mul.lo.u32 d, a, b;", a, b) == (a * b) & M32
    assert ev("mul.hi.u32 d, a, b;", a, b) == a * b >> 32
    assert ev("mul.wide.s32 d, a, b;", a, b) == signed(a) * signed(b)
    assert ev("mad.lo.s32 d, a, b, c;", a, b, 7) == signed((a * b + 7) & M32)
    assert ev("min.s32 d, a, b;", a, b) == min(signed(a), signed(b))
    assert ev("max.u32 d, a, b;", a, b) == max(a, b)
    assert ev("and.b32 d, a, b;", a, b) == a & b
    assert ev("not.b32 d, a;", a) == a ^ M32
    assert ev("xor.b32 d, a, b;", signed(a), b) == a ^ b
    assert ev("abs.s32 d, a;", a) == signed(abs(signed(a)) & M32)


@given(U32, st.integers(1, M32))
def test_division_truncates(a: int, b: int) -> None:
    assert ev("div.u32 d, a, b;", a, b) == a // b
    q, r = ev("div.s32 d, a, b;", a, b), ev("rem.s32 d, a, b;", a, b)
    if (signed(a), signed(b)) != (-(1 << 31), -1):
        assert q * signed(b) + r == signed(a)
    assert abs(r) < abs(signed(b))


@given(U32, U32, st.integers(0, 80))
def test_shifts_clamp(a: int, b: int, n: int) -> None:
    assert ev("shl.b32 d, a, n;", a, n) == (a << n) & M32
    assert ev("shr.u32 d, a, n;", a, n) == a >> n
    assert ev("shr.s32 d, a, n;", a, n) == signed(a) >> n
    both = b << 32 | a
    assert ev("shf.l.wrap.b32 d, a, b, n;", a, b, n) == (both << (n & 31)) >> 32 & M32
    assert ev("shf.r.clamp.b32 d, a, b, n;", a, b, n) == both >> min(n, 32) & M32


@given(U32, st.integers(0, 40), st.integers(0, 40))
def test_bit_fields(a: int, position: int, length: int) -> None:
    bits = [a >> i & 1 for i in range(32)]
    field = [bits[position + i] if position + i < 32 else 0 for i in range(min(length, 32))]
    expected = sum(bit << i for i, bit in enumerate(field))
    assert ev("bfe.u32 d, a, b, c;", a, position, length) == expected
    sign = bits[min(position + length - 1, 31)] if length else 0
    lanes = [bits[position + i] if i < length and position + i < 32 else sign for i in range(32)]
    assert ev("bfe.s32 d, a, b, c;", a, position, length) == signed(sum(bit << i for i, bit in enumerate(lanes)))
    inserted = ev("bfi.b32 d, a, b, c, e;", a, M32, position, length)
    for i in range(32):
        inside = position <= i < position + length
        assert inserted >> i & 1 == (a >> (i - position) & 1 if inside else 1)


@given(U32)
def test_counting(a: int) -> None:
    assert ev("popc.b32 d, a;", a) == bin(a).count("1")
    assert ev("clz.b32 d, a;", a) == 32 - a.bit_length()
    assert ev("brev.b32 d, a;", ev("brev.b32 d, a;", a)) == a
    top = ev("bfind.u32 d, a;", a)
    assert top == (a.bit_length() - 1 if a else M32)
    if a:
        assert ev("bfind.shiftamt.u32 d, a;", a) == 31 - top


@given(U32, U32, U32, st.integers(0, 255))
def test_lop3(a: int, b: int, c: int, table: int) -> None:
    result = ev("lop3.b32 d, a, b, c, t;", a, b, c, table)
    for i in range(32):
        entry = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)
        assert result >> i & 1 == table >> entry & 1


@pytest.mark.parametrize(
    ("name", "selector", "expected"),
    [
        ("prmt.b32", 0x7531, 0x77553311),
        ("prmt.b32", 0x3210, 0x33221100),
        ("prmt.b32.f4e", 1, 0x44332211),
        ("prmt.b32.b4e", 1, 0x66770011),
        ("prmt.b32.rc8", 2, 0x22222222),
        ("prmt.b32.ecl", 2, 0x33222222),
        ("prmt.b32.ecr", 1, 0x11111100),
        ("prmt.b32.rc16", 1, 0x33223322),
    ],
)
def test_prmt(name: str, selector: int, expected: int) -> None:
    assert ev(f"{name} d, a, b, c;", 0x33221100, 0x77665544, selector) == expected


def test_prmt_replicates_the_sign() -> None:
    assert ev("prmt.b32 d, a, b, c;", 0x80, 0, 0xFFF8) == 0x000000FF


@given(U32, U32, st.integers(0, 1))
def test_setp(a: int, b: int, c: int) -> None:
    assert ev("setp.lt.s32 p, a, b;", a, b) == int(signed(a) < signed(b))
    assert ev("setp.hs.u32 p|q, a, b;", a, b) == (int(a >= b), int(a < b))
    assert ev("setp.ne.and.b32 p|q, a, b, c;", a, b, c) == (int(a != b) & c, int(a == b) & c)
    assert ev("set.eq.u32.u32 d, a, b;", a, b) == (M32 if a == b else 0)


@given(U64)
def test_conversion_and_packing(a: int) -> None:
    assert ev("cvt.u32.u64 d, a;", a) == a & M32
    assert ev("cvt.s64.s32 d, a;", a) == signed(a & M32)
    assert ev("cvt.u16.u32 d, a;", a) == a & 0xFFFF
    assert ev("cvt.sat.u8.s32 d, a;", a) == min(max(signed(a & M32), 0), 255)
    parts = ev("mov.b64 {lo, hi}, a;", a)
    assert parts == (a & M32, a >> 32)
    assert ev("mov.b64 d, {lo, hi};", parts) == a
    quarters = ev("mov.b64 {q, r, s, t}, a;", a)
    assert ev("mov.b64 d, {q, r, s, t};", quarters) == a


def test_conversions_with_floats() -> None:
    assert ev("cvt.rn.f32.s32 d, a;", M32) == -1.0
    assert ev("cvt.rn.f32.u32 d, a;", 16_777_217) == 16_777_216.0
    assert ev("cvt.rni.s32.f32 d, a;", 2.5) == 2
    assert ev("cvt.rzi.u32.f32 d, a;", -3.5) == 0
    assert ev("cvt.rn.bf16.f32 d, a;", 1.0) is OPAQUE
    assert ev("setp.gt.f32 p, a, b;", 2.0, 1.0) == 1
    assert ev("setp.gt.f32 p, a, b;", 2, 1.0) is OPAQUE
    assert ev("setp.geu.f32 p|q, a, b;", float("nan"), 1.0) == (1, 0)


def test_saturation_and_relu() -> None:
    assert ev("add.sat.s32 d, a, b;", 0x7FFFFFFF, 1) == 0x7FFFFFFF
    assert ev("min.relu.s32 d, a, b;", -5, 3) == 0


def test_masks_and_extension() -> None:
    assert ev("bmsk.clamp.b32 d, a, b;", 4, 8) == 0xFF0
    assert ev("bmsk.clamp.b32 d, a, b;", 40, 8) == 0
    assert ev("szext.clamp.s32 d, a, b;", 0xF8, 4) == -8
    assert ev("szext.wrap.u32 d, a, b;", 0x1F8, 8) == 0xF8


def test_shared_addresses() -> None:
    generic = SHARED_WINDOW + (3 << 24) + 0x440
    assert ev("cvta.to.shared.u64 d, a;", generic) == (3 << 24) + 0x440
    assert ev("cvta.shared::cta.u64 d, a;", 0x440) == SHARED_WINDOW + 0x440
    assert ev("cvta.to.global.u64 d, a;", GLOBAL_WINDOW + 4) == GLOBAL_WINDOW + 4
    assert ev("isspacep.shared p, a;", generic) == 1
    assert ev("isspacep.global p, a;", generic) == 0
    assert ev("isspacep.global p, a;", GLOBAL_WINDOW + 4) == 1
    local = Ref([0], 0)
    assert ev("isspacep.local p, a;", local) == 1
    assert ev("cvta.to.local.u64 d, a;", local) is local


def test_lanes() -> None:
    lane = Vec(tuple(range(LANES)))
    shifted = ev("shl.b32 d, a, b;", lane, 21)
    assert shifted.v == tuple(i << 21 for i in range(LANES))
    assert ev("and.b32 d, a, b;", lane, 32) == 0
    elected = ev("setp.eq.u32 p, a, b;", lane, 0)
    assert elected.v == (1,) + (0,) * 31
    assert ev("selp.b32 d, a, b, p;", 5, lane, elected).v == (5, *range(1, LANES))
    low, high = ev("mov.b64 {lo, hi}, a;", Vec(tuple(i << 32 | 9 for i in range(LANES))))
    assert low == 9
    assert high.v == tuple(range(LANES))


def test_opaque_data_is_consumed_by_arithmetic_but_not_by_copies() -> None:
    record = Record()
    value = Loaded(record)
    assert ev("mov.b32 d, a;", value) is value
    assert ev("selp.b32 d, a, b, p;", value, 1, 1) is value
    before = record.consumed
    assert ev("fma.rn.f32 d, a, b, c;", 1.0, value, 2.0) is OPAQUE
    assert (before, record.consumed) == (False, True)
    assert ev("setp.lt.u32 p|q, a, b;", OPAQUE, 1) == (OPAQUE, OPAQUE)
    assert ev("mov.b64 {lo, hi}, a;", OPAQUE) == (OPAQUE, OPAQUE)


def test_what_cannot_be_computed_is_opaque() -> None:
    assert ev("add.u32 d, a, b;", 1.0, 2) is OPAQUE
    assert ev("add.f32 d, a, b;", 1.0, 2.0) is OPAQUE
    assert ev("add.u32 d, a, b;", Ref([0], 0), 2) is OPAQUE
    assert ev("add.u32 d, a;", 1) is OPAQUE
    assert ev("selp.b32 d, a;", 1) is OPAQUE
    assert ev("add.u16x2 d, a, b;", 1, 2) is OPAQUE
    assert ev("mov.b32 d, a;", -1) == M32
    assert ev("slct.u32.s32 d, a, b, c;", 1, 2, M32) == 2
    assert ev("div.u32 d, a, b;", 1, 0) == 0
    assert ev("lop3.or.b32 d|p, a, b, c, t, q;", 0, 0, 0, 0x80, 0) == (0, 0)
