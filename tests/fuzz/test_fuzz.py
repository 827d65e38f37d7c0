"""The fuzzer itself, and a few of its cases."""

from __future__ import annotations

import shutil
import subprocess
import time
from random import Random
from typing import Any

import pytest

from auditor import engine
from tests.fuzz import __main__ as fuzz
from tests.fuzz import agree
from tests.fuzz import judge as judging
from tests.fuzz.cases import CONFIG, Case, make
from tests.fuzz.judge import judge
from tests.fuzz.mutate import PLAIN, PTX, SOURCE, damage
from tests.fuzz.programs import program

SMALL = Case(0, "source", {"a.cu": b"__global__ void k() { }\n"}, ("a.cu", "-q", "--no-cache", "-j1"))


def test_a_number_makes_one_case() -> None:
    assert make(7) == make(7)
    assert make(7) != make(8)
    assert len({make(number).kind for number in range(100)}) == 9


@pytest.mark.parametrize("mutation", [*SOURCE, *PTX, *PLAIN])
def test_every_mutation_changes_something_at_last(mutation: object) -> None:
    text = 'asm volatile("tcgen05.wait::ld 1;");\n' * 3 + CONFIG
    assert callable(mutation)
    assert any(mutation(Random(n), text) != text for n in range(20))
    assert isinstance(mutation(Random(0), ""), str)


def test_damage_is_the_same_for_the_same_numbers() -> None:
    assert damage(Random(3), CONFIG, PLAIN) == damage(Random(3), CONFIG, PLAIN) != CONFIG


def test_an_orderly_end() -> None:
    assert judge(SMALL) == ""


def test_an_internal_error_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(engine, "_pipeline", broken)
    assert "internal error: KeyError: 'lost'" in judge(SMALL)


@pytest.mark.parametrize("code", [3, 130, -1])
def test_another_exit_code_is_told(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    monkeypatch.setattr(judging, "main", lambda words: code)
    assert judge(SMALL).startswith(f"exit code {code}\n")


def test_an_exception_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(words: list[str]) -> int:
        raise SystemExit(1)

    monkeypatch.setattr(judging, "main", broken)
    assert "SystemExit" in judge(SMALL)


def test_a_child_that_dies_and_one_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "import json, os, signal, sys, time\n"
        "for n in range(int(sys.argv[1]), 100):\n"
        "    if n == 2: os.kill(os.getpid(), signal.SIGSEGV)\n"
        "    while n == 4: pass\n"
        "    if n == 6: time.sleep(600)\n"
        "    print(json.dumps([n, 'source', '']), flush=True)\n"
    )
    start = subprocess.Popen

    def stand_in(words: list[str], **given: Any) -> Any:
        return start([words[0], "-c", script, words[-1]], **given)

    monkeypatch.setattr(subprocess, "Popen", stand_in)
    monkeypatch.setattr(fuzz, "_WAITING", 6)
    outcome = fuzz.run(0, seconds=60, hang=1, most=8)
    told = "no end after 1 seconds of computing"
    assert outcome.wrong == {2: "died of signal 11", 4: told, 6: told}
    assert sum(outcome.cases.values()) == 8


NEEDS_GXX = pytest.mark.skipif(shutil.which("g++") is None, reason="compares with g++")


@NEEDS_GXX
def test_random_kernels_compute_what_a_compiler_says() -> None:
    outcome = agree.run(0, seconds=60, most=agree.BATCH)
    assert outcome.wrong == {}
    assert outcome.known > outcome.unknown


@NEEDS_GXX
def test_a_wrong_word_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    (right,) = agree.compiled([program(1)])
    assert agree.compared(program(1), right, agree.Outcome()) == ""
    wrong = [*right[:7], right[7] + 1, *right[8:]]
    assert agree.compared(program(1), wrong, agree.Outcome()).startswith(f"word 1 of thread 1 is {right[7]}, not")
    monkeypatch.setattr(agree, "executed", lambda kernel: 1 // 0)
    assert agree.compared(program(1), right, agree.Outcome()).startswith("ZeroDivisionError")


@pytest.mark.slow
def test_a_minute_of_cases() -> None:
    outcome = fuzz.run(int(time.time()), seconds=60)
    assert outcome.wrong == {}
    assert sum(outcome.cases.values()) > 50
