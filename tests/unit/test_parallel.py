"""Worker processes: results equal those of single runs, and nothing that happens to one costs another file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from auditor import parallel
from auditor.analysis import Analysis
from auditor.cache import Cache
from auditor.config import AuditOptions
from auditor.engine import audit_file
from auditor.findings import FileResult
from auditor.parallel import Unit, audit_in_parallel
from auditor.progress import Progress
from auditor.runner import run_units
from tests.unit.stand_in_analyses import analyse

ROOT = Path(__file__).parents[2]
KERNELS = [
    "fixtures/BW202/bad_barrier_before_the_read.cu",
    "fixtures/BW202/good_barrier_behind_the_read.cu",
    "fixtures/BW106/bad_one_operand_counted.cu",
]


def units(*names: str) -> list[Unit]:
    return [Unit(name, AuditOptions()) for name in names]


def ignore(result: FileResult) -> None:
    pass


def run_all(*names: str, jobs: int = 2) -> dict[str, Analysis]:
    return {names[number]: analysis for number, analysis in audit_in_parallel(units(*names), jobs, None, analyse)}


def test_every_unit_is_analysed_once_by_at_most_so_many_processes() -> None:
    names = [f"{n}.cu" for n in range(20)]
    found = run_all(*names)
    assert sorted(found) == sorted(names)
    assert 1 <= len({analysis.seconds for analysis in found.values()}) <= 2


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_crash_costs_no_other_file() -> None:
    found = run_all("a.cu", "crash.cu", "exit.cu", "b.cu", "crash2.cu", "c.cu")
    failures = {name: analysis.failure for name, analysis in found.items()}
    died = "the process that audited it died "
    assert failures == {
        "a.cu": "",
        "b.cu": "",
        "c.cu": "",
        "crash.cu": f"{died}of SIGSEGV",
        "crash2.cu": f"{died}of SIGSEGV",
        "exit.cu": f"{died}with exit code 3",
    }


def test_a_file_that_a_worker_died_of_is_tried_once_more(tmp_path: Path) -> None:
    once = str(tmp_path / "once")
    found = run_all("a.cu", once, "b.cu")
    assert [analysis.failure for analysis in found.values()] == ["", "", ""]
    assert Path(once).exists()


@pytest.mark.skipif(os.name == "nt", reason="the platform does not tell how much memory a process takes")
def test_a_worker_that_has_taken_much_memory_is_replaced() -> None:
    found = run_all("a.cu", "b.cu", "much.cu", "c.cu", "d.cu", jobs=1)
    processes = [found[name].seconds for name in ("a.cu", "b.cu", "much.cu", "c.cu", "d.cu")]
    assert processes[0] == processes[1] == processes[2] != processes[3] == processes[4]


def test_workers_are_replaced_after_some_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "RECYCLE", 2)
    found = run_all(*[f"{n}.cu" for n in range(7)], jobs=1)
    assert len({analysis.seconds for analysis in found.values()}) == 4


def test_closing_ends_workers_at_once() -> None:
    began = time.monotonic()
    analyses = audit_in_parallel(units("a.cu", "hang.cu", "hang2.cu"), 3, None, analyse)
    number, _ = next(analyses)
    analyses.close()
    assert number == 0
    assert time.monotonic() - began < 60


def test_results_equal_those_of_single_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    single = [audit_file(name, AuditOptions()) for name in KERNELS]
    for _ in range(2):  # by workers, then from the cache that they filled
        run = run_units(units(*KERNELS), 2, tmp_path, ignore)
        assert [(r.path, r.findings, r.coverage, r.sources) for r in run.results] == [
            (r.path, r.findings, r.coverage, r.sources) for r in single
        ]
    assert all(result.cached for result in run.results)


def test_an_interruption_keeps_what_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [str(tmp_path / f"{n}.cu") for n in range(4)]
    for name in names:
        Path(name).write_text("int x;\n")
    told: list[str] = []

    def tell(result: FileResult) -> None:
        told.append(result.path)
        if len(told) == 2:
            raise KeyboardInterrupt

    run = run_units(units(*names), 1, None, tell)
    assert run.interrupted
    assert [result.path for result in run.results] == names[:2]


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_at_once_and_prints_what_is_known() -> None:
    words = [sys.executable, "-m", "auditor", "fixtures", "-j", "2", "--no-cache", "--format", "concise"]
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
    process = subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    signal.signal(signal.SIGINT, usual)
    assert process.stderr is not None
    first = process.stderr.readline()
    assert "[1/" in first
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 10
    assert process.returncode == 130
    assert "interrupted: " in err
    assert "Traceback" not in err
    assert all(": error[BW" in line or ": warning[BW" in line for line in out.splitlines())


class Terminal:
    """Standard error as a terminal."""

    encoding = "ascii"

    def __init__(self) -> None:
        self.written: list[str] = []

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.written.append(text)

    def flush(self) -> None:
        pass


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "60")
    progress = Progress(40, quiet=False)
    for _ in range(40):
        progress.tell(FileResult("a/very/long/path/" * 5 + "gr\u00f6\u00dfe.cu", failure="no"))
    progress.close()
    shown = terminal.written
    assert 2 <= len(shown) < 40  # not one drawing a file
    assert shown[0].startswith("\r\x1b[K[....................] 1/40, 0 findings, 1 failed  ")
    assert len(shown[0]) <= 60 + len("\r\x1b[K")
    assert shown[-1] == "\r\x1b[K"


def test_no_progress_when_quiet_or_for_one_file(capsys: pytest.CaptureFixture[str]) -> None:
    for progress in (Progress(40, quiet=True), Progress(1, quiet=False)):
        progress.tell(FileResult("a.cu"))
        progress.close()
    assert capsys.readouterr().err == ""


Change = Callable[[Path], None]


def touch_header(folder: Path) -> None:
    (folder / "h.cuh").write_text("#pragma once\nint other;\n")


def earlier_header(folder: Path) -> None:
    (folder / "inc" / "late.cuh").write_text("#pragma once\n")


def missing_header(folder: Path) -> None:
    (folder / "include").mkdir()
    (folder / "include" / "missing.cuh").write_text("#pragma once\n")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A source with headers beside it, in a second include folder, and missing; ``inc`` and ``inc2`` are searched."""
    for folder in ("src", "inc", "inc2"):
        (tmp_path / folder).mkdir()
    (tmp_path / "src" / "h.cuh").write_text("#pragma once\n")
    (tmp_path / "inc2" / "late.cuh").write_text("#pragma once\n")
    includes = '#include "h.cuh"\n#include <late.cuh>\n#include "missing.cuh"\n'
    (tmp_path / "src" / "k.cu").write_text(includes + "__global__ void k(float* o) { o[0] = 1; }\n")
    return tmp_path


def cached(folder: Path, options: AuditOptions | None = None, name: str = "src/k.cu") -> bool:
    """Whether the cache answers; fills it otherwise."""
    options = options or AuditOptions(includes=(str(folder / "inc"), str(folder / "inc2")))
    run = run_units([Unit(str(folder / name), options)], 1, folder / "cache", ignore)
    assert [result.failure for result in run.results] == [""]
    return run.results[0].cached


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: touch_header(folder / "src"),
        earlier_header,
        missing_header,
        lambda folder: (folder / "src" / "k.cu").write_text("__global__ void k() {}\n"),
        lambda folder: (folder / "inc2" / "late.cuh").unlink(),
    ],
    ids=["header", "earlier header", "missing header", "source", "removed header"],
)
def test_whatever_an_analysis_depends_on_makes_it_new(small: Path, change: Change) -> None:
    assert not cached(small)
    assert cached(small)
    change(small)
    assert not cached(small)
    assert cached(small)


def test_options_that_only_concern_the_report_do_not(small: Path) -> None:
    assert not cached(small, AuditOptions())
    assert cached(small, AuditOptions(strict=True, levels=(("BW202", "note"),)))
    assert not cached(small, AuditOptions(defines=("N=1",)))


def test_a_broken_entry_is_no_entry(small: Path) -> None:
    assert not cached(small)
    for entry in (small / "cache").glob("??/*"):
        entry.write_text('{"headers": {}, "absent": [], "runs": [{"arch": 1}]}')
    assert not cached(small)


def test_neither_failures_nor_runs_short_of_time_are_kept(tmp_path: Path) -> None:
    from auditor.analysis import ArchRun
    from auditor.findings import Coverage
    from auditor.source import UNKNOWN

    cache = Cache(tmp_path)
    cache.put(AuditOptions(), Analysis("k.cu", sources={"k.cu": "x"}, failure="internal error: X"))
    late = Coverage(1, 0, [("budget", "kernel k: stopped after 20.0 s", UNKNOWN)])
    cache.put(AuditOptions(), Analysis("k.cu", [ArchRun("sm_100a", [], late)], {"k.cu": "x"}))
    assert cache.get("k.cu", AuditOptions(), "x") is None
    steps = Coverage(1, 0, [("budget", "kernel k: stopped after 400000 steps", UNKNOWN)])
    cache.put(AuditOptions(), Analysis("k.cu", [ArchRun("sm_100a", [], steps)], {"k.cu": "x"}))
    assert cache.get("k.cu", AuditOptions(), "x") is not None


def test_old_entries_are_removed(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(AuditOptions(), Analysis("k.cu", [], {"k.cu": "x"}))
    cache.trim(lambda: time.time() + 29 * 86400)
    assert cache.get("k.cu", AuditOptions(), "x") is not None
    (tmp_path / "trimmed").unlink()
    cache.trim(lambda: time.time() + 31 * 86400)
    assert cache.get("k.cu", AuditOptions(), "x") is None


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "below")
    cache.put(AuditOptions(), Analysis("k.cu", [], {"k.cu": "x"}))
    cache.trim()
    assert cache.get("k.cu", AuditOptions(), "x") is None
