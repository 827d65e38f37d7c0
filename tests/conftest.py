"""Shared fixtures: a small repository with a kernel, hand-made results, a stand-in rule, and golden files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from auditor import registry
from auditor.findings import Coverage, Edit, FileResult, Finding, Fix, Level, Related
from auditor.source import UNKNOWN, Loc

GOLDEN = Path(__file__).parent / "golden"

KERNEL = """\
// Größe 𝟙: columns are bytes here
__global__ void ring(const float* in, int k_blocks) {
\tfor (int k = 0; k < k_blocks; ++k) {
\t\twait(full[k % 2], phase);  // 𝟙
\t\tauto v = tile[k % 2][threadIdx.x];
\t\tload_tile(tile[k % 2], in, k);
\t}
}
"""

RULE = """
from auditor.findings import Level
from auditor.rule import Rule

Pair = tuple[int, int]


class StageRefilled(Rule):
    code = "BW202"
    name = "stage-refilled-while-read"
    level = Level.ERROR
    confidence = "high"
    entries = ("TL-24", "TC-29")

    def check(self, audit):
        return iter(())
"""

RULE_DOC = """\
# BW202 stage-refilled-while-read

## What it does

Reports a copy into `tile` memory that is still being read. The reader may be a thread or an MMA.

## Why it matters

The reader sees bytes of the next tile.

## Example

```cuda
load_tile(tile[k % 2], in, k);
```

## Fix

Wait for the [empty barrier](https://example.org/empty) first.

## Limits

None.

## References

TL-24
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files instead of comparing")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with a file under tests/golden."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository with ``src/ring.cu`` in it; the working folder is its root."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "ring.cu").write_text(KERNEL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def results() -> list[FileResult]:
    """Two findings and a coverage note in ``src/ring.cu``, and a file that failed."""
    file = "src/ring.cu"
    refill = Finding(
        code="BW202",
        level=Level.ERROR,
        message="the copy of iteration 2 refills tile[0] while warp 1 still reads it",
        loc=Loc(file, 6, 3, 6, 32),
        kernel="ring",
        related=(
            Related(Loc(file, 5, 12), "the read that is not finished [lane 0]"),
            Related(Loc(file, 4, 3, 4, 27), "this wait does not cover it"),
        ),
        flow=(
            Related(Loc(file, 5, 12), "warp 1 reads tile[0] in iteration 0"),
            Related(Loc(file, 6, 3, 6, 32), "warp 0 issues the copy into tile[0]"),
            Related(Loc("wrappers.cuh", 9, 1), "the copy writes tile[0]"),
        ),
        inputs=(("k_blocks", "3"),),
        context=(("role", "producer"), ("stage", "0")),
        hint="wait for an empty barrier before the copy",
    )
    race = Finding(
        "BW999",
        Level.WARNING,
        "a wait, 100% late",
        Loc(file, 4, 3, 5, 10),
        kernel="ring",
        hint="move it\nup",
        fix=Fix("insert fence", (Edit(Loc(file, 4, 33, 4, 33), "\n\t\tfence();"),)),
    )
    coverage = Coverage(kernels=2, executed=1, notes=[("opaque call", "helper() has no body", Loc(file, 3, 2))])
    coverage.notes.append(("missing include", "cute/tensor.hpp", UNKNOWN))
    return [
        FileResult(file, [race, refill], coverage, {file: KERNEL}, seconds=0.25),
        FileResult("src/junk.cu", failure="binary file, not source text"),
    ]


@pytest.fixture
def stand_in_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A rules package with the single rule BW202 in place of the real one."""
    folder = tmp_path / "stand_in" / "bw_test_rules"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "bw202_stage_refilled_while_read.py").write_text(RULE)
    (folder / "bw202_stage_refilled_while_read.md").write_text(RULE_DOC)
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.setattr(registry, "_PACKAGE", "bw_test_rules")
    _forget_rules()
    yield folder
    _forget_rules()


def _forget_rules() -> None:
    import sys

    for name in [name for name in sys.modules if name.startswith("bw_test_rules")]:
        del sys.modules[name]
    for function in (registry.stems, registry.get, registry.info, registry.all_rules):
        function.cache_clear()
