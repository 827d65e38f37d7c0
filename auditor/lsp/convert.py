"""Findings as the language server protocol wants them. Columns leave here in the units that the client counts in."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path
from pygls.workspace import ServerTextPosition, ServerTextRange, TextDocument, Workspace

from auditor.findings import FileResult, Finding, Level, Related
from auditor.output.columns import characters
from auditor.output.sources import Sources
from auditor.output.tool import NAME
from auditor.source import Loc

_SEVERITY = {
    Level.ERROR: types.DiagnosticSeverity.Error,
    Level.WARNING: types.DiagnosticSeverity.Warning,
    Level.NOTE: types.DiagnosticSeverity.Information,
}
FLOW_SHOWN = 20


class Converter:
    """Converts what one audit said about one open document."""

    def __init__(self, workspace: Workspace, document: TextDocument, path: str) -> None:
        self._workspace = workspace
        self._document = document
        self._path = path
        self._sources = Sources([FileResult(path, sources={path: document.source})])

    def diagnostics(self, result: FileResult) -> list[types.Diagnostic]:
        """All findings of an audit; one message when the file could not be audited."""
        if result.failure:
            start = types.Position(0, 0)
            message = f"not audited: {result.failure}"
            severity = types.DiagnosticSeverity.Information
            return [types.Diagnostic(types.Range(start, start), message, severity, source=NAME)]
        return [self._diagnostic(finding) for finding in result.findings]

    def range_of(self, finding: Finding) -> types.Range:
        """Where a finding shows in the document: its own place, else one that it refers to, else the first line."""
        places = [finding.loc, *(place.loc for place in (*finding.related, *finding.flow))]
        loc = next((loc for loc in places if loc.file == self._path and loc.line), Loc(self._path, 1))
        return self._range(loc, self._document)

    def _diagnostic(self, finding: Finding) -> types.Diagnostic:
        places = [*finding.related, *finding.flow[:FLOW_SHOWN]]
        if finding.loc.file != self._path:
            places.insert(0, Related(finding.loc, finding.message))
        return types.Diagnostic(
            range=self.range_of(finding),
            message=_message(finding),
            severity=_SEVERITY[finding.level],
            code=finding.code,
            source=NAME,
            related_information=[self._related(place) for place in places if place.loc.line],
        )

    def _related(self, place: Related) -> types.DiagnosticRelatedInformation:
        if place.loc.file == self._path:
            document = self._document
        else:
            uri = from_fs_path(str(Path(place.loc.file).absolute())) or ""
            document = self._workspace.get_text_document(uri)
        location = types.Location(document.uri, self._range(place.loc, document))
        return types.DiagnosticRelatedInformation(location, place.message)

    def _range(self, loc: Loc, document: TextDocument) -> types.Range:
        span = self._sources.span(loc)
        start = self._position(span.file, span.line, span.column)
        end = self._position(span.file, span.end_line, span.end_column)
        return document.range_to_client_units(ServerTextRange(start, end))

    def _position(self, file: str, line: int, column: int) -> ServerTextPosition:
        return ServerTextPosition(max(line - 1, 0), characters(self._sources.line(file, line), column))


def _message(finding: Finding) -> str:
    lines = [finding.message]
    if finding.inputs:
        lines.append(f"with {', '.join(f'{name} = {value}' for name, value in finding.inputs)}")
    if finding.hint:
        lines.append(f"fix: {finding.hint}")
    return "\n".join(lines)
