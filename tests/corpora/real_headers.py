"""The fixtures of CuTe and CUTLASS, audited with the real headers in place of ours.

    python -m tests.corpora.real_headers [--includes FOLDER] [--cuda-path FOLDER] [--only TEXT] [--jobs N]

Each fixture has to give what its comments expect, and each good one without one of its marked lines what it gives with
our headers, finding for finding. Without ``--includes`` the headers are those of the wheel that the corpora have of
CUTLASS, downloaded once; ``--cuda-path`` takes a toolkit's, too. The exit code is 1 when something differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from auditor.config import AuditOptions
from auditor.engine import audit_file, with_deep_stack
from auditor.findings import FileResult
from auditor.registry import all_rules
from tests.corpora.corpus import BUDGET, CORPORA, options
from tests.corpora.wheels import fetch, unpack
from tests.test_fixtures import ROOT, expectations
from tests.unit.test_cutlass_mutants import ARCH, marked

GAPS = ("unanalysed", "budget", "missing-include", "stub")


@dataclass(frozen=True)
class Case:
    """A fixture, or what is left of it without one of its lines."""

    path: Path
    without: int = 0

    def __str__(self) -> str:
        return f"{self.path.name} without line {self.without}" if self.without else self.path.name

    @property
    def text(self) -> str:
        lines = self.path.read_text().splitlines()
        if self.without:
            lines[self.without - 1] = ""
        return "\n".join([*lines, ""])


def cases() -> list[Case]:
    """The fixtures, and behind them the good ones without one line each."""
    fixtures = sorted((ROOT / "cutlass").glob("*.cu"))
    return [*map(Case, fixtures), *(Case(path, number) for path, number, _ in marked())]


def audited(case: Case, chosen: AuditOptions) -> FileResult:
    """The audit of a case, in a folder above which no headers lie."""
    arch = ARCH.search(case.text)
    chosen = replace(chosen, arches=(arch[1],) if arch else (), budget=BUDGET)
    with tempfile.TemporaryDirectory(prefix="bw-audit-real-") as folder:
        source = Path(folder, case.path.name)
        source.write_text(case.text)
        return with_deep_stack(lambda: audit_file(str(source), chosen))


def told(result: FileResult, name: str) -> list[tuple[int, str]]:
    """Line and code of each finding; the line is 0 in a file that is not the case itself."""
    return sorted((f.loc.line if Path(f.loc.file).name == name else 0, f.code) for f in result.findings)


def differences(case: Case, chosen: AuditOptions) -> list[str]:
    """What the audit of a case has told otherwise than it should, in words."""
    name = case.path.name
    result = audited(case, chosen)
    found = told(result, name)
    if case.without:
        wanted = told(audited(case, AuditOptions()), name)
    else:
        wanted = sorted((line, code) for code, line in expectations(case.text))
    out = [result.failure] if result.failure else []
    for title, listed in (("missed", Counter(wanted) - Counter(found)), ("told", Counter(found) - Counter(wanted))):
        out += [f"{title} {code} in line {line}" for line, code in sorted(listed.elements())]
    if result.coverage.executed != result.coverage.kernels:
        out.append(f"{result.coverage.executed} of {result.coverage.kernels} kernels executed to the end")
    if not wanted:  # a fault may leave values that nothing defines
        out += sorted({f"{kind}: {what}" for kind, what, _ in result.coverage.notes if kind in GAPS})
    return out


def _of_wheel(target: Path) -> tuple[str, ...]:
    """The include folders of the corpora's CUTLASS, unpacked below ``target``."""
    corpus = CORPORA["cutlass"]
    assert corpus.wheel is not None
    for _ in unpack(fetch(corpus.wheel), target):
        pass
    return options(corpus, target).includes[:1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--includes", type=Path, help="folder that has cute/ and cutlass/")
    parser.add_argument("--cuda-path", type=Path, help="folder of a CUDA toolkit")
    parser.add_argument("--only", default="", help="only cases whose names contain this text")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    chosen = [case for case in cases() if args.only in str(case)]
    all_rules()  # once, before the processes are forked
    with tempfile.TemporaryDirectory(prefix="bw-audit-headers-") as folder:
        includes = (str(args.includes),) if args.includes else _of_wheel(Path(folder))
        real = AuditOptions(includes=includes, cuda_path=str(args.cuda_path) if args.cuda_path else None)
        agreed: Counter[bool] = Counter()
        with get_context("fork").Pool(args.jobs, maxtasksperchild=10) as pool:
            for case, differing in zip(chosen, pool.imap(partial(differences, chosen=real), chosen)):
                agreed[bool(case.without)] += not differing
                for line in differing:
                    print(f"{case}: {line}", flush=True)
    totals = Counter(bool(case.without) for case in chosen)
    print(f"agree: {agreed[False]} of {totals[False]} fixtures, {agreed[True]} of {totals[True]} without a line")
    return int(agreed != totals)


if __name__ == "__main__":
    sys.exit(main())
