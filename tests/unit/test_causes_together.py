"""Faults that several places show together, and reads that come before their data has even been asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.config import AuditOptions
from auditor.engine import audit_file

ODD = Path(__file__).parents[2] / "fixtures" / "odd"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bad_phase_mask",
         "but phase 0 has parity 0, so it passes at once, on a fresh barrier; so is the wait at line 102"),
        ("bad_shared_pipe_state", "so are the waits at line 92, line 124 and line 106"),
        ("bad_result_read_ahead", "before the tcgen05.mma that writes them is known to be complete: no wait of warp 2"),
    ],
)  # fmt: skip
def test_one_finding_tells_of_one_fault(name: str, message: str) -> None:
    (finding,) = audit_file(str(ODD / f"{name}.cu"), AuditOptions()).findings
    assert message in finding.message


def test_places_that_go_wrong_together_are_named() -> None:
    (finding,) = audit_file(str(ODD / "bad_shared_pipe_state.cu"), AuditOptions()).findings
    assert [r.loc.line for r in finding.related if r.message == "out of step as well"] == [92, 124, 106]
