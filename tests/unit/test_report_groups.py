"""Which barriers are one array: in code that gives only offsets, and with names for addresses."""

from __future__ import annotations

from pathlib import Path

from auditor.cli_report import report_file
from auditor.config import AuditOptions
from auditor.reports.expressions import asm_count, asm_operand
from auditor.reports.model import BarrierRow
from auditor.reports.symbols import Symbols

WRAPPERS = """
// arch: sm_100a
#include <cuda_runtime.h>
#include <cstdint>
__device__ __forceinline__ void mb_init(uint32_t a, uint32_t n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(a), "r"(n) : "memory");
}
__device__ __forceinline__ void mb_arrive(uint32_t a) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(a) : "memory");
}
__device__ __forceinline__ void mb_arrive2(uint32_t a, uint32_t b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\\n\\tmbarrier.arrive.shared::cta.b64 _, [%1];"
               :: "r"(a), "r"(b) : "memory");
}
__device__ __forceinline__ void mb_wait(uint32_t a, uint32_t ph) {
  asm volatile("{ .reg .pred p; L_%=: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra L_%=; }"
               :: "r"(a), "r"(ph) : "memory");
}
"""

# Three warps pass a value on through two rings of two stages. All barriers have the same count.
PASS = """
__global__ void __launch_bounds__(128) pass(int n, bool drain) {
  extern __shared__ __align__(1024) uint8_t raw[];
  const uint32_t smem = (uint32_t)__cvta_generic_to_shared(raw);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  volatile int* const values = (volatile int*)raw;
NAMES
  if (threadIdx.x == 0) {
    for (int i = 0; i < BARRIERS; ++i) mb_init(smem + 1024 + 8 * i, 32);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (warp == 0) {
    for (int i = 0; i < n; ++i) {
      mb_wait(FIRST_FREE + 8 * (i % 2), (i / 2 & 1) ^ 1);
      values[32 * (i % 2) + lane] = i;
      mb_arrive(FIRST_READY + 8 * (i % 2));
    }
  } else if (warp == 1) {
    for (int i = 0; i < n; ++i) {
      mb_wait(FIRST_READY + 8 * (i % 2), i / 2 & 1);
      const int v = values[32 * (i % 2) + lane];
      mb_wait(SECOND_FREE + 8 * (i % 2), (i / 2 & 1) ^ 1);
      values[64 + 32 * (i % 2) + lane] = v + 1;
      mb_arrive2(FIRST_FREE + 8 * (i % 2), SECOND_READY + 8 * (i % 2));
    }
  } else if (warp == 2) {
    for (int i = 0; i < n; ++i) {
      mb_wait(SECOND_READY + 8 * (i % 2), i / 2 & 1);
      const int v = values[64 + 32 * (i % 2) + lane];
      values[128 + lane] = v;
      mb_arrive(SECOND_FREE + 8 * (i % 2));
    }
UNUSED
  }
}
int main() { pass<<<1, 128, 2048>>>(5, false); return cudaDeviceSynchronize(); }
"""
OFFSETS = {"FIRST_READY": 1024, "FIRST_FREE": 1040, "SECOND_READY": 1056, "SECOND_FREE": 1072}


def rows(tmp_path: Path, text: str) -> list[BarrierRow]:
    path = tmp_path / "kernel.cu"
    path.write_text(WRAPPERS + text, encoding="utf-8")
    report = report_file(str(path), AuditOptions())
    assert not report.failure and report.kernels[0].verdict == "clean"
    return list(report.kernels[0].barriers)


def in_pass(parts: dict[str, str]) -> str:
    text = PASS
    for name, value in parts.items():
        text = text.replace(name, value)
    return text


def test_offsets_alone_are_split_by_who_arrives_and_who_waits(tmp_path: Path) -> None:
    parts = {"NAMES": "", "UNUSED": "", "BARRIERS": "8"} | {n: f"smem + {at}" for n, at in OFFSETS.items()}
    found = rows(tmp_path, in_pass(parts))
    assert [(b.name, b.stages) for b in found] == [
        ("raw+1024", 2), ("raw+1040", 2), ("raw+1056", 2), ("raw+1072", 2),
    ]  # fmt: skip
    assert [(b.arrivals[0].threads, b.waiters[0].threads) for b in found] == [
        ("warp 0", "warp 1"), ("warp 1", "warp 0"), ("warp 1", "warp 2"), ("warp 2", "warp 1"),
    ]  # fmt: skip
    assert found[2].resources == ("shared memory of the threads readable",)


def test_stages_that_lie_between_those_of_another_array_are_one_row(tmp_path: Path) -> None:
    """Ready and free side by side, sixteen bytes a stage."""
    places = {"FIRST_READY": 1024, "FIRST_FREE": 1032, "SECOND_READY": 1056, "SECOND_FREE": 1064}
    parts = {"NAMES": "", "UNUSED": "", "BARRIERS": "8"} | {n: f"smem + {at}" for n, at in places.items()}
    found = rows(tmp_path, in_pass(parts).replace("8 * (i % 2)", "16 * (i % 2)"))
    assert [(b.stages, b.addresses[1] - b.addresses[0]) for b in found] == [(2, 16)] * 4


def test_names_of_addresses_tell_also_what_the_run_does_not_use(tmp_path: Path) -> None:
    names = [f"  #define {n.lower()}_addr (mbar_base + {at - 1024})" for n, at in OFFSETS.items()]
    names += ["  const int mbar_base = smem + 1024;", "  #define drained_addr (mbar_base + 64)"]
    parts = {"NAMES": "\n".join(names), "BARRIERS": "9", "UNUSED": "    if (drain) mb_arrive(drained_addr);"}
    found = rows(tmp_path, in_pass(parts | {n: f"{n.lower()}_addr" for n in OFFSETS}))
    assert [(b.name, b.stages) for b in found] == [
        *((f"{n.lower()}_addr", 2) for n in OFFSETS), ("drained_addr", 1),
    ]  # fmt: skip
    assert found[-1].note == "never used"


def test_symbols_are_a_base_and_constants() -> None:
    source = "#define a (base + 0x10)\nconst int base = smem + 64; // all\nint other = f(3);\n#define b a + 8\n"
    symbols = Symbols(source, 1, 5)
    assert symbols.place("b") == ("smem", 88) and symbols.place("(a) + 2 + 3u") == ("smem", 85)
    assert symbols.place("a + i") is None and symbols.place("8") is None
    assert symbols.starts([("smem + 16", 1040)]) == {1088: "base", 1104: "a", 1112: "b"}
    assert symbols.starts([("f(x)", 1)]) == {}


def test_the_nth_instruction_of_an_asm_statement() -> None:
    text = 'asm volatile("commit [%0]; commit [%1];" :: "r"(first), "r"(second))'
    assert asm_count(text, "commit") == 2
    assert [asm_operand(text, "commit", nth=n) for n in range(2)] == ["first", "second"]
