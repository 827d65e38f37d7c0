"""From an analysis to what is reported of it: suppressions, one finding a place, levels and selection."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from auditor import registry
from auditor.analysis import Analysis, ArchRun
from auditor.config import AuditOptions, is_python
from auditor.findings import FileResult, Finding, Level
from auditor.merge import merge_coverage, merge_findings
from auditor.output.sources import Sources
from auditor.source import Loc
from auditor.suppress import MARK, Suppressions

SUPPRESSED = "suppressed"


def conclude(analysis: Analysis, options: AuditOptions) -> FileResult:
    """The result of one file, as ``options`` want it reported."""
    result = FileResult(
        analysis.path,
        failure=analysis.failure,
        seconds=analysis.seconds,
        stages=analysis.stages,
        cached=analysis.cached,
    )
    if analysis.failure:
        return result
    texts = Sources([FileResult(analysis.path, sources=analysis.sources)])
    suppressions = Suppressions(analysis.path, partial(_cuda, texts), registry.stems().__contains__)
    runs = [(run.arch, _kept(run, suppressions)) for run in analysis.runs]
    raw = merge_findings([(run.arch, run.findings) for run in analysis.runs])
    merged = merge_findings(runs)
    result.coverage = merge_coverage([run.coverage for run in analysis.runs])
    complete = result.coverage.executed == result.coverage.kernels
    merged += suppressions.complaints(options.selects, complete)
    merged.sort(key=lambda finding: (finding.loc, finding.code))
    result.findings = [finding for finding in (_at_level(f, options) for f in merged) if wanted(finding, options)]
    hidden = {(f.code, f.loc) for f in raw if wanted(_at_level(f, options), options)}
    hidden -= {(f.code, f.loc) for f in merged}
    if hidden:
        result.hidden[SUPPRESSED] = len(hidden)
    named = {loc.file for finding in result.findings for loc in _places(finding)}
    result.sources = {name: text for name, text in analysis.sources.items() if name in named}
    return result


def _cuda(texts: Sources, file: str) -> str:
    """The C++ text in which a file's suppressions stand."""
    text = texts.text(file)
    if not is_python(file) or MARK not in text:
        return text
    from auditor.python_source import read_python

    return read_python(text).text


def wanted(finding: Finding, options: AuditOptions) -> bool:
    """Whether a finding is reported: its rule is selected, and it is no mere note unless notes are asked for."""
    return options.selects(finding.code) and (options.strict or finding.level is not Level.NOTE)


def _kept(run: ArchRun, suppressions: Suppressions) -> list[Finding]:
    """The findings that no comment accepts. A kernel's suppression must not hide what another kernel shows."""
    return [finding for finding in run.findings if not suppressions.accepts(finding, run.kernels)]


def _at_level(finding: Finding, options: AuditOptions) -> Finding:
    level = dict(options.levels).get(finding.code)
    return replace(finding, level=Level(level)) if level else finding


def _places(finding: Finding) -> list[Loc]:
    return [finding.loc, *(place.loc for place in (*finding.related, *finding.flow))]
