"""Hangs and traps that come from what the run chose: contents of global memory, answers, integers as addresses."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from auditor.config import AuditOptions
from auditor.engine import audit_file, with_deep_stack
from auditor.findings import FileResult, Level
from auditor.frontend import build_program
from auditor.frontend.options import Options
from auditor.machine.core import Machine
from auditor.machine.scenario import plan

START = """
#include <cstdint>
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void arrive(const void* bar) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(bar)) : "memory");
}
__device__ void wait(const void* bar, int parity) {
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
}
#define BEGIN __shared__ unsigned long long full, empty; \\
    if (threadIdx.x == 0) \\
        asm volatile("mbarrier.init.shared.b64 [%0], 1; mbarrier.init.shared.b64 [%1], 1;" \\
                     ::"r"(at(&full)), "r"(at(&empty)) : "memory"); \\
    __syncthreads();
"""
KERNEL = "__global__ void __launch_bounds__(64) k(const int* __restrict__ table, int* out) {\nBEGIN\n"
CONSUMER = """
    if (threadIdx.x == 32)
        for (int i = 0; i < ROUNDS; ++i) { wait(&full, i & 1); arrive(&empty); }
"""


def audit(folder: Path, body: str, kernel: str = KERNEL) -> FileResult:
    path = folder / "kernel.cu"
    path.write_text(START + kernel + body + "\n}\n")
    return with_deep_stack(lambda: audit_file(str(path), AuditOptions(arches=("sm_100a",), strict=True)))


def levels(result: FileResult) -> set[tuple[str, Level]]:
    return {(f.code, f.level) for f in result.findings}


# Two tables that a host would make equal: the number of rounds of each side.
AGREE = """
    if (threadIdx.x == 0)
        for (int i = 0; i < {producer}; ++i) {{ wait(&empty, (i & 1) ^ 1); arrive(&full); }}
"""


def test_a_hang_of_tables_that_disagree_is_a_note(tmp_path: Path) -> None:
    producer = AGREE.format(producer="table[0]")
    body = producer + CONSUMER.replace("ROUNDS", "(table[1] < 64 ? table[1] : table[0])")
    assert ("BW101", Level.NOTE) in levels(audit(tmp_path, body))


@pytest.mark.parametrize("rounds", ["table[0] + 1", "2 * table[0]"])
def test_a_hang_for_all_contents_is_an_error(tmp_path: Path, rounds: str) -> None:
    body = AGREE.format(producer="table[0]") + CONSUMER.replace("ROUNDS", rounds)
    assert ("BW101", Level.ERROR) in levels(audit(tmp_path, body))


def test_fewer_rounds_do_not_clear_a_hang(tmp_path: Path) -> None:
    """With one round all is well; the third one hangs, and nothing with more rounds goes on."""
    body = AGREE.format(producer="(table[0] < 2 ? table[0] : 2)") + CONSUMER.replace("ROUNDS", "table[0]")
    assert ("BW101", Level.ERROR) in levels(audit(tmp_path, body))


def test_what_a_trapped_thread_did_not_do_is_no_hang(tmp_path: Path) -> None:
    """The table names a size that the kernel was not made for: the trap ends the whole grid."""
    body = "if (threadIdx.x == 0) { if (table[0] != 3) __trap(); arrive(&full); }\n" + CONSUMER.replace("ROUNDS", "1")
    result = audit(tmp_path, body)
    assert not [f for f in result.findings if f.code == "BW101"]
    assert any("traps" in text for _, text, _ in result.coverage.notes)
    assert result.coverage.executed == 0


def test_a_time_limit_is_not_reached(tmp_path: Path) -> None:
    """The clock decides, and nobody knows it: what follows the loop is judged."""
    body = """
    if (threadIdx.x == 0) {
        long long begun = clock64();
        for (int i = 0; i < 8; ++i)
            if (clock64() - begun > 1000000) __trap();
        arrive(&full);
    }
    if (threadIdx.x == 32) wait(&full, 0);
    """
    result = audit(tmp_path, body)
    assert not result.findings
    assert result.coverage.executed == 1
    late = body.replace("wait(&full, 0)", "wait(&full, 0); wait(&full, 1)")
    assert Level.ERROR in {level for _, level in levels(audit(tmp_path, late))}


ELECTED = """
    if (threadIdx.x < 32) {
        unsigned elected;
        asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
        if (elected) {
            if (threadIdx.x % 32 != 0) __trap();
            arrive(&full);
        }
    }
"""


def test_a_kernel_may_check_that_the_lowest_lane_is_elected(tmp_path: Path) -> None:
    """PTX does not promise it, but hardware does so, and CUTLASS asserts it."""
    result = audit(tmp_path, ELECTED + CONSUMER.replace("ROUNDS", "1"))
    assert (levels(result), result.coverage.executed) == (set(), 1)
    assert ("BW101", Level.ERROR) in levels(audit(tmp_path, ELECTED + CONSUMER.replace("ROUNDS", "2")))
    other = audit(tmp_path, ELECTED.replace("!= 0", "== 0") + CONSUMER.replace("ROUNDS", "1"))
    assert (levels(other), other.coverage.executed) == (set(), 1)  # no lane of those that were tried traps


TENSOR = """
    __shared__ unsigned base;
    if (threadIdx.x < 32)
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(at(&base)) : "memory");
    __syncthreads();
    USE
    __syncthreads();
    if (threadIdx.x < 32)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(base));
"""


def test_an_integer_that_becomes_a_pointer_is_an_address(tmp_path: Path) -> None:
    kernel = """
struct Buffer { int64_t base; int64_t offsets[4]; int rank; };
__global__ void __launch_bounds__(64) k(const __grid_constant__ Buffer b, const unsigned long long offset) {
"""
    uses = (
        "reinterpret_cast<int*>(b.base)[threadIdx.x] = 1;",
        "*reinterpret_cast<int*>(b.base + 8 * threadIdx.x) = 1;",
        "((int*)offset)[threadIdx.x] = 1;",
    )
    for use in uses:
        assert not audit(tmp_path, TENSOR.replace("USE", use), kernel).findings
    wrong = TENSOR.replace("USE", "if (threadIdx.x == 0) *(int*)(unsigned long long)base = b.rank;")
    assert ("BW316", Level.ERROR) in levels(audit(tmp_path, wrong, kernel))


FILL = """
    __shared__ alignas(16) unsigned counts[64];
    if (threadIdx.x == 0)
        asm volatile("st.bulk.weak.shared::cta [%0], %1, 0;" ::"r"(at(counts)), "l"((uint64_t)BYTES) : "memory");
    SYNC
    out[threadIdx.x] = counts[threadIdx.x];
    if (counts[threadIdx.x] != 0) __trap();
"""


def test_a_bulk_store_fills_with_zeros(tmp_path: Path) -> None:
    right = FILL.replace("BYTES", "sizeof(counts)").replace("SYNC", "__syncthreads();")
    result = audit(tmp_path, right)
    assert not result.findings
    assert not [n for n in result.coverage.notes if n[0] == "unanalysed"]
    assert ("BW606", Level.ERROR) in levels(
        audit(tmp_path, FILL.replace("BYTES", "sizeof(counts)").replace("SYNC", ""))
    )
    beyond = right.replace("sizeof(counts)", "65536")
    assert any(f.level is not Level.NOTE for f in audit(tmp_path, beyond).findings)


def test_a_word_of_a_table_with_an_entry_for_each_cta_differs_between_them(tmp_path: Path) -> None:
    wait_in = "if (table[{}] != 4 && threadIdx.x == 0) wait(&full, 0);"
    assert not audit(tmp_path, wait_in.format("0")).findings
    assert {code for code, _ in levels(audit(tmp_path, wait_in.format("blockIdx.x")))} == {"BW101"}


@pytest.mark.parametrize(
    ("element", "chosen"),
    [
        ("float", False),
        ("unsigned short", False),
        ("float4", False),
        ("__nv_bfloat162", False),
        ("int", True),
        ("int4", True),
        ("unsigned char", True),
        ("void", True),
        ("long long", True),
    ],
)
def test_numbers_are_chosen_for_arrays_of_integers_only(element: str, chosen: bool) -> None:
    source = f"""
    #include <cuda_bf16.h>
    __global__ void k(const {element}* a, int* out) {{
        const uint4 v = reinterpret_cast<const uint4*>(a)[threadIdx.x];
        out[threadIdx.x] = v.x + v.w;
    }}
    """
    program = with_deep_stack(lambda: build_program("k.cu", source, Options("sm_100a")))
    kernel = program.kernels[0]
    launch = plan(program, kernel)[0]
    assert Machine(program, kernel, launch).run().reads_contents is chosen


def test_a_number_that_was_written_to_an_array_of_data_is_read_back() -> None:
    source = """
    __global__ void k(float* a, int* out) {
        int* flag = reinterpret_cast<int*>(a);
        flag[threadIdx.x] = 3;
        for (int i = 0; i < flag[threadIdx.x]; ++i) __syncthreads();
    }
    """
    program = with_deep_stack(lambda: build_program("k.cu", source, Options("sm_100a")))
    kernel = program.kernels[0]
    trace = Machine(program, kernel, plan(program, kernel)[0]).run()
    assert set(Counter(e.strand for e in trace.events if e.kind == "bar.sync").values()) == {3}
