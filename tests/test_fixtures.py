"""Every fixture says what is wrong with it: the findings have to be exactly the expected ones, at their lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from auditor.config import AuditOptions
from auditor.engine import audit_file

ROOT = Path(__file__).parents[1] / "fixtures"
FILES = sorted(ROOT.rglob("*.cu"))
EXPECT = re.compile(r"expect\[(BW\d{3})\]")


def expectations(text: str) -> list[tuple[str, int]]:
    """(code, line) of every expect comment."""
    return [(code, number) for number, line in enumerate(text.splitlines(), 1) for code in EXPECT.findall(line)]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_fixture(path: Path) -> None:
    text = path.read_text()
    arch = re.search(r"^// arch: (\w+)", text, re.M)
    result = audit_file(str(path), AuditOptions(arches=(arch[1],) if arch else ()))
    assert not result.failure
    found = [(f.code, f.loc.line) for f in result.findings]
    assert sorted(found) == sorted(expectations(text)), "\n".join(
        f"{f.loc.line}: {f.code} {f.message}" for f in result.findings)
    assert result.coverage.executed == result.coverage.kernels
    if not expectations(text):  # a fault may leave values that nothing defines
        assert [n for n in result.coverage.notes if n[0] == "unanalysed"] == []


def test_bad_and_good_for_every_rule() -> None:
    """At least two bad and two good kernels a rule that judges kernels."""
    from auditor import registry

    missing = []
    for code in registry.stems():
        if code.startswith("BW0"):
            continue
        folder = ROOT / code
        bad, good = len(list(folder.glob("bad_*.cu"))), len(list(folder.glob("good_*.cu")))
        if bad < 2 or good < 2:
            missing.append((code, bad, good))
    assert missing == []
