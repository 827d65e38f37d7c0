"""The server: documents are audited when they are opened and saved, and a moment after they were changed."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass, field

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from auditor import registry
from auditor.findings import FileResult, Finding
from auditor.lsp.actions import repair, suppress
from auditor.lsp.audits import audit_text
from auditor.lsp.convert import Converter
from auditor.lsp.ledgers import Note, notes_on
from auditor.output.tool import NAME, VERSION

PAUSE = 0.6  # seconds without a change after which a changed document is audited


@dataclass
class _Audited:
    """What the server said last about a document, whose text was ``text``."""

    text: str
    result: FileResult
    diagnostics: list[types.Diagnostic]
    notes: list[Note] = field(default_factory=list)

    def at(self, position: types.Position) -> list[tuple[Finding, types.Diagnostic]]:
        """The findings that show at a position."""
        pairs = zip(self.result.findings, self.diagnostics)
        return [(finding, shown) for finding, shown in pairs if _covers(shown.range, position)]

    def notes_at(self, position: types.Position, text: str) -> list[str]:
        """What is known of the barriers and tensor memory of a line, when the document is still the one audited."""
        return [note.text for note in self.notes if position.line + 1 in note.lines] if text == self.text else []


class Server(LanguageServer):
    """Keeps the last audit of each open document, and at most one audit at work."""

    def __init__(self, pause: float = PAUSE) -> None:
        super().__init__(NAME, VERSION)
        self.audited: dict[str, _Audited] = {}
        self._pause = pause
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._one_at_a_time = asyncio.Lock()

    def schedule(self, uri: str, at_once: bool) -> None:
        """Audit a document now or after a pause; a pending audit of it is given up."""
        self.forget(uri)
        self._waiting[uri] = asyncio.get_running_loop().create_task(self._audit(uri, 0 if at_once else self._pause))

    def forget(self, uri: str) -> None:
        """Give up a pending audit."""
        if task := self._waiting.pop(uri, None):
            task.cancel()

    def close(self, uri: str) -> None:
        """A document is closed: nothing is said about it any more."""
        self.forget(uri)
        self.audited.pop(uri, None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    async def _audit(self, uri: str, pause: float) -> None:
        await asyncio.sleep(pause)
        path = to_fs_path(uri)
        if path is None:
            return
        async with self._one_at_a_time:
            document = self.workspace.get_text_document(uri)
            version, text = document.version, document.source
            result = await asyncio.to_thread(audit_text, path, text)
            if not self._keep(uri, path, version, text, result):
                return
            shown = self.audited[uri].diagnostics
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, shown, version))
            if result.findings:  # told already: what can be done about them may take longer
                self._keep(uri, path, version, text, await asyncio.to_thread(audit_text, path, text, fixes=True))
            if not result.failure and result.coverage.kernels:
                notes = await asyncio.to_thread(notes_on, path, text)
                if uri in self.audited and self.audited[uri].text == text:
                    self.audited[uri].notes = notes

    def _keep(self, uri: str, path: str, version: int | None, text: str, result: FileResult) -> bool:
        """Remember an audit, unless the document has changed meanwhile: then a later one will tell."""
        document = self.workspace.get_text_document(uri)
        if document.version != version:
            return False
        self.audited[uri] = _Audited(text, result, Converter(self.workspace, document, path).diagnostics(result))
        return True


def make_server(pause: float = PAUSE) -> Server:
    """A server with its features."""
    server = Server(pause)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.schedule(params.text_document.uri, at_once=True)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.schedule(params.text_document.uri, at_once=True)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.schedule(params.text_document.uri, at_once=False)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        audited = server.audited.get(params.text_document.uri)
        if audited is None:
            return None
        found = audited.at(params.position)
        pages = [registry.documentation(code) for code in dict.fromkeys(finding.code for finding, _ in found)]
        document = server.workspace.get_text_document(params.text_document.uri)
        pages += audited.notes_at(params.position, document.source)
        if not pages:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(pages))
        return types.Hover(content, found[0][1].range if found else None)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    )
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        audited, path = server.audited.get(uri), to_fs_path(uri)
        if audited is None or path is None:
            return []
        text = server.workspace.get_text_document(uri).source
        here = audited.at(params.range.start)
        offered = [suppress(finding, path, text, uri, shown) for finding, shown in here]
        if text == audited.text:
            offered = [repair(finding, path, text, uri, shown) for finding, shown in here] + offered
        return [action for action in offered if action is not None]

    return server


def serve() -> None:
    """Serve one client over standard input and output, until it leaves."""
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else is printed must not reach the client
    make_server().start_io(sys.stdin.buffer, channel)


def _covers(area: types.Range, position: types.Position) -> bool:
    start, end = (area.start.line, area.start.character), (area.end.line, area.end.character)
    return start <= (position.line, position.character) <= end
