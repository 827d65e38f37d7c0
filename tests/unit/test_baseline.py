"""Baselines: what is known stays known when code moves, and no longer."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from auditor.baseline import BaselineError, Comparison, Entry, entries_of, line_texts, read_baseline, write_baseline
from auditor.cli import main
from auditor.findings import FileResult, Finding, Level
from auditor.source import Loc
from tests.unit.stand_in_pipeline import RING, Pipeline, finding

TEXT = "a();\n  copy(x);\nb();\n"


def result(folder: Path, text: str, *lines: int, code: str = "BW202") -> FileResult:
    file = str(folder / "k.cu")
    found = [Finding(code, Level.ERROR, "m", Loc(file, line, 1)) for line in lines]
    return FileResult(file, found, sources={file: text})


def new_lines(folder: Path, known: FileResult, now: FileResult) -> list[int]:
    baseline = folder / "base.json"
    baseline.write_text(write_baseline(*entries_of([known], baseline)), encoding="utf-8")
    comparison = Comparison(baseline, read_baseline(baseline))
    return [f.loc.line for f in comparison.new_only(now).findings]


@pytest.mark.parametrize(
    ("text", "lines", "new"),
    [
        (TEXT, (2,), []),
        ("// new\n\n" + TEXT, (4,), []),
        ("a();\ncopy( x );\nb();\n", (2,), []),
        ("a();\n  copy(y);\nb();\n", (2,), [2]),
        ("copy(x);\na();\ncopy(x);\n", (1, 3), [3]),
        ("copy(x);\n\xe9();\n", (1, 2), [2]),
    ],
)
def test_moved_code_does_not_revive_findings(tmp_path: Path, text: str, lines: tuple[int, ...], new: list[int]) -> None:
    assert new_lines(tmp_path, result(tmp_path, TEXT, 2), result(tmp_path, text, *lines)) == new


def test_another_rule_on_the_line_is_new(tmp_path: Path) -> None:
    now = result(tmp_path, TEXT, 2, code="BW201")
    assert new_lines(tmp_path, result(tmp_path, TEXT, 2), now) == [2]


def test_equal_lines_are_counted(tmp_path: Path) -> None:
    text = "copy(x);\ncopy(x);\ncopy(x);\n"
    assert new_lines(tmp_path, result(tmp_path, text, 1, 2), result(tmp_path, text, 1, 2, 3)) == [3]


def test_gone_and_pruned(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(TEXT)
    (tmp_path / "other.cu").write_text(TEXT)
    known = Counter({Entry("k.cu", "BW202", "0"): 2, Entry("other.cu", "BW202", "0"): 1, Entry("no.cu", "BW1", "0"): 1})
    known += entries_of([result(tmp_path, TEXT, 2)], tmp_path / "b.json")[0]
    comparison = Comparison(tmp_path / "b.json", known)
    comparison.new_only(result(tmp_path, TEXT, 2))
    gone = comparison.gone()
    assert gone == {Entry("k.cu", "BW202", "0"): 2, Entry("no.cu", "BW1", "0"): 1}  # other.cu was not looked at
    assert sorted(entry.path for entry in comparison.pruned()) == ["k.cu", "other.cu"]


def test_a_file_that_failed_keeps_its_entries(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("")
    comparison = Comparison(tmp_path / "b.json", Counter({Entry("k.cu", "BW202", "0"): 1}))
    comparison.new_only(FileResult(str(tmp_path / "k.cu"), failure="file is empty"))
    assert comparison.gone() == {}


def test_paths_are_relative_to_the_baseline(tmp_path: Path) -> None:
    entries, texts = entries_of([result(tmp_path / "src", TEXT, 2)], tmp_path / "ci" / "b.json")
    assert [entry.path for entry in entries] == ["../src/k.cu"]
    (tmp_path / "b.json").write_text(write_baseline(entries, texts))
    assert list(line_texts(tmp_path / "b.json").values()) == ["copy(x);"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2, "findings": []}', '{"format": 1, "findings": [1]}'])
def test_what_is_no_baseline(tmp_path: Path, text: str) -> None:
    (tmp_path / "b.json").write_text(text)
    with pytest.raises(BaselineError, match=r"b\.json: "):
        read_baseline(tmp_path / "b.json")


def test_on_the_command_line(
    pipeline: Pipeline, repository: Path, stand_in_rules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [RING, "--baseline", "base.json"]
    pipeline.findings = [finding()]
    assert main(words) == 2
    assert "base.json: No such file or directory" in capsys.readouterr().err
    assert main([*words, "--write-baseline"]) == 0
    assert capsys.readouterr() == ("", "bw-audit: base.json: 1 finding written\n")
    assert main(words) == 0
    assert "no findings in 1 file; 1 in the baseline" in capsys.readouterr().out
    pipeline.findings.append(finding(line=4))
    assert main(words) == 1
    pipeline.findings = []
    assert main(words) == 0
    assert "1 finding not seen any more; --prune-baseline removes them" in capsys.readouterr().err
    assert main([*words, "--prune-baseline"]) == 0
    assert json.loads((repository / "base.json").read_text())["findings"] == []
    assert main([RING, "--write-baseline"]) == 2
    (repository / "bw-audit.toml").write_text('baseline = "base.json"\n')
    pipeline.findings = [finding()]
    assert main([RING, "--write-baseline"]) == 0
    assert main([RING]) == 0
