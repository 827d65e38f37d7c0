"""Branches that only compute, or do little more, do not split a strand; all others do."""

from __future__ import annotations

from typing import Any

import pytest

from auditor.frontend import build_program
from auditor.frontend.lower.merging import kept, merge_into, merged
from auditor.frontend.options import Options
from auditor.machine.core import Machine
from auditor.machine.launch import Launch
from auditor.trace import Trace
from auditor.values import OPAQUE, Loaded, Vec

PROLOGUE = """
__device__ int twice(int x) { return x + x; }
struct Cursor { int i, p; };
__device__ void forward(Cursor& c, int n) { Cursor& same = c; same.i = n; }
__device__ void put(int* to, int x) { *to = x; }
__global__ void k(int* out, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x, a = 1, r[4] = {0, 1, 2, 3};
    Cursor q[2] = {{1, 2}, {3, 4}};
"""


def run(body: str) -> Trace:
    program = build_program("k.cu", PROLOGUE + body + "\n    s[t] = a + r[t % 4];\n}\n", Options(arch="sm_90a"))
    return Machine(program, program.kernels[0], Launch(program.kernels[0].entry, block=(32, 1, 1))).run()


def strands(trace: Trace) -> int:
    return sum(e.kind == "start" for e in trace.events)


@pytest.mark.parametrize(
    "body",
    [
        "if (t < 8) a = 5;",
        "if (t < 8) { int b = a + t; a = b * 2; } else a = t;",
        "if (t < 8) r[1] = t;",
        "if (t < 8) for (int i = 0; i < 4; ++i) r[i] += i;",
        "if (t < 8) a = twice(t);",
        "if (t < 8) { Cursor one = q[1]; one.i += t; a = one.i; }",
        "if (t < 8) { if (t < 4) a = 7; }",
        'if (t < 8) asm volatile("add.s32 %0, %0, 3;" : "+r"(a));',
    ],
)
def test_a_branch_that_only_computes_is_walked_by_all_lanes(body: str) -> None:
    assert strands(run(body)) == 1


@pytest.mark.parametrize(
    "body",
    [
        "if (t < 8) s[t] = 5; else s[t] = 6;",
        "if (t < 8) a = s[t];",
        "if (t < 8) __syncwarp(0xff);",
        "if (t < 8) return;",
        "for (int i = 0; i < t; ++i) if (s[i] == 3) break;",
        "for (int i = 0; i < t; ++i) { __syncwarp(~0u << i << 1); a += i; }",
        "do a += 2; while (a < t);",
        "switch (t & 3) { case 0: a = 5; break; case 1: a = 6; break; default: a = 7; }",
        "if (t < 8) { Cursor& one = q[1]; one.i = t; }",
        "if (t < 8) forward(q[1], t);",
    ],
)
def test_a_branch_that_does_more_splits_the_strand(body: str) -> None:
    assert strands(run(body)) > 1


@pytest.mark.parametrize(
    "body",
    [
        "if (t < 8) s[t] = 5;",
        "if (t < 8) put(s + t, 1);",
        "if (t < 8) { int b = s[t]; s[t + 1] = b; }",
        "if (t < 8) { if (t < 4) s[t] = 5; s[t + 32] = 6; }",
        "for (int i = 0; i < t; ++i) a += i;",
        "for (int i = t; i < 70; i += 32) s[i] = i;",
        'if (t) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"((int)__cvta_generic_to_shared(s)));',
    ],
)
def test_a_short_branch_or_loop_is_left_to_its_lanes(body: str) -> None:
    assert strands(run(body)) == 1


def test_events_of_a_short_branch_have_its_lanes() -> None:
    masks = [e.lanes for e in run("if (t < 8) { if (t & 1) s[t + 64] = 5; s[t + 32] = 6; }").events if e.kind == "st"]
    assert masks == [0xAA, 0xFF, 0xFFFF_FFFF]


def test_a_token_of_an_arrival_is_not_shared_between_lanes() -> None:
    body = """
    unsigned long long token;
    if (t < 8) asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];"
                            : "=l"(token) : "r"((int)__cvta_generic_to_shared(s)));
    """
    assert strands(run(body)) == 2


def values(body: str) -> dict[int, Any]:
    """Integers of shared memory at the end, by offset in bytes."""
    program = build_program("k.cu", PROLOGUE + body + "\n    s[t] = a + 10 * r[t % 4];\n}\n", Options(arch="sm_90a"))
    machine = Machine(program, program.kernels[0], Launch(program.kernels[0].entry, block=(32, 1, 1)))
    machine.run()
    return dict(sorted(machine.ctas[0].values.numbers().items()))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if (t < 8) a = 5;", lambda t: (5 if t < 8 else 1) + 10 * (t % 4)),
        ("if (t < 8) a = t; else a = 2;", lambda t: (t if t < 8 else 2) + 10 * (t % 4)),
        ("if (t & 1) r[1] = 9;", lambda t: 1 + 10 * (9 if t % 4 == 1 else t % 4)),
        ("if (t < 8) { if (t < 4) a = 7; else r[3] = a; }", lambda t: (7 if t < 4 else 1)
         + 10 * (1 if 4 <= t < 8 and t % 4 == 3 else t % 4)),
        ("a = t < 8 ? r[t & 3] : 9;", lambda t: (t % 4 if t < 8 else 9) + 10 * (t % 4)),
        ("a = t < 8 ? 2 : t < 16 ? r[3] : twice(t);", lambda t: (2 if t < 8 else 3 if t < 16 else 2 * t)
         + 10 * (t % 4)),
        ("switch (t & 3) { case 0: a = 5; break; case 1: a = 6; case 2: r[2] = 9; break; default: a = 7; }",
         lambda t: (5, 6, 1, 7)[t % 4] + 10 * (0, 1, 9, 3)[t % 4]),
        ("if (t < 8) { Cursor& one = q[1]; one.i = t; } a = q[1].i;",
         lambda t: (t if t < 8 else 3) + 10 * (t % 4)),
        ("if (t < 8) forward(q[1], t); a = q[1].i;", lambda t: (t if t < 8 else 3) + 10 * (t % 4)),
        ("if (t < 8) { Cursor one = q[1]; one.i = t; a = one.i + one.p; } a += q[1].i;",
         lambda t: (t + 4 if t < 8 else 1) + 3 + 10 * (t % 4)),
        ("q[t & 1].i = t; q[t & 1].p += t; Cursor one = q[t & 1]; q[0] = one; a = one.i + one.p + q[0].i;",
         lambda t: 3 * t + (4 if t % 2 else 2) + 10 * (t % 4)),
        ("int m[2][2] = {{1, 2}, {3, 4}}; m[t & 1][t & 1] = t; if (t < 8) m[t & 1][0] = 7; a = m[0][0] + m[1][0];",
         lambda t: ((7 if t < 8 else t) if t % 2 == 0 else 1) + (7 if t < 8 and t % 2 else 3) + 10 * (t % 4)),
        ("int* to = &r[t & 3]; *to += t; a = *to;", lambda t: (t % 4 + t) * 11),
        ("for (int i = 0; i < (t & 7); ++i) { a += i; r[i & 3] = t; }", lambda t: 1 + (t & 7) * ((t & 7) - 1) // 2
         + 10 * (t if t % 4 < (t & 7) else t % 4)),
        ("for (int i = 0; i < (t & 3); ++i) for (int j = t & 1; j < 2; ++j) a += 1 + i;",
         lambda t: 1 + (2 - t % 2) * (t & 3) * ((t & 3) + 1) // 2 + 10 * (t % 4)),
        ("if (t & 1) put(&a, t + 5);", lambda t: (t + 5 if t & 1 else 1) + 10 * (t % 4)),
        ("if (t & 1) put(r + (t & 2), 50);", lambda t: 1 + 10 * (t % 4)),
        ("if (t < 8) { a = 3; } if (a == 3) a = 4; else a = 6;", lambda t: (4 if t < 8 else 6) + 10 * (t % 4)),
    ],
)  # fmt: skip
def test_lanes_that_do_not_take_a_branch_keep_their_values(body: str, expected: Any) -> None:
    assert [value for _, value in sorted(values(body).items())] == [expected(t) for t in range(32)]


def test_a_strand_that_forks_later_walks_through_a_predicated_branch_again() -> None:
    body = """
    if (t < 4) asm volatile("add.s32 %0, %0, 3;" : "+r"(a));
    asm volatile("add.s32 %0, %0, 10;" : "+r"(a));
    if (t < 16) { __syncwarp(0xffff); a += 100; }
    """
    assert list(values(body).values()) == [
        (4 if t < 4 else 1) + 10 + (100 if t < 16 else 0) + 10 * (t % 4) for t in range(32)
    ]


def test_a_strand_that_forks_later_keeps_out_of_what_was_left_to_other_lanes() -> None:
    body = """
    if (t < 8) put(&a, 7);
    for (int i = 0; i < (t & 3); ++i) { a += 20; s[96 + t % 32] = i; }
    if (t >= 16) { __syncwarp(0xffff0000); a += 1000; }
    """
    stored = list(values(body).values())[:32]
    assert stored == [(7 if t < 8 else 1) + 20 * (t & 3) + (1000 if t >= 16 else 0) + 10 * (t % 4) for t in range(32)]


def test_data_written_over_data_under_a_predicate_stays_the_older_data() -> None:
    class Record:
        consumed = False

    old, new = Loaded(Record()), Loaded(Record())
    assert merged(Vec(tuple([1] + [0] * 31)), new, old) is old
    assert (new.record.consumed, old.record.consumed) == (True, False)


def test_an_array_is_merged_in_place() -> None:
    box: list[Any] = [1, OPAQUE, [2, 3]]
    before = kept(box)
    box[0], box[2][1] = 5, 6
    merge_into(box, Vec(tuple([1] + [0] * 31)), before)
    assert box[0].v[:2] == (5, 1)
    assert box[1] is OPAQUE
    assert box[2][1].v[:2] == (6, 3)
