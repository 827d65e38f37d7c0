"""What threads compute from their index: what ``tests.fuzz.agree`` has found to be executed wrongly."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from auditor.frontend import build_program
from auditor.frontend.options import Options
from auditor.machine.core import Machine
from auditor.machine.launch import Launch

OUT = (8 << 44) | (1 << 40)
PROLOGUE = """
struct Pair { int a; unsigned low : 5, high : 9; };
struct Two { int a, b; };
union Word { unsigned w; unsigned char b[4]; };
template <class F> __device__ int apply(F f, int x) { return f(x); }
__device__ int thrice(int n) { int sum = 0; for (int i = 0; i < 3; ++i) sum += n; return sum; }
__global__ void k(int* out)
{
    int t = threadIdx.x, x = 0;
    __shared__ int shared[32];
"""


def computed(body: str) -> list[int | None]:
    """What every thread of a warp leaves in ``x``."""
    source = f"{PROLOGUE}{body}\n    out[t] = x;\n}}\n"
    program = build_program("k.cu", source, Options(arch="sm_90a"))
    assert [note for note in program.notes if note.kind == "unanalysed"] == []
    launch = Launch(program.kernels[0].entry, block=(32, 1, 1), args=[OUT])
    machine = Machine(program, program.kernels[0], launch)
    assert machine.run().incidents == []
    return [machine.globals.get(OUT + 4 * t, (4, None))[1] for t in range(32)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("switch (t) { case 3: { } }", lambda t: 0),
        ("switch (t) { case 3: x = 7; }", lambda t: 7 * (t == 3)),
        ("switch (t & 3) { case 0: case 2: x = 7; break; }", lambda t: 7 * (t % 2 == 0)),
        ("switch (t & 3) { case 1: x += 1; break; default: x += 5; }", lambda t: 1 if t % 4 == 1 else 5),
        ("switch (t & 3) { case 1: x += 1; default: x += 5; }", lambda t: 6 if t % 4 == 1 else 5),
        ("switch (t & 3) { default: x += 5; case 1: x += 1; }", lambda t: 1 if t % 4 == 1 else 6),
        ("for (int i = 0; i < 3; ++i) { switch (t) { case 3: continue; } ++x; }", lambda t: 3 * (t != 3)),
        ("for (int i = 0; i < 3; ++i) { switch (t) { case 3: if (i) break; x = 9; } ++x; }",
         lambda t: 12 if t == 3 else 3),
        ("switch (7) { case 7: x = t; }", lambda t: t),
    ],
)  # fmt: skip
def test_switches_over_the_thread(body: str, expected: Callable[[int], int]) -> None:
    assert computed(body) == [expected(t) for t in range(32)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("shared[t] = -5; x = shared[t] == -5;", lambda t: 1),
        ("shared[t] = -5 - t; x = shared[t] >> 1;", lambda t: (-5 - t) >> 1),
        ("shared[3] = -1; __syncwarp(); x = shared[3];", lambda t: -1),
        ("shared[t] = -1; x = ((unsigned*)shared)[t] > 7u;", lambda t: 1),
        ("((unsigned*)shared)[t] = 0xfffffff0u; x = shared[t] + t;", lambda t: t - 16),
        ("((unsigned char*)shared)[t] = 200; x = ((signed char*)shared)[t];", lambda t: -56),
        ("((signed char*)shared)[t] = -56; x = ((unsigned char*)shared)[t];", lambda t: 200),
        ("out[t] = -7 - t; x = out[t] == -7 - t;", lambda t: 1),
        ("out[t] = -7; x = ((unsigned*)out)[t] > 7u;", lambda t: 1),
    ],
)
def test_what_is_stored_is_read_as_another_type(body: str, expected: Callable[[int], int]) -> None:
    assert computed(body) == [expected(t) for t in range(32)]


def test_a_condition_of_which_one_side_is_constant_is_a_number_in_every_lane() -> None:
    body = "x = (int)((t | 1) % 3 == 0 && thrice(t) > 5);"
    assert computed(body) == [int((t | 1) % 3 == 0 and t > 1) for t in range(32)]


def test_a_lambda_that_copies_a_union() -> None:
    body = "Word w; w.w = 0x01020304 + t; x = apply([=](int i) { return (int)w.b[i & 3] + i; }, 4);"
    assert computed(body) == [4 + t + 4 for t in range(32)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int y = 9; int* p = t & 1 ? &x : &y; *p = t; x += 100 * y;", lambda t: t + 900 if t & 1 else 100 * t),
        ("int y = 9; int* p = &x; if (t < 4) p = &y; *p += 5; x += 100 * y;", lambda t: 1400 if t < 4 else 905),
        ("int y[4] = {1, 2, 3, 4}; int* p = t & 1 ? y + 1 : y; p[1] = 9; x = y[1] * 10 + y[2];",
         lambda t: 29 if t & 1 else 93),
        ("int y = 2, z = 3; int* p[3] = {&x, &y, &z}; *p[t % 3] = 7; x += 10 * y + 100 * z;",
         lambda t: (327, 370, 720)[t % 3]),
        ("Two y{1, 2}, z{3, 4}; Two* p = t & 1 ? &y : &z; p->b += 5; x = y.b * 100 + z.b;",
         lambda t: 704 if t & 1 else 209),
        ("int y = 2; (t < 3 ? x : y) = 8; x = 10 * x + y;", lambda t: 82 if t < 3 else 8),
    ],
)  # fmt: skip
def test_pointers_to_locals_that_lanes_choose(body: str, expected: Callable[[int], int]) -> None:
    assert computed(body) == [expected(t) for t in range(32)]


def test_a_choice_between_a_number_and_a_bit_field_is_no_place() -> None:
    body = "Pair p{}; p.high = 5; int one = 1; x = (int)(t == 0 ? one : p.low) + 10 * (int)(t == 0 ? one : p.high);"
    assert computed(body) == [11 if t == 0 else 50 for t in range(32)]
