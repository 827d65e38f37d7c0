"""A call of the library that is removed from a correct kernel has to be missed.

Each line of a good fixture under ``fixtures/cutlass`` that ends in ``// without[BWnnn]`` is taken out in turn, and the
audit of what is left has to report these codes.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from auditor.config import AuditOptions
from auditor.engine import audit_file

ROOT = Path(__file__).parents[2] / "fixtures" / "cutlass"
MARK = re.compile(r"// without\[([BW\d,]+)\]$")
ARCH = re.compile(r"^// arch: (\w+)", re.MULTILINE)


def marked() -> list[tuple[Path, int, list[str]]]:
    """(fixture, number of a marked line, codes that its removal has to bring)."""
    return [
        (path, number, match[1].split(","))
        for path in sorted(ROOT.glob("good_*.cu"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (match := MARK.search(line))
    ]


@pytest.mark.parametrize(("path", "number", "codes"), marked(), ids=lambda v: getattr(v, "name", str(v)))
def test_removed_line_is_missed(path: Path, number: int, codes: list[str], tmp_path: Path) -> None:
    text = path.read_text()
    lines = text.splitlines()
    lines[number - 1] = ""
    mutant = tmp_path / path.name
    mutant.write_text("\n".join(lines))
    arch = ARCH.search(text)
    result = audit_file(str(mutant), AuditOptions(arches=(arch[1],) if arch else ()))
    assert not result.failure
    assert set(codes) <= {finding.code for finding in result.findings}


def test_every_good_kernel_has_marks() -> None:
    assert {path.name for path, _, _ in marked()} == {path.name for path in ROOT.glob("good_*.cu")}
