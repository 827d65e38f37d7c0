"""Reports of the realistic kernels, each made once for all tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from auditor.cli_report import report_file
from auditor.config import AuditOptions
from auditor.engine import with_deep_stack
from auditor.reports.model import BarrierRow, FileReport, KernelReport, Ring

ROOT = Path(__file__).parents[2]
KERNELS = sorted(path.stem for path in (ROOT / "fixtures/kernels").glob("*.cu"))


@cache
def file_report(stem: str) -> FileReport:
    """The report on one of the realistic kernels, by the name of its file."""
    path = str(ROOT / f"fixtures/kernels/{stem}.cu")
    report = with_deep_stack(lambda: report_file(path, AuditOptions()))
    assert not report.failure
    return report


def kernel_report(stem: str) -> KernelReport:
    return file_report(stem).kernels[0]


def barrier(report: KernelReport, name: str) -> BarrierRow:
    """The ledger's row for a barrier, by the last part of its name."""
    return next(row for row in report.barriers if row.name.split(".")[-1] == name)


def ring(report: KernelReport, ready: str) -> Ring:
    """The ring that these barriers announce."""
    return next(r for r in report.rings if r.ready.split("[")[0].split(".")[-1] == ready)
