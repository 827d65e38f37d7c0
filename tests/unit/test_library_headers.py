"""Which headers of CuTe and CUTLASS a source is given: ours, unless the real ones are within reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.config import AuditOptions
from auditor.engine import audit_file, guess_arch
from auditor.frontend.headers_store import LIBRARY_FOLDERS, shim_files
from auditor.frontend.options import Options
from auditor.frontend.parse import parse
from auditor.frontend.unit import ParsedUnit
from auditor.source import SHIM_ROOT
from tests.test_fixtures import ROOT

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


@pytest.mark.parametrize("path", sorted((ROOT / "cutlass").glob("good_*.cu")), ids=lambda path: path.stem)
def test_tensors_do_not_change_the_rest(path: Path) -> None:
    """What has no model is in every overload set of the namespace, too."""
    arch = guess_arch(path.read_text())
    unit = parse(str(path), "#include <cute/tensor.hpp>\n" + path.read_text(), Options(arch=arch))
    assert [(error.loc.file, error.loc.line, error.message) for error in unit.errors] == []


def test_arithmetic_on_tensors_and_numbers() -> None:
    body = "cute::Tensor<> t; auto a = t * 2; auto b = cute::_2{} + t; auto c = t - t; int d = 3 * cute::Int<4>{};"
    unit = parse("k.cu", f"#include <cute/tensor.hpp>\n__global__ void k() {{ {body} }}\n")
    assert [error.message for error in unit.errors] == []


BARRIER = """#pragma once
#include <cutlass/cutlass.h>
namespace cutlass { namespace arch {
__device__ void sync() { asm volatile("bar.sync 1, 64;"); }
__device__ void arrive(unsigned bar) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(bar)); }
} }
"""
CALLER = """#include <cutlass/arch/barrier.h>
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__global__ void __launch_bounds__(64) k(int* out) {
    __shared__ unsigned long long bar;
    __shared__ int row[64];
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(at(&bar)) : "memory");
    row[threadIdx.x] = 1;
    cutlass::arch::sync();
    out[threadIdx.x] = row[63 - threadIdx.x];
    if (threadIdx.x != 5)
        cutlass::arch::arrive(at(&bar));
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at(&bar)) : "memory");
}
"""


def test_clobbers_of_the_real_headers_are_not_the_callers(tmp_path: Path) -> None:
    """Its barriers name none, and nobody who calls them can change that."""
    tree = real_tree(tmp_path / "elsewhere")
    (tree / "cutlass" / "arch" / "barrier.h").write_text(BARRIER)
    source = tmp_path / "k.cu"
    source.write_text(CALLER)
    result = audit_file(str(source), AuditOptions(includes=(str(tree),)))
    assert {(finding.code, finding.loc.file) for finding in result.findings} == {("BW105", str(source))}
    (tree / "cutlass" / "gemm").mkdir()
    (tree / "cutlass" / "gemm" / "kernel.h").write_text(BARRIER)
    source.write_text(CALLER.replace("arch/barrier.h", "gemm/kernel.h"))
    result = audit_file(str(source), AuditOptions(includes=(str(tree),)))
    assert "BW608" in {finding.code for finding in result.findings}


@pytest.mark.parametrize(
    ("text", "arch"),
    [
        ("cute::warpgroup_arrive(); cute::SM90_TMA_LOAD::copy();", "sm_90a"),
        ("cutlass::arch::umma_arrive(bar); cute::SM90_TMA_LOAD::copy();", "sm_100a"),
        ("using P = cutlass::PipelineTmaUmmaAsync<4>; cute::SM90_TMA_LOAD::copy();", "sm_100a"),
        ("// compiled for sm_103a", "sm_103a"),
        ("// compiled for sm_100a and sm_103a", "sm_100a"),
        ("asm(\"tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32\");", "sm_103a"),
    ],
)
def test_architecture_by_what_the_source_names(text: str, arch: str) -> None:
    assert guess_arch(text) == arch
