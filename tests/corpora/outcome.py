"""Audits of many files, each in a process of its own with a time limit."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

from auditor.config import AuditOptions
from auditor.engine import audit_file, with_deep_stack
from auditor.findings import FileResult, Level
from auditor.registry import all_rules
from tests.corpora.agreement import Agreement, compare
from tests.corpora.stated import stated_options

INCOMPLETE = ("unanalysed", "budget", "stub", "missing-include", "empty")


@dataclass(frozen=True)
class Outcome:
    """What an audit of one file came to. ``gaps``: notes of the coverage report by kind, ``findings``: by rule."""

    failure: str = ""
    kernels: int = 0
    executed: int = 0
    gaps: Mapping[str, int] = field(default_factory=dict)
    findings: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    details: tuple[str, ...] = ()
    agreement: Agreement | None = None

    def __str__(self) -> str:
        """One line for the record: without times, which differ between machines."""
        if self.failure:
            return "not audited"
        counts = [f"{name}:{n}" for name, n in sorted({**self.gaps, **self.findings}.items())]
        return " ".join([f"{self.executed}/{self.kernels}", *counts])

    @property
    def whole(self) -> bool:
        """Whether every kernel ran to the end of all its roles with nothing left unanalysed."""
        return not self.failure and self.executed == self.kernels > 0 and not self.gaps


@dataclass(frozen=True)
class Job:
    """How to audit: the options, and whether to compare what is extracted with the kernels' own comments.

    ``stated``: the files say in comments how their kernel is launched.
    """

    options: AuditOptions
    agreement: bool = False
    stated: bool = False


def _outcome(result: FileResult) -> Outcome:
    loud = [finding for finding in result.findings if finding.level is not Level.NOTE]
    gaps = Counter(kind for kind, _, _ in set(result.coverage.notes) if kind in INCOMPLETE)
    details = [f"{f.loc.line}: {f.code} {f.level.value}: {f.message}" for f in loud]
    details += [f"{loc.line}: {kind}: {text}" for kind, text, loc in dict.fromkeys(result.coverage.notes)]
    return Outcome(
        failure=result.failure,
        kernels=result.coverage.kernels,
        executed=result.coverage.executed,
        gaps=dict(gaps),
        findings=dict(Counter(finding.code for finding in loud)),
        details=tuple(details),
    )


def _work(path: str, job: Job, answer: Connection) -> None:
    """In the child: audit one file. Time is the processor's, so that other work on the machine does not count."""
    began = time.process_time()
    options = stated_options(Path(path), job.options) if job.stated else job.options
    outcome = _outcome(with_deep_stack(lambda: audit_file(path, options)))
    seconds = time.process_time() - began
    agreed = with_deep_stack(lambda: compare(path)) if job.agreement else None
    answer.send(Outcome(**{**vars(outcome), "seconds": seconds, "agreement": agreed}))
    answer.close()


@dataclass
class _Running:
    name: str
    process: multiprocessing.process.BaseProcess
    deadline: float


def audit_all(files: Mapping[str, Path], job: Job, jobs: int, limit: float) -> Iterator[tuple[str, Outcome]]:
    """Outcomes in the order in which they come. A file that takes more than ``limit`` seconds counts as a failure."""
    _preload()
    if "fork" in multiprocessing.get_all_start_methods():
        multiprocessing.set_start_method("fork", force=True)
    waiting = list(files.items())[::-1]
    running: dict[Connection, _Running] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            name, path = waiting.pop()
            receiver, sender = multiprocessing.Pipe(duplex=False)
            process = multiprocessing.Process(target=_work, args=(str(path), job, sender))
            process.start()
            sender.close()
            running[receiver] = _Running(name, process, time.monotonic() + limit)
        nearest = min(item.deadline for item in running.values())
        ready = wait(list(running), timeout=max(nearest - time.monotonic(), 0.0))
        for receiver in [r for r in running if r in ready or running[r].deadline <= time.monotonic()]:
            item = running.pop(receiver)
            yield item.name, _received(receiver, item, receiver in ready, limit)


def _received(receiver: Connection, item: _Running, ready: bool, limit: float) -> Outcome:
    try:
        if ready:
            outcome: Outcome = receiver.recv()
            return outcome
        return Outcome(failure=f"more than {limit:.0f} seconds")
    except EOFError:
        return Outcome(failure="the process ended")
    finally:
        receiver.close()
        item.process.kill()
        item.process.join()


def _preload() -> None:
    """Load the rules once, before children are forked."""
    all_rules()
