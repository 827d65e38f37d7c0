"""Code without effect is not translated."""

from __future__ import annotations

from auditor.frontend import build_program

FENCE = '__device__ void hold(float& r) { asm volatile("" : "+f"(r) :: "memory"); }\n'


def python(body: str) -> str:
    kernel = f"__global__ void k(float *p, int n) {{ float a[8]; {body} p[n] = a[n]; }}"
    return build_program("t.cu", f"{FENCE}{kernel}\n").python


def test_loops_of_register_fences_go() -> None:
    text = python("for (int i = 0; i < 8; ++i) hold(a[i]);")
    assert "range(" not in text
    assert "S.asm" not in text


def test_nested_loops_go_as_a_whole() -> None:
    assert "range(" not in python("for (int j = 0; j < 4; ++j) { for (int i = 0; i < 8; ++i) hold(a[i]); hold(a[j]); }")


def test_what_such_a_loop_does_besides_stays() -> None:
    text = python("for (int i = 0; i < 8; ++i) { hold(a[i]); p[i] = 0; }")
    assert "range(" in text


def test_a_counter_that_is_used_afterwards_stays() -> None:
    text = python("int i; for (i = 0; i < 8; ++i) hold(a[i]); n += i;")
    assert "S.loop" in text


def test_an_asm_statement_that_makes_a_value_stays() -> None:
    assert "S.asm" in python('asm volatile("" : "=f"(a[0]));')
