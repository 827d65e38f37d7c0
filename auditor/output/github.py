"""Findings as GitHub workflow commands, which become annotations on the changed lines."""

from __future__ import annotations

from collections.abc import Sequence

from auditor.findings import FileResult, Finding
from auditor.output.columns import characters
from auditor.output.paths import relative_path, repository_root
from auditor.output.sources import Sources

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def write_github(results: Sequence[FileResult]) -> str:
    """One workflow command a finding."""
    root = repository_root(results)
    sources = Sources(results)
    lines = []
    for result in results:
        for finding in result.findings:
            file = relative_path(finding.loc.file, root) or finding.loc.file
            lines.append(_command(finding, file, sources))
    return "".join(f"{line}\n" for line in lines)


def _command(finding: Finding, file: str, sources: Sources) -> str:
    loc = sources.span(finding.loc)
    properties = {"file": file}
    if loc.line:
        properties |= {"line": str(loc.line), "endLine": str(loc.end_line)}
    if loc.line and loc.line == loc.end_line:  # GitHub takes columns only within one line
        line = sources.line(loc.file, loc.line)
        properties["col"] = str(characters(line, loc.column) + 1)
        properties["endColumn"] = str(characters(line, loc.end_column) + 1)
    properties["title"] = f"{finding.code}" + (f" in {finding.kernel}" if finding.kernel else "")
    message = finding.message + (f"\nfix: {finding.hint}" if finding.hint else "")
    listed = ",".join(f"{key}={_escape(value, property_value=True)}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.level.value]} {listed}::{_escape(message)}"


def _escape(text: str, property_value: bool = False) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if property_value else text
