"""The ledger, rings and columns of the realistic kernels against their own head comments."""

from __future__ import annotations

import re

import pytest

from tests.unit.report_kernels import KERNELS, ROOT, barrier, kernel_report, ring


def head(stem: str, topic: str) -> str:
    """What a kernel's head comment says about a topic, in one line."""
    text = (ROOT / f"fixtures/kernels/{stem}.cu").read_text(encoding="utf-8")
    found = re.search(rf"^// {topic}:(.*(?:\n// {{6,}}.*)*)", text, re.MULTILINE)
    return re.sub(r"\s*\n//\s*", " ", found[1]).strip() if found else ""


def told_barriers(stem: str) -> list[tuple[str, int, int]]:
    """(name, stages, count) of each barrier in the head comment."""
    constants = dict(re.findall(r"\b([A-Z]+) = (\d+)", head(stem, "ring")))
    out = []
    for name, size, inside in re.findall(r"([A-Za-z_.]+)(?:\[(\w+)\])? \(([^)]*)", head(stem, "barriers")):
        count = re.search(r"count (\d+)", inside) or re.match(r"(\d+)", inside)
        assert count is not None
        out.append((name.split(".")[-1], int(constants.get(size, size or 1)), int(count[1])))
    return out


def _groups(stem: str) -> list[tuple[str, int, int]]:
    """The same from the ledger; constants for offsets in shared memory are called OFF_* in one of the kernels."""
    rows = kernel_report(stem).barriers
    return [(row.name.split(".")[-1].removeprefix("OFF_"), row.stages, row.init_count) for row in rows]


@pytest.mark.parametrize("stem", KERNELS)
def test_barriers_agree_with_the_head_comment(stem: str) -> None:
    assert sorted(_groups(stem)) == sorted(told_barriers(stem))


@pytest.mark.parametrize("stem", KERNELS)
def test_allocated_columns_agree_with_the_head_comment(stem: str) -> None:
    told = re.search(r"(\d+) columns", head(stem, "tmem"))
    tmem = kernel_report(stem).tmem
    assert (tmem.rounded if tmem is not None else None) == (int(told[1]) if told else None)


@pytest.mark.parametrize("stem", [stem for stem in KERNELS if "stages of" in head(stem, "ring")])
def test_ring_agrees_with_the_head_comment(stem: str) -> None:
    told = re.search(r"(\d+) stages of (\d+) KiB", head(stem, "ring"))
    assert told is not None
    rings = [r for r in kernel_report(stem).rings if r.space == "shared" and r.free != "none"]
    assert (int(told[1]), int(told[2]) * 1024) in [(r.depth, r.stage_size) for r in rings]


@pytest.mark.parametrize("stem", KERNELS)
def test_every_phase_gets_the_bytes_and_arrivals_that_it_expects(stem: str) -> None:
    for row in kernel_report(stem).barriers:
        assert row.expected_bytes == row.delivered_bytes, row.name
        assert sum(a.count for a in row.arrivals) == row.init_count, row.name


@pytest.mark.parametrize("stem", KERNELS)
def test_every_kernel_is_found_clean_and_its_maps_agree(stem: str) -> None:
    report = kernel_report(stem)
    assert report.verdict == "clean"
    assert [c for m in report.maps for c in m.checks if c.verdict != "agree"] == []


def test_producer_and_consumer_start_on_opposite_parities() -> None:
    report = kernel_report("ring_elect")
    full, empty = barrier(report, "full"), barrier(report, "empty")
    assert full.waiters[0].parities == (0, 1, 0) and not full.waiters[0].starts_free
    assert empty.waiters[0].parities == (1, 0, 1) and empty.waiters[0].starts_free
    assert full.arrivals[0].how == "arrive.expect_tx" and full.arrivals[0].threads == "warp 0 elected lane"
    assert empty.arrivals[0].how == "tcgen05.commit" and empty.resources == ("sh.stage.a free", "sh.stage.b free")


def test_names_of_barriers_in_an_enum_are_told_apart() -> None:
    report = kernel_report("attention_like")
    assert [f"{row.name}:{row.stages}" for row in report.barriers] == [
        "Q_FULL:1", "K_FULL:2", "K_EMPTY:2", "V_FULL:2", "V_EMPTY:2", "S_FULL:2", "O_DONE:1", "P_READY:1",
    ]  # fmt: skip
    ready = barrier(report, "P_READY")
    assert ready.arrivals[0].count == 128 and ready.arrivals[0].threads == "warps 0-3"
    assert set(ready.resources) >= {"operand A (P) readable", "output O free"}


def test_barriers_of_a_pair_name_the_cta_that_uses_them() -> None:
    report = kernel_report("pair_two_cta")
    full, empty, free = (barrier(report, name) for name in ("FULL", "EMPTY", "ACC_EMPTY"))
    assert full.scope == empty.scope == free.scope == "cluster"
    assert full.ctas == free.ctas == "only that of CTA 0 is used" and empty.ctas == "one in each CTA"
    assert full.expected_bytes == 2 * 24 * 1024
    assert {(a.how, a.count) for a in free.arrivals} == {("arrive", 4), ("arrive, remote", 4)}


def test_ring_tells_prologue_steady_state_and_drain() -> None:
    loads = ring(kernel_report("pair_two_cta"), "FULL")
    assert (loads.prologue, loads.rounds) == (3, 12)
    assert loads.drain == "the filling thread waits for EMPTY 3 more times"
    accumulators = ring(kernel_report("class_pipeline"), "full")
    assert accumulators.free == "loads.empty[4]" and accumulators.prologue == 4


def test_staging_buffers_of_stores_are_a_ring_of_bulk_groups() -> None:
    staging = next(r for r in kernel_report("persistent_tma_store").rings if r.name == "staging")
    assert (staging.depth, staging.stage_size, staging.free) == (2, 16384, "wait_group.read 1, wait_group 0")
