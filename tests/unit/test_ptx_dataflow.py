"""Statements whose results are known to be data without executing them."""

from __future__ import annotations

import pytest

from auditor.ptx.dataflow import data_only
from auditor.ptx.grammar import parse_asm


def found(template: str, constraints: str, outputs: int = 1) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    flow = data_only(parse_asm(template, constraints.split(), outputs))
    return None if flow is None else (flow.used, flow.opaque)


@pytest.mark.parametrize(
    ("template", "constraints", "used"),
    [
        ("fma.rn.f32 $0, $1, $2, $3;", "=f f f f", (0, 1, 2)),
        ("ex2.approx.ftz.f32 $0, $1;", "=f f", (0,)),
        ("cvt.rn.bf16x2.f32 $0, $1, $2;", "=r f f", (0, 1)),
        ("mul.rn.f32x2 $0, $0, $1;", "+l l", (0, 1)),
        ("{ .reg .f32 t; mul.f32 t, $1, $2; add.f32 $0, t, 0f3f800000; }", "=f f f", (0, 1)),
        ("{ .reg .b64 t; mov.b64 t, {$1, $2}; fma.rn.f32x2 $0, t, t, t; }", "=l f f", (0, 1)),
    ],
)
def test_floating_point_is_data_whatever_goes_in(template: str, constraints: str, used: tuple[int, ...]) -> None:
    assert found(template, constraints) == (used, ())


def test_integer_arithmetic_is_data_when_it_is_given_data() -> None:
    assert found("add.s32 $0, $1, $2;", "=r r r") == ((0, 1), (0, 1))
    assert found("{ shl.b32 $0, $2, 16; and.b32 $1, $2, 0xffff0000; }", "=r =r r", 2) == ((0,), (0,))


def test_parts_of_a_register_are_no_use_of_it() -> None:
    template = "{ .reg .b16 lo, hi; mov.b32 {lo, hi}, $1; cvt.f32.f16 $0, lo; }"
    assert found(template, "=f r") == ((), ())


def test_an_argument_that_is_not_used_need_not_be_data() -> None:
    assert found("add.s32 $0, $1, 4;", "=r r r") == ((0,), (0,))


@pytest.mark.parametrize(
    ("template", "constraints"),
    [
        ("mov.b32 $0, $1;", "=r r"),  # hands on what it is given
        ("mov.u32 $0, 7;", "=r"),
        ("cvta.to.shared.u64 $0, $1;", "=l l"),
        ("selp.b32 $0, $1, $2, $3;", "=r r r r"),
        ("ld.shared.f32 $0, [$1];", "=f r"),
        ("{ .reg .pred p; setp.ne.s32 p, $1, 0; @p fma.rn.f32 $0, $2, $2, $2; }", "=f r f"),
        ("fma.rn.f32 $0, $2, $2, $2; mov.u32 $1, %laneid;", "=f =r f"),
    ],
)
def test_other_statements_have_to_be_executed(template: str, constraints: str) -> None:
    assert found(template, constraints, constraints.count("=")) is None


def test_a_statement_without_results_has_to_be_executed() -> None:
    assert data_only(parse_asm("fence.proxy.async;", (), 0)) is None
