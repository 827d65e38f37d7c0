"""Python's search for cyclic garbage, and where it would find none."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MOST_STEPS = 500_000  # of runs whose machines may wait to be collected: some hundred MiB

_steps = 0

@contextmanager
def collector_at_rest() -> Iterator[None]:
    """While something is built all of which lives until its end: the collector would look at it again and again."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def run_has_ended(steps: int) -> None:
    """A run of so many steps leaves a machine behind whose parts all know each other. Where the collector is at rest
    for longer, it is called now and then."""
    global _steps
    _steps += steps
    if _steps > MOST_STEPS:
        _steps = 0
        if not gc.isenabled():
            gc.collect()
