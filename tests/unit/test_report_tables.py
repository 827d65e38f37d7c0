"""Tensor memory, tensor maps, shared memory and timeline of the realistic kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.cli_report import report_file
from auditor.config import AuditOptions
from auditor.engine import with_deep_stack
from auditor.reports.model import KernelReport, TensorMemory
from tests.unit.report_kernels import KERNELS, ROOT, kernel_report


def _tmem(stem: str) -> TensorMemory:
    tmem = kernel_report(stem).tmem
    assert tmem is not None
    return tmem


def _changed(tmp_path: Path, stem: str, old: str, new: str) -> KernelReport:
    """The report on a kernel with one thing changed."""
    text = (ROOT / f"fixtures/kernels/{stem}.cu").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "changed.cu"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return with_deep_stack(lambda: report_file(str(path), AuditOptions())).kernels[0]


def test_regions_of_attention() -> None:
    regions = {r.object: (r.lo, r.hi) for r in _tmem("attention_like").regions}
    assert regions == {
        "scores S 0": (0, 64),
        "scores S 1": (64, 128),
        "output O": (128, 192),
        "operand A (P)": (192, 224),
    }
    scores = _tmem("attention_like").regions[0]
    assert scores.completion == "commit on S_FULL" and scores.writer == "MMA by warp 5 lane 0"
    assert scores.reader == "tcgen05.ld by warps 0-3" and scores.lanes == ((0, 128),)


def test_reuse_of_attention_and_its_guards() -> None:
    guards = {(r.before, r.after): r.guard for r in _tmem("attention_like").reuses}
    assert guards["tcgen05.ld reads scores S 0", "MMA writes scores S 0"] == "P_READY"
    assert guards["MMA reads operand A (P)", "tcgen05.st writes operand A (P)"] == "O_DONE"
    assert guards["tcgen05.st writes output O", "MMA writes output O"] == "P_READY"


def test_scale_factors_are_regions_of_their_own() -> None:
    tmem = _tmem("block_scaled")
    scales = [(r.object, r.lo, r.hi) for r in tmem.regions if r.object.startswith("scale")]
    assert scales[:2] == [("scale factors of A, stage 0", 128, 132), ("scale factors of B, stage 0", 132, 136)]
    assert len(scales) == 6 and tmem.touched == 152 and tmem.waste == 104


def test_accumulators_are_guarded_by_their_barrier() -> None:
    for stem, guard in (
        ("persistent_tma_store", "ACC_EMPTY"),
        ("class_pipeline", "results.empty"),
        ("pair_two_cta", "ACC_EMPTY"),
    ):
        assert {r.guard for r in _tmem(stem).reuses} == {guard}


def test_reading_back_covers_the_whole_object() -> None:
    for stem in ("single_tile", "persistent_tma_store", "pair_two_cta", "attention_like"):
        tmem = _tmem(stem)
        widths = {r.object: r.hi - r.lo for r in tmem.regions}
        assert [(b.region, b.words) for b in tmem.read_backs] == [(b.region, widths[b.region]) for b in tmem.read_backs]


def test_waste_is_named_when_columns_are_never_touched(tmp_path: Path) -> None:
    report = _changed(tmp_path, "ring_elect", "kTmemColumns = 64", "kTmemColumns = 128")
    assert report.tmem is not None and (report.tmem.rounded, report.tmem.touched, report.tmem.waste) == (128, 64, 64)
    assert report.tmem.allocations[0].needed == 64
    assert any("64 allocated columns" in risk for risk in report.risks)


def test_swizzle_of_the_host_against_that_of_the_kernel(tmp_path: Path) -> None:
    report = _changed(tmp_path, "ring_elect", "desc |= uint64_t(2) << 61;", "desc |= uint64_t(4) << 61;")
    differ = [(m.name, c.item, c.host, c.kernel) for m in report.maps for c in m.checks if c.verdict == "differ"]
    assert differ == [
        ("map_a", "swizzle (operand A of mma)", "128 bytes", "64 bytes"),
        ("map_b", "swizzle (operand B of mma)", "128 bytes", "64 bytes"),
    ]
    assert any("Host and kernel differ in 2 items" in text for text in report.conclusion)


def test_bytes_of_the_host_against_those_of_the_kernel(tmp_path: Path) -> None:
    report = _changed(tmp_path, "ring_elect", "barrier_expect(sh.full[stage], sizeof(Stage));",
                      "barrier_expect(sh.full[stage], sizeof(Stage) / 2);")  # fmt: skip
    assert report.verdict == "findings" and report.problems


@pytest.mark.parametrize("stem", KERNELS)
def test_shared_memory_and_ctas_of_an_sm(stem: str) -> None:
    shared = kernel_report(stem).shared
    assert shared.total == shared.static + shared.dynamic + 1024
    assert shared.ctas_per_sm == min(n for _, n in shared.bounds) >= 1
    assert not shared.dynamic_chosen


@pytest.mark.parametrize("stem", KERNELS)
def test_timeline_shows_copies_and_the_threads_that_issue_them(stem: str) -> None:
    timeline = kernel_report(stem).timeline
    kinds = {span.kind for row in timeline.rows for span in row.spans}
    assert kinds >= {"issue", "flight", "wait", "arrive"}
    assert all(0 <= span.start < span.end <= timeline.end + 1 for row in timeline.rows for span in row.spans)
    assert 4 <= len(timeline.rows) <= 14


@pytest.mark.parametrize("stem", KERNELS)
def test_trip_counts_stand_around_the_ring_depth(stem: str) -> None:
    report = kernel_report(stem)
    depth = max(r.depth for r in report.rings if r.space == "shared" and r.ready.split("[")[0] in
                {b.name for b in report.barriers})  # fmt: skip
    trial = next(t for t in report.trials if t.name == "trip counts around the ring depth")
    assert f"{depth} stage" in trial.why
    assert report.falsifier and report.fallback
