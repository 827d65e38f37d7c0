"""The command ``bw-audit report``: the contract of a file's kernels, extracted from the code."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from auditor.cli_commands import audit
from auditor.cli_console import columns, write_out
from auditor.cli_flags import CompilerFlags
from auditor.cli_options import given_fields
from auditor.cli_run import EXIT_FAILED
from auditor.config import AuditOptions, InputError, is_python

if TYPE_CHECKING:
    from auditor.reports.model import FileReport

FORMATS = ("terminal", "markdown", "json", "html")
# Options that a report shares with an audit: settings, how the source is read and what is executed.
_SHARED = (
    "config",
    "isolated",
    "compile_commands",
    "arch",
    "includes",
    "defines",
    "std",
    "cuda_path",
    "values",
    "block",
    "grid",
    "cluster",
    "smem",
    "instantiate",
    "budget",
)


def _run(flags: CompilerFlags, paths: tuple[str, ...], **given: Any) -> int:
    """Report on every file, write the result and return the exit code."""
    from auditor.config_keys import ConfigError
    from auditor.engine import with_deep_stack
    from auditor.settings import Configuration

    if given["config"] and given["isolated"]:
        raise click.UsageError("--config and --isolated exclude each other")
    fields = given_fields(flags, {**given, "select": (), "ignore": (), "strict": False})
    try:
        configuration = Configuration(given["config"], given["isolated"], given["compile_commands"])
        options = {path: configuration.options(path, fields) for path in paths}
    except ConfigError as error:
        raise click.ClickException(str(error)) from None
    reports = [with_deep_stack(partial(report_file, path, options[path], given["kernel"])) for path in paths]
    for report in reports:
        if report.failure:
            click.echo(f"bw-audit: {report.path}: {report.failure}", err=True)
    if all(report.failure for report in reports) and given["format_"] != "json":
        return EXIT_FAILED
    text = render(reports, given["format_"], columns() if given["output"] in (None, "-") else None)
    try:
        if given["output"] in (None, "-"):
            write_out(text)
        else:
            Path(given["output"]).write_text(text, encoding="utf-8")
    except BrokenPipeError:
        raise
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from error
    return EXIT_FAILED if all(report.failure for report in reports) else 0


def report_file(path: str, options: AuditOptions, kernel: str | None = None, text: str | None = None) -> FileReport:
    """The reports of one file's kernels, or of ``text`` as if that were in it. Never raises for what the file holds."""
    from auditor.engine import guess_arch, read_source, reading_options
    from auditor.frontend import build_program
    from auditor.frontend.parse import ParseFailure
    from auditor.reports.build import report_program
    from auditor.reports.model import FileReport

    try:
        if is_python(path):
            raise InputError("a report needs a CUDA source, not a Python file with some in strings")
        text = read_source(path) if text is None else text
        arch = options.arches[0] if options.arches else guess_arch(text)
        program = build_program(path, text, reading_options(arch, options))
        kernels = report_program(program, options, kernel)
    except (InputError, ParseFailure) as error:
        return FileReport(path, failure=str(error).removeprefix(f"{path}: "))
    except OSError as error:
        return FileReport(path, failure=error.strerror or str(error))
    except RecursionError:
        return FileReport(path, failure="nested too deeply to be analysed")
    if not kernels:
        names = ", ".join(k.display for k in program.kernels) or "none"
        return FileReport(
            path, failure=f"no kernel {kernel!r}; kernels of this file: {names}" if kernel else "no kernel"
        )
    return FileReport(path, kernels)


def render(reports: list[FileReport], format_: str, terminal: int | None = None) -> str:
    """The reports in one of FORMATS. Imports only what that format needs. ``terminal``: its columns, if it is one."""
    if format_ == "json":
        from auditor.reports.render_json import render as as_json

        return as_json(reports)
    if format_ == "html":
        from auditor.reports.render_html import render as as_html

        return as_html(reports)
    if format_ == "markdown":
        from auditor.reports.render_markdown import render as as_markdown

        return as_markdown(reports)
    from auditor.reports.render_text import page_width
    from auditor.reports.render_text import render as as_text

    return as_text(reports, page_width(terminal))


_EPILOG = """The options on compiling and executing are those of an audit; nvcc's flags are accepted as well.

Exit code: 0 when a report was written, 2 for wrong usage or when nothing could be analysed."""

report = click.Command(
    "report",
    callback=click.pass_obj(_run),
    help="Report what the kernels of FILE agree on: barriers, rings, tensor maps, tensor memory, timeline.",
    epilog=_EPILOG,
    params=[
        click.Argument(["paths"], nargs=-1, required=True, metavar="FILE..."),
        click.Option(["--kernel"], metavar="NAME", help="Report on this kernel only."),
        click.Option(
            ["--format", "format_"],
            type=click.Choice(FORMATS),
            default="terminal",
            show_default=True,
            help="Report format.",
        ),
        click.Option(["-o", "--output"], metavar="FILE", help="Write the report to FILE instead of standard output."),
        *(param for param in audit.params if param.name in _SHARED),
    ],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
