"""Sources that were damaged until they made no sense: each comes to an orderly end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from auditor.config import AuditOptions
from auditor.engine import audit_file, with_deep_stack
from auditor.findings import FileResult
from auditor.frontend import build_program
from auditor.frontend.options import Options
from auditor.machine.core import Machine
from auditor.machine.launch import Launch

LAUNCH = "void launch(int* p) { k<<<1, 32>>>(p); }\n"


def audit(folder: Path, text: str) -> FileResult:
    file = folder / "k.cu"
    file.write_text(text, encoding="utf-8")
    return with_deep_stack(lambda: audit_file(str(file), AuditOptions(budget=5.0)))


def test_letters_that_python_spells_its_own_way(tmp_path: Path) -> None:
    result = audit(
        tmp_path,
        "__global__ void rel\U0001d7d9ay(int* p) { int \u217b = 3; int \ufb01x = 4; p[0] = \u217b + \ufb01x; }\n"
        "void launch(int* p) { rel\U0001d7d9ay<<<1, 32>>>(p); }\n",
    )
    assert (result.coverage.executed, result.coverage.notes) == (1, [])


@pytest.mark.parametrize("initialiser", ["", " = {}", " = {1, 2}"])
def test_a_local_object_that_no_memory_holds(tmp_path: Path, initialiser: str) -> None:
    result = audit(tmp_path, f"__global__ void k(int* p) {{ int v[1 << 28]{initialiser}; p[1] = v[3]; }}\n{LAUNCH}")
    assert [kind for kind, _, _ in result.coverage.notes] == ["unanalysed"]
    assert "a local object of 1073741824 bytes" in result.coverage.notes[0][1]


def test_statements_nested_as_deep_as_a_file_is_long(tmp_path: Path) -> None:
    depth = 1500
    result = audit(tmp_path, f"__global__ void k(int* p) {'{' * depth} p[0] = 1; {'}' * depth}\n{LAUNCH}")
    assert result.coverage.kernels == 1


def test_an_accumulator_predicate_that_is_not_known() -> None:
    text = """
#include <cstdint>
__global__ void k(const float* p, uint32_t columns, uint64_t tile) {
  if (threadIdx.x == 0)
    asm volatile("{ .reg .pred a; setp.ne.b32 a, %3, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %1, %2, a; }"
                 :: "r"(columns), "l"(tile), "r"(0x8100490), "r"(__float_as_int(__sinf(p[0]))) : "memory");
}
"""
    program = build_program("k.cu", text, Options(arch="sm_100a"))
    trace = Machine(program, program.kernels[0], Launch(program.kernels[0].entry, block=(128, 1, 1))).run()
    (issue,) = [e for e in trace.events if e.data.get("instr") == "mma" and "accumulate" in e.data]
    assert issue.data["accumulate"] is None


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux")
def test_a_source_that_leads_the_parser_to_take_all_memory(tmp_path: Path) -> None:
    """An array of a class is a constant expression of as many elements."""
    (tmp_path / "k.cu").write_text("struct Word { int value = 0; };\n__device__ Word table[1 << 28];\n")
    command = [sys.executable, "-m", "auditor", "--no-cache", "--isolated", "k.cu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "bw-audit: k.cu: clang could not parse it"


def test_what_others_wait_for_in_vain_is_not_their_fault_when_a_thread_is_lost(tmp_path: Path) -> None:
    result = audit(
        tmp_path,
        """#include <cstdint>
__device__ int deep(int n) { return n > 100000 ? n : deep(n + 1) + 1; }
__global__ void k(int* p) {
  __shared__ uint64_t bar;
  uint32_t b = (uint32_t)__cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" :: "r"(b));
  __syncthreads();
  if (threadIdx.x < 32) {
    p[0] = deep(0);
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(b) : "memory");
  } else {
    asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @p bra D; bra L; D: }"
                 :: "r"(b) : "memory");
  }
}
void launch(int* p) { k<<<1, 64>>>(p); }
""",
    )
    assert result.findings == []
    assert [(kind, message) for kind, message, _ in result.coverage.notes] == [
        ("unanalysed", "kernel k: recursion too deep")
    ]
    assert result.coverage.executed == 0
