"""Confirms repairs: the repaired source is audited, and must lack the finding and show nothing new."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from auditor.analysis import Analysis
from auditor.config import AuditOptions
from auditor.edits import apply_edits, kept_lines
from auditor.findings import Edit, Fix
from auditor.source import Loc

MOST_AUDITS = 24  # of one file, so that a source full of findings does not cost hours
MOST_TIME = 60.0  # seconds of computing after which no further repair of a file is tried

Analyse = Callable[[str, AuditOptions, str], Analysis]
_Key = tuple[str, Loc]  # code and place, as findings are told apart in reports
_Seen = tuple[str, str, str, str, int]  # architecture, kernel, code, file and line


def with_confirmed_fixes(analysis: Analysis, options: AuditOptions, analyse: Analyse) -> None:
    """Give each finding of an analysis the first of its candidates that an audit confirms, and drop the candidates."""
    confirmed: dict[_Key, Fix] = {}
    if options.fixes and not analysis.failure:
        trials = _Trials(analysis, replace(options, fixes=False), analyse)
        for key, candidates in _wanted(analysis).items():
            fix = next((fix for fix in candidates if trials.confirm(key, fix)), None)
            if fix is not None:
                confirmed[key] = fix
    for run in analysis.runs:
        run.findings = [replace(f, candidates=(), fix=confirmed.get((f.code, f.loc))) for f in run.findings]


def _wanted(analysis: Analysis) -> dict[_Key, dict[Fix, None]]:
    """The candidates by finding, the worst findings first."""
    found = [finding for run in analysis.runs for finding in run.findings if finding.candidates]
    out: dict[_Key, dict[Fix, None]] = {}
    for finding in sorted(found, key=lambda finding: -finding.level.rank):
        out.setdefault((finding.code, finding.loc), {}).update(dict.fromkeys(finding.candidates))
    return out


class _Trials:
    """Audits of repaired versions of one source, each made once."""

    def __init__(self, analysis: Analysis, options: AuditOptions, analyse: Analyse) -> None:
        self._options = replace(options, select=(), ignore=())  # a repair must not break what was not asked about
        self._analyse = analyse
        self._text = analysis.sources[analysis.path]
        partial = bool(options.select or options.ignore)
        self._before = analyse(analysis.path, self._options, self._text) if partial else analysis
        self._end = time.thread_time() + MOST_TIME
        self._outcomes: dict[tuple[Edit, ...], set[_Seen] | None] = {}

    def confirm(self, key: _Key, fix: Fix) -> bool:
        """Whether a repair removes a finding and does nothing else."""
        if fix.edits not in self._outcomes:
            if len(self._outcomes) >= MOST_AUDITS or time.thread_time() > self._end:
                return False
            self._outcomes[fix.edits] = self._audit(fix.edits)
        left = self._outcomes[fix.edits]
        code, loc = key
        return left is not None and not any((c, f, line) == (code, loc.file, loc.line) for _, _, c, f, line in left)

    def _audit(self, edits: tuple[Edit, ...]) -> set[_Seen] | None:
        """What a repaired source still shows, at its old places; None when it is in any respect worse than before."""
        path = self._before.path
        try:
            text = apply_edits(self._text, edits)
        except ValueError:
            return None
        names = _kernels_of(self._before, self._text, edits)
        after = self._analyse(path, replace(self._options, only=names), text)
        return still_shown(_only(self._before, names), after, kept_lines(self._text, edits))


def _kernels_of(analysis: Analysis, text: str, edits: tuple[Edit, ...]) -> tuple[str, ...]:
    """The kernels in whose bodies the edits are, where no other kernel can notice them; else none."""
    names: dict[str, None] = {}
    for run in analysis.runs:
        if run.coverage.executed != run.coverage.kernels:
            return ()
        for edit in edits:
            here = [k.display for k in run.kernels if k.body is not None and k.body.encloses(edit.loc)]
            if not here or _is_directive(text, edit.loc.line):
                return ()
            names.update(dict.fromkeys(here))
    return tuple(names) if any(len(run.kernels) > len(names) for run in analysis.runs) else ()


def _is_directive(text: str, number: int) -> bool:
    """Whether a line of the source is, or may be, part of a preprocessor directive, such as a macro for others."""
    lines = text.split("\n")
    before, line = lines[number - 2] if number > 1 else "", lines[number - 1]
    return line.lstrip().startswith("#") or before.rstrip().endswith("\\") or line.rstrip().endswith("\\")


def _only(analysis: Analysis, names: tuple[str, ...]) -> Analysis:
    """What an analysis says of some kernels; of all when none is named."""
    if not names:
        return analysis
    runs = []
    for run in analysis.runs:
        findings = [finding for finding in run.findings if not finding.kernel or finding.kernel in names]
        executed = sum(kernel.display in names for kernel in run.kernels)
        runs.append(replace(run, findings=findings, coverage=replace(run.coverage, executed=executed)))
    return replace(analysis, runs=runs)


def still_shown(before: Analysis, after: Analysis, lines: dict[int, int]) -> set[_Seen] | None:
    """The findings of an analysis that an earlier one had too, at their old lines (``lines`` maps new to old ones).

    None when it has other findings, failed, or came less far: fewer kernels, or something more that was not analysed.
    """
    if after.failure or [run.arch for run in before.runs] != [run.arch for run in after.runs]:
        return None
    for old, new in zip(before.runs, after.runs, strict=True):
        known = {(kind, message) for kind, message, _ in old.coverage.notes}
        if any((kind, message) not in known for kind, message, _ in new.coverage.notes):
            return None
        if new.coverage.kernels != old.coverage.kernels or new.coverage.executed < old.coverage.executed:
            return None
    shown = _seen(after, lines)
    return shown if shown <= _seen(before, None) else None


def _seen(analysis: Analysis, lines: dict[int, int] | None) -> set[_Seen]:
    out: set[_Seen] = set()
    for run in analysis.runs:
        for finding in run.findings:
            line = finding.loc.line
            if lines is not None and finding.loc.file == analysis.path:
                line = lines.get(line, 0)
            out.add((run.arch, finding.kernel, finding.code, finding.loc.file, line))
    return out
