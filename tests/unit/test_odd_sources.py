"""Sources that are broken, huge or unusual, and values that only the code of a kernel tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.config import AuditOptions
from auditor.engine import audit_file, with_deep_stack
from auditor.findings import FileResult, Level

HEAD = "// arch: sm_90a\n"


def audit(tmp_path: Path, source: str) -> FileResult:
    path = tmp_path / "kernel.cu"
    path.write_text(source)
    return with_deep_stack(lambda: audit_file(str(path), AuditOptions(arches=("sm_90a",))))


@pytest.mark.parametrize(
    ("source", "failure"),
    [
        ("__global__ void k() { if (1) {", "syntax error in line 1: expected '}'"),
        ("__global__ void k(int* p) { p[0] = " + "(" * 5000 + "1" + ")" * 5000 + "; }", "syntax error in line 1"),
        ("__global__ void k(int* p) { " + "if (p[0]) {" * 1500 + "p[1] = 1;" + "}" * 1500 + " }", "nested too deeply"),
    ],
)
def test_broken_sources_fail_in_one_line(tmp_path: Path, source: str, failure: str) -> None:
    result = audit(tmp_path, source)
    assert (result.failure or "").startswith(failure)
    assert "\n" not in (result.failure or "")


@pytest.mark.parametrize("expression", ["1+" * 100_000 + "1", "!" * 20_000 + "p[1]"])
def test_long_expressions_do_not_end_the_process(tmp_path: Path, expression: str) -> None:
    result = audit(tmp_path, "__global__ void k(int* p) { p[0] = " + expression + "; }")
    assert not result.findings


RING = (
    HEAD
    + """
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__global__ void __launch_bounds__(64) k(int* out, int n) {
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at(&bar)) : "memory");
    __syncthreads();
    for (int i = 0; i < n; ++i) {
        unsigned done = 0;
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(&bar)) : "memory");
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(at(&bar)), "r"(i & 1) : "memory");
    }
    out[threadIdx.x] = n;
}
"""
)


def test_a_parameter_that_counts_waits_is_small(tmp_path: Path) -> None:
    result = audit(tmp_path, RING)
    assert not result.findings
    assert result.coverage.executed == 1


def test_a_flag_in_global_memory_may_be_slept_on(tmp_path: Path) -> None:
    result = audit(
        tmp_path,
        HEAD
        + """
    __global__ void k(volatile int* flag, int* out) {
        while (*flag != 3) __nanosleep(100);
        __syncthreads();
        out[threadIdx.x] = 1;
    }
    """,
    )
    assert not result.findings
    assert result.coverage.executed == 1


def test_shared_counters_are_computed(tmp_path: Path) -> None:
    """The last warp is known from what an atomic returns, so that the barrier in its branch is reached by all of it."""
    result = audit(
        tmp_path,
        HEAD
        + """
    __global__ void __launch_bounds__(128) k(int* out) {
        __shared__ int gone;
        __shared__ int last[4];
        if (threadIdx.x == 0) gone = 0;
        __syncthreads();
        if (threadIdx.x % 32 == 0) last[threadIdx.x / 32] = atomicAdd(&gone, 1);
        __syncwarp();
        if (last[threadIdx.x / 32] < 4) asm volatile("bar.sync 1, 128;" ::: "memory");
        out[threadIdx.x] = 1;
    }
    """,
    )
    assert not result.findings
    assert result.coverage.executed == 1


def test_a_counted_loop_is_not_counted_out(tmp_path: Path) -> None:
    """Its bounds are known without walking through its four billion rounds."""
    result = audit(
        tmp_path,
        HEAD
        + """
    __global__ void k(int* out) {
        for (unsigned i = 0; i < 0xffffffffu; ++i) out[i & 31] = i;
    }
    """,
    )
    assert [kind for kind, _, _ in result.coverage.notes] == ["budget"]


@pytest.mark.parametrize("block", ["-1", "dim3(1u << 31, 4, 4)"])
def test_blocks_larger_than_any_are_reported_and_not_built(tmp_path: Path, block: str) -> None:
    result = audit(
        tmp_path,
        HEAD
        + f"""
    __global__ void k(int* out) {{ out[threadIdx.x] = 1; }}
    void launch(int* out) {{ k<<<1, {block}>>>(out); }}
    """,
    )
    assert {finding.code for finding in result.findings} == {"BW504"}


SUMS = """template <int LANES, int ROWS> __global__ void sums(const float* in, float* out) {
  __shared__ float s[ROWS][LANES];
  s[threadIdx.y][threadIdx.x % LANES] = in[threadIdx.y * LANES + threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.y][threadIdx.x % LANES];
}
"""


@pytest.mark.parametrize(
    "options, level",
    [
        (AuditOptions(strict=True), Level.NOTE),
        (AuditOptions(block=(64, 1, 1)), Level.ERROR),
        (AuditOptions(instantiate=("sums<32, 2>",)), Level.ERROR),
    ],
)
def test_a_guessed_instance_with_a_guessed_block_gives_notes(
    tmp_path: Path, options: AuditOptions, level: Level
) -> None:
    file = tmp_path / "sums.cu"
    file.write_text(SUMS)
    (finding,) = [f for f in audit_file(str(file), options).findings if f.code == "BW606"]
    assert finding.level is level
    assert ("--instantiate" in finding.message) == (level is Level.NOTE)


def test_statements_that_clang_does_not_take_are_told(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text(
        """
int host(int *p) { return p + 1.0f; }
__global__ void __launch_bounds__(32) k(int *out)
{
    __shared__ int row[32];
    row[threadIdx.x] = threadIdx.x;
    __syncwarp(row, 3);
    out[threadIdx.x] = row[threadIdx.x];
}
"""
    )
    result = audit_file(str(source), AuditOptions())
    assert result.findings == []
    (note,) = [note for note in result.coverage.notes if note[0] == "unanalysed"]
    assert (note[2].line, note[1].split(":")[0]) == (7, "clang does not take this, and leaves it out")


def test_what_an_instantiation_leaves_out_is_no_rejected_statement(tmp_path: Path) -> None:
    """clang looks at the asm of branches that are left out, too; nvcc does not."""
    source = """
template <bool kHint> __device__ void load(unsigned to, const void *from)
{
    if constexpr (kHint) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %3;" :: "r"(to), "l"(from), "r"(16) : "memory");
    } else {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(from) : "memory");
    }
}
__global__ void __launch_bounds__(32) k(const float4 *in)
{
    __shared__ float4 row[32];
    load<HINT>((unsigned)__cvta_generic_to_shared(&row[threadIdx.x]), in + threadIdx.x);
    asm volatile("cp.async.wait_all;" ::: "memory");
}
"""
    notes = audit(tmp_path, source.replace("HINT", "false")).coverage.notes
    assert [note for note in notes if note[0] == "unanalysed"] == []
    notes = [n for n in audit(tmp_path, source.replace("HINT", "true")).coverage.notes if n[0] == "unanalysed"]
    assert any("invalid operand number" in note[1] for note in notes)


@pytest.mark.parametrize("value", ["n / 0", "n % 0", "a[256]", "5 / n", "5 % (n - n)"])
def test_constants_that_cannot_be_right_are_executed(tmp_path: Path, value: str) -> None:
    source = f"__global__ void k(int* out, int n) {{ int a[4] = {{1, 2, 3, 4}}; out[a[n & 3]] = {value}; }}\n"
    result = audit(tmp_path, source)
    assert (result.failure, result.coverage.executed) == ("", 1)


def test_an_arrival_without_a_barrier_is_told(tmp_path: Path) -> None:
    source = '__global__ void k() { if (threadIdx.x < 3) { asm volatile("mbarrier.arrive.shared.b64;"); } }\n'
    result = audit(tmp_path, source)
    assert not result.failure
    assert [kind for kind, _, _ in result.coverage.notes] == ["unanalysed"]


def test_an_instruction_that_lacks_operands_is_named(tmp_path: Path) -> None:
    source = '__global__ void k(int* out) { asm volatile("shfl.sync.bfly.b32  %0;" : "=r"(out[0])); }\n'
    ((kind, what, _),) = audit(tmp_path, source).coverage.notes
    assert kind == "unanalysed" and "PTX instruction shfl.sync.bfly.b32 %0 cannot be executed (IndexError" in what


def test_a_waiting_loop_may_have_more_rounds_than_a_machine_word_holds(tmp_path: Path) -> None:
    source = "__global__ void k() { for (int i = 0; i < 1ull << 63; ++i) __syncthreads(); }\n"
    result = audit(tmp_path, source)
    assert not result.failure
    assert [kind for kind, _, _ in result.coverage.notes] == ["budget"]
