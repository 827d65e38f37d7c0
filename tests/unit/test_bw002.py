"""BW002: a run that was stopped, in an endless loop or in a long one."""

from __future__ import annotations

from pathlib import Path

from auditor.config import AuditOptions
from auditor.engine import audit_file
from auditor.findings import Finding, Level

RING = """
__global__ void __launch_bounds__(64) ring(int* flag)
{
    __shared__ unsigned long long full, free_;
    unsigned f = (unsigned)__cvta_generic_to_shared(&full), e = (unsigned)__cvta_generic_to_shared(&free_);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(f) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(e) : "memory");
    }
    __syncthreads();
    for (int k = 0; ROUNDS; ++k) {
        unsigned own = threadIdx.x < 32 ? e : f, other = threadIdx.x < 32 ? f : e;
        unsigned parity = threadIdx.x < 32 ? (k & 1) ^ 1 : k & 1, done = 0;
        while (!done)
            asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                         : "=r"(done) : "r"(own), "r"(parity) : "memory");
        if (threadIdx.x % 32 == 0)
            asm volatile("{.reg .b64 s; mbarrier.arrive.shared.b64 s, [%0];}" :: "r"(other) : "memory");
    }
}
"""
SPIN = """
__global__ void spin(int n) { for (volatile int k = 0; k >= 0; k = (k + 1) & 7) {} }
"""


def found(tmp_path: Path, text: str) -> list[Finding]:
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(text)
    return [f for f in audit_file(str(kernel), AuditOptions(budget=1.5, strict=True)).findings if f.code == "BW002"]


def test_a_loop_that_goes_round_without_end_is_a_note(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, RING.replace("ROUNDS", "true"))
    assert finding.level is Level.NOTE
    assert "phases of mbarriers" in finding.message


def test_a_long_loop_is_left_out_and_ends(tmp_path: Path) -> None:
    assert found(tmp_path, RING.replace("ROUNDS", "k < (1 << 22)")) == []


def test_a_loop_in_which_nothing_happens_is_a_warning(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, SPIN)
    assert finding.level is Level.WARNING


def test_a_search_in_a_table_whose_contents_were_chosen_is_a_note(tmp_path: Path) -> None:
    search = """
__global__ void search(const int* counts, int* out)
{
    int kept[4], at = 0;
    for (int n = 0; n < 4; ++n) kept[n] = counts[n];
    while (kept[at] != 1001) at = (at + 1) & 3;
    out[0] = at;
}
"""
    (note,) = found(tmp_path, search)
    assert note.level is Level.NOTE
    assert "contents that were chosen" in note.message
