"""Fixtures of the unit tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor import engine
from tests.unit.stand_in_pipeline import Pipeline


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch, repository: Path) -> Pipeline:
    """A stand-in pipeline in the small repository; every file is audited in this process, nothing is kept."""
    stand_in = Pipeline()
    monkeypatch.setattr(engine, "_pipeline", stand_in)
    monkeypatch.setenv("BW_AUDIT_JOBS", "1")
    monkeypatch.setenv("BW_AUDIT_CACHE", "off")
    return stand_in
