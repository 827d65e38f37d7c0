"""Findings as a person reads them on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditor.findings import FileResult, Finding, Related
from auditor.output.snippet import snippet
from auditor.output.sources import Sources
from auditor.output.style import Style
from auditor.output.summary import coverage, verdict

NOTES_SHOWN = 5


def write_text(results: Sequence[FileResult], style: Style, strict: bool = False) -> str:
    """The full report: each finding with its story, then counts and coverage.

    Coverage notes are cut to a few a file unless ``strict``.
    """
    sources = Sources(results)
    lines: list[str] = []
    for result in results:
        for finding in result.findings:
            lines += _finding(finding, sources, style)
            lines.append("")
    for result in results:
        lines += _notes(result, style, None if strict else NOTES_SHOWN)
    lines.append(style.paint("bold", verdict(results)))
    lines.append(coverage(results))
    return "\n".join(lines) + "\n"


def write_concise(results: Sequence[FileResult], style: Style) -> str:
    """One line a finding."""
    return "".join(f"{_head(finding, style)}\n" for result in results for finding in result.findings)


def _head(finding: Finding, style: Style) -> str:
    label = style.paint(finding.level.value, f"{finding.level.value}[{finding.code}]")
    place = str(finding.loc) if finding.loc.line else finding.loc.file
    return f"{style.paint('bold', f'{place}:')} {label} {finding.message}"


def _finding(finding: Finding, sources: Sources, style: Style) -> Iterator[str]:
    yield _head(finding, style)
    yield from _indent(snippet(finding.loc, sources, style, finding.level.value, context=1))
    for place in finding.related:
        yield f"  {style.paint('related', f'{place.loc}:')} {place.message}"
        yield from _indent(snippet(place.loc, sources, style, "related", context=0))
    if finding.flow:
        yield "  how it happens:"
        yield from _flow(finding.flow, finding.loc.file)
    where = [f"kernel {finding.kernel}"] if finding.kernel else []
    where += [f"{name} {value}" for name, value in finding.context]
    if where:
        yield f"  in: {', '.join(where)}"
    if finding.inputs:
        yield f"  with: {', '.join(f'{name} = {value}' for name, value in finding.inputs)}"
    if finding.hint:
        hint = finding.hint.replace("\n", "\n       ")
        yield f"  {style.paint('fix', 'fix:')} {hint}"
    if finding.fix:
        yield f"  {style.paint('fix', '--fix:')} {finding.fix.description}"


def _flow(flow: Sequence[Related], file: str) -> Iterator[str]:
    """The story, numbered; a step in another file than the finding's names it."""
    places = [f"line {step.loc.line}" if step.loc.file == file else f"{step.loc.file}:{step.loc.line}" for step in flow]
    width = max(len(place) for place in places)
    for number, (step, place) in enumerate(zip(flow, places, strict=True), 1):
        yield f"  {number:>4}. {place:<{width}}  {step.message}"


def _notes(result: FileResult, style: Style, limit: int | None) -> Iterator[str]:
    notes = result.coverage.notes
    for kind, message, loc in notes[:limit]:
        place = f"{loc}:" if loc.line else f"{result.path}:"
        yield f"{place} {style.paint('dim', kind + ':')} {message}"
    if limit is not None and len(notes) > limit:
        yield f"{result.path}: {len(notes) - limit} more such lines with --strict"


def _indent(lines: Sequence[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)
