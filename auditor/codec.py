"""Analyses as plain data and back, for the cache. Sources are not kept: they are on the disk, with known hashes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from auditor.analysis import Analysis, ArchRun, KernelPlace
from auditor.findings import Coverage, Edit, Finding, Fix, Level, Related
from auditor.source import Loc


def encode(analysis: Analysis) -> dict[str, Any]:
    """An analysis that did not fail, as JSON can hold it."""
    return {
        "runs": [
            {
                "arch": run.arch,
                "findings": [_finding(finding) for finding in run.findings],
                "coverage": [
                    run.coverage.kernels,
                    run.coverage.executed,
                    [[kind, message, _loc(loc)] for kind, message, loc in run.coverage.notes],
                ],
                "kernels": [_kernel(kernel) for kernel in run.kernels],
            }
            for run in analysis.runs
        ],
        "seconds": analysis.seconds,
        "stages": analysis.stages,
    }


def decode(path: str, data: dict[str, Any]) -> Analysis:
    """The analysis of ``path`` from ``encode``'s data. Raises KeyError, ValueError or TypeError for other data."""
    runs = []
    for item in data["runs"]:
        kernels, executed, notes = item["coverage"]
        coverage = Coverage(kernels, executed, [(kind, message, Loc(*loc)) for kind, message, loc in notes])
        places = [_read_kernel(each) for each in item["kernels"]]
        runs.append(ArchRun(item["arch"], [_read_finding(each) for each in item["findings"]], coverage, places))
    return Analysis(path, runs, seconds=data["seconds"], stages=data["stages"], cached=True)


def _kernel(kernel: KernelPlace) -> list[Any]:
    return [kernel.display, _loc(kernel.loc), _loc(kernel.body) if kernel.body else None]


def _read_kernel(data: list[Any]) -> KernelPlace:
    display, loc, body = data
    return KernelPlace(display, Loc(*loc), Loc(*body) if body else None)


def _loc(loc: Loc) -> list[Any]:
    return [loc.file, loc.line, loc.column, loc.end_line, loc.end_column]


def _related(places: Sequence[Related]) -> list[Any]:
    return [[_loc(place.loc), place.message] for place in places]


def _finding(finding: Finding) -> list[Any]:
    return [
        finding.code,
        finding.level.value,
        finding.message,
        _loc(finding.loc),
        finding.kernel,
        _related(finding.related),
        _related(finding.flow),
        finding.inputs,
        finding.context,
        finding.hint,
        _fix(finding.fix) if finding.fix else None,
    ]


def _fix(fix: Fix) -> list[Any]:
    return [fix.description, [[_loc(edit.loc), edit.text] for edit in fix.edits]]


def _read_finding(data: list[Any]) -> Finding:
    code, level, message, loc, kernel, related, flow, inputs, context, hint, fix = data
    return Finding(
        code=code,
        level=Level(level),
        message=message,
        loc=Loc(*loc),
        kernel=kernel,
        related=_read_related(related),
        flow=_read_related(flow),
        inputs=tuple((name, value) for name, value in inputs),
        context=tuple((name, value) for name, value in context),
        hint=hint,
        fix=_read_fix(fix) if fix is not None else None,
    )


def _read_fix(data: list[Any]) -> Fix:
    description, edits = data
    return Fix(description, tuple(Edit(Loc(*loc), text) for loc, text in edits))


def _read_related(data: list[Any]) -> tuple[Related, ...]:
    return tuple(Related(Loc(*loc), message) for loc, message in data)
