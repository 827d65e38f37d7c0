"""Compiler flags among our own arguments."""

from __future__ import annotations

import shlex

import pytest

from auditor.cli_flags import CompilerFlags, split


@pytest.mark.parametrize(
    "flags",
    [
        "-O3 -lineinfo -G -g -c",
        "--expt-relaxed-constexpr --use_fast_math --extended-lambda",
        "-Xcompiler -fPIC,-Wall",
        "-Xcompiler=-fPIC -Xptxas -v --ptxas-options=-v",
        "-rdc=true --relocatable-device-code true",
        "--maxrregcount 128 -maxrregcount=128 -ccbin g++-13",
        "-diag-suppress 177 -t 4 --threads 0 -MD -MF out.d",
        "-lcuda -L /usr/lib -l cublas -Werror",
    ],
)
def test_flags_without_meaning_are_dropped(flags: str) -> None:
    words = shlex.split(flags)
    assert split([*words, "k.cu", "--strict"]) == (["k.cu", "--strict"], CompilerFlags())
    assert split(["k.cu", "--strict", "--", *words]) == (["k.cu", "--strict"], CompilerFlags())


@pytest.mark.parametrize(
    ("flags", "arches"),
    [
        ("-gencode arch=compute_100a,code=sm_100a", ["sm_100a"]),
        ("-gencode=arch=compute_90a,code=sm_90a --generate-code arch=compute_103f,code=sm_103f", ["sm_90a", "sm_103f"]),
        ("-gencode arch=compute_90a,code=[sm_90a,compute_90a]", ["sm_90a"]),
        ("-gencode arch=compute_100a,code=compute_100a", ["sm_100a", "sm_100a"]),
        ("-arch=sm_90a", ["sm_90a"]),
        ("-arch sm_90a", ["sm_90a"]),
        ("--gpu-architecture=compute_100a --gpu-code=sm_100a", ["sm_100a", "sm_100a"]),
        ("-arch=native", []),
    ],
)
def test_architectures(flags: str, arches: list[str]) -> None:
    ours, read = split(["k.cu", *shlex.split(flags)])
    assert ours == ["k.cu"]
    assert read.arches == arches


def test_flags_with_meaning_are_translated() -> None:
    ours, flags = split(
        shlex.split("-std=c++17 -isystem /sys --include-path=a,b --define-macro N=4 -UX -include pre.h k.cu")
    )
    assert ours == ["k.cu"]
    assert flags == CompilerFlags(
        includes=["a", "b"],
        defines=["N=4"],
        std="c++17",
        extra=["-isystem", "/sys", "-UX", "-include", "pre.h"],
    )


def test_our_own_options_stay() -> None:
    words = shlex.split("-I inc -Iother -D A=1 -DB -o out.txt -q --std c++20 --arch sm_90a --set n=-3 - k.cu -V")
    assert split(words) == (words, CompilerFlags())


def test_unknown_long_option_is_left_for_the_usage_error() -> None:
    assert split(["--formt", "k.cu"])[0] == ["--formt", "k.cu"]


def test_compile_command_after_two_dashes() -> None:
    ours, flags = split(
        shlex.split("--strict -- /usr/local/cuda/bin/nvcc -O3 -Iinc -I more -DN=4 -o k.o --std=c++17 k.cu lib.a -c")
    )
    assert ours == ["--strict", "k.cu"]
    assert flags == CompilerFlags(includes=["inc", "more"], defines=["N=4"], std="c++17")


def test_file_named_twice_is_audited_once() -> None:
    assert split(["k.cu", "--", "nvcc", "k.cu", "other.cu"])[0] == ["k.cu", "other.cu"]


def test_flag_whose_value_is_missing() -> None:
    assert split(["k.cu", "-Xcompiler"])[0] == ["k.cu"]
    assert split(["k.cu", "-std"])[1].std == ""
