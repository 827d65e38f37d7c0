"""Host code is run for its launches: shapes, arguments, tensor maps, and what happens on the way."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from auditor.machine.host import HostEnv, survey
from auditor.machine.host_facts import HostFacts
from auditor.machine.scenario_values import LONG
from auditor.program import Kernel, Param, Program
from auditor.source import Loc
from auditor.values import GLOBAL_WINDOW, OPAQUE, Ref

PLACE = Loc("gemm.cu", 7)
MAP = Param("map_a", "object", "CUtensorMap", 128, is_tensor_map=True)
COUNT = Param("k_blocks", "int", "int", 4, signed=True)
OUT = Param("out", "pointer", "float *", 8)

ENCODE = """
def encode(S, map, rows, cols, swizzle):
    dims = [cols, rows]
    strides = [cols * 2]
    box = [64, 128]
    ones = [1, 1]
    status = S.api("cuTensorMapEncodeTiled", (Ref([map], 0), 9, 2, OPAQUE, Ref(dims, 0), Ref(strides, 0), Ref(box, 0),
                   Ref(ones, 0), 0, swizzle, 2, 0))
    return status
"""


def program(python: str, *kernels: Kernel, entries: tuple[str, ...] = ("main",), arch: str = "sm_100a") -> Program:
    source = textwrap.dedent(python)
    locs: list[Loc | None] = [PLACE] * (source.count("\n") + 2)
    return Program("gemm.cu", arch, kernels or (kernel("k"),), source, locs, [], [], entries)


def kernel(entry: str, *params: Param) -> Kernel:
    return Kernel(entry, entry, entry, params, (), PLACE)


def run(python: str, *kernels: Kernel, entries: tuple[str, ...] = ("main",)) -> HostFacts:
    return survey(program(python, *kernels, entries=entries))


def test_launch_with_values_of_the_host() -> None:
    facts = run(
        """
        def main(S):
            p = [OPAQUE]
            q = [OPAQUE]
            S.api("cudaMalloc", (Ref(p, 0), 1024))
            S.api("cudaMalloc", (Ref(q, 0), 1024))
            if S.cond(S.api("cudaFuncSetAttribute", ("k", 8, 98304)) != 0):
                S.opaque_call("exit", (1,))
            S.launch("k", (4, 2, 1), (192, 1, 1), 98304, 0, (p[0], q[0], 640))
        """
    )
    (launch,) = facts.real.launches
    assert (launch.grid, launch.block, launch.shared_bytes) == ((4, 2, 1), (192, 1, 1), 98304)
    assert launch.shared_limit == 98304
    assert launch.where == (PLACE,)
    first, second, number = launch.args
    assert GLOBAL_WINDOW < first < second
    assert number == 640


def test_attribute_after_the_launch_or_of_another_kernel_sets_no_limit() -> None:
    facts = run(
        """
        def main(S):
            S.api("cudaFuncSetAttribute", ("other", 8, 98304))
            S.launch("k", (1, 1, 1), (32, 1, 1), 98304, 0, ())
            S.api("cudaFuncSetAttribute", ("k", 8, 98304))
        """
    )
    assert facts.real.launches[0].shared_limit is None


def test_arguments_are_copied_at_the_launch() -> None:
    facts = run(
        """
        def main(S):
            params = [1, [2, 3]]
            S.launch("k", (1, 1, 1), (32, 1, 1), 0, 0, (params,))
            params[1][0] = 9
        """
    )
    assert facts.real.launches[0].args == [[1, [2, 3]]]


@pytest.mark.parametrize(
    ("use", "checked"),
    [
        ("encode(S, map, 256, 640, 3)", False),
        ("if encode(S, map, 256, 640, 3) != 0: S.trap()", True),
        ("S.opaque_call('check', (encode(S, map, 256, 640, 3),))", True),
        ("r = [0]; S.store(Ref(r, 0), 'int', 32, encode(S, map, 256, 640, 3))", False),
        ("if S.cond(encode(S, map, 256, 640, 3)): S.trap()", True),
    ],
)
def test_tensor_map_travels_and_its_result_is_watched(use: str, checked: bool) -> None:
    facts = run(
        ENCODE
        + textwrap.dedent(
            f"""
            def main(S):
                map = [OPAQUE]
                {use}
                S.launch("k", (1, 1, 1), (128, 1, 1), 0, 0, ([copy_value(map), 5],))
            """
        ),
        kernel("k", MAP),
    )
    (tensor_map,) = facts.encodes
    assert tensor_map.checked is checked
    assert (tensor_map.dims, tensor_map.strides, tensor_map.box) == ((640, 256), (1280,), (64, 128))
    assert (tensor_map.swizzle, tensor_map.box_bytes, tensor_map.name) == (3, 64 * 128 * 2, "map")
    assert facts.real.launches[0].args[0][0] == [tensor_map]


def test_result_handed_to_the_caller_counts_as_looked_at() -> None:
    facts = run(ENCODE + "\ndef main(S):\n    map = [OPAQUE]\n    return encode(S, map, 256, 64, 0)\n")
    assert facts.encodes[0].checked


def test_unknown_members_of_a_tensor_map_are_opaque() -> None:
    facts = run(ENCODE + "\ndef main(S):\n    map = [OPAQUE]\n    encode(S, map, OPAQUE, 64, OPAQUE)\n")
    (tensor_map,) = facts.encodes
    assert tensor_map.dims == (64, OPAQUE)
    assert (tensor_map.box_bytes, tensor_map.row_bytes) == (16384, 128)


def test_im2col_box_is_channels_by_pixels() -> None:
    facts = run(
        """
        def main(S):
            map = [OPAQUE]
            four = [2, 2, 2, 2]
            S.api("cuTensorMapEncodeIm2col", (Ref([map], 0), 6, 4, OPAQUE, Ref(four, 0), Ref(four, 0), Ref(four, 0),
                  Ref(four, 0), 64, 96, Ref(four, 0), 0, 3, 0, 0))
        """
    )
    (tensor_map,) = facts.encodes
    assert tensor_map.im2col
    assert tensor_map.box_bytes == 64 * 96 * 2


def test_launch_ex_with_cluster_and_programmatic_attributes() -> None:
    facts = run(
        """
        def main(S):
            attributes = [[4, [0, 0, 0, 0], 2 | 1 << 32 | 1 << 64], [6, [0, 0, 0, 0], 1]]
            config = [[8, 1, 1], [256, 1, 1], 4096, 0, Ref(attributes, 0), 2]
            S.api("cudaLaunchKernelEx", (Ref([config], 0), "k", 7))
        """
    )
    (launch,) = facts.real.launches
    assert (launch.grid, launch.block, launch.shared_bytes) == ((8, 1, 1), (256, 1, 1), 4096)
    assert launch.cluster == (2, 1, 1)
    assert launch.programmatic
    assert launch.args == [7]


def test_launch_through_pointers_to_arguments() -> None:
    facts = run(
        """
        def main(S):
            a = [11]
            params = [1, 2]
            table = [Ref(a, 0), Ref([params], 0)]
            S.api("cudaLaunchKernel", ("k", [2, 1, 1], [64, 1, 1], Ref(table, 0), 512, 0))
        """,
        kernel("k", COUNT, Param("p", "object", "P", 8)),
    )
    (launch,) = facts.real.launches
    assert launch.args == [11, [1, 2]]
    assert launch.shared_bytes == 512


def test_opaque_conditions_are_false_until_a_kernel_is_missing() -> None:
    facts = run(
        """
        def main(S):
            if S.cond(OPAQUE):
                S.launch("fast", (1, 1, 1), (64, 1, 1), 0, 0, ())
            else:
                S.launch("slow", (1, 1, 1), (32, 1, 1), 0, 0, ())
        """,
        kernel("slow"),
        kernel("fast"),
    )
    assert [launch.kernel for launch in facts.real.launches] == ["slow", "fast"]


def test_wrong_turn_into_an_exit_is_taken_back() -> None:
    facts = run(
        """
        def main(S):
            if S.cond(OPAQUE):
                pass
            else:
                S.trap()
            S.launch("k", (1, 1, 1), (32, 1, 1), 0, 0, ())
        """
    )
    assert len(facts.real.launches) == 1


def test_launches_come_from_the_first_function_that_makes_them() -> None:
    facts = run(
        """
        def main(S):
            launcher(S, 4)
        def launcher(S, n):
            S.launch("k", (n, 1, 1), (32, 1, 1), 0, 0, ())
        def host(S):
            launcher(S, OPAQUE)
        """,
        entries=("main", "host"),
    )
    assert [launch.grid for launch in facts.real.launches] == [(4, 1, 1)]


@pytest.mark.parametrize(
    "body",
    [
        "while True: S.loop(0)",
        "while True: S.launch('k', (n, 1, 1), (32, 1, 1), 0, 0, (n,)); n += 1",
        "n[0]",
        "raise RecursionError",
        "S.opaque_call('std::terminate', ())",
    ],
)
def test_what_was_launched_before_a_failure_counts(body: str) -> None:
    facts = run(f"def main(S):\n    n = 1\n    S.launch('k', (n, 1, 1), (32, 1, 1), 0, 0, (0,))\n    {body}\n")
    assert facts.real.launches[0].grid == (1, 1, 1)
    assert facts.real.stopped


def test_number_of_sms_is_varied_when_asked_for() -> None:
    facts = run(
        """
        def main(S):
            sms = [OPAQUE]
            S.api("cudaDeviceGetAttribute", (Ref(sms, 0), 16, 0))
            tiles = 64
            S.launch("k", (min(tiles, sms[0]), 1, 1), (32, 1, 1), 0, 0, (tiles,))
        """
    )
    assert facts.few is not None
    assert facts.unlimited is not None
    grids = [run.launches[0].grid[0] for run in (facts.real, facts.few, facts.unlimited)]
    assert grids == [64, 16, 64]


def test_device_properties_follow_the_architecture() -> None:
    env = HostEnv(program("def main(S): pass", arch="sm_90a"))
    record: list[Any] = [OPAQUE] * 23
    assert env.api("cudaGetDeviceProperties", (_ref(record), 0)) == 0
    assert record[10:13] == [9, 0, 148]
    assert env.asked_sms
    short: list[Any] = [OPAQUE] * 5
    env.api("cudaGetDeviceProperties_v2", (_ref(short), 0))
    assert all(x is OPAQUE for x in short)


def test_memset_and_memcpy_of_local_objects() -> None:
    facts = run(
        """
        def main(S):
            a = [OPAQUE, [OPAQUE, OPAQUE]]
            b = [5, [6, 7]]
            S.opaque_call("memset", (Ref([a], 0), 0, 16))
            S.launch("k", (1, 1, 1), (32, 1, 1), 0, 0, (a,))
            S.opaque_call("std::memcpy", (Ref([a], 0), Ref([b], 0), 16))
            S.launch("k", (1, 1, 1), (32, 1, 1), 0, 0, (a,))
        """
    )
    assert [launch.args for launch in facts.real.launches] == [[[0, [0, 0]]], [[5, [6, 7]]]]


def test_parameters_of_an_entry_are_chosen_by_name() -> None:
    env = HostEnv(program("def main(S): pass"), values={"n": 96})
    assert env.argument("m", "int") == 256
    assert env.argument("n", "int") == 96
    assert env.argument("x", "int") is OPAQUE
    assert env.assumed == {"m": 256}
    assert env.argument("k", "pointer") is OPAQUE
    assert HostEnv(program(""), variant=LONG).argument("k_blocks", "int") == 12


def test_host_code_that_gets_no_sizes_is_run_with_longer_ones_too() -> None:
    facts = run(
        """
        def main(S):
            k = S.argument("k", "int")
            S.launch("k", (k // 64, 1, 1), (32, 1, 1), 0, 0, (k,))
        """
    )
    launches = [part.launches[0] for part in (facts.real, *facts.varied.values())]
    assert [launch.args for launch in launches] == [[1024], [2048], [8192], [1040]]
    assert [launch.grid[0] for launch in launches] == [16, 32, 128, 16]
    assert not run("def main(S): S.launch('k', (1, 1, 1), (32, 1, 1), 0, 0, (64,))").varied


def _ref(target: list[Any]) -> Ref:
    return Ref([target], 0)
