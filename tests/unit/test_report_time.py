"""A report takes less than twice the time of an audit."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from auditor.audit import audit_program
from auditor.config import AuditOptions
from auditor.engine import guess_arch, read_source, with_deep_stack
from auditor.frontend import build_program
from auditor.frontend.parse import Options
from auditor.program import Program
from auditor.reports.build import report_program
from tests.unit.report_kernels import ROOT


def _seconds(work: Callable[[], object]) -> float:
    """Processor time of the fastest of three runs."""
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        with_deep_stack(work)
        best = min(best, time.process_time() - began)
    return best


@pytest.mark.parametrize("stem", ["class_pipeline", "attention_like", "pair_two_cta"])
def test_report_takes_less_than_twice_an_audit(stem: str) -> None:
    path = str(ROOT / f"fixtures/kernels/{stem}.cu")
    text = read_source(path)

    def program() -> Program:
        return build_program(path, text, Options(arch=guess_arch(text)))

    audit = _seconds(lambda: audit_program(program(), AuditOptions()))
    assert _seconds(lambda: report_program(program(), AuditOptions())) < 2 * audit
