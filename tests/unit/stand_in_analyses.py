"""Analyses for worker processes that behave in chosen ways, by the name of the file."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from auditor import parallel
from auditor.analysis import Analysis
from auditor.config import AuditOptions


def analyse(path: str, options: AuditOptions, text: str | None = None) -> Analysis:
    """Crashes, perhaps only once, exits or waits where the name says so; ``seconds`` is the process it ran in."""
    if "crash" in path:
        signal.raise_signal(signal.SIGSEGV)
    if "once" in path and not Path(path).exists():
        Path(path).touch()
        os._exit(4)
    if "exit" in path:
        os._exit(3)
    if "hang" in path:
        time.sleep(600)
    if "much" in path:
        parallel.FULL = 0  # MiB: this process has more
    return Analysis(path, seconds=float(os.getpid()))
