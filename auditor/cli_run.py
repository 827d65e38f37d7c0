"""Runs an audit over files: progress, reports and the exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from auditor.cli_files import find_sources
from auditor.config import AuditOptions
from auditor.findings import FileResult, Level
from auditor.output.summary import coverage, plural, verdict
from auditor.output.tool import NAME

FORMATS = ("text", "concise", "json", "sarif", "github")
FAIL_LEVELS = ("error", "warning", "note", "never")
EXIT_FAILED = 2
_FOR_MACHINES = ("json", "sarif")  # written even when nothing could be audited
_WITHOUT_SUMMARY = ("concise", "github")


@dataclass(frozen=True)
class Report:
    """How results leave the tool. ``output`` None is standard output."""

    format: str
    output: str | None
    sarif_file: str | None
    fail_on: str
    color: str
    quiet: bool


def run_audit(paths: Sequence[str], options: AuditOptions, report: Report) -> int:
    """Audit every file, write the reports and return the exit code."""
    from auditor.engine import with_deep_stack

    results: list[FileResult] = []
    files = find_sources(paths, lambda path, why: results.append(FileResult(path, failure=why)))
    results += with_deep_stack(lambda: _audit_all(files, options, report.quiet))
    for result in results:
        if result.failure:
            _say(f"{result.path}: {result.failure}")
    code = exit_code(results, report.fail_on)
    try:
        if code != EXIT_FAILED or report.format in _FOR_MACHINES:
            _write(results, options, report)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from error
    if code != EXIT_FAILED and not report.quiet and (report.format in _WITHOUT_SUMMARY or report.output):
        _say(verdict(results))
        _say(coverage(results))
    return code


def exit_code(results: Sequence[FileResult], fail_on: str) -> int:
    """2 when nothing could be audited, 1 when a finding is at least as grave as ``fail_on``, else 0."""
    if all(result.failure for result in results):
        return EXIT_FAILED
    if fail_on == "never":
        return 0
    least = Level(fail_on).rank
    return int(any(finding.level.rank >= least for result in results for finding in result.findings))


def _audit_all(files: Sequence[str], options: AuditOptions, quiet: bool) -> list[FileResult]:
    from auditor.engine import audit_file

    results = []
    for number, file in enumerate(files, 1):
        result = audit_file(file, options)
        results.append(result)
        if len(files) > 1 and not quiet:
            outcome = "failed" if result.failure else plural(len(result.findings), "finding")
            _say(f"[{number}/{len(files)}] {file}: {outcome}, {result.seconds:.1f} s")
    return results


def _write(results: Sequence[FileResult], options: AuditOptions, report: Report) -> None:
    if report.output in (None, "-"):
        write_out(render(results, report.format, options.strict, _colour(report)))
    else:
        Path(str(report.output)).write_text(
            render(results, report.format, options.strict, colour=report.color == "always"), encoding="utf-8"
        )
    if report.sarif_file:
        Path(report.sarif_file).write_text(render(results, "sarif", options.strict, colour=False), encoding="utf-8")


def render(results: Sequence[FileResult], format_: str, strict: bool, colour: bool) -> str:
    """The report in one of FORMATS. Imports only what that format needs."""
    if format_ == "json":
        from auditor.output.json_report import write_json

        return write_json(results)
    if format_ == "sarif":
        from auditor.output.sarif import write_sarif

        return write_sarif(results)
    if format_ == "github":
        from auditor.output.github import write_github

        return write_github(results)
    from auditor.output.style import Style
    from auditor.output.text import write_concise, write_text

    style = Style(colour)
    return write_concise(results, style) if format_ == "concise" else write_text(results, style, strict)


def _colour(report: Report) -> bool:
    from auditor.output.style import wants_colour

    return wants_colour(sys.stdout, report.color)


def write_out(text: str) -> None:
    """To standard output, as UTF-8 whatever the locale says."""
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text)
    else:
        buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.flush()


def _say(line: str) -> None:
    """One line to standard error; a stream that cannot show a character shows a stand-in."""
    encoding = sys.stderr.encoding or "utf-8"
    print(f"{NAME}: {line}".encode(encoding, "replace").decode(encoding), file=sys.stderr)
