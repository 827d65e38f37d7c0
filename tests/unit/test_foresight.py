"""Definitions and folders that are foreseen: parsed once where they hold, and as if unforeseen where they do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from auditor.frontend.clang_api import cindex
from auditor.frontend.foresight import foresee
from auditor.frontend.parse import parse
from auditor.frontend.unit import ParsedUnit

OWN = "typedef unsigned long long uint64_t;\n"
MAP = "typedef struct __align__(64) { unsigned long long opaque[16]; } CUtensorMap;\n"
KERNEL = "__global__ void k(uint64_t *p) { *p = 1; }\n"


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one item with each parse."""
    made: list[int] = []
    original = cindex.TranslationUnit.from_source

    def counted(*arguments: Any, **options: Any) -> Any:
        made.append(1)
        return original(*arguments, **options)

    monkeypatch.setattr(cindex.TranslationUnit, "from_source", counted)
    return made


def pointee(unit: ParsedUnit) -> str:
    """The canonical type behind the parameter of the kernel."""
    kernel = next(c for c in unit.tu.cursor.get_children() if c.spelling == "k")
    parameter = next(iter(kernel.get_arguments()))
    return str(parameter.type.get_pointee().get_canonical().spelling)


def test_own_types_need_one_parse(parses: list[int]) -> None:
    unit = parse("t.cu", OWN + MAP + "#include <cuda_bf16.h>\n" + KERNEL)
    assert not unit.errors
    assert pointee(unit) == "unsigned long long"
    assert len(parses) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"// {OWN}{KERNEL}",
        f"namespace n {{ {OWN} }}\n{KERNEL}",
        f"#ifndef __CUDACC__\n{OWN}#endif\n{KERNEL}",
        f"#if 0\n{OWN}#endif\n{KERNEL}",
    ],
)
def test_types_that_are_not_defined(text: str) -> None:
    unit = parse("t.cu", text)
    assert not unit.errors
    assert pointee(unit) == "unsigned long"


def test_what_depends_on_the_preprocessor_is_left_to_it() -> None:
    assert not foresee("t.cu", f"#if defined(X)\n{OWN}#else\n{MAP}#endif\n", ()).definitions
    guarded = foresee("t.cu", f"#ifndef T\n#define T\n{OWN}#if 1\n#endif\n{MAP}#endif\n", ())
    assert sorted(item.name for item in guarded.definitions) == ["CUtensorMap", "uint64_t"]


def test_folder_above(tmp_path: Path, parses: list[int]) -> None:
    (tmp_path / "common.cuh").write_text(MAP + "typedef int Common;\n")
    folder = tmp_path / "deep" / "cuda"
    folder.mkdir(parents=True)
    source = folder / "t.cu"
    source.write_text('#include "common.cuh"\n__global__ void k(Common *p, CUtensorMap m) { *p = m.opaque[0]; }\n')
    unit = parse(str(source))
    assert not unit.errors
    assert unit.options.includes == (str(tmp_path),)
    assert len(parses) == 1


def test_folder_of_an_include_that_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "common.cuh").write_text("typedef int Common;\n")
    folder = tmp_path / "cuda"
    folder.mkdir()
    source = folder / "t.cu"
    source.write_text('#if 0\n#include "common.cuh"\n#endif\n__global__ void k(int *p) { *p = 1; }\n')
    assert parse(str(source)).options.includes == ()


def test_two_folders_are_left_to_the_errors(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "include" / name).mkdir(parents=True)
    (tmp_path / "first.cuh").write_text("")
    (tmp_path / "include" / "second.cuh").write_text("")
    text = '#include "first.cuh"\n#include "second.cuh"\n'
    assert foresee(str(tmp_path / "t.cu"), text, ()).folders == (f"{tmp_path}/include",)
    deep = tmp_path / "include" / "one" / "t.cu"
    assert foresee(str(deep), text, ()).folders == ()
    assert parse(str(deep), text + KERNEL).options.includes == (str(tmp_path), str(tmp_path / "include"))
