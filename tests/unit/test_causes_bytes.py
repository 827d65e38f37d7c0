"""Expectations that do not fit copies of unknown size."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.causes_bytes import sum_of_some
from auditor.config import AuditOptions
from auditor.engine import audit_file

ODD = Path(__file__).parents[2] / "fixtures" / "odd"


@pytest.mark.parametrize(
    ("total", "parts", "some"),
    [(4, [4, 8], True), (8, [4, 8], True), (12, [4, 8], False), (6, [4, 8], False), (12, [4, 8, 16], True),
     (4, [4], False), (4, [4, 0], False)],
)  # fmt: skip
def test_the_sum_of_some_of_the_parts(total: int, parts: list[int], some: bool) -> None:
    assert sum_of_some(total, parts) is some


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bad_one_operand_expected", "expects 16,384 bytes in phase 0, but its copies bring data of which are read: "
                                     "49,152 (16,384 + 32,768)"),
        ("bad_scales_not_expected", "16,640 (16,384 + 256)"),
        ("bad_more_than_fits_expected", "expects 81,920 bytes in phase 0, but its copies have room for at most"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_without_host_code(name: str, message: str) -> None:
    (finding,) = audit_file(str(ODD / f"{name}.cu"), AuditOptions()).findings
    assert message in finding.message
