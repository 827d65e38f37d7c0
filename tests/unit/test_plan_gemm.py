"""Plans of GEMM kernels: arithmetic, refusals, and skeletons that keep to their plan."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from auditor.cli import main
from auditor.plans.gemm import plan_gemm
from auditor.plans.kinds import KINDS, instruction_descriptor, matrix_descriptor
from auditor.plans.nearest import nearest
from auditor.plans.spec import GemmSpec, PlanError, parse_tile
from auditor.plans.toml import read_plan
from auditor.ptx.descriptors import InstructionDescriptor, MatrixDescriptor
from tests.plans.agree import NVCC, assembles, check, differences
from tests.plans.grid import gemm_grid
from tests.unit.report_kernels import kernel_report

GRID = gemm_grid()


def test_the_grid_is_large() -> None:
    assert len(GRID) >= 800
    assert {spec.dtype for spec in GRID} == {"bf16", "f16", "e4m3", "tf32", "mxf8", "mxf4", "nvf4"}
    assert {(spec.m, spec.cta_group) for spec in GRID} == {(64, 1), (128, 1), (128, 2), (256, 2)}


@pytest.mark.parametrize("spec", GRID[17::100], ids=GemmSpec.words)
def test_skeletons_agree_with_their_plans(spec: GemmSpec, tmp_path: Path) -> None:
    """A few of the grid; ``python -m tests.plans`` checks all of it."""
    check(spec, tmp_path)


@pytest.mark.skipif(NVCC is None, reason="no nvcc here")
@pytest.mark.parametrize("spec", GRID[:: len(GRID) // 5], ids=GemmSpec.words)
def test_skeletons_compile(spec: GemmSpec, tmp_path: Path) -> None:
    assert assembles(spec, tmp_path) == ""


def test_arithmetic_of_a_plain_plan() -> None:
    plan = plan_gemm(GemmSpec(128, 256, 64))
    assert (plan.a_bytes, plan.b_bytes, plan.stage_bytes) == (16384, 32768, 49152)
    assert plan.stages == 4 and plan.shared_bytes == 4 * 49152 + 8 * (8 + 4) + 8
    assert plan.columns == plan.columns_used == 512 and plan.mma_k == 16 and plan.mmas_per_stage == 4
    assert [m.box for m in plan.maps] == [(64, 128), (64, 256)]


def test_a_pair_halves_both_operands_and_expects_the_bytes_of_both() -> None:
    plan = plan_gemm(GemmSpec(256, 256, 64, cta_group=2))
    assert (plan.a_bytes, plan.b_bytes, plan.expected_bytes) == (16384, 16384, 65536)
    assert next(b.init_count for b in plan.barriers if b.name == "acc_empty") == 8


def test_columns_are_rounded_to_powers_of_two() -> None:
    assert plan_gemm(GemmSpec(n=96, accumulators=2)).columns == 256
    assert plan_gemm(GemmSpec(n=16, accumulators=1)).columns == 32


def test_scale_factors_take_columns_of_every_stage() -> None:
    plan = plan_gemm(GemmSpec(k=128, dtype="mxf8", accumulators=1, stages=3))
    assert plan.scale_bytes == 2 * 512 and plan.possible
    assert [(r.lo, r.hi) for r in plan.regions[1:3]] == [(128, 132), (132, 136)]
    assert plan.columns_used == 152 and plan.columns == 256 and plan.instruction == 0x08A0_0000


@pytest.mark.parametrize("name", sorted(KINDS))
def test_descriptors_decode_to_what_was_meant(name: str) -> None:
    kind = KINDS[name]
    decoded = InstructionDescriptor.decode(instruction_descriptor(kind, 128, 64, "f32"), kind.kind)
    assert (decoded.m, decoded.n, decoded.d_type) == (128, 64, "f32")
    assert decoded.problems(arch="sm_100a", scale_vec=kind.vector) == []
    for span in (32, 64, 128):
        matrix = MatrixDescriptor.decode(matrix_descriptor(span))
        assert (matrix.span, matrix.sbo, matrix.problems()) == (span, 8 * span, [])


@pytest.mark.parametrize(
    ("spec", "reason", "changed"),
    [
        (GemmSpec(n=256, accumulators=3), "1024 columns of tensor memory are needed", {"accumulators": 2}),
        (GemmSpec(stages=12), "12 stages do not fit", {"stages": None}),
        (GemmSpec(k=24), "K = 24 is not a multiple of 16", {"k": 32}),
        (GemmSpec(n=130), "cannot be written in an instruction descriptor", {"n": 128}),
        (GemmSpec(dtype="tf32", acc="f16"), "f32 accumulators only", {"acc": "f32"}),
        (GemmSpec(n=40, epilogue="tma"), "not a multiple of the staging row", {"n": 32}),
        (GemmSpec(n=256, accumulators=2, ctas_per_sm=2), "2 CTAs of 512 columns", {"n": 128}),
    ],
)
def test_impossible_plans_are_refused_with_the_nearest_possible(
    spec: GemmSpec, reason: str, changed: dict[str, int | str | None]
) -> None:
    plan = plan_gemm(spec)
    assert any(reason in text for text in plan.reasons)
    near = nearest(spec)
    assert near is not None and near.possible
    assert near.spec == replace(spec, **changed)  # type: ignore[arg-type]


def test_waste_is_warned_of() -> None:
    assert any("never used" in text for text in plan_gemm(GemmSpec(n=80)).warnings)
    assert any("one stage" in text for text in plan_gemm(GemmSpec(stages=1)).warnings)


def test_requests_of_the_wrong_form() -> None:
    assert parse_tile("128x256x64") == (128, 256, 64)
    for bad in ("128", "128x64", "axbxc"):
        with pytest.raises(PlanError):
            parse_tile(bad)
    for wrong in ({"dtype": "int4"}, {"cta_group": 3}, {"stages": 0}, {"arch": "sm_90a"}, {"m": 0}):
        with pytest.raises(PlanError):
            GemmSpec(**wrong)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "kernel.cu"
    assert main(["plan", "gemm", "--tile", "128x128x64", "--emit", str(out), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["possible"] and document["plan"]["stageBytes"] == 32768
    assert "planned_gemm" in out.read_text(encoding="utf-8")
    assert main(["plan", "gemm", "--tile", "128x256x64", "--accumulators", "3"]) == 1
    assert "accumulators = 2" in capsys.readouterr().out
    assert main(["plan", "gemm", "--tile", "odd"]) == 2
    assert main(["plan", "gemm", "--dtype", "mxf8", "--tile", "128x128x128", "--emit", str(out / "none")]) == 2


# ---- TOML and comparison with a kernel ----------------------------------------------------------------------------

TOML = """
[gemm]
tile = "128x128x64"
dtype = "f16"
out = "f16"
stages = 3
epilogue = "tma"
"""


def test_plan_from_toml(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(TOML, encoding="utf-8")
    assert read_plan(str(path)) == GemmSpec(dtype="f16", out="f16", stages=3, epilogue="tma")
    for text, wrong in (
        ("[other]", "no table"),
        ("[gemm]\ndepth = 3", "no key 'depth'"),
        ("[gemm]\nacc = 1", "not of type"),
        ("[gemm", "plan.toml"),
        ("[gemm]\ndtype = 'int4'", "dtype is 'int4'"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(PlanError, match=wrong):
            read_plan(str(path))


def test_a_kernel_against_its_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(TOML, encoding="utf-8")
    kernel = tmp_path / "kernel.cu"
    assert main(["plan", "gemm", "--from", str(path), "--emit", str(kernel)]) == 0
    capsys.readouterr()
    assert main(["plan", "diff", str(path), str(kernel)]) == 0
    assert "differ" not in capsys.readouterr().out
    path.write_text(
        TOML.replace("stages = 3", "stages = 4").replace('tile = "128x128', 'tile = "128x64'), encoding="utf-8"
    )
    assert main(["plan", "diff", str(path), str(kernel)]) == 1
    out = capsys.readouterr().out
    assert re.search(r"stages of operands +4 +3 +differ", out) and re.search(
        r"arrivals of a full stage +1 +1 +agree", out
    )


def test_departures_of_a_kernel_written_by_hand() -> None:
    """The persistent kernel of the fixtures is what this plan asks for, but for where its barriers lie."""
    plan = plan_gemm(GemmSpec(dtype="f16", out="f16", stages=3, epilogue="tma"))
    found = differences(plan, kernel_report("persistent_tma_store"))
    assert [c.item for c in found if c.verdict != "agree"] == []


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (GemmSpec(k=64, dtype="mxf8"), "a block of scale factors holds four of each row"),
        (GemmSpec(128, 128, 128, "mxf8", cta_group=2), "planned with M = 256 only"),
        (GemmSpec(128, 96, 64, out="bf16", cta_group=2, epilogue="tma"), "an accumulator of 48 columns"),
    ],
)
def test_limits_of_scale_factors_and_folded_accumulators(spec: GemmSpec, reason: str) -> None:
    assert any(reason in text for text in plan_gemm(spec).reasons)
    near = nearest(spec)
    assert near is not None and near.possible


def test_stages_are_as_many_as_their_scale_factors_have_columns_for() -> None:
    plan = plan_gemm(GemmSpec(n=192, k=256, dtype="nvf4", accumulators=2))
    assert plan.possible and plan.stages == 2  # 384 columns of accumulators, 48 a stage; shared memory holds more
    assert max(f.stages for f in plan.fittings) > 2
    assert [(r.name, r.hi - r.lo) for r in plan.regions[2:4]] == [
        ("scale factors of A, stage 0", 16),
        ("scale factors of B, stage 0", 32),
    ]


def test_a_plan_is_drawn_and_tells_what_scale_factors_need(capsys: pytest.CaptureFixture[str]) -> None:
    request = ["--tile", "128x192x256", "--dtype", "nvf4", "--accumulators", "1"]
    assert main(["plan", "gemm", *request]) == 0
    out = capsys.readouterr().out
    assert "kind::mxf4nvf4.block_scale.scale_vec::4X" in out and "tcgen05.cp.cta_group::1.32x128b.warpx4" in out
    assert "|" + "A" * 24 + "BBCCCCDDEEEEFFGGGGHHIIII" + "-" * 16 + "|" in out
    assert "the next tile waits for acc_empty" in out
    assert main(["plan", "gemm", "--tile", "64x96x64", "--format", "markdown"]) == 0
    assert "16 of them hold a row" in capsys.readouterr().out


def test_staging_buffers_lie_on_the_period_of_their_swizzle(tmp_path: Path) -> None:
    """Five stages with scale factors of an odd number of 512 bytes, and stages of B of 512 bytes."""
    check(GemmSpec(256, 256, 128, "mxf8", out="f16", cta_group=2, epilogue="tma", accumulators=1), tmp_path)
    check(GemmSpec(256, 32, 16, "bf16", out="f32", cta_group=2, stages=3, epilogue="tma"), tmp_path)
