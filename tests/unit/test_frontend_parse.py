"""Parsing: our own headers, options, asm extraction, failures."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.frontend.asm import asm_parts
from auditor.frontend.clang_api import ENTER, CursorKind, spelling_place, visit
from auditor.frontend.headers_store import shim_files
from auditor.frontend.options import Options, parse_arch
from auditor.frontend.parse import ParseFailure, parse
from auditor.frontend.unit import ParsedUnit, location, user_file
from auditor.source import SHIM_ROOT


def asm_statements(unit: ParsedUnit) -> list[object]:
    found: list[object] = []

    def look(cursor: object) -> int:
        if cursor.kind == CursorKind.ASM_STMT and user_file(cursor) == unit.path:  # type: ignore[attr-defined]
            found.append(cursor)
        return ENTER

    visit(unit.tu.cursor, look)
    return found


def clean(text: str, options: Options | None = None) -> ParsedUnit:
    unit = parse("t.cu", text, options)
    assert [str(error.loc) + " " + error.message for error in unit.errors] == []
    assert [note for note in unit.notes if note.kind in ("stub", "missing-include")] == []
    return unit


def test_every_header_parses_alone() -> None:
    names = [path[len(SHIM_ROOT) + 1 :] for path, _ in shim_files()]
    for name in names:
        if name.startswith(("bw/", "c")) or name in ("vector", "string", "iostream", "math_constants.h"):
            clean(f"#include <{name}>\n")


def test_every_header_parses_with_all_others() -> None:
    names = [path[len(SHIM_ROOT) + 1 :] for path, _ in shim_files()]
    clean("".join(f"#include <{name}>\n" for name in names))


def test_headers_survive_macros_of_one_letter() -> None:
    defines = "".join(f"#define {letter} 4\n" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    clean(defines + "#include <cuda/ptx>\n#include <cuda/barrier>\n#include <random>\n", Options(defines=("N=8",)))


def test_asm_parts() -> None:
    unit = clean(
        """
__global__ void k(unsigned *p, unsigned n) {
  unsigned r;
  asm volatile("add.u32 %0, %[b], 1; // %%x" : "=r"(r) : [b] "r"(n), "n"(4) : "memory");
  *p = r;
}
"""
    )
    (statement,) = asm_statements(unit)
    parts = asm_parts(statement)
    assert parts.template == "add.u32 $0, $1, 1; // %x"
    assert parts.constraints == ("=r", "r", "n")
    assert (len(parts.outputs), len(parts.inputs)) == (1, 2)
    assert parts.clobbers == ("memory",)
    assert parts.volatile


def test_locations_of_macro_code() -> None:
    text = '#define STOP() asm volatile("trap;")\n\n__global__ void k() { STOP(); }\n'
    unit = clean(text)
    (statement,) = asm_statements(unit)
    assert (location(statement).line, spelling_place(statement).line) == (3, 1)


@pytest.mark.parametrize(
    ("name", "number", "suffix", "known"),
    [
        ("sm_90a", 90, "a", True),
        ("compute_103f", 103, "f", True),
        ("sm_120", 120, "", True),
        ("10.0a", 100, "a", True),
        ("native", 100, "a", False),
    ],
)
def test_architectures(name: str, number: int, suffix: str, known: bool) -> None:
    arch = parse_arch(name)
    assert (arch.number, arch.suffix, arch.known) == (number, suffix, known)


@pytest.mark.parametrize(
    ("arch", "condition"),
    [
        ("sm_100a", "__CUDA_ARCH__ == 1000 && __CUDA_ARCH_FEAT_SM100_ALL && __CUDA_ARCH_SPECIFIC__ == 1000"),
        ("sm_103a", "__CUDA_ARCH__ == 1030 && __CUDA_ARCH_FEAT_SM103_ALL && !defined(__CUDA_ARCH_FEAT_SM100_ALL)"),
        ("sm_100f", "__CUDA_ARCH_FAMILY_SPECIFIC__ == 1000 && !defined(__CUDA_ARCH_FEAT_SM100_ALL)"),
        ("sm_90a", "__CUDA_ARCH__ == 900 && __CUDA_ARCH_FEAT_SM90_ALL && __CUDACC_VER_MAJOR__ >= 13"),
        ("sm_90", "__CUDA_ARCH__ == 900 && !defined(__CUDA_ARCH_FEAT_SM90_ALL)"),
    ],
)
def test_feature_macros(arch: str, condition: str) -> None:
    clean(f"#if !({condition})\n#error\n#endif\n", Options(arch=arch))


def test_unknown_architecture_is_noted() -> None:
    assert [note.kind for note in parse("t.cu", "int x;", Options(arch="rainbow")).notes] == ["arch"]


def test_sibling_and_folder_includes(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "common.h").write_text("constexpr int kFromSibling = 1;\n")
    (tmp_path / "inc" / "far.h").write_text("constexpr int kFromFolder = 2;\n")
    source = tmp_path / "k.cu"
    source.write_text('#include "common.h"\n#include <far.h>\nstatic_assert(kFromSibling + kFromFolder == 3);\n')
    unit = parse(str(source), None, Options(includes=(str(tmp_path / "inc"),), defines=("X=1",)))
    assert unit.errors == []


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\xfa {{{", b"// caf\xe9\n__global__ void k() {}\n", b"}}}}" * 50])
def test_bad_text_is_parsed_all_the_same(tmp_path: Path, content: bytes) -> None:
    source = tmp_path / "k.cu"
    source.write_bytes(content)
    parse(str(source))


def test_failures(tmp_path: Path) -> None:
    binary = tmp_path / "k.cu"
    binary.write_bytes(b"\x7fELF\0\0\1")
    with pytest.raises(ParseFailure, match="not a text file"):
        parse(str(binary))
    with pytest.raises(ParseFailure, match="No such file"):
        parse(str(tmp_path / "absent.cu"))
    with pytest.raises(ParseFailure):
        parse(str(tmp_path))


def test_source_without_headers_of_its_own_types() -> None:
    clean(
        """
typedef unsigned long long uint64_t;
typedef struct __align__(64) { uint64_t opaque[16]; } CUtensorMap;
#include <cuda_bf16.h>
__global__ void k(const __grid_constant__ CUtensorMap m, uint64_t *p) { *p = m.opaque[0]; }
"""
    )


def test_ptx_functions() -> None:
    clean(
        """
#include <cuda/ptx>
namespace ptx = cuda::ptx;
__global__ void k(uint64_t *bar, const CUtensorMap *map, float *g) {
  float v[32];
  uint32_t w[4];
  ptx::tcgen05_ld_32x32b(v, 5);
  ptx::tcgen05_ld_16x256b(w, 5);
  ptx::tcgen05_st_16x64b_unpack_16b(0, w);
  ptx::tcgen05_ld_16x32bx2(v, 5, ptx::n32_t<16>{});
  const int32_t at[3] = {1, 2, 3};
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, v, map, at, bar);
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, ptx::cta_group_2, v, map, at, bar, uint16_t(3));
  ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, map, at, v);
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
  ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, bar, 1u);
  ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_1, 0, 1ull, 2ull, 3, true);
  ptx::tcgen05_mma_block_scale_vec_1x(ptx::kind_mxf8f6f4, ptx::cta_group_2, 0, 1ull, 2ull, 3, 4, 5, true);
  ptx::st_async(g, 1.0f, bar);
}
"""
    )


def test_barrier_pipeline_and_groups() -> None:
    clean(
        """
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/type_traits>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void k(const __grid_constant__ CUtensorMap map, float *g) {
  __shared__ alignas(128) float buf[128];
  __shared__ barrier bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  barrier::arrival_token token = bar.arrive();
  bar.wait(std::move(token));
  cuda::memcpy_async(cg::this_thread_block(), buf, g, cuda::aligned_size_t<16>(64), bar);
  auto cluster = cg::this_cluster();
  cluster.sync();
  g[0] = cluster.map_shared_rank(buf, 1)[0];
  static_assert(cuda::std::is_same_v<int, int>);
}
"""
    )


def test_host_code() -> None:
    clean(
        """
#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>
__global__ void k(int *p) {}
int main() {
  std::vector<float> v(10), w{1.f, 2.f};
  std::mt19937 g(1);
  std::normal_distribution<float> d(0, 1);
  std::generate(v.begin(), v.end(), [&] { return d(g); });
  std::string s = "a" + std::to_string(3);
  std::map<std::string, int> m;
  for (auto &[key, value] : m) std::cout << key << value << std::endl;
  auto [a, b] = std::make_pair(1, 2.0);
  int *p = nullptr;
  cudaMalloc(&p, 4);
  cudaLaunchConfig_t config = {};
  cudaLaunchKernelEx(&config, k, p);
  k<<<dim3((v.size() + 127) / 128), 128>>>(p);
}
"""
    )


def test_headers_that_others_imply_and_lone_percent_signs() -> None:
    source = """
__global__ void k(nv_bfloat16* p) {
    unsigned sm;
    asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
    auto pair = [](int n) -> std::tuple<int, int> { return {n, n + 1}; };
    auto [a, b] = pair(sizeof(*p));
    p[a] = p[b + sm];
}
"""
    unit = parse("implied.cu", source, Options())
    assert unit.errors == []
    assert unit.notes == []


def test_missing_includes_are_found_above_the_source(tmp_path: Path) -> None:
    (tmp_path / "include" / "mine").mkdir(parents=True)
    (tmp_path / "include" / "mine" / "tile.h").write_text("constexpr int TILE = 8;\n")
    (tmp_path / "src" / "deep").mkdir(parents=True)
    path = tmp_path / "src" / "deep" / "k.cu"
    path.write_text('#include "mine/tile.h"\n__global__ void k(int* p) { p[TILE] = 0; }\n')
    assert parse(str(path), None, Options()).errors == []
