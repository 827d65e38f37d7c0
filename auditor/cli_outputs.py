"""Where reports go: several formats at once, each to a file or one to standard output."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from auditor.cli_console import write_out
from auditor.findings import FileResult
from auditor.quick_dataclass import dataclass

FORMATS = ("text", "concise", "json", "sarif", "github", "junit")
WITH_SUMMARY = ("text",)
WITH_FIXES = ("json", "sarif")  # formats that say how a finding can be repaired
_FOR_MACHINES = ("json", "sarif", "junit")  # written even when nothing could be audited


@dataclass(frozen=True)
class Target:
    """One report: its format and its file, None for standard output."""

    format: str
    file: str | None = None


def choose_targets(named: Sequence[Target], output: str | None, sarif_file: str | None) -> tuple[Target, ...]:
    """The reports that the options ask for together. Raises click.UsageError when they contradict each other."""
    targets = list(named) or [Target("text")]
    open_ = [at for at, target in enumerate(targets) if target.file is None]
    if len(open_) > 1:
        raise click.UsageError("only one format can go to standard output; give the others a file: --format sarif:FILE")
    if output not in (None, "-"):
        if not open_:
            raise click.UsageError("-o needs a --format without a file of its own")
        targets[open_[0]] = replace(targets[open_[0]], file=output)
    if sarif_file:
        targets.append(Target("sarif", sarif_file))
    return tuple(targets)


def write_targets(
    results: Sequence[FileResult], targets: Sequence[Target], strict: bool, color: str, failed: bool
) -> None:
    """Write every report. When nothing could be audited (``failed``), only those that machines read."""
    for target in targets:
        if failed and target.format not in _FOR_MACHINES:
            continue
        if target.file is None:
            from auditor.output.style import wants_colour

            write_out(render(results, target.format, strict, wants_colour(sys.stdout, color)))
        else:
            text = render(results, target.format, strict, color == "always")
            Path(target.file).write_text(text, encoding="utf-8", errors="replace")


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
    if format_ == "junit":
        from auditor.output.junit import write_junit

        return write_junit(results)
    from auditor.output.style import Style
    from auditor.output.text import write_concise, write_text

    style = Style(colour)
    return write_concise(results, style) if format_ == "concise" else write_text(results, style, strict)
