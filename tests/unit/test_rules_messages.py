"""What findings of the mbarrier and copy rules say: role, barrier, the other operation, a repair."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from auditor.config import AuditOptions
from auditor.engine import audit_file
from auditor.findings import Finding, Level
from auditor.machine.launch import TensorMap
from auditor.registry import get
from auditor.values import OPAQUE

FIXTURES = Path(__file__).parents[2] / "fixtures"


@cache
def finding(code: str, name: str, strict: bool = False) -> Finding:
    result = audit_file(str(FIXTURES / code / f"{name}.cu"), AuditOptions(strict=strict))
    assert not result.failure
    found = [f for f in result.findings if f.code == code]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("code", "name", "message", "hint"),
    [
        ("BW101", "bad_trip_counts_differ",
         "warps 0 to 3 wait forever for phase 1 (parity 1) of mbarrier full[0]: phase 1 has 0 of 1 arrival, and warp 4 "
         "lane 0, the only one to arrive on it, has ended after 1 round", "the same number of rounds"),
        ("BW101", "bad_masked_tile_skipped", "mbarrier landed[2]: nothing in the kernel arrives on it",
         "missing arrive"),
        ("BW102", "bad_consumer_starts_at_one",
         "on mbarrier landed.word uses parity 1, which a fresh barrier satisfies at once",
         "start this side with parity 0"),
        ("BW102", "bad_loader_starts_at_zero", "on mbarrier empty[0] uses parity 0 and hangs", "with parity 1"),
        ("BW103", "bad_parity_of_iteration", "the 1st wait of warp 0 lane 0 uses parity 1, but phase 0 has parity 0",
         "when the stage index wraps after 3 stages"),
        ("BW104", "bad_barrier_used_twice", "keeps phase 1", "before mbarrier"),
        ("BW105", "bad_every_lane_arrives", "warp 1 makes 32 arrivals on mbarrier written.word when 1 is pending",
         "or let one lane of each warp arrive"),
        ("BW105", "bad_count_of_threads", "is initialised for 128 arrivals a phase but gets 4", "initialise it with 4"),
        ("BW106", "bad_one_operand_counted", "expects 2,048 bytes in phase 0, but its copies deliver 4,096 (2 x 2,048)",
         "expect 4,096 bytes"),
        ("BW107", "bad_last_empty_not_initialised", "as an mbarrier, which nobody has initialised", "every stage"),
        ("BW108", "bad_init_in_loop", "again while it is live", "initialise once"),
        ("BW109", "bad_wait_after_inval", "which is invalidated by", "behind the last use"),
        ("BW110", "bad_no_block_barrier", "with nothing that orders it after the init by", "__syncthreads()"),
        ("BW110", "bad_peer_not_told", "mbarrier word of CTA 1", "fence.mbarrier_init.release.cluster"),
        ("BW112", "bad_counter_as_parity", "has parity operand 2", "& 1"),
        ("BW113", "bad_result_ignored", "goes on although the answer may be no", "until it returns true"),
        ("BW114", "bad_one_element_too_far", "where mbarrier board.counted.word lives", "mbarrier.inval"),
        ("BW115", "bad_arrive_then_expect", "has completed phase 0", "arrive.expect_tx"),
        ("BW201", "bad_one_warp_waits", "warp 0 waited on mbarrier landed, but warp 1 neither waited on it",
         "let warp 1 wait on mbarrier landed too"),
        ("BW201", "bad_cp_async_group_count", "leaves the newest group in flight", "with a smaller count"),
        ("BW202", "bad_released_before_the_read",
         "warp 1 arrives on mbarrier ring.empty[0].word at line 57, before that read",
         "after the last read of the stage"),
        ("BW204", "bad_whole_warp_copies", "32 lanes of warp 0 issue the same bulk copy", "elect.sync"),
        ("BW205", "bad_one_group_too_many_left", "leaves the 2 newest groups in flight", "one group fewer"),
        ("BW207", "bad_last_thread_waits", "by warp 3 lane 31 waits for nothing", "let warp 0 lane 0 wait"),
        ("BW208", "bad_other_thread_commits", "is not committed to a group by that thread", "commit_group"),
        ("BW209", "bad_global_scratch", "of global memory through the async proxy", "fence.proxy.async.global"),
        ("BW211", "bad_header_of_24_bytes", "bulk copy of 24 bytes by warp 0 lane 0: the size is not a multiple of 16",
         "copy 32 bytes"),
        ("BW213", "bad_size_of_double", "past the end of the block's shared memory", "shared array"),
        ("BW214", "bad_map_in_struct_by_value", "parameter params holds a tensor map by value",
         "const __grid_constant__ Params params"),
        ("BW217", "bad_ticket_after_read_wait", "the wait at line 26 is wait_group.read", "without .read"),
        ("BW219", "bad_second_half_too_low", "is in flight to it", "offsets"),
        ("BW319", "bad_stride_of_other_swizzle", "are 512 bytes apart, and the stride offset says 256", "32 in units"),
        ("BW319", "bad_box_narrower_than_span", "its rows are 32 bytes apart", "inner side of the box 64 bytes"),
        ("BW319", "bad_k_step_too_long", "from byte 48 of a row reaches past its 64 bytes", "32 bytes a step"),
    ],
)  # fmt: skip
def test_message_and_hint(code: str, name: str, message: str, hint: str) -> None:
    found = finding(code, name)
    assert message in found.message
    assert hint in found.hint


def test_related_places_and_story() -> None:
    found = finding("BW202", "bad_released_before_the_read")
    assert any("load by warp 1, which nothing orders before the copy" in place.message for place in found.related)
    steps = [step.message for step in found.flow]
    assert steps[0] == "warp 1 lets others go on: arrive on mbarrier ring.empty[0].word" or "load by warp 1" in steps[0]
    assert steps[-1].endswith("overwrites the same bytes")
    assert dict(found.context)["stage"] == "ring.full[0].word"


def test_deadlock_names_every_blocked_role() -> None:
    found = finding("BW101", "bad_exchange_waits_first")
    assert "blocked as well: warp 1 for phase 0 (parity 0) of mbarrier written[0].word" in found.message
    assert "arrives on mbarrier written[1].word before it waits" in found.hint


def test_levels_of_the_proxy_fence_rules() -> None:
    assert finding("BW210", "bad_loads_in_flight_at_release").level is Level.WARNING
    assert finding("BW210", "good_used_before_release", strict=True).level is Level.NOTE
    assert finding("BW209", "good_issuer_fences", strict=True).level is Level.NOTE


def tensor_map(**changes: object) -> TensorMap:
    members: dict[str, object] = {
        "name": "map", "data_type": 7, "rank": 2, "address": 1 << 20, "dims": (64, 64), "strides": (256,),
        "box": (32, 8), "element_strides": (1, 1), "interleave": 0, "swizzle": 3,
    }  # fmt: skip
    return TensorMap(**(members | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, None),
        ({"address": OPAQUE, "dims": (OPAQUE, 64), "strides": (OPAQUE,)}, None),
        ({"dims": (20, 4)}, None),  # a box larger than the tensor is fine
        ({"strides": (128,)}, None),  # and so are overlapping rows
        ({"rank": 6}, "rank 6"),
        ({"interleave": 1}, "rank 3 or more"),
        ({"address": (1 << 20) + 8}, "8 bytes past a multiple of 16"),
        ({"dims": (0, 64)}, "globalDim[0] is 0"),
        ({"strides": (260,)}, "globalStrides[0] is 260 bytes"),
        ({"box": (32, 0)}, "boxDim[1] is 0"),
        ({"box": (32, 257)}, "boxDim[1] is 257"),
        ({"element_strides": (1, 9)}, "elementStrides[1] is 9"),
        ({"box": (3, 8), "swizzle": 0}, "12 bytes, not a multiple of 16"),
        ({"box": (64, 8)}, "more than the 128 bytes of its swizzle"),
        ({"box": (16, 8), "swizzle": 1}, "more than the 32 bytes of its swizzle"),
        ({"data_type": 2, "oob_fill": 1}, "floating-point"),
        ({"data_type": 14, "box": (64, 8), "dims": (128, 8), "strides": (64,)}, "padded types need 128"),
        ({"box": (256, 256), "swizzle": 0}, "larger than shared memory"),
    ],
)
def test_what_the_driver_rejects(changes: dict[str, object], problem: str | None) -> None:
    import sys

    problems = sys.modules[type(get("BW215")).__module__].problems
    found = [text for text, _ in problems(tensor_map(**changes))]
    assert (found == []) if problem is None else any(problem in text for text in found)


def test_a_kernel_without_a_body_is_noted_for_the_architecture_that_lacks_it(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text(
        "__global__ void k(float* out)\n{\n#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000\n"
        "    out[threadIdx.x] = 1;\n#endif\n}\n"
    )

    def codes(arch: str, strict: bool) -> list[tuple[str, Level]]:
        found = audit_file(str(source), AuditOptions(arches=(arch,), strict=strict)).findings
        return [(f.code, f.level) for f in found]

    assert codes("sm_90a", strict=True) == [("BW003", Level.NOTE)]
    assert codes("sm_90a", strict=False) == []
    assert codes("sm_100a", strict=True) == []
