"""Audits many files: asks the cache first, then audits the rest here or in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from auditor.alike import alike, moved
from auditor.analysis import Analysis
from auditor.cache import Cache
from auditor.conclude import conclude
from auditor.config import STDIN
from auditor.engine import analyse_file, read_source, with_deep_stack
from auditor.findings import FileResult
from auditor.parallel import Unit, audit_in_parallel, default_jobs
from auditor.quick_dataclass import dataclass


@dataclass
class Run:
    """What became of the units: results in their order, without those that an interruption left out."""

    results: list[FileResult]
    interrupted: bool = False


def run_units(
    units: Sequence[Unit],
    jobs: int,
    cache: Path | None,
    tell: Callable[[FileResult], None],
    cluster: str | None = None,
) -> Run:
    """Audit every unit. ``jobs`` 0 is one process a core; 1 audits in this process. ``cluster`` is the address of
    a Dask scheduler whose workers audit instead.

    ``tell`` hears of each result as it comes. After an interruption the run holds what is known so far.
    """
    found: list[FileResult | None] = [None] * len(units)

    def conclude_unit(number: int, analysis: Analysis) -> None:
        found[number] = result = conclude(analysis, units[number].options)
        tell(result)

    interrupted = False
    try:
        left = _ask_cache(units, cache, conclude_unit) if cache else list(range(len(units)))
        if cluster:
            left = _on_cluster(units, left, cluster, cache, conclude_unit)
        again = _audit_each_text(units, left, jobs, cache, conclude_unit)
        _audit_all(units, again, jobs, cache, conclude_unit)
        if cache and left:
            Cache(cache).trim()
    except KeyboardInterrupt:
        interrupted = True
    return Run([result for result in found if result is not None], interrupted)


def _audit_each_text(
    units: Sequence[Unit],
    numbers: Sequence[int],
    jobs: int,
    cache: Path | None,
    conclude_unit: Callable[[int, Analysis], None],
) -> list[int]:
    """Audit one of the units that have the same text. The numbers of those for which that does not settle it."""
    groups = alike(units, numbers, _text) if len(numbers) > 1 else {number: [] for number in numbers}
    kept = Cache(cache) if cache else None
    again: list[int] = []

    def conclude_group(number: int, analysis: Analysis) -> None:
        conclude_unit(number, analysis)
        for other in groups[number]:
            copy = moved(analysis, units[other].path) if not analysis.failure else None
            if copy is None:
                again.append(other)
                continue
            if kept:
                kept.put(units[other].options, copy)
            conclude_unit(other, copy)

    _audit_all(units, list(groups), jobs, cache, conclude_group)
    return again


def _audit_all(
    units: Sequence[Unit],
    numbers: Sequence[int],
    jobs: int,
    cache: Path | None,
    conclude_unit: Callable[[int, Analysis], None],
) -> None:
    """Audit some of the units, here or in worker processes."""
    some = [units[number] for number in numbers]
    jobs = min(jobs or default_jobs(), len(some))
    if jobs > 1 and not any(unit.path == STDIN for unit in some):
        with closing(audit_in_parallel(some, jobs, cache)) as analyses:
            for at, analysis in analyses:
                conclude_unit(numbers[at], analysis)
    elif some:
        with_deep_stack(lambda: _audit_here(some, cache, lambda at, analysis: conclude_unit(numbers[at], analysis)))


def _on_cluster(
    units: Sequence[Unit],
    numbers: Sequence[int],
    address: str,
    cache: Path | None,
    conclude_unit: Callable[[int, Analysis], None],
) -> list[int]:
    """Audit units on a cluster; the numbers of those that have to be audited here, because they cannot be read."""
    from auditor.dask_executor import audit_on_dask

    texts = {n: _text(units[n].path) if units[n].path != STDIN else None for n in numbers}
    sent = [n for n in numbers if texts[n] is not None]
    kept = Cache(cache) if cache else None
    if sent:
        with closing(audit_on_dask([replace(units[n], text=texts[n]) for n in sent], address)) as analyses:
            for at, analysis in analyses:
                if kept:
                    kept.put(units[sent[at]].options, analysis)
                conclude_unit(sent[at], analysis)
    return [n for n in numbers if texts[n] is None]


def _ask_cache(units: Sequence[Unit], folder: Path, conclude_unit: Callable[[int, Analysis], None]) -> list[int]:
    """Conclude the units that the cache knows; the numbers of the others."""
    cache = Cache(folder)
    left = []
    for number, unit in enumerate(units):
        analysis = None
        if unit.path != STDIN:
            text = _text(unit.path)
            analysis = cache.get(unit.path, unit.options, text) if text is not None else None
        if analysis is None:
            left.append(number)
        else:
            conclude_unit(number, analysis)
    return left


def _text(path: str) -> str | None:
    """The text of a source, when it can be audited at all."""
    from auditor.config import InputError

    try:
        return read_source(path)
    except (InputError, OSError):
        return None


def _audit_here(units: Sequence[Unit], folder: Path | None, conclude_unit: Callable[[int, Analysis], None]) -> None:
    cache = Cache(folder) if folder else None
    for number, unit in enumerate(units):
        analysis = analyse_file(unit.path, unit.options)
        if cache and unit.path != STDIN:
            cache.put(unit.options, analysis)
        conclude_unit(number, analysis)
