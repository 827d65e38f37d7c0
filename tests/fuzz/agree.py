"""Executes random kernels on the machine and compares what they compute with g++.

``python -m tests.fuzz.agree --seconds 600 --first 1``; one kernel alone with ``--case``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import click

from auditor.engine import with_deep_stack
from auditor.frontend import build_program
from auditor.frontend.options import Options
from auditor.machine.core import Machine
from auditor.machine.launch import Launch
from auditor.machine.strand import Strand
from tests.fuzz.programs import INSTRUCTIONS, PROLOGUE, WORDS, program

THREADS = 40  # a whole warp and a part of one
OUT = (8 << 44) | (1 << 40)  # where the argument points
BATCH = 16  # kernels that are compiled together
HOST = """\
#include <cstdint>
#include <cstdio>
#define HOST
#define __device__
#define __global__
#define __shared__ static
#define __launch_bounds__(x)
struct { unsigned x, y, z; } threadIdx;
int min(int a, int b) { return a < b ? a : b; }
int max(int a, int b) { return a > b ? a : b; }
int __popc(unsigned x) { return __builtin_popcount(x); }
int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
int __ffs(int x) { return __builtin_ffs(x); }
"""


@dataclass
class Outcome:
    """``known``: words that were compared; ``unknown``: those that the machine could not tell."""

    kernels: int = 0
    known: int = 0
    unknown: int = 0
    wrong: dict[int, str] = field(default_factory=dict)


def compiled(kernels: Sequence[str]) -> list[list[int]]:
    """What g++ says that the kernels compute: the words of all threads."""
    parts = [HOST, PROLOGUE, INSTRUCTIONS]
    parts += [f"namespace p{n} {{\n{text}}}\n" for n, text in enumerate(kernels)]
    size = THREADS * WORDS
    parts.append(f"int out[{size}];\nint main() {{\n")
    for n in range(len(kernels)):
        parts.append(f"for (unsigned t = 0; t < {THREADS}; ++t) {{ threadIdx.x = t; p{n}::k(out); }}\n")
        parts.append(f'for (int i = 0; i < {size}; ++i) printf("%d ", out[i]); puts("");\n')
    parts.append("}\n")
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "k.cpp"), Path(folder, "k")
        source.write_text("".join(parts), encoding="utf-8")
        words = ["g++", "-std=c++20", "-O0", "-w", "-fwrapv", "-fno-strict-aliasing", "-o", str(binary), str(source)]
        subprocess.run(words, check=True, capture_output=True, text=True)
        told = subprocess.run([str(binary)], check=True, capture_output=True, text=True, timeout=60).stdout
    return [[int(word) for word in line.split()] for line in told.splitlines()]


def executed(kernel: str) -> tuple[list[int | None], str]:
    """What the machine says, word by word, None where it does not know; and what has kept it from the end.

    It knows nothing where it chose what it could not compute.
    """
    lowered = build_program("k.cu", f"#include <cstdint>\n{PROLOGUE}{INSTRUCTIONS}{kernel}", Options(arch="sm_90a"))
    machine = Machine(lowered, lowered.kernels[0], Launch(lowered.kernels[0].entry, block=(THREADS, 1, 1), args=[OUT]))
    with mock.patch.object(Strand, "_choose", autospec=True, side_effect=Strand._choose) as choices:
        trace = machine.run()
    chosen = choices.call_count or any(cta.chosen for cta in machine.ctas)
    told: list[int | None] = []
    for n in range(THREADS * WORDS):
        size, value = machine.globals.get(OUT + 4 * n, (4, None))
        told.append(_signed(value) if size == 4 and not chosen else None)
    lost = [str(note) for note in lowered.notes if note.kind == "unanalysed"]
    lost += [f"{i.kind}: {i.data}" for i in trace.incidents]
    return told, "; ".join(lost)


def _signed(value: Any) -> int | None:
    return ((value & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000 if isinstance(value, int) else None


def compare(kernel: str, expected: list[int], outcome: Outcome) -> str:
    """What is wrong with the execution of a kernel."""
    told, lost = executed(kernel)
    differ = [n for n, (a, b) in enumerate(zip(told, expected)) if a is not None and a != b]
    outcome.kernels += 1
    outcome.unknown += told.count(None)
    outcome.known += len(told) - told.count(None)
    if not differ:
        return lost
    n = differ[0]
    lanes = sorted({k // WORDS for k in differ})
    return f"word {n % WORDS} of thread {n // WORDS} is {told[n]}, not {expected[n]}; threads {lanes}; {lost}"


def run(first: int, seconds: float, most: int | None = None) -> Outcome:
    """Compare kernels from a number on until time is up, or ``most`` of them."""
    outcome = Outcome()
    end = time.monotonic() + seconds
    while time.monotonic() < end and (most is None or outcome.kernels < most):
        kernels = [program(number) for number in range(first, first + BATCH)]
        for n, expected in enumerate(compiled(kernels)):
            wrong = compared(kernels[n], expected, outcome)
            if wrong:
                outcome.wrong[first + n] = wrong
        first += BATCH
    return outcome


def compared(kernel: str, expected: list[int], outcome: Outcome) -> str:
    """What is wrong with the execution of a kernel, or what has ended it."""
    try:
        return with_deep_stack(lambda: compare(kernel, expected, outcome))
    except Exception as error:  # whatever it is, it is wrong
        return f"{type(error).__name__}: {error}"


@click.command()
@click.option("--seconds", default=60.0, show_default=True, help="How long kernels are compared.")
@click.option("--first", default=0, show_default=True, help="Number of the first kernel.")
@click.option("--case", "single", type=int, help="Show this kernel and compare it alone.")
def command(seconds: float, first: int, single: int | None) -> None:
    """Compare what random kernels compute on the machine and with g++; exit with 1 when they differ."""
    if single is not None:
        kernel = program(single)
        click.echo(PROLOGUE + kernel)
        wrong = compare(kernel, compiled([kernel])[0], Outcome())
        click.echo(f"// {wrong or 'agrees'}")
        sys.exit(bool(wrong))
    outcome = run(first, seconds)
    for number, wrong in outcome.wrong.items():
        click.echo(f"kernel {number}: {wrong}")
    kinds = Counter(wrong.split(":")[0] for wrong in outcome.wrong.values() if not wrong.startswith("word"))
    click.echo(f"{outcome.kernels} kernels from {first} on, {outcome.known} words known and {outcome.unknown} not; "
               f"{len(outcome.wrong)} wrong{f' ({kinds})' if kinds else ''}")
    sys.exit(bool(outcome.wrong))


if __name__ == "__main__":
    command()
