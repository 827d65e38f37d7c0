"""Plans of attention kernels: arithmetic, refusals, and skeletons that keep to their plan."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from auditor.cli import main
from auditor.plans import plan_json
from auditor.plans.attention import plan_attention
from auditor.plans.attention_emit import emit_attention
from auditor.plans.attention_spec import AttentionSpec
from auditor.plans.nearest import nearest_attention
from auditor.plans.spec import PlanError
from auditor.plans.toml import read_plan
from auditor.ptx.descriptors import InstructionDescriptor, MatrixDescriptor, operand_footprint
from tests.plans.agree import NVCC, assembles, check, differences
from tests.plans.grid import attention_grid
from tests.unit.report_kernels import kernel_report
from tests.unit.test_report_formats import violations

GRID = attention_grid()


def test_the_grid_is_large() -> None:
    assert len(GRID) >= 100


@pytest.mark.parametrize("spec", GRID[3::70], ids=AttentionSpec.words)
def test_skeletons_agree_with_their_plans(spec: AttentionSpec, tmp_path: Path) -> None:
    """A few of the grid; ``python -m tests.plans`` checks all of it."""
    check(spec, tmp_path)


@pytest.mark.skipif(NVCC is None, reason="no nvcc here")
@pytest.mark.parametrize("spec", GRID[:: len(GRID) // 3], ids=AttentionSpec.words)
def test_skeletons_compile_without_spills(spec: AttentionSpec, tmp_path: Path) -> None:
    assert assembles(spec, tmp_path) == ""


def test_p_over_s_waits_for_the_mma_that_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The one wait that the alias costs is what PTX asks for: without it a strict audit objects."""
    path = tmp_path / "planned.cu"
    text = emit_attention(plan_attention(AttentionSpec(n=64, d=64)))
    without = re.sub(r"        wait\(sh\.o_full\[tile\], kb % 2\);  // P has been read.*\n", "", text)
    assert text != without
    for source, told in ((text, False), (without, True)):
        path.write_text(source, encoding="utf-8")
        main([str(path), "--strict"])
        assert ("note[BW311]" in capsys.readouterr().out) is told


def test_an_early_wait_for_the_last_sum_would_be_found(tmp_path: Path) -> None:
    """Sums have a barrier of their own: on that of the factors softmax would be two phases ahead of correction."""
    path = tmp_path / "planned.cu"
    text = emit_attention(plan_attention(AttentionSpec(n=64, d=64)))
    shared = text.replace("arrive_of_warp(sh.sum_full[tile])", "arrive_of_warp(sh.factor_full[tile])")
    path.write_text(shared.replace("wait(sh.sum_full[tile], 0)", "wait(sh.factor_full[tile], blocks % 2)"))
    assert main([str(path)]) == 1


def test_arithmetic_of_two_tiles() -> None:
    plan = plan_attention(AttentionSpec(256, 128, 128))
    assert (plan.q_bytes, plan.kv_bytes, plan.stages) == (32768, 32768, 2)
    assert plan.shared_bytes == 6 * 32768 + 2 * 2 * 128 * 4 + 8 * (8 + 12) + 8
    assert plan.columns == plan.columns_used == 512 and plan.threads == 512
    assert [(r.name, r.lo, r.hi) for r in plan.regions[:2]] == [("operand A (P) 0", 0, 64), ("scores S 0", 0, 128)]
    assert {b.name: b.init_count for b in plan.barriers}["p_full"] == 8
    assert sum(r.registers * (r.end - r.first) * 32 for r in plan.roles) == 65536


def test_p_in_columns_of_its_own() -> None:
    plan = plan_attention(AttentionSpec(256, 64, 128, p="own"))
    assert plan.possible and plan.columns_used == 2 * (64 + 128 + 32)
    assert plan_attention(AttentionSpec(128, 128, 128, "e4m3", p="own")).columns_used == 128 + 128 + 32


@pytest.mark.parametrize("dtype", ["bf16", "e4m3"])
def test_descriptors_read_what_the_copies_bring(dtype: str) -> None:
    plan = plan_attention(AttentionSpec(128, 64, 256, dtype))
    scores, output = plan.mmas
    bits = 8 if dtype == "e4m3" else 16
    decoded = InstructionDescriptor.decode(output.instruction, plan.kind)
    assert (decoded.m, decoded.n, decoded.b_major, decoded.d_type) == (128, 256, "MN", "f32")
    v = MatrixDescriptor.decode(output.matrix)
    read = {
        byte
        for i in range(output.count)
        for lo, hi in operand_footprint(replace(v, start=v.start + i * output.step), 256, scores.step, "MN", bits)
        for byte in range(lo, hi, 16)
    }
    assert read == set(range(0, plan.kv_bytes, 16))


@pytest.mark.parametrize(
    ("spec", "reason", "changed"),
    [
        (AttentionSpec(p="own"), "1024 columns of tensor memory are needed", {"p": "alias"}),
        (AttentionSpec(stages=5), "5 stages of K and V do not fit", {"stages": None}),
        (AttentionSpec(m=64), "a softmax warpgroup has a thread for each of 128 queries", {"m": 128}),
        (AttentionSpec(d=100), "cannot be written in an instruction descriptor", {"d": 96}),
        (AttentionSpec(m=128, n=256, d=64), "all 256 scores of its row", {"p": "own"}),
        (AttentionSpec(n=40), "K = 40 is not a multiple of 16", {"n": 48}),
    ],
)
def test_impossible_plans_are_refused_with_the_nearest_possible(
    spec: AttentionSpec, reason: str, changed: dict[str, int | str | None]
) -> None:
    assert any(reason in text for text in plan_attention(spec).reasons)
    near = nearest_attention(spec)
    assert near is not None and near.spec == replace(spec, **changed)  # type: ignore[arg-type]


def test_waste_is_warned_of() -> None:
    assert any("columns of its own" in text for text in plan_attention(AttentionSpec(n=96, d=64)).warnings)
    assert any("two tiles take turns" in text for text in plan_attention(AttentionSpec(m=128)).warnings)
    assert any("never fetched ahead" in text for text in plan_attention(AttentionSpec(stages=1)).warnings)


def test_requests_of_the_wrong_form() -> None:
    for wrong in ({"dtype": "tf32"}, {"p": "shared"}, {"stages": 0}, {"arch": "sm_90a"}, {"d": 0}):
        with pytest.raises(PlanError):
            AttentionSpec(**wrong)


TOML = """
[attention]
tile = "256x64x64"
dtype = "f16"
p = "own"
stages = 2
"""


def test_command_and_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toml, kernel = tmp_path / "plan.toml", tmp_path / "kernel.cu"
    toml.write_text(TOML, encoding="utf-8")
    assert read_plan(str(toml)) == AttentionSpec(256, 64, 64, "f16", p="own", stages=2)
    assert main(["plan", "attention", "--from", str(toml), "--emit", str(kernel), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["possible"] and document["plan"]["kvBytes"] == 64 * 128
    assert main(["plan", "diff", str(toml), str(kernel)]) == 0
    assert "differ" not in capsys.readouterr().out
    toml.write_text(TOML.replace("256x64x64", "128x64x64"), encoding="utf-8")
    assert main(["plan", "diff", str(toml), str(kernel)]) == 1
    assert re.search(r"regions of S +1 +2 +differ", capsys.readouterr().out)
    assert main(["plan", "gemm", "--from", str(toml)]) == 2
    assert main(["plan", "attention", "--tile", "256x128x128", "--format", "markdown"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# plan attention") and "| scores S 1 | 128-255 |" in out
    assert main(["plan", "attention", "--p", "own"]) == 1
    assert "The nearest possible plan has p = alias" in capsys.readouterr().out
    toml.write_text("[gemm]\nm = 128\n[attention]\nm = 128\n", encoding="utf-8")
    with pytest.raises(PlanError, match="both"):
        read_plan(str(toml))


def test_departures_of_a_kernel_written_by_hand() -> None:
    """The fixture has one tile, threads that arrive each for themselves, and P apart from two S."""
    found = differences(plan_attention(AttentionSpec(128, 64, 64, p="own", stages=2)), kernel_report("attention_like"))
    assert {c.item for c in found if c.verdict != "agree"} == {
        "dynamic shared memory in bytes",
        "regions of S",
        "arrivals that announce P",
        "columns in use",
    }


@pytest.mark.parametrize(
    "request_", [["gemm"], ["gemm", "--accumulators", "5"], ["attention"], ["attention", "--p", "own"]], ids=" ".join
)
def test_json_keeps_to_the_published_schema(request_: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["plan", *request_, "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    assert violations(document, plan_json.schema(), plan_json.schema()) == []
    assert document["possible"] is (code == 0) is (document["nearest"] is None)
