"""Which headers of CuTe and CUTLASS a source is given: ours, unless the real ones are within reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.engine import guess_arch
from auditor.frontend.headers_store import LIBRARY_FOLDERS, shim_files
from auditor.frontend.options import Options
from auditor.frontend.parse import parse
from auditor.frontend.unit import ParsedUnit
from auditor.source import SHIM_ROOT

SOURCE = "#include <cutlass/arch/barrier.h>\n__global__ void k() { cutlass::arch::fence_barrier_init(); }\n"
REAL = "#pragma once\nnamespace cutlass { namespace arch { __device__ void fence_barrier_init(); } }\n"


def library_headers(unit: ParsedUnit) -> list[str]:
    return [str(item.include.name) for item in unit.tu.get_includes() if "cutlass/" in str(item.include.name)]


def real_tree(folder: Path) -> Path:
    """A stand-in for CUTLASS: the file by which it is known, and the header that the source wants."""
    (folder / "cutlass" / "arch").mkdir(parents=True)
    (folder / "cutlass" / "cutlass.h").write_text("#pragma once\n")
    (folder / "cutlass" / "arch" / "barrier.h").write_text(REAL)
    return folder


def test_ours_where_there_are_no_others(tmp_path: Path) -> None:
    unit = parse(str(tmp_path / "k.cu"), SOURCE)
    assert unit.errors == []
    assert all(name.startswith(SHIM_ROOT) for name in library_headers(unit))


@pytest.mark.parametrize("option", ["include", "system", "above"])
def test_none_of_ours_where_the_real_ones_are(tmp_path: Path, option: str) -> None:
    tree = real_tree(tmp_path / ("include" if option == "above" else "elsewhere"))
    options = {
        "include": Options(includes=(str(tree),)),
        "system": Options(extra=("-isystem", str(tree))),
        "above": Options(),
    }[option]
    source = tmp_path / "src" / "k.cu"
    source.parent.mkdir()
    unit = parse(str(source), SOURCE, options)
    assert unit.errors == []
    assert library_headers(unit) == [f"{tree}/cutlass/arch/barrier.h"]


def test_headers_do_not_mix(tmp_path: Path) -> None:
    """A header that the real tree lacks is missing: ours would not fit to the rest."""
    tree = real_tree(tmp_path / "elsewhere")
    unit = parse(str(tmp_path / "k.cu"), "#include <cute/arch/util.hpp>\n" + SOURCE, Options(includes=(str(tree),)))
    assert [note.message for note in unit.notes if note.kind == "missing-include"] == [
        "cute/arch/util.hpp was not found"
    ]


@pytest.mark.parametrize(
    "name", [path for path, _ in shim_files() if path[len(SHIM_ROOT) + 1 :].startswith(LIBRARY_FOLDERS)]
)
def test_each_header_stands_alone(name: str) -> None:
    unit = parse("k.cu", f"#include <{name[len(SHIM_ROOT) + 1 :]}>\n__global__ void k() {{}}\n")
    assert [(error.loc.file, error.loc.line, error.message) for error in unit.errors] == []


@pytest.mark.parametrize(
    ("text", "arch"),
    [
        ("cute::warpgroup_arrive(); cute::SM90_TMA_LOAD::copy();", "sm_90a"),
        ("cutlass::arch::umma_arrive(bar); cute::SM90_TMA_LOAD::copy();", "sm_100a"),
        ("using P = cutlass::PipelineTmaUmmaAsync<4>; cute::SM90_TMA_LOAD::copy();", "sm_100a"),
        ("// compiled for sm_103a", "sm_103a"),
        ("// compiled for sm_100a and sm_103a", "sm_100a"),
    ],
)
def test_architecture_by_what_the_source_names(text: str, arch: str) -> None:
    assert guess_arch(text) == arch
