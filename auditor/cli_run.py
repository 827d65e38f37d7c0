"""Runs an audit over files: settings, progress, reports and the exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from auditor.cli_console import say, write_out
from auditor.cli_files import find_sources
from auditor.cli_outputs import WITH_SUMMARY, Target, write_targets
from auditor.config import AuditOptions
from auditor.config_keys import ConfigError
from auditor.findings import FileResult, Level
from auditor.output.summary import coverage, plural, verdict

if TYPE_CHECKING:
    from auditor.settings import Configuration, Settings

EXIT_FAILED = 2


@dataclass(frozen=True)
class Request:
    """What one run of the tool is asked for.

    ``given`` holds the fields of AuditOptions that the command line decides. ``fail_on`` None leaves it to the
    configuration.
    """

    paths: tuple[str, ...]
    given: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[Target, ...] = (Target("text"),)
    fail_on: str | None = None
    color: str = "auto"
    quiet: bool = False
    config: str | None = None
    isolated: bool = False
    show_settings: bool = False
    add_ignores: str | None = None


@dataclass(frozen=True)
class Unit:
    """One file to audit, and how."""

    path: str
    options: AuditOptions


def run_audit(request: Request) -> int:
    """Audit every file, write the reports and return the exit code."""
    try:
        return _run(request)
    except ConfigError as error:
        raise click.ClickException(str(error)) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from error


def _run(request: Request) -> int:
    from auditor.settings import Configuration

    if request.config and request.isolated:
        raise click.UsageError("--config and --isolated exclude each other")
    configuration = Configuration(request.config, request.isolated)
    of_run = configuration.of_run()
    unread: list[FileResult] = []
    files = find_sources(
        request.paths,
        lambda path, why: unread.append(FileResult(path, failure=why)),
        lambda path: configuration.of_file(path).excludes(path),
    )
    units = [Unit(path, configuration.of_file(path).options(path, request.given)) for path in files]
    if request.show_settings:
        _show_settings(units, configuration)
        return 0
    results = unread + _audit_all(units, request)
    for result in results:
        if result.failure:
            say(f"{result.path}: {result.failure}")
    if request.add_ignores is not None:
        return _add_ignores(results, request.add_ignores)
    return _report(results, request, of_run, any(unit.options.strict for unit in units))


def _report(results: Sequence[FileResult], request: Request, settings: Settings, strict: bool) -> int:
    code = exit_code(results, request.fail_on or settings.fail_on or "warning")
    failed = code == EXIT_FAILED
    write_targets(results, request.targets, strict, request.color, failed)
    shown = any(target.file is None and target.format in WITH_SUMMARY for target in request.targets)
    if not failed and not request.quiet and not shown:
        say(verdict(results))
        say(coverage(results))
    return code


def exit_code(results: Sequence[FileResult], fail_on: str) -> int:
    """2 when nothing could be audited, 1 when a finding is at least as grave as ``fail_on``, else 0."""
    if all(result.failure for result in results):
        return EXIT_FAILED
    if fail_on == "never":
        return 0
    least = Level(fail_on).rank
    return int(any(finding.level.rank >= least for result in results for finding in result.findings))


def _audit_all(units: Sequence[Unit], request: Request) -> list[FileResult]:
    from auditor.engine import audit_file, with_deep_stack

    def work() -> list[FileResult]:
        results = []
        for number, unit in enumerate(units, 1):
            result = audit_file(unit.path, unit.options)
            results.append(result)
            if len(units) > 1 and not request.quiet:
                outcome = "failed" if result.failure else plural(len(result.findings), "finding")
                say(f"[{number}/{len(units)}] {unit.path}: {outcome}, {result.seconds:.1f} s")
        return results

    return with_deep_stack(work)


def _show_settings(units: Sequence[Unit], configuration: Configuration) -> None:
    from auditor.settings import describe

    for unit in units:
        write_out(f"{unit.path}: {describe(configuration.of_file(unit.path), unit.options)}\n")


def _add_ignores(results: Sequence[FileResult], reason: str) -> int:
    """Write suppressions for all findings; 1 when some could not be placed."""
    from auditor.add_ignores import add_to_files

    if not reason.strip() or "\n" in reason or "*/" in reason:
        raise click.UsageError("--add-ignores needs a reason, in one line")
    written, left = add_to_files((finding for result in results for finding in result.findings), reason.strip())
    for file, count in written.items():
        say(f"{file}: suppressed {plural(count, 'finding')}")
    for finding in left:
        say(f"{finding.loc}: no place for a comment that ignores {finding.code}")
    return EXIT_FAILED if all(result.failure for result in results) else int(bool(left))
