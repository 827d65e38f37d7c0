"""Benchmarks: the audit beside nvcc on the same kernels, its growth with the iterations, and its start-up.

    python -m tests.benchmarks [--rounds N] [FILE...]
    python -m tests.benchmarks --corpus

Seconds are processor time (user and system), medians of commands run in turn; for the corpus, time that passes. Without
nvcc only the audit is timed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from pathlib import Path

from tests.benchmarks.measure import alternate

ROOT = Path(__file__).parents[2]
GROWTH = ROOT / "fixtures" / "kernels" / "ring_elect.cu"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="kernels (default: fixtures/kernels)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--corpus", action="store_true", help="all kernels of flashinfer in one command, instead")
    args = parser.parse_args()
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    if args.corpus:
        from tests.benchmarks.corpus import corpus

        corpus(environment)
        return 0
    audit = [sys.executable, "-m", "auditor", "-q", "--no-cache"]
    _against_nvcc(args.files or sorted((ROOT / "fixtures" / "kernels").glob("*.cu")), audit, args.rounds, environment)
    _growth(audit, args.rounds, environment)
    _start_up(args.rounds, environment)
    return 0


def _against_nvcc(files: list[Path], audit: list[str], rounds: int, environment: dict[str, str]) -> None:
    nvcc = shutil.which("nvcc")
    print(f"{'kernel':<28}{'audit s':>9}{'nvcc s':>9}{'ratio':>8}{'peak MiB':>10}")
    ratios = []
    for path in files:
        arch = re.search(r"^// arch: sm_(\w+)", path.read_text(), re.M)
        target = arch[1] if arch else "100a"
        commands = [[*audit, str(path)]]
        if nvcc:
            code = f"-gencode=arch=compute_{target},code=sm_{target}"
            commands.append([nvcc, "-std=c++17", code, "-c", "-o", os.devnull, str(path)])
        own, *other = alternate(commands, rounds, environment)
        ratio = own.cpu / other[0].cpu if other else float("nan")
        ratios.append(ratio)
        compiled = f"{other[0].cpu:9.2f}" if other else f"{'-':>9}"
        print(f"{path.stem:<28}{own.cpu:9.2f}{compiled}{ratio:8.2f}{own.peak:10.0f}")
    if nvcc and ratios:
        print(f"{'median ratio':<46}{sorted(ratios)[len(ratios) // 2]:8.2f}")


def _growth(audit: list[str], rounds: int, environment: dict[str, str]) -> None:
    """Ten times the iterations of a ring, start-up taken off."""
    commands = [[*audit, str(GROWTH), "--set", f"k_blocks={n}"] for n in (1, 40, 400)]
    base, few, many = alternate(commands, rounds, environment)
    factor = (many.cpu - base.cpu) / max(few.cpu - base.cpu, 1e-3)
    print(f"\nten times the iterations of {GROWTH.stem}: {few.cpu:.2f} s to {many.cpu:.2f} s,")
    print(f"{factor:.1f} times the time above that of one iteration ({base.cpu:.2f} s)")


def _start_up(rounds: int, environment: dict[str, str]) -> None:
    bare, version = alternate(
        [[sys.executable, "-c", "pass"], [sys.executable, "-m", "auditor", "--version"]], 3 * rounds, environment
    )
    print(f"\nstart-up: --version {1000 * version.cpu:.0f} ms, Python alone {1000 * bare.cpu:.0f} ms")


if __name__ == "__main__":
    sys.exit(main())
