"""Functions from objects without data to objects without data are not translated, those that may do something are."""

from __future__ import annotations

import pytest

from auditor.frontend.lower.program_builder import lower_unit
from auditor.frontend.options import Options
from auditor.frontend.parse import parse

SOURCE = """
template <int n> struct C { __host__ __device__ constexpr operator int() const { return n; } };
struct Lane { int at; };
struct Stop { __device__ void operator()() const { __syncthreads(); } };
template <int a, int b> __host__ __device__ constexpr C<a + b> add(C<a> const &, C<b>) { return {}; }
template <int a> __device__ C<a> meet(C<a>) { __syncthreads(); return {}; }
template <int a> __host__ __device__ constexpr C<a> moved(C<a>, Lane &lane) { lane.at += a; return {}; }
template <int a, class F> __host__ __device__ constexpr C<a> called(C<a>, F f) { f(); return {}; }
__device__ C<4> told(int *out) { *out = 5; return {}; }
__global__ void k(int *out) {
    Lane lane{1};
    auto sum = CALL;
    out[threadIdx.x] = sum + lane.at;
}
"""


def translation(call: str) -> str:
    return lower_unit(parse("k.cu", SOURCE.replace("CALL", call), Options())).python


def test_type_arithmetic_is_left_out() -> None:
    python = translation("add(C<1>{}, add(C<2>{}, C<3>{}))")
    assert "_add(" not in python
    assert "lane" in python


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("meet(C<1>{})", "_meet("),
        ("moved(C<1>{}, lane)", "_moved("),
        ("called(C<1>{}, Stop{})", "_called("),
        ("called(C<1>{}, [] { __syncthreads(); })", "_called("),
        ("add(told(out), C<3>{})", "_told("),
    ],
)
def test_what_may_do_something_stays(call: str, name: str) -> None:
    assert name in translation(call)
