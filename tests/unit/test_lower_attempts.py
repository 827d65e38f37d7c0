"""How often a function is lowered until what was taken for granted of its variables holds."""

from __future__ import annotations

import pytest

from auditor.frontend.lower.functions import FunctionLowerer
from auditor.frontend.lower.program_builder import lower_unit
from auditor.frontend.parse import parse


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by the name of the function with each attempt."""
    made: list[str] = []
    original = FunctionLowerer.function

    def counted(self: FunctionLowerer) -> None:
        made.append(self.lowered.display)
        original(self)

    monkeypatch.setattr(FunctionLowerer, "function", counted)
    return made


def python_of(body: str) -> str:
    return lower_unit(parse("t.cu", f"__global__ void k(unsigned *out, unsigned n) {{ {body} }}")).python


def test_stages_and_phases_need_one(attempts: list[str]) -> None:
    """It is foreseen that the stage changes: the branch on it is none of a constant."""
    python = python_of("""
  unsigned stage = 0, phase = 0, never = 7;
  for (unsigned i = 0; i < n; ++i) {
    if (phase == 1) out[1] = never;
    if (++stage == 4) { stage = 0; phase ^= 1; }
  }
  out[0] = phase;""")
    assert "phase_1 = (phase_1 ^ 1)" in python
    assert "'int', 32, 7)" in python
    assert "'int', 32, phase_1)" in python
    assert attempts == ["k"]


def test_branch_of_a_constant_is_not_looked_at(attempts: list[str]) -> None:
    """Its only assignment is met when nothing is known of it, which it is not."""
    python = python_of("unsigned x = 0; if (x == 1) x = 2; out[0] = x;")
    assert "'int', 32, 0)" in python
    assert "if" not in python.split("def ")[1]
    assert attempts == ["k", "k"]


@pytest.mark.parametrize(
    "body",
    [
        "unsigned x = 0, y = x + 1; if (y == 2) x = 2; out[0] = x;",
        "unsigned x = 0, y = 0; if (y == 1) x = 2; if (x == 2) y = 1; out[0] = x;",
        "unsigned x = 0; bool b = x == 1 && (x = 2); out[0] = x;",
        "unsigned x = 0; unsigned y = x ? (x = 3) : n; out[0] = x;",
        "unsigned x = 0; switch (x) { case 1: x = 2; break; default: out[1] = 1; } out[0] = x;",
        "unsigned x = 0; for (unsigned i = 0; i < x; ++i) x = 2; out[0] = x;",
        "unsigned x = 0, y = x; for (unsigned i = 0; i < y; ++i) { x = 2; y = y; } out[0] = x;",
        "unsigned x = 0; const unsigned &r = x; if (r == 1) x = 2; out[0] = x;",
    ],
)
def test_variable_that_only_it_would_change(body: str, attempts: list[str]) -> None:
    """What decides of a variable's only assignment depends on the variable."""
    python = python_of(body)
    assert "'int', 32, 0)" in python
    assert len(attempts) > 1


def test_assignment_that_another_one_opens(attempts: list[str]) -> None:
    body = "unsigned x = 0, y = 0, z = 0; while (n > z) { ++z; if (z == 3) y = 1; if (y == 1) x = 2; } out[0] = x;"
    assert "'int', 32, x_1)" in python_of(body)
    assert attempts == ["k"]


def test_loops_that_count(attempts: list[str]) -> None:
    """Whether a loop is a range is decided at once, be its variable one that changes or not."""
    python = python_of("""
  for (unsigned i = 0; i < 4; ++i) out[i] = 1;
  for (unsigned i = 0; i < n; ++i) out[i] = 2;
  unsigned last = 4;
  for (unsigned i = 0; i < last; ++i) out[i] = 3;
  for (unsigned i = 0; i < n; ++i) ++last;""")
    assert python.count("in range(0, 4):") == 1
    assert python.count("while True:") == 3
    assert attempts == ["k"]


def test_values_that_were_not_counted_on(attempts: list[str]) -> None:
    assert "sum_1 = " in python_of("unsigned sum = n * 2; sum += 1; out[0] = sum;")
    assert attempts == ["k"]


def test_address_of_a_variable(attempts: list[str]) -> None:
    assert "x_1 = [1]" in python_of("unsigned x = 1; unsigned *p = &x; *p = n; out[0] = x;")
    assert attempts == ["k"]


def test_address_that_only_the_variable_would_have_taken(attempts: list[str]) -> None:
    python = python_of("unsigned x = 1; if (x == 2) { unsigned *p = &x; *p = n; } out[0] = x;")
    assert "x_1 = 1\n" in python
    assert "'int', 32, 1)" in python
    assert len(attempts) > 1


def test_argument_by_reference(attempts: list[str]) -> None:
    kernel = "__global__ void k(unsigned *out) { unsigned x = 1; f(x); *out = x; }"
    text = "__device__ void f(unsigned &to) { to = 3; }\n" + kernel
    assert "x_1 = [1]" in lower_unit(parse("t.cu", text)).python
    assert attempts.count("k") == 2


def test_pointer_that_turns_out_to_be_local(attempts: list[str]) -> None:
    python = python_of("unsigned a[4] = {}; unsigned *p = out; *p = 1; if (n > 2) p = a; *p = 2; out[1] = a[0];")
    assert "p_1 = Ref(a_1, 0)" in python
    assert len(attempts) == 2


def test_capture_of_what_changes_later(attempts: list[str]) -> None:
    python = python_of("unsigned x = n; auto f = [&] { out[0] = x; }; x = n + 1; f();")
    assert "x_1 = [" in python
    assert "Ref(x_1, 0)" in python
