"""Worker processes that audit one file at a time. A worker that dies is replaced, and costs at most the file it had."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditor.analysis import Analysis
from auditor.cache import Cache
from auditor.config import AuditOptions
from auditor.engine import analyse_file, with_deep_stack
from auditor.quick_dataclass import dataclass

if TYPE_CHECKING:  # a single file is audited without it, and it takes its time to load
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

RECYCLE = 250  # files after which a worker makes room for a fresh one, so that leaks stay small
FULL = 512  # MiB of memory at which it does so: nothing is collected in it, for that would take longer
_PRELOADED = ["auditor.engine", "auditor.audit", "auditor.frontend.parse", "auditor.frontend.lower.program_builder"]


@dataclass(frozen=True)
class Unit:
    """One file to audit, and how. ``text`` stands in for what the file holds."""

    path: str
    options: AuditOptions
    text: str | None = None


try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

Analyse = Callable[[str, AuditOptions, str | None], Analysis]


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    unit: int = 0  # number of the unit that it works on
    done: int = 0


def default_jobs() -> int:
    """One process for each core that this process may use."""
    with contextlib.suppress(AttributeError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def audit_in_parallel(
    units: Sequence[Unit], jobs: int, cache: Path | None, analyse: Analyse = analyse_file
) -> Generator[tuple[int, Analysis], None, None]:
    """Analyses with the numbers of their units, in the order in which they end.

    A unit whose worker dies is tried once more, alone in a fresh one, since the worker may have been damaged before.
    Closing the iterator, or an exception in it, ends the workers at once.
    """
    pool = _Pool(units, cache, analyse)
    try:
        for _ in range(jobs):
            pool.employ()
        while pool.workers:
            yield from pool.next_analyses()
    finally:
        pool.kill()


class _Pool:
    """The workers and what is left for them to do."""

    def __init__(self, units: Sequence[Unit], cache: Path | None, analyse: Analyse) -> None:
        import multiprocessing

        self.workers: list[_Worker] = []
        self._units = units
        self._left = deque(sorted(range(len(units)), key=lambda n: -_size(units[n])))  # else a large one may come last
        self._again: set[int] = set()  # units that a worker has died of
        self._arguments = (cache, analyse)
        forks = "forkserver" in multiprocessing.get_all_start_methods()
        self._context: Any = multiprocessing.get_context("forkserver" if forks else "spawn")
        if forks:
            self._context.set_forkserver_preload(_PRELOADED)

    def employ(self) -> None:
        """Start a worker, when there is work for it."""
        if not self._left:
            return
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, *self._arguments), name="bw-audit", daemon=True)
        process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self.workers.append(worker)
        self._assign(worker)

    def next_analyses(self) -> Iterator[tuple[int, Analysis]]:
        """Wait for workers that have something to say, and give them new work."""
        from multiprocessing.connection import wait

        ready = wait([worker.connection for worker in self.workers])
        for worker in [worker for worker in self.workers if worker.connection in ready]:
            try:
                analysis, full = worker.connection.recv()
            except (EOFError, OSError):
                yield from self._bury(worker)
                continue
            number = worker.unit
            worker.done += 1
            if self._left and worker.done < RECYCLE and not full and number not in self._again:
                self._assign(worker)
            else:
                self._dismiss(worker)
                self.employ()
            yield number, analysis

    def kill(self) -> None:
        for worker in self.workers:
            worker.process.kill()
            worker.connection.close()

    def _assign(self, worker: _Worker) -> None:
        worker.unit = self._left.popleft()
        with contextlib.suppress(OSError):  # it has died: its end of the pipe tells
            worker.connection.send(self._units[worker.unit])

    def _dismiss(self, worker: _Worker) -> None:
        """Let a worker go: it ends when its pipe does."""
        self.workers.remove(worker)
        worker.connection.close()

    def _bury(self, worker: _Worker) -> Iterator[tuple[int, Analysis]]:
        """A worker has died: try its unit again, or give it up."""
        number = worker.unit
        self._dismiss(worker)
        worker.process.join()
        if number in self._again:
            yield number, Analysis(self._units[number].path, failure=_death(worker.process.exitcode))
        else:
            self._again.add(number)
            self._left.appendleft(number)
        self.employ()


def _size(unit: Unit) -> int:
    """Bytes of a source, which tell roughly how long its audit takes."""
    if unit.text is not None:
        return len(unit.text)
    with contextlib.suppress(OSError, ValueError):
        return Path(unit.path).stat().st_size
    return 0


def _death(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"the process that audited it died of {signal.Signals(-code).name}"
    return f"the process that audited it died with exit code {code}"


def _work(connection: Connection, cache_folder: Path | None, analyse: Analyse) -> None:
    """What a worker does: audits what it is sent, until there is no one to send."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is told, and decides
    if _memory() is not None:
        gc.disable()
    with_deep_stack(lambda: _serve(connection, cache_folder, analyse))


def _serve(connection: Connection, cache_folder: Path | None, analyse: Analyse) -> None:
    cache = Cache(cache_folder) if cache_folder else None
    with contextlib.suppress(EOFError, OSError):
        while True:
            unit: Unit = connection.recv()
            analysis = analyse(unit.path, unit.options, unit.text)
            if cache and unit.text is None:
                cache.put(unit.options, analysis)
            connection.send((analysis, (_memory() or 0) > FULL))


def _memory() -> float | None:
    """The most that this process has taken so far, in MiB; None where the platform does not tell."""
    if resource is None:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 20 if sys.platform == "darwin" else 1 << 10)
