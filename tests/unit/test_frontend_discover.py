"""Kernels, launches, instantiations, and what stays unanalysed."""

from __future__ import annotations

from pathlib import Path

from auditor.frontend import build_program
from auditor.frontend.discover import FoundKernel, discover, kernels
from auditor.frontend.options import Options
from auditor.frontend.parse import parse
from auditor.frontend.unit import ParsedUnit

LAUNCHES = """
enum class Mode { a, b };
template <int N, typename T, bool B, int... R>
__global__ void __launch_bounds__(N * 32, 2) __cluster_dims__(2, 1, 1) k(T *p) { __syncthreads(); }
namespace ns {
template <Mode m> __global__ void __maxnreg__(64) other(int *p) { *p = 1; }
}
template <int N> void host() {
  k<N, float, true, 1, 2><<<1, N * 32>>>(nullptr);
  auto q = &ns::other<Mode::b>;
  cudaLaunchConfig_t config;
  cudaLaunchKernelEx(&config, q, nullptr);
}
int main() {
  host<4>();
  k<8, int, false><<<1, 2, 3>>>(nullptr);
}
"""


def find(unit: ParsedUnit) -> dict[str, FoundKernel]:
    return {kernel.display: kernel for kernel in kernels(unit)}


def test_instantiations_behind_launches() -> None:
    unit = parse("t.cu", LAUNCHES)
    assert unit.errors == []
    found = find(unit)
    assert set(found) == {"k<4, float, true, ...>", "k<8, int, false, ...>", "other<b>"}
    first = found["k<4, float, true, ...>"]
    assert (first.launch_bounds, first.cluster_dims, len(first.launches)) == ((128, 2), (2, 1, 1), 1)
    assert first.instantiation_origin == "launch"
    assert found["other<b>"].max_registers == 64
    assert len(found["other<b>"].launches) == 1
    assert [host.spelling for host in discover(unit).host_functions] == ["main", "host"]


def test_plain_kernel_without_host_code() -> None:
    found = find(parse("t.cu", "__global__ void k(int *p) { *p = 1; }"))
    assert (found["k"].launches, found["k"].instantiation_origin, found["k"].empty) == ([], "", False)


def test_requested_instantiations() -> None:
    text = """
template <int N> __global__ void a(int *p) { *p = N; }
namespace n { namespace { template <class T, int N> __global__ void b(T *p) { *p = N; } } }
template <int N> __global__ void c(int *p) { *p = N; }
// bw-audit: instantiate b<float, 3>
template __global__ void c<(4 > 2) ? 7 : 8>(int *);
"""
    unit = parse("t.cu", text, Options(instantiate=("a<5>",)))
    assert unit.errors == []
    assert {k.display: k.instantiation_origin for k in kernels(unit)} == {
        "a<5>": "request",
        "b<float, 3>": "request",
        "c<7>": "request",
    }


def test_an_instantiated_launcher_says_what_it_launches() -> None:
    text = """
struct Narrow { static constexpr int n = 3; };
template <int N> __global__ void k(int *p) { *p = N; }
__global__ void plain(int *p) { *p = 1; }
template <class C> __device__ int unrelated(C *c) { return C::n; }
namespace host {
template <class C> void run(int *p) { k<C::n><<<1, 64>>>(p); plain<<<2, 32>>>(p); }
template void run<Narrow>(int *);
}
template __device__ int unrelated<Narrow>(Narrow *);
"""
    unit = parse("t.cu", text)
    assert (unit.errors, unit.notes) == ([], [])
    found = {k.display: (k.instantiation_origin, len(k.launches)) for k in kernels(unit)}
    assert found == {"k<3>": ("launch", 1), "plain": ("", 1)}


def test_guessed_instantiation_satisfies_static_assert() -> None:
    text = """
template <int kStages, int TILE, bool B = false> __global__ void k(int *p) {
  static_assert(TILE == 64 && kStages < 100);
  *p = kStages;
}
"""
    unit = parse("t.cu", text)
    (kernel,) = kernels(unit)
    assert (kernel.display, kernel.instantiation_origin) == ("k<64, 64, false>", "guess")
    assert unit.errors == []
    assert [note.kind for note in unit.notes] == ["instantiation"]


def test_default_arguments() -> None:
    (kernel,) = kernels(parse("t.cu", "template <int N = 2, class T = float> __global__ void k(T *p) { *p = N; }"))
    assert (kernel.display, kernel.instantiation_origin) == ("k<2, float>", "default")


def test_empty_for_the_architecture() -> None:
    text = """
__global__ void k(int *p) {
#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
  asm volatile("trap;");
#else
  printf("not here");
  __trap();
#endif
}
"""
    (full,) = kernels(parse("t.cu", text))
    unit = parse("t.cu", text, Options(arch="sm_90a"))
    (empty,) = kernels(unit)
    assert (full.empty, empty.empty) == (False, True)
    (note,) = unit.notes
    assert (note.kind, note.loc.line) == ("skipped", 3)


def test_what_is_left_out_of_a_header_counts_near_reached_functions_only(tmp_path: Path) -> None:
    other = '#if 0\n__device__ void %s() { asm volatile("trap;"); }\n#else\n__device__ void %s() {}\n#endif\n'
    apart = "//\n" * 4
    (tmp_path / "ops.h").write_text(other % ("near", "near") + apart + other % ("far", "far") + apart)
    text = '#include "ops.h"\n__global__ void k(int *p) { near(); *p = 1; }\n'
    program = build_program(str(tmp_path / "t.cu"), text)
    assert [(n.kind, n.loc.line) for n in program.notes] == [("skipped", 1)]


def test_templates_of_headers_are_guessed_only_where_nothing_else_is_there(tmp_path: Path) -> None:
    (tmp_path / "all.h").write_text("".join(f"template <int N> __global__ void {n}() {{}}\n" for n in ("one", "two")))
    path = str(tmp_path / "t.cu")
    alone = kernels(parse(path, '#include "all.h"\n'))
    assert [kernel.name for kernel in alone] == ["one", "two"]
    (chosen,) = kernels(parse(path, '#include "all.h"\nauto instance = &two<3>;\n'))
    assert chosen.display == "two<3>"


def test_missing_includes_leave_kernels_and_asm() -> None:
    text = """
#include <lib/tensor.hpp>
#include "project/a.h"
#include "project/b.h"
#include <lib/c.h>
#include <lib/d.cuh>
FOO_DEVICE void helper(int x) { asm volatile("bar.sync %0;" ::"r"(x)); }
__global__ void k(float *p, lib::Params params) {
  lib::sync::arrive(p, 3);
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(lib::to_smem(p)), "r"(kCount));
  lib::Pipe<4, float> pipe;
  pipe.acquire(params.n);
  helper(undeclared_value);
  asm volatile("bar.sync %0;" ::"r"(params.count));
}
"""
    unit = parse("t.cu", text)
    assert unit.errors == []
    assert [kernel.name for kernel in kernels(unit)] == ["k"]
    assert sum(token.spelling == "asm" for token in unit.tu.cursor.get_tokens()) == 3
    assert sum(note.kind == "missing-include" for note in unit.notes) == 5
    assert "lib::to_smem is declared nowhere: taken as a function" in [note.message for note in unit.notes]
