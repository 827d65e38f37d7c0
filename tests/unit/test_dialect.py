"""Sources that nvcc compiles and clang does not take as they are."""

from __future__ import annotations

from pathlib import Path

from auditor.frontend import build_program
from auditor.frontend.asm import asm_parts
from auditor.frontend.clang_api import ENTER, CursorKind, visit
from auditor.frontend.dialect import foreseen
from auditor.frontend.options import Options
from auditor.frontend.parse import parse
from auditor.frontend.unit import ParsedUnit, read_source

NO_COMMA = 'asm volatile("st.shared.b64 [%0], %1;" :: "r"(where) "l"(what));'


def errors(unit: ParsedUnit) -> list[str]:
    return [error.message for error in unit.errors]


def operands(unit: ParsedUnit) -> list[int]:
    found: list[int] = []

    def look(cursor: object) -> int:
        if cursor.kind == CursorKind.ASM_STMT:  # type: ignore[attr-defined]
            found.append(len(asm_parts(cursor).inputs))
        return ENTER

    visit(unit.tu.cursor, look)
    return found


def test_operands_without_a_comma_between_them() -> None:
    body = f"{{ {NO_COMMA}\n  {NO_COMMA} }}"
    unit = parse("t.cu", f"__global__ void k(unsigned where, unsigned long what) {body}\n")
    assert errors(unit) == []
    assert operands(unit)[-2:] == [2, 2]


def test_a_missing_parenthesis_is_not_put_right() -> None:
    unit = parse("t.cu", '__global__ void k(unsigned n) { asm volatile("" :: "r"(n; }\n')
    assert "expected ')'" in errors(unit)
    assert unit.corrected == {}


def test_macros_that_stand_for_a_pragma(tmp_path: Path) -> None:
    (tmp_path / "loops.h").write_text("#pragma once\n#define EVERY  #pragma unroll\n#define ONE #pragma unroll 1\n")
    text = '#include "loops.h"\n__global__ void k(int n, int* p) { EVERY\nfor (int i = 0; i < n; ++i) p[i] = i;\n ONE\n'
    unit = parse(str(tmp_path / "t.cu"), text + "do --n; while (n > 0); }\n", Options())
    assert errors(unit) == []
    assert list(unit.corrected) == [str(tmp_path / "loops.h")]


def test_a_percent_sign_before_a_register() -> None:
    unit = parse("t.cu", '__global__ void k(unsigned* p) { asm volatile("mov.u32 %0, %smid;" : "=r"(*p)); }\n')
    assert errors(unit) == []
    assert operands(unit)[-1:] == [0]


def test_what_headers_of_headers_need_is_foreseen(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "first.h").write_text('#include "second.h"\n#pragma once\n  #pragma unroll\n')
    (tmp_path / "deep" / "second.h").write_text(f"#define EVERY #pragma unroll\ninline void f() {{ {NO_COMMA} }}\n")
    changed = foreseen("elsewhere/t.cu", "#include <deep/first.h>\n#include <none.h>\n", [str(tmp_path)], read_source)
    fixed = NO_COMMA.replace('"r"(where) "l"', '"r"(where), "l"')
    assert changed == {
        str(tmp_path / "deep" / "second.h"): f'#define EVERY _Pragma("unroll")\ninline void f() {{ {fixed} }}\n'
    }


def test_a_member_template_of_a_dependent_type_without_the_keyword() -> None:
    text = """
template <class T> struct Next { template <bool b> __device__ int index(int n) { return b ? n + 1 : n; } };
template <class T> __global__ void k(int *p) {
  Next<T> next;
  const auto each = [&](auto n) { *p = next.index<true>(n); };
  each(3);
}
void launch(int *p) { k<float><<<1, 32>>>(p); }
"""
    assert errors(parse("t.cu", text)) == []


def test_a_member_function_that_is_not_called_stays_an_error() -> None:
    unit = parse("t.cu", "struct S { __device__ int f(); };\n__global__ void k(S s, int *p) { *p = s.f < 3; }\n")
    assert errors(unit)[0].startswith("reference to non-static member function must be called")
    assert unit.corrected == {}


def test_shared_objects_whose_class_initialises_its_members() -> None:
    """nvcc warns, and leaves the initialisation out."""
    text = """
struct Bars { unsigned long long full = 0; int slot{}; __device__ Bars() {} };
__global__ void k(int *out)
{
    __shared__ Bars one;
    static __shared__ alignas(16) Bars several[2];
    one.slot = several[1].slot = 3;
    out[0] = one.slot;
}
"""
    unit = parse("t.cu", text)
    assert errors(unit) == []
    assert [shared.size for shared in build_program("t.cu", text).kernels[0].shared] == [16, 32]


def test_a_class_that_another_rule_forbids_is_no_such_object() -> None:
    unit = parse("t.cu", "__global__ void k(int n) { __shared__ int a[n]; }\n")
    assert errors(unit) != []
    assert unit.corrected == {}
