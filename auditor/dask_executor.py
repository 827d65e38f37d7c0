"""Runs the units of an audit on a Dask cluster. Needs the optional package distributed (``bw-audit[dask]``).

A worker that is lost costs nothing but time: the scheduler gives its batches to others. A batch that several workers
died of is given up, and its files are reported as not audited.
"""

from __future__ import annotations

import errno
from collections.abc import Generator, Sequence
from pathlib import Path

from distributed import Client, Future, as_completed

from auditor.analysis import Analysis
from auditor.farm import Batch, run_batch
from auditor.parallel import Unit

LARGEST_BATCH = 8
_ROUNDS = 4  # batches for each thread of the cluster at least, so that all end at about the same time
_PATIENCE = 15  # seconds until a scheduler must have answered


def audit_on_dask(units: Sequence[Unit], address: str) -> Generator[tuple[int, Analysis], None, None]:
    """Analyses with the numbers of their units, in the order in which they come. Units must have texts.

    Closing the iterator, or an exception in it, cancels what is left. Raises OSError when no scheduler answers.
    """
    try:
        connected = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError):
        raise OSError(errno.ECONNREFUSED, "no Dask scheduler answers", address) from None
    with connected as client:
        batches: dict[Future, range] = {}
        try:
            size = _size_of_batches(len(units), sum(client.nthreads().values()))
            for first in range(0, len(units), size):
                numbers = range(first, min(first + size, len(units)))
                batch = Batch(tuple(units[n] for n in numbers), str(Path.cwd()))
                batches[client.submit(run_batch, batch, pure=False)] = numbers
            for future in as_completed(list(batches), loop=client.loop):
                numbers = batches.pop(future)
                yield from zip(numbers, _answers(future, [units[n] for n in numbers]), strict=True)
        finally:
            client.cancel(list(batches))


def _size_of_batches(units: int, threads: int) -> int:
    return max(1, min(LARGEST_BATCH, units // (_ROUNDS * max(threads, 1))))


def _answers(future: Future, units: Sequence[Unit]) -> list[Analysis]:
    if future.status == "finished":
        answers: list[Analysis] = future.result()
        return answers
    error = future.exception() if future.status == "error" else None
    why = f"the cluster did not audit it: {type(error).__name__ if error else future.status}"
    return [Analysis(unit.path, failure=f"{why}: {_first_line(error)}" if error else why) for unit in units]


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0]
