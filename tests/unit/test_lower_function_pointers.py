"""Calls through a function pointer: what a parameter by reference is given."""

from __future__ import annotations

from pathlib import Path

from auditor.config import AuditOptions
from auditor.engine import audit_file, with_deep_stack

SOURCE = """
__device__ void put(unsigned const &address, unsigned &result) {
    asm volatile("st.shared.b32 [%1], %1; mov.b32 %0, 7;" : "=r"(result) : "r"(address) : "memory");
}
struct Pair { unsigned first, second; };
__device__ void swap(Pair &pair) { unsigned kept = pair.first; pair.first = pair.second; pair.second = kept; }
template <class F, class A, class B> __device__ void call(F f, A &&a, B &&b) { f(a[0], b[0]); }
__global__ void k(int *out) {
    __shared__ unsigned word[32];
    if (threadIdx.x == 0) {
        unsigned address = (unsigned)__cvta_generic_to_shared(&word[8]), results[1] = {0};
        call(put, &address, results);
        unsigned plain = 0;
        void (*chosen)(unsigned const &, unsigned &) = put;
        chosen(address + 4, plain);
        Pair pair{1, 2};
        void (*turn)(Pair &) = swap;
        turn(pair);
        if (results[0] != 7 || plain != 7 || pair.first != 2 || pair.second != 1) __trap();
    }
    __syncthreads();
    out[0] = word[threadIdx.x];
}
"""


def test_references_reach_what_they_name(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(SOURCE)
    options = AuditOptions(arches=("sm_90a",), block=(32, 1, 1), strict=True)
    result = with_deep_stack(lambda: audit_file(str(path), options))
    assert result.coverage.executed == 1
    assert not [kind for kind, _, _ in result.coverage.notes if kind == "unanalysed"]
    assert not result.findings
