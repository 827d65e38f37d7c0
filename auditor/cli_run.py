"""Runs an audit over files: settings, progress, reports and the exit code."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from auditor.cli_console import say, write_out
from auditor.cli_files import find_sources
from auditor.cli_outputs import WITH_SUMMARY, Target, write_targets
from auditor.config import AuditOptions
from auditor.config_keys import ConfigError
from auditor.findings import FileResult, Level
from auditor.output.summary import coverage, plural, verdict
from auditor.quick_dataclass import dataclass

if TYPE_CHECKING:
    from auditor.parallel import Unit
    from auditor.settings import Configuration, Settings

EXIT_FAILED = 2
EXIT_INTERRUPTED = 130
CRASHES = ("internal error", "the process that audited it")


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
    compile_commands: str | None = None
    show_settings: bool = False
    add_ignores: str | None = None
    fix: bool = False
    diff: bool = False
    statistics: bool = False
    timing: bool = False
    baseline: str | None = None
    write_baseline: bool = False
    prune_baseline: bool = False
    diff_base: str | None = None
    jobs: int | None = None
    executor: str | None = None
    cache_dir: str | None = None
    no_cache: bool = False


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
    from auditor.parallel import Unit
    from auditor.progress import Progress
    from auditor.runner import run_units
    from auditor.settings import Configuration

    if request.config and request.isolated:
        raise click.UsageError("--config and --isolated exclude each other")
    if request.fix + request.diff + (request.add_ignores is not None) + request.write_baseline > 1:
        raise click.UsageError("--fix, --diff, --add-ignores and --write-baseline exclude each other")
    began = time.monotonic()
    configuration = Configuration(request.config, request.isolated, request.compile_commands)
    of_run = configuration.of_run()
    baseline = _baseline(request, of_run)
    unread: list[FileResult] = []
    files = find_sources(
        request.paths,
        lambda path, why: unread.append(FileResult(path, failure=why)),
        lambda path: configuration.of_file(path).excludes(path),
    )
    units = [Unit(path, configuration.options(path, request.given)) for path in files]
    if request.show_settings:
        _show_settings(units, configuration)
        return 0
    progress = Progress(len(units), request.quiet)
    run = run_units(units, _jobs(request, of_run), _cache_folder(request), progress.tell, request.executor)
    progress.close()
    results = unread + run.results
    _tell_failures(results, {unit.path: unit.options for unit in units})
    if run.interrupted:
        say(f"interrupted: {len(run.results)} of {plural(len(units), 'file')} audited")
        if not run.results:
            return EXIT_INTERRUPTED
    elif request.add_ignores is not None:
        return _add_ignores(results, request.add_ignores)
    elif request.write_baseline and baseline:
        return _write_baseline(results, baseline)
    if baseline:
        from auditor.cli_filters import compare_with_baseline

        results = compare_with_baseline(results, baseline, request.prune_baseline and not run.interrupted)
    if request.diff_base is not None:
        from auditor.cli_filters import only_changed

        results = only_changed(results, request.diff_base)
    if (request.fix or request.diff) and not run.interrupted:
        results = _repair(results, request, {unit.path: unit.options for unit in units})
    code = _report(results, request, of_run, any(unit.options.strict for unit in units))
    _tell_numbers(results, request, time.monotonic() - began)
    return EXIT_INTERRUPTED if run.interrupted else code


def _baseline(request: Request, settings: Settings) -> Path | None:
    file = Path(request.baseline) if request.baseline else settings.baseline
    if file is None and (request.write_baseline or request.prune_baseline):
        raise click.UsageError("--write-baseline and --prune-baseline need --baseline FILE, or a configured baseline")
    return file


def _jobs(request: Request, settings: Settings) -> int:
    """Number of processes: 0 is one a core. An error that is to be seen with its traceback must happen here."""
    if os.environ.get("BW_AUDIT_DEBUG"):
        return 1
    return request.jobs if request.jobs is not None else settings.jobs or 0


def _cache_folder(request: Request) -> Path | None:
    from auditor.cache import default_folder

    if request.no_cache or request.cache_dir == "off":
        return None
    return Path(request.cache_dir) if request.cache_dir else default_folder()


def _tell_failures(results: Sequence[FileResult], options: Mapping[str, AuditOptions]) -> None:
    for result in results:
        if result.failure:
            say(f"{result.path}: {result.failure}")
        if result.failure.startswith(CRASHES) and result.path in options:
            from auditor.reproduce import command

            say(f"to reproduce: BW_AUDIT_DEBUG=1 {command(result.path, options[result.path])}")


def _report(results: Sequence[FileResult], request: Request, settings: Settings, strict: bool) -> int:
    code = exit_code(results, request.fail_on or settings.fail_on or "warning")
    failed = code == EXIT_FAILED
    targets = [target for target in request.targets if target.file is not None or not request.diff]
    write_targets(results, targets, strict, request.color, failed)
    shown = any(target.file is None and target.format in WITH_SUMMARY for target in targets)
    if not failed and not request.quiet and not shown:
        say(verdict(results))
        say(coverage(results))
    return code


def _tell_numbers(results: Sequence[FileResult], request: Request, wall: float) -> None:
    """Tables on standard error, so that a report on standard output stays whole."""
    if request.statistics or request.timing:
        from auditor.output.statistics import statistics, timing

        lines = statistics(results) if request.statistics else []
        lines += timing(results, wall) if request.timing else []
        for line in lines:
            click.echo(line, err=True)


def exit_code(results: Sequence[FileResult], fail_on: str) -> int:
    """2 when nothing could be audited, 1 when a finding is at least as grave as ``fail_on``, else 0."""
    if all(result.failure for result in results):
        return EXIT_FAILED
    if fail_on == "never":
        return 0
    least = Level(fail_on).rank
    return int(any(finding.level.rank >= least for result in results for finding in result.findings))


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


def _repair(
    results: Sequence[FileResult], request: Request, options: Mapping[str, AuditOptions]
) -> list[FileResult]:
    """Show the fixes of all findings, or apply them: the results then are those of the repaired sources."""
    from auditor.cli_fix import repaired, unified_diff, write_repaired

    out = []
    for result in results:
        change = repaired(result, options[result.path]) if any(f.fix for f in result.findings) else None
        if change is None:
            out.append(result)
        elif request.diff:
            write_out("".join(unified_diff(change)))
            out.append(result)
        elif why := write_repaired(change):
            say(f"{result.path}: {why}")
            out.append(result)
        else:
            say(f"{result.path}: fixed {plural(change.fixed, 'finding')}")
            out.append(change.result)
    return out


def _write_baseline(results: Sequence[FileResult], file: Path) -> int:
    from auditor.cli_filters import write_new_baseline

    if all(result.failure for result in results):
        return EXIT_FAILED
    write_new_baseline(results, file)
    return 0
