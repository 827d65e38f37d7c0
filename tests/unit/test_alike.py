"""Sources with the same text: one of them is audited, and the others are told the same of themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor import runner
from auditor.alike import alike, moved
from auditor.analysis import Analysis, ArchRun
from auditor.config import AuditOptions
from auditor.engine import analyse_file
from auditor.findings import Coverage, FileResult, Finding, Level
from auditor.parallel import Unit
from auditor.source import Loc

ROOT = Path(__file__).parents[2]
KERNEL = (ROOT / "fixtures/BW106/bad_one_operand_counted.cu").read_text()


def read(path: str) -> str:
    return Path(path).read_text()


def write(folder: Path, name: str, text: str = KERNEL) -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return str(folder / name)


def run(monkeypatch: pytest.MonkeyPatch, *paths: str, cache: Path | None = None) -> tuple[list[FileResult], list[str]]:
    """Results of a run, and the files that were audited for it."""
    audited: list[str] = []

    def noted(path: str, options: AuditOptions) -> Analysis:
        audited.append(path)
        return analyse_file(path, options)

    monkeypatch.setattr(runner, "analyse_file", noted)
    units = [Unit(path, AuditOptions()) for path in paths]
    return runner.run_units(units, 1, cache, lambda result: None).results, audited


def test_the_same_text_is_audited_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write(tmp_path / folder, "k.cu") for folder in ("sm_100a", "sm_103a")]
    (first, second), audited = run(monkeypatch, *paths)
    assert audited == paths[:1]
    assert [result.path for result in (first, second)] == paths
    assert [(f.code, f.loc.file) for f in second.findings] == [("BW106", paths[1])]
    assert {related.loc.file for related in second.findings[0].related} == {paths[1]}
    assert second.sources == {paths[1]: KERNEL}
    assert not second.cached
    alone = run(monkeypatch, paths[1])[0][0]
    assert second.findings == alone.findings
    assert second.coverage == alone.coverage


def test_each_of_them_is_kept_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write(tmp_path / folder, "k.cu") for folder in ("a", "b")]
    fresh, _ = run(monkeypatch, *paths, cache=tmp_path / "cache")
    kept, audited = run(monkeypatch, *paths, cache=tmp_path / "cache")
    assert not audited
    assert [result.findings for result in kept] == [result.findings for result in fresh]


def test_another_header_beside_it_another_name_or_other_options_make_a_difference(tmp_path: Path) -> None:
    text = f'#include "shape.h"\n{KERNEL}'
    paths = [write(tmp_path / folder, "k.cu", text) for folder in ("a", "b", "c")]
    write(tmp_path / "b", "shape.h", "#define SIZE 1\n")
    paths += [write(tmp_path / "a", "k.py", text), write(tmp_path / "a", "other.cu")]
    units = [Unit(path, AuditOptions()) for path in paths]
    units += [Unit(paths[0], AuditOptions(arches=("sm_90a",))), Unit(paths[0], AuditOptions(strict=True))]
    assert alike(units, range(len(units)), read) == {0: [2, 6], 1: [], 3: [], 4: [], 5: []}


def test_sources_that_cannot_be_read_are_left_to_the_audit(tmp_path: Path) -> None:
    units = [Unit(str(tmp_path / name), AuditOptions()) for name in ("gone.cu", "lost.cu")]
    assert alike(units, [0, 1], lambda path: None) == {0: [], 1: []}


def test_what_speaks_of_its_file_by_name_is_not_told_of_another(tmp_path: Path) -> None:
    def told(message: str) -> Analysis | None:
        finding = Finding("BW106", Level.ERROR, message, Loc("a.cu", 3), "k")
        return moved(Analysis("a.cu", [ArchRun("sm_100a", [finding], Coverage())]), "b.cu")

    assert told("launch in a.cu") is None
    other = told("launch in line 3")
    assert other is not None
    assert other.runs[0].findings[0].loc == Loc("b.cu", 3)


def test_where_the_first_could_not_be_told_of_the_others_they_are_audited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [write(tmp_path / folder, "k.cu") for folder in ("a", "b")]
    monkeypatch.setattr(runner, "moved", lambda analysis, path: None)
    results, audited = run(monkeypatch, *paths)
    assert audited == paths
    assert len(results) == 2
