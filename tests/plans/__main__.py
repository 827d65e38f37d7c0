"""Compares every plan of the grids with the report on its skeleton, and assembles the skeletons where nvcc is there.

    python -m tests.plans [--part N/M] [--assemble] [gemm] [attention]

takes several minutes for the whole; ``--part 2/8`` takes every eighth plan, from the second one on.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from auditor.plans.attention_spec import AttentionSpec
from auditor.plans.spec import GemmSpec
from tests.plans.agree import assembles, check
from tests.plans.grid import attention_grid, gemm_grid

GRIDS: dict[str, Callable[[], Sequence[GemmSpec | AttentionSpec]]] = {"gemm": gemm_grid, "attention": attention_grid}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.plans", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("which", nargs="*", choices=[[], *GRIDS], metavar="gemm|attention")
    parser.add_argument("--part", default="1/1", help="N/M: every M-th plan, from the N-th on")
    parser.add_argument("--assemble", action="store_true", help="run nvcc on each skeleton")
    given = parser.parse_args()
    first, step = (int(n) for n in given.part.split("/"))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in given.which or GRIDS:
            specs = GRIDS[name]()[first - 1 :: step]
            differ = complaints = 0
            for spec in specs:
                try:
                    check(spec, Path(folder))
                except AssertionError as error:
                    differ += 1
                    print(f"{name} {spec.words()}: {error}", flush=True)
                if given.assemble and (told := assembles(spec, Path(folder))):
                    complaints += 1
                    print(f"{name} {spec.words()}: nvcc: {told}", flush=True)
            print(
                f"{name}: {len(specs) - differ} of {len(specs)} plans agree with the report on their skeleton", end=""
            )
            print(f", {len(specs) - complaints} assemble without a word" if given.assemble else "")
            wrong += differ + complaints
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
