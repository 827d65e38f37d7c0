"""Long loops: rounds of the steady state are left out, and what they would have shown still shows."""

from __future__ import annotations

import pytest

from auditor.frontend import build_program
from auditor.frontend.options import Options
from auditor.machine.core import Machine
from auditor.machine.launch import Launch
from auditor.machine.rounds import Jump, Rounds, carried
from auditor.machine.steady import Steady
from auditor.trace import Trace
from auditor.values import OPAQUE, BlockInt, Ref, Vec

ROUNDS = 400
SOURCE = r"""
#include <cuda_runtime.h>
#include <cstdint>
__device__ void wait(uint32_t bar, uint32_t parity) {
  asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra D; bra L; D: }"
               :: "r"(bar), "r"(parity) : "memory");
}
struct Turn { int stage = 0; uint32_t phase = 0; };
__device__ void next(Turn& turn) { if (++turn.stage == 4) { turn.stage = 0; turn.phase ^= 1; } }
__global__ void ring(const char* src, float* out) {
  __shared__ alignas(128) unsigned char buf[4][1024];
  __shared__ uint64_t full[4], empty[4];
  uint32_t f = (uint32_t)__cvta_generic_to_shared(full), e = (uint32_t)__cvta_generic_to_shared(empty);
  uint32_t b = (uint32_t)__cvta_generic_to_shared(buf);
  if (threadIdx.x == 0) {
    for (int i = 0; i < 4; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(f + 8 * i));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" :: "r"(e + 8 * i));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    for (int tile = 0; tile < TILES; ++tile) for (int i = 0; i < PRODUCED; ++i) {
      int s = i % 4;
      wait(e + 8 * s, ((i / 4) & 1) ^ 1);
      uint32_t bytes = LAST && i == PRODUCED - 1 ? 512 : 1024;
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" :: "r"(f + 8 * s) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                   :: "r"(b + 1024 * s), "l"(src + 1024 * i), "r"(bytes), "r"(f + 8 * s) : "memory");
    }
  } else if (threadIdx.x < 32) {
    Turn turn;
    float before[4][2];
    for (int tile = 0; tile < TILES; ++tile) for (int seen = 0; seen < CONSUMED;) {
      wait(f + 8 * turn.stage, turn.phase);
      if (threadIdx.x < EARLY(seen)) out[seen] = buf[turn.stage][threadIdx.x];
      EXTRA(seen);
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(e + 8 * turn.stage) : "memory");
      next(turn);
      ++seen;
    }
  }
}
"""


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops of a few hundred rounds are long enough."""
    monkeypatch.setattr("auditor.machine.steady.START", 1000)
    monkeypatch.setattr("auditor.machine.steady.WORTH", 500)


def run(
    produced: int = ROUNDS,
    consumed: int = ROUNDS,
    *,
    steady: bool = True,
    last: int = 0,
    early: str = "32",
    extra: str = "",
    tiles: int = 1,
) -> Trace:
    """``last``: whether the last copy is too short; ``early``: lanes that read; ``extra``: what else a round does;
    ``tiles``: how often the loops are entered."""
    names = {"PRODUCED": produced, "CONSUMED": consumed, "LAST": last, "EARLY(seen)": early, "EXTRA(seen)": extra}
    names["TILES"] = tiles
    text = "".join(f"#define {name} {value}\n" for name, value in names.items()) + SOURCE
    program = build_program("ring.cu", text, Options())
    launch = Launch(program.kernels[0].entry, grid=(1, 1, 1), block=(64, 1, 1))
    return Machine(program, program.kernels[0], launch, seconds=60.0, steady=steady).run()


def kinds(trace: Trace) -> list[str]:
    return sorted(i.kind for i in trace.incidents)


def test_rounds_of_a_steady_loop_are_left_out() -> None:
    trace = run()
    assert trace.complete and kinds(trace) == ["steady"]
    assert trace.steps < 0.6 * run(steady=False).steps
    (left_out,) = (i.data["rounds"] for i in trace.incidents)
    assert ROUNDS / 2 < left_out < ROUNDS


def test_the_loop_is_found_again_in_each_tile() -> None:
    once, often = run(), run(tiles=5)
    assert often.complete and kinds(often) == ["steady"]
    assert often.steps < 5 * once.steps


@pytest.mark.parametrize("produced, consumed", [(ROUNDS, ROUNDS + 1), (ROUNDS, ROUNDS - 3), (ROUNDS + 8, ROUNDS)])
def test_a_mismatch_behind_the_steady_state_is_the_one_of_the_whole_run(produced: int, consumed: int) -> None:
    whole = kinds(run(produced, consumed, steady=False))
    assert whole
    assert set(kinds(run(produced, consumed))) - {"steady"} == set(whole)


def test_the_last_round_is_executed() -> None:
    assert "deadlock" in kinds(run(last=1))


def test_lanes_that_part_behind_the_gap_come_through_it_by_replay() -> None:
    trace = run(extra=f"if (seen == {ROUNDS - 1} && threadIdx.x < 7) __syncwarp(127)")
    assert trace.complete and kinds(trace) == ["steady"]
    exits = [e for e in trace.events if e.kind == "exit" and e.warp == 0]
    assert sorted(e.lanes.bit_count() for e in exits) == [1, 6, 25]  # lane 0 has parted before: it initialises


def test_rounds_that_differ_at_the_end_are_executed() -> None:
    trace = run(extra=f"if (seen >= {ROUNDS - 4}) __syncwarp()")
    assert trace.complete and kinds(trace) == ["steady"]


def test_rounds_behind_the_gap_that_differ_from_those_before_it_take_it_back() -> None:
    trace = run(extra=f"if (seen > {ROUNDS // 2}) __syncwarp()")
    assert trace.complete and kinds(trace) == []


def test_short_loops_are_executed_as_they_are() -> None:
    assert kinds(run(40, 40)) == []


def test_numbers_are_found_in_arrays_objects_and_behind_pointers_once() -> None:
    shared = [7, OPAQUE]
    boxes = ([1, [2, 3.5], shared], Ref(shared, 0), 9)
    assert carried((4, BlockInt(1, 38), Vec(tuple(range(32)))), boxes) == (
        (4,),
        (1, 38),
        tuple(range(32)),
        (1,),
        (7,),
        None,
        (2,),
        None,
    )


def test_a_jump_moves_what_is_carried_and_keeps_its_kind() -> None:
    box = [5, [BlockInt(2, 40)]]
    loop = Rounds(None, 1)  # type: ignore[arg-type]
    moved = loop._jump(Jump(8, ((80,), None, (16,), (8, 8))), (1, Vec((0, 1))), (box,))
    assert moved[0] == 81 and moved[1].v == (0, 1)
    assert box[0] == 21
    end = box[1][0]  # type: ignore[index]
    assert (int(end), end.other, type(end)) == (10, 48, BlockInt)


def test_a_run_that_is_never_alike_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    plain = Steady._compare

    def compare(self: Steady) -> None:
        compared.append(1)
        plain(self)

    monkeypatch.setattr("auditor.machine.steady.PATIENCE", 20)
    monkeypatch.setattr("auditor.machine.steady._shape", lambda machine: machine.steps)
    monkeypatch.setattr(Steady, "_compare", compare)
    trace = run()
    assert trace.complete and kinds(trace) == []
    assert len(compared) == 17  # the other states were looked at in search of a loop to watch


def test_what_a_comprehension_counts_with_is_not_carried() -> None:
    """Arrays that are made afresh in every round, and before the loop, count with the same name."""
    trace = run(extra="float scratch[4][2]; scratch[seen % 4][0] = 1.0f", early="__float_as_int(before[0][0])")
    assert kinds(trace) == ["steady"]
