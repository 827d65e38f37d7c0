"""Which runs are made of a kernel, with and without a launch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from auditor.machine.host_facts import HostFacts, HostLaunch, HostRun
from auditor.machine.launch import TensorMap
from auditor.machine.scenario import ScenarioSettings, plan
from auditor.machine.scenario_shape import guess_block, last_cluster
from auditor.machine.scenario_values import DEEP, LARGE, LONG, RAGGED, SINGLE, TYPICAL, by_name, meaning, reduced
from auditor.program import Kernel, Layout, Param, Program, ScalarType, SharedVar
from auditor.ptx.grammar import parse_asm
from auditor.source import Loc
from auditor.values import GLOBAL_WINDOW, OPAQUE

PLACE = Loc("gemm.cu", 7)
INT = Layout("int", 4, 4, scalar=ScalarType("int", 32, True))
BOOL = Layout("bool", 1, 1, scalar=ScalarType("int", 8))
POINTER = Layout("float *", 8, 8, scalar=ScalarType("pointer", 64))
MAP = Layout("CUtensorMap", 128, 64)
PARAMS = Layout(
    "Params", 256, 64, fields=(("map", 0, MAP), ("sizes", 128, Layout("int[2]", 8, 4, element=INT, count=2)),
                               ("k_blocks", 136, INT), ("causal", 140, BOOL), ("out", 144, POINTER)),
)  # fmt: skip


def param(name: str, kind: str = "int", type_name: str = "int", size: int = 4, **more: Any) -> Param:
    return Param(name, kind, type_name, size, **more)


def kernel(*params: Param, **more: Any) -> Kernel:
    return Kernel("k", "k", "k", params, more.pop("shared", ()), PLACE, **more)


def program(of: Kernel, python: str = "def k(S): pass\n", **more: Any) -> Program:
    return Program("gemm.cu", "sm_100a", (of,), python, [None] * 9, more.pop("asm", []), [], **more)


def launches(*args: Any, grid: Any = (4, 1, 1), **more: Any) -> HostRun:
    return HostRun([HostLaunch("k", grid, (128, 1, 1), 0, list(args), (PLACE,), **more)])


def test_host_values_are_used_and_first_and_last_cluster_run() -> None:
    k = kernel(param("k_blocks"), param("out", "pointer", "float *", 8))
    first, last = plan(program(k), k, None, HostFacts(launches(10, GLOBAL_WINDOW + 5)))
    assert (first.grid, first.block, first.args) == ((4, 1, 1), (128, 1, 1), [10, GLOBAL_WINDOW + 5])
    assert first.inputs == {"grid": "4", "block": "128", "k_blocks": "10"}
    assert first.chosen == ()
    assert first.origin == "launch at gemm.cu:7:1"
    assert (first.block_index, last.block_index) == ((0, 0, 0), (3, 0, 0))
    assert last.inputs["blockIdx"] == "(3, 0, 0)"


def test_unknown_parts_of_a_launch_are_chosen() -> None:
    k = kernel(param("m"), param("out", "pointer", "float *", 8), param("scale", "float", "float"), max_threads=256)
    run = HostRun([HostLaunch("k", (OPAQUE, 1, 1), (OPAQUE, 1, 1), OPAQUE, [OPAQUE, OPAQUE, OPAQUE], (PLACE,))])
    first = plan(program(k), k, None, HostFacts(run))[0]
    assert (first.grid, first.block, first.shared_bytes) == ((2, 1, 1), (256, 1, 1), 0)
    assert first.args[0] == 256
    assert first.args[1] > GLOBAL_WINDOW
    assert first.args[2] == 1.0
    assert set(first.chosen) == {"grid", "block", "m"}


def test_same_launch_twice_counts_once() -> None:
    k = kernel(param("k_blocks"))
    run = HostRun([*launches(10).launches, *launches(10).launches, *launches(6).launches])
    assert [r.args for r in plan(program(k), k, None, HostFacts(run))] == [[10], [6], [10], [6]]


def test_reduced_stand_in_of_an_expensive_launch() -> None:
    k = kernel(param("k_blocks"), param("stride"), param("m"))
    runs = plan(program(k), k, None, HostFacts(launches(640, 8192, 4096, grid=(1, 1, 1))))
    assert [r.reduced for r in runs] == [False, True]
    assert runs[0].args == [640, 8192, 4096]
    assert runs[1].args == [24, 8192, 512]
    assert runs[1].inputs["k_blocks"] == "24 (reduced from 640)"


def test_persistent_kernel_sees_several_tiles() -> None:
    k = kernel(param("tiles"))
    facts = HostFacts(launches(64, grid=(64, 1, 1)), launches(64, grid=(16, 1, 1)), launches(64, grid=(64, 1, 1)))
    runs = plan(program(k), k, None, facts)
    assert [r.grid for r in runs] == [(16, 1, 1), (16, 1, 1), (64, 1, 1)]
    assert runs[-1].reduced
    assert runs[0].inputs["grid"] == "16 (reduced from 64)"


def test_large_persistent_problem_keeps_its_grid() -> None:
    k = kernel(param("tiles"))
    real, few, unlimited = (launches(9999, grid=(n, 1, 1)) for n in (148, 2, 9999))
    assert plan(program(k), k, None, HostFacts(real, few, unlimited))[0].grid == (148, 1, 1)


def test_chosen_runs_are_typical_small_single_and_long() -> None:
    k = kernel(param("m"), param("k"), param("flag", type_name="bool", size=1), param("x", "pointer", "int *", 8))
    runs = plan(program(k), k, None, HostFacts())
    assert [r.args[:3] for r in runs] == [[256, 1024, 1], [128, 128, 0], [128, 256, 1], [128, 256, 1], [128, 128, 0],
                                          [256, 1024, 1], [512, 2048, 1], [4096, 8192, 1], [272, 1040, 1],
                                          [272, 1040, 1], [256, 8192, 1]]  # fmt: skip
    assert [r.block_index[0] for r in runs] == [0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0]
    assert [r.replaceable for r in runs] == [True, True, True, True, *[False] * 7]
    assert [r.reduced for r in runs] == [False, False, True, True, *[False] * 7]
    assert [n for n, r in enumerate(runs) if r.fallback] == [1, 4]
    assert [r.extra for r in runs] == [0, 0, 0, 0, 0, 1, 3, 12, 1, 1, 0]
    assert [n for n, r in enumerate(runs) if r.deep] == [7]
    assert [n for n, r in enumerate(runs) if r.ragged] == [8, 9]
    assert not any(r.alone for r in runs)
    assert all(r.origin == "chosen" for r in runs)
    assert {"m", "k", "flag", "block", "grid"} <= set(runs[0].chosen)


def test_what_is_chosen_in_a_launch_is_chosen_longer_as_well() -> None:
    k = kernel(param("k_blocks"), param("rows"))
    runs = plan(program(k), k, None, HostFacts(launches(OPAQUE, 96, grid=(1, 1, 1))))
    assert [r.args for r in runs] == [[4, 96], [12, 96], [48, 96]]
    assert [(r.extra, r.deep) for r in runs] == [(0, False), (3, False), (12, True)]


def test_host_code_is_run_with_longer_sizes_where_it_got_none() -> None:
    k = kernel(param("k_blocks"), param("rows"))
    longer = {LONG: launches(32, 96, grid=(8, 1, 1)), DEEP: launches(128, 96, grid=(32, 1, 1))}
    runs = plan(program(k), k, None, HostFacts(launches(16, 96, grid=(1, 1, 1), assumed={"n": 1024}), varied=longer))
    assert [(r.args, r.grid[0], r.extra) for r in runs] == [([16, 96], 1, 0), ([32, 96], 8, 3), ([128, 96], 32, 12)]


def test_host_code_is_run_with_a_size_that_is_no_multiple_of_tiles() -> None:
    k = kernel(param("n"))
    facts = HostFacts(launches(4096, grid=(2, 1, 1)), varied={RAGGED: launches(4112, grid=(3, 1, 1))})
    runs = [r for r in plan(program(k), k, None, facts) if r.ragged]
    assert [(r.args[0], r.block_index[0]) for r in runs] == [(4112, 0), (4112, 2)]


@pytest.mark.parametrize("other", [{"block": (256, 1, 1)}, {"shared_bytes": 1 << 18}, {"cluster": (2, 1, 1)}])
def test_a_size_that_the_shape_of_the_launch_depends_on_is_not_made_longer(other: dict[str, Any]) -> None:
    k = kernel(param("n"))
    facts = HostFacts(launches(16, grid=(1, 1, 1), assumed={"n": 16}), varied={LONG: launches(99, grid=(1, 1, 1))})
    assert len(plan(program(k), k, None, facts)) == 2
    facts.varied[LONG].launches[0] = replace(facts.varied[LONG].launches[0], **other)
    assert [r.args for r in plan(program(k), k, None, facts)] == [[16]]


def test_a_cluster_that_was_chosen_can_be_left_away() -> None:
    k = kernel(param("x", "pointer", "int *", 8))
    asm = [parse_asm("mapa.shared::cluster.u32 $0, $1, 1;", ("=r", "r"), 1)]
    remote = program(k, "def k(S):\n    S.asm(0, (1, ))\n", asm=asm)
    runs = plan(remote, k, None, HostFacts())
    assert [(r.cluster[0], r.alone) for r in runs] == [(2, False), (2, False), (1, True), (1, True)]
    told = ScenarioSettings(cluster=(2, 1, 1))
    assert not any(r.alone for r in plan(remote, k, told, HostFacts()))


def test_kernel_without_numbers_runs_once_and_at_its_end() -> None:
    k = kernel(param("x", "pointer", "int *", 8))
    assert [r.block_index for r in plan(program(k), k, None, HostFacts())] == [(0, 0, 0), (1, 0, 0)]


def test_settings_override_everything() -> None:
    k = kernel(param("k_blocks"), param("p", "object", "Params", 256, layout=PARAMS))
    fixed = ScenarioSettings((64, 1, 1), (6, 1, 1), (3, 1, 1), 4096, {"k_blocks": 3, "p.k_blocks": 2})
    for facts in (HostFacts(), HostFacts(launches(10, OPAQUE, cluster=(2, 1, 1)))):
        run = plan(program(k), k, fixed, facts)[0]
        assert (run.block, run.grid, run.cluster, run.shared_bytes) == ((64, 1, 1), (6, 1, 1), (3, 1, 1), 4096)
        assert run.args[0] == 3
        assert run.args[1][2] == 2
        assert run.inputs["grid"] == "6 (given)"


def test_members_of_structures_are_chosen_by_name() -> None:
    k = kernel(param("p", "object", "Params", 256, layout=PARAMS))
    run = plan(program(k), k, None, HostFacts())[0]
    tensor_map, sizes, blocks, causal, out = run.args[0]
    assert (tensor_map, sizes, blocks, causal) == ([OPAQUE], [5, 5], 4, 1)
    assert out > GLOBAL_WINDOW
    assert run.inputs["p.k_blocks"] == "4 (chosen)"


def test_tensor_map_gets_the_name_of_the_parameter() -> None:
    made = TensorMap("map", 9, 2, OPAQUE, (64, 64), (128,), (64, 64), (1, 1), 0, 3)
    k = kernel(param("map_a", "object", "CUtensorMap", 128, is_tensor_map=True))
    (argument,) = plan(program(k), k, None, HostFacts(launches([made])))[0].args
    assert argument[0].name == "map_a"
    assert argument[0].box == (64, 64)


def test_struct_that_holds_a_tensor_map_keeps_its_other_members() -> None:
    made = TensorMap("map", 9, 2, OPAQUE, (64, 64), (128,), (64, 64), (1, 1), 0, 3)
    k = kernel(param("p", "object", "Params", 256, layout=PARAMS, is_tensor_map=True))
    value = [[made], [1, 2], 7, OPAQUE, GLOBAL_WINDOW + 8]
    (argument,) = plan(program(k), k, None, HostFacts(launches(value)))[0].args
    assert argument[0][0].name == "p.map"
    assert argument[1:] == [[1, 2], 7, 1, GLOBAL_WINDOW + 8]


def test_union_argument_is_split_into_its_members() -> None:
    layout = Layout("U", 8, 4, fields=(("lo", 0, INT), ("hi", 4, INT)))
    k = kernel(param("u", "object", "U", 8, layout=layout))
    assert plan(program(k), k, None, HostFacts(launches(5 | 6 << 32)))[0].args == [[5, 6]]


def test_shared_memory_without_a_launch_is_all_that_is_left() -> None:
    static = SharedVar("s", "s", 1024, 16, False, None, PLACE)
    dynamic = SharedVar("d", "d", 0, 16, True, None, PLACE)
    k = kernel(shared=(static, dynamic))
    run = plan(program(k), k, None, HostFacts())[0]
    assert run.shared_bytes == 227 * 1024 - 1024
    assert "not known" in run.inputs["dynamic shared memory"]


@pytest.mark.parametrize(
    ("template", "cluster"),
    [("mapa.shared::cluster.u32 $0, $1, 1;", (2, 1, 1)), ("mov.u32 $0, $1;", (1, 1, 1))],
)
def test_kernel_that_addresses_a_peer_gets_a_cluster(template: str, cluster: tuple[int, int, int]) -> None:
    k = kernel()
    python = "def k(S):\n helper(S)\ndef helper(S):\n return S.asm(0, (1, ))\n"
    asm = [parse_asm(template, ("=r", "r"), 1)]
    assert plan(program(k, python, asm=asm), k, None, HostFacts())[0].cluster == cluster


def test_cluster_of_the_kernel_or_of_the_launch() -> None:
    k = kernel(cluster_dims=(2, 1, 1))
    assert plan(program(k), k, None, HostFacts())[0].grid == (4, 1, 1)
    run = plan(program(k), k, None, HostFacts(launches(grid=(8, 1, 1), cluster=(4, 1, 1))))
    assert run[0].cluster == run[0].cluster_attribute == (4, 1, 1)
    assert run[1].block_index == (4, 0, 0)


@pytest.mark.parametrize(
    ("text", "threads"),
    [
        ("constexpr int kThreads = 192;\n", 192),
        ("#define NUM_THREADS 6 * 32\n", 192),
        ("constexpr int A_THREADS = 64;\nconstexpr int B_THREADS = 96;\n", 128),
        ("int threads = 5;\n", 128),
    ],
)
def test_block_from_a_constant_of_the_source(text: str, threads: int) -> None:
    assert guess_block(kernel(), {"gemm.cu": text}) == (threads, 1, 1)


@pytest.mark.parametrize(
    ("grid", "cluster", "index"),
    [((1, 1, 1), (1, 1, 1), (0, 0, 0)), ((8, 2, 1), (2, 1, 1), (6, 1, 0)), ((1, 1, 1), (2, 1, 1), (0, 0, 0))],
)
def test_last_cluster(grid: Any, cluster: Any, index: Any) -> None:
    assert last_cluster(grid, cluster) == index


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("num_k_blocks", "count"), ("kTiles", "count"), ("tilesN", "count"), ("iters", "count"), ("batch", "count"),
        ("num_heads", "count"), ("M", "rows"), ("n_cols", "rows"), ("K", "depth"), ("seqlen_q", "depth"),
        ("num_tokens", "depth"), ("head_dim", "head"), ("lda", "pitch"), ("strideA", "pitch"), ("layer_idx", "index"),
        ("q_offset", "index"), ("is_causal", "flag"), ("block_size", "tile"), ("numel", "elements"), ("foo", "other"),
        ("_1", "other"),
    ],
)  # fmt: skip
def test_meaning_of_a_name(name: str, kind: str) -> None:
    assert meaning(name, frozenset({"m"})) == kind


def test_small_grid_when_the_problem_was_chosen() -> None:
    k = kernel(param("M"))
    facts = HostFacts(launches(256, grid=(148, 1, 1), assumed={"M": 256, "K": 1024}))
    run = plan(program(k, "def k(S):\n return S.gdim[0]\n"), k, None, facts)[0]
    assert run.grid == (2, 1, 1)
    assert run.inputs["M"] == "256 (chosen)"
    assert run.inputs["K"] == "1024 (chosen)"
    assert set(run.chosen) == {"M", "K"}
    assert plan(program(k), k, None, facts)[0].grid == (148, 1, 1)


def test_integer_that_is_an_address() -> None:
    k = kernel(param("table_ptr", size=8), param("ptr_count", size=4))
    args = plan(program(k), k, None, HostFacts())[0].args
    assert args[0] > GLOBAL_WINDOW
    assert args[1] == 4


def test_a_larger_problem_has_no_fewer_rounds() -> None:
    assert by_name("k_blocks", LARGE) == 1
    assert by_name("k_blocks", RAGGED) == by_name("k_blocks", TYPICAL)
    assert by_name("n", RAGGED) % 32 == 16
    assert by_name("k_blocks", DEEP) == by_name("what", DEEP) == 48
    assert by_name("k_blocks", LARGE, counted=True) == by_name("k_blocks", TYPICAL, counted=True) == 4


def test_values_by_name() -> None:
    assert by_name("n", TYPICAL) == 4096  # the only size: a number of elements
    assert by_name("n", TYPICAL, frozenset({"m"})) == 256
    assert [by_name("what", v) for v in (TYPICAL, SINGLE, LONG)] == [5, 1, 12]
    assert by_name("what", TYPICAL, default=OPAQUE) is OPAQUE


def test_reduced_values_keep_pitches() -> None:
    assert reduced("lda", 8192) == 8192
    assert reduced("k", 8192) == 512
    assert reduced("k", 8192 + 40) == 256 + 40
    assert reduced("k_blocks", 100) == 20
    assert reduced("k_blocks", 24) == 24


@pytest.mark.parametrize(
    ("template", "loop", "grid"),
    [("atom.global.add.s32 $0, [$1], 1;", "while True", 2), ("atom.global.add.s32 $0, [$1], 1;", "if True", 132),
     ("atom.shared.add.s32 $0, [$1], 1;", "while True", 132), ("atom.global.max.s32 $0, [$1], 1;", "while True", 132)],
)
def test_kernel_that_draws_its_tiles_from_a_counter_is_persistent(template: str, loop: str, grid: int) -> None:
    k = kernel(param("x", "pointer", "int *", 8), param("tiles"))
    python = f"def k(S, x, tiles):\n {loop}:\n  t = draw(S, x)\ndef draw(S, x):\n return S.asm(0, (x, ))\n"
    asm = [parse_asm(template, ("=r", "l"), 1)]
    facts = HostFacts(launches(OPAQUE, 4, grid=(132, 1, 1), assumed={"tiles": 4}))
    assert plan(program(k, python, asm=asm), k, None, facts)[0].grid[0] == grid
