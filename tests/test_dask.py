"""Units on a Dask cluster. Skipped where the package distributed is not installed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from auditor.config import AuditOptions
from auditor.farm import Batch, run_batch
from auditor.parallel import Unit

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "fixtures"
BAD = FIXTURES / "BW308" / "bad_freed_before_wait.cu"


def batch(*units: Unit, **given: Any) -> Batch:
    return Batch(units, given.pop("folder", str(ROOT)), **given)


def unit(path: str, text: str) -> Unit:
    return Unit(path, AuditOptions(), text)


def test_a_batch_is_audited_in_its_own_process() -> None:
    good, bad = run_batch(batch(unit("a.cu", "__global__ void k() {}\n"), unit("b.cu", BAD.read_text())))
    assert (good.path, good.failure, [f.code for f in good.runs[0].findings]) == ("a.cu", "", ["BW003"])
    assert [finding.code for finding in bad.runs[0].findings] == ["BW308"]
    assert bad.sources["b.cu"] == BAD.read_text()


def test_headers_are_found_in_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "h.cuh").write_text("#define NAME from_the_header\n")
    text = '#include "inc/h.cuh"\n__global__ void NAME() {}\n'
    (analysis,) = run_batch(batch(unit("a.cu", text), folder=str(tmp_path)))
    assert [kernel.display for kernel in analysis.runs[0].kernels] == ["from_the_header"]
    (elsewhere,) = run_batch(batch(unit("a.cu", text), folder=str(tmp_path / "missing")))
    assert any("h.cuh" in message for _, message, _ in elsewhere.runs[0].coverage.notes)


def test_another_version_says_so() -> None:
    (analysis,) = run_batch(batch(unit("a.cu", ""), version="0.0.0"))
    assert analysis.failure.endswith("not 0.0.0")


# ---- a real cluster -------------------------------------------------------------------------------------------------


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and two workers, each a process: its address and the workers."""
    pytest.importorskip("distributed")
    where = tmp_path / "scheduler.json"
    common = {"cwd": tmp_path, "stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(where)]
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", *words]
    processes: list[subprocess.Popen[bytes]] = [subprocess.Popen(scheduler, **common)]  # type: ignore[call-overload]
    end = time.monotonic() + 60
    while not where.exists() and time.monotonic() < end:
        time.sleep(0.1)
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(where), "--nthreads", "1"]
    worker += ["--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
    processes += [subprocess.Popen(worker, **common) for _ in range(2)]  # type: ignore[call-overload]
    try:
        yield json.loads(where.read_text())["address"], processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def audit(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "BW_AUDIT_CACHE": "off", "BW_AUDIT_JOBS": "1"}
    command = [sys.executable, "-m", "auditor", *words]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def findings(report: Path) -> list[tuple[str, object]]:
    return [(file["path"], file["findings"]) for file in json.loads(report.read_text())["files"]]


def kill_at_work(worker: subprocess.Popen[bytes]) -> None:
    """Kill a worker as soon as it has a batch."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for children in Path(f"/proc/{worker.pid}/task").glob("*/children"):
            if children.read_text():
                worker.kill()
                return
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux to see when a worker works")
def test_a_worker_that_is_lost_costs_no_finding(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    address, workers = cluster
    folders = ["fixtures/BW308", "fixtures/BW202", "fixtures/BW105"]
    local, remote = tmp_path / "local.json", tmp_path / "remote.json"
    lost = threading.Thread(target=kill_at_work, args=(workers[0],))
    lost.start()
    done = audit(ROOT, *folders, "--format", f"json:{remote}", "--executor", f"dask:{address}")
    lost.join()
    assert (done.returncode, remote.exists()) == (1, True), done.stderr
    assert workers[0].wait(10) == -signal.SIGKILL  # while it had a batch: others have audited that
    assert audit(ROOT, *folders, "--format", f"json:{local}", "-q").returncode == 1
    assert findings(remote) == findings(local)


@pytest.mark.slow
def test_no_scheduler_and_wrong_addresses() -> None:
    pytest.importorskip("distributed")
    assert "is not of the form" in audit(ROOT, "--executor", "dask:somewhere", str(BAD)).stderr
    done = audit(ROOT, "--executor", "dask:tcp://127.0.0.1:9", str(BAD))
    assert done.returncode == 2
    assert done.stderr.endswith("Error: tcp://127.0.0.1:9: no Dask scheduler answers\n")
