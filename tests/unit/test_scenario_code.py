"""What is read of a kernel's own code before it is run."""

from __future__ import annotations

import pytest

from auditor.engine import guess_arch
from auditor.frontend.lower.program_builder import lower_unit
from auditor.frontend.parse import parse
from auditor.machine.scenario_code import counted_parameters, strides_over_grid


def test_loops_that_count_parameters_in_any_form() -> None:
    """What bounds a loop that waits, in its own function or in that of a caller, is told from the text of the code."""
    text = """
__device__ void wait_for(unsigned bar, int rounds) {
  for (int i = 0; i < rounds; ++i)
    asm volatile("mbarrier.try_wait.parity.shared::cta.b64 _, [%0], 0;" :: "r"(bar) : "memory");
}
__global__ void k(int few, int n, int width, int unused) {
  __shared__ unsigned long long bar;
  unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
  for (int i = 0; i < width; ++i) if (i > 3) few += i;
  if (few > 2) wait_for(at, n); else if (few < 0) wait_for(at, 3);
}
"""
    program = lower_unit(parse("t.cu", text))
    assert counted_parameters(program, program.kernels[0]) == {"n"}


def test_draw_of_a_tile_in_a_callee() -> None:
    text = """
__device__ int next_tile(int *counter) { return atomicAdd(counter, 1); }
__global__ void k(int *counter, int *out, int n) { BODY }
"""
    drawing = "for (int tile = next_tile(counter); tile < n; tile = next_tile(counter)) out[tile] = 1;"
    once = "out[next_tile(counter)] = 1; for (int i = 0; i < n; ++i) out[i] = 1;"
    for body, draws in ((drawing, True), (once, False)):
        program = lower_unit(parse("t.cu", text.replace("BODY", body)))
        assert strides_over_grid(program, program.kernels[0].entry) is draws


@pytest.mark.parametrize(
    ("text", "arch"),
    [
        ("", "sm_100a"),
        ("wgmma.fence", "sm_90a"),
        ("-arch=sm_90a", "sm_90a"),
        ("asm_90a", "sm_100a"),
        ("SM90_TMA_LOAD", "sm_90a"),
        ("MY_SM90", "sm_100a"),
        ("SM90_TMA_LOAD and tcgen05.mma", "sm_100a"),
        ("warpgroup_arrive(); umma_arrive();", "sm_100a"),
        ("warpgroup_arrive(); gumma_arrive();", "sm_90a"),
        ("for sm_103a", "sm_103a"),
        ("for sm_103a and sm_100a", "sm_100a"),
        ("for sm_103ab", "sm_100a"),
        ("tcgen05.ld.red.sync", "sm_103a"),
        ("tcgen05.ld.red.sync on sm_120a", "sm_100a"),
        ("tcgen05.ld.reduce", "sm_100a"),
    ],
)
def test_architecture_of_a_source(text: str, arch: str) -> None:
    assert guess_arch(text) == arch
