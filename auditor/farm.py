"""A batch of units on another machine: one process that is told what to audit and answers, and needs nothing else.

``python -m auditor.farm`` reads one pickled ``Batch`` from standard input and writes the pickled answers to standard
output. It audits in a worker process of its own, so that a file that crashes costs no other, nor the engine that
started it. Batches come from the user's own run, by way of an engine that runs the user's code anyway.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from auditor.analysis import Analysis
from auditor.output.tool import NAME, VERSION
from auditor.parallel import Unit, audit_in_parallel


@dataclass(frozen=True)
class Batch:
    """Units with their texts. ``folder`` is the working folder that their paths start from."""

    units: tuple[Unit, ...]
    folder: str
    version: str = VERSION


def run_batch(batch: Batch) -> list[Analysis]:
    """Audit a batch in a process of its own; the analyses in the order of the units. Never raises for what files hold.

    A working folder that does not exist on this machine is replaced by an empty one: then no headers are found.
    """
    if batch.version != VERSION:
        why = f"the machine that should audit it has {NAME} {VERSION}, not {batch.version}"
        return [Analysis(unit.path, failure=why) for unit in batch.units]
    with tempfile.TemporaryDirectory() as empty:
        folder = batch.folder if Path(batch.folder).is_dir() else empty
        words = [sys.executable, "-m", "auditor.farm"]
        done = subprocess.run(words, input=pickle.dumps(batch), stdout=subprocess.PIPE, cwd=folder, check=False)
    if done.returncode:
        why = f"the process that audited it ended with exit code {done.returncode}"
        return [Analysis(unit.path, failure=why) for unit in batch.units]
    answers: list[Analysis] = pickle.loads(done.stdout)
    return answers


def _serve() -> None:
    batch: Batch = pickle.loads(sys.stdin.buffer.read())
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed must not reach the answer
    found: dict[int, Analysis] = {}
    with closing(audit_in_parallel(batch.units, 1, None)) as analyses:
        found.update(analyses)
    channel.write(pickle.dumps([found[number] for number in range(len(batch.units))]))
    channel.close()


if __name__ == "__main__":
    _serve()
