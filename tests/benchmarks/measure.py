"""Running a command and measuring it: processor seconds and peak memory of it and its children."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """One run. ``wall`` and ``cpu`` are seconds, ``peak`` is the largest resident size in MiB."""

    wall: float
    cpu: float
    peak: float
    status: int


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> Sample:
    """Run a command to its end, output thrown away. Raises RuntimeError when it fails."""
    began = time.monotonic()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"exit code {process.returncode}: {' '.join(command)}")
    return Sample(
        time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode
    )


def median(samples: Sequence[Sample]) -> Sample:
    """Medians of each quantity; the status of the worst run."""
    return Sample(
        statistics.median(s.wall for s in samples),
        statistics.median(s.cpu for s in samples),
        max(s.peak for s in samples),
        max(s.status for s in samples),
    )


def alternate(commands: Sequence[Sequence[str]], rounds: int, environment: dict[str, str]) -> list[Sample]:
    """Medians of several commands, run in turn so that a busy machine slows them alike."""
    samples: list[list[Sample]] = [[] for _ in commands]
    for _ in range(rounds):
        for own, command in zip(samples, commands):
            own.append(run(command, environment))
    return [median(own) for own in samples]
