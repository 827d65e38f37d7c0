"""The comparison with the real headers itself, with ours in their place."""

from __future__ import annotations

from pathlib import Path

from auditor.config import AuditOptions
from tests.corpora.real_headers import Case, cases, differences
from tests.test_fixtures import ROOT

GOOD = ROOT / "cutlass" / "good_ordered_groups.cu"


def test_each_marked_line_is_a_case() -> None:
    listed = cases()
    assert len({str(case) for case in listed}) == len(listed)
    assert {case.path for case in listed if case.without} == set((ROOT / "cutlass").glob("good_*.cu"))
    mutant = listed[-1]
    lines, left = mutant.path.read_text().splitlines(), mutant.text.splitlines()
    assert left[mutant.without - 1] == "" != lines[mutant.without - 1]
    assert len(left) == len(lines)


def test_differences_of_headers_are_told(tmp_path: Path) -> None:
    mutant = next(case for case in cases() if case.path == GOOD and case.without)
    assert differences(Case(GOOD), AuditOptions()) == differences(mutant, AuditOptions()) == []
    (tmp_path / "cutlass").mkdir()
    (tmp_path / "cutlass" / "cutlass.h").write_text("#pragma once\n")
    lacking = AuditOptions(includes=(str(tmp_path),))
    assert any(text.startswith("missing-include") for text in differences(Case(GOOD), lacking))
    assert any(text.startswith("missed BW") for text in differences(mutant, lacking))
