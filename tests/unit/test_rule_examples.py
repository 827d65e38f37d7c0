"""The examples of the rules' pages: wrong ones are found, right ones are clean.

A page marks them as ``cuda bad`` and ``cuda good`` code blocks; each is a whole file.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from auditor import registry
from auditor.config import AuditOptions
from auditor.engine import audit_file

_BLOCK = re.compile(r"^```cuda (bad|good)\n(.*?)^```$", re.M | re.S)


def examples() -> list[tuple[str, str, str]]:
    """(code, "bad" or "good", source) of every example."""
    found = []
    for code, stem in registry.stems().items():
        page = Path(__file__).parents[2] / "rules" / f"{stem}.md"
        if page.is_file():
            found += [(code, kind, source) for kind, source in _BLOCK.findall(page.read_text(encoding="utf-8"))]
    return found


@pytest.mark.parametrize(("code", "kind", "source"), examples(), ids=lambda value: str(value)[:5])
def test_example(code: str, kind: str, source: str, tmp_path: Path) -> None:
    path = tmp_path / "example.cu"
    path.write_text(source, encoding="utf-8")
    result = audit_file(str(path), AuditOptions())
    assert not result.failure
    assert {f.code for f in result.findings} == ({code} if kind == "bad" else set())
    assert not result.coverage.notes
