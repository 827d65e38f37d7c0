"""The language server, by a real client over standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from auditor.lsp.actions import REASON, line_edits

ROOT = Path(__file__).parents[2]
BAD = ROOT / "fixtures" / "BW202" / "bad_barrier_before_the_read.cu"
SERVER = [sys.executable, "-W", "ignore", "-m", "auditor", "lsp"]

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::DeprecationWarning")


class Session:
    """A client, the document that it has open, and what the server says about it."""

    def __init__(self, client: LanguageClient, path: Path) -> None:
        self.client = client
        self.uri = path.as_uri()
        self.version = 0
        self._told: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def told(params: types.PublishDiagnosticsParams) -> None:
            self._told.put_nowait(params)

    async def told(self) -> list[types.Diagnostic]:
        return list((await asyncio.wait_for(self._told.get(), 60)).diagnostics)

    async def open(self, text: str) -> list[types.Diagnostic]:
        document = types.TextDocumentItem(self.uri, "cuda-cpp", self.version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))
        return await self.told()

    async def change(self, text: str) -> list[types.Diagnostic]:
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))
        return await self.told()

    async def save(self) -> list[types.Diagnostic]:
        document = types.TextDocumentIdentifier(self.uri)
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(document))
        return await self.told()

    async def hover(self, position: types.Position) -> str:
        document = types.TextDocumentIdentifier(self.uri)
        hover = await self.client.text_document_hover_async(types.HoverParams(document, position))
        if hover is None:
            return ""
        assert isinstance(hover.contents, types.MarkupContent)
        return hover.contents.value

    async def actions(self, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
        document = types.TextDocumentIdentifier(self.uri)
        context = types.CodeActionContext([diagnostic])
        params = types.CodeActionParams(document, diagnostic.range, context)
        found = await self.client.text_document_code_action_async(params)
        return [action for action in found or () if isinstance(action, types.CodeAction)]


def in_session(path: Path, body: Callable[[Session], Awaitable[None]]) -> None:
    """Start a server, greet it, run ``body`` and take leave."""

    async def run() -> None:
        client = LanguageClient("test", "1")
        session = Session(client, path)
        await client.start_io(*SERVER, cwd=str(ROOT))
        await client.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities(), root_uri=None))
        client.initialized(types.InitializedParams())
        try:
            await body(session)
            await client.shutdown_async(None)
        finally:
            client.exit(None)
            await client.stop()  # type: ignore[no-untyped-call]

    asyncio.run(run())


def apply(text: str, edits: list[types.TextEdit]) -> str:
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda edit: -edit.range.start.line):
        assert edit.range.start.character == edit.range.end.character == 0
        lines[edit.range.start.line : edit.range.end.line] = edit.new_text.split("\n")[:-1]
    return "\n".join(lines)


def test_a_session(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"  # never written: only the text in memory counts
    text = BAD.read_text()
    line = next(n for n, source in enumerate(text.split("\n")) if "expect[BW202]" in source)

    async def body(session: Session) -> None:
        (shown,) = await session.open(text)
        assert (shown.code, shown.source, shown.severity) == ("BW202", "bw-audit", types.DiagnosticSeverity.Error)
        start = text.split("\n")[line].index("bulk_load")
        assert shown.range.start == types.Position(line, start)
        related = shown.related_information or ()
        assert any(place.location.uri == session.uri and place.location.range.start.line != line for place in related)
        assert "\nwith grid = 1, " in shown.message

        assert (await session.hover(shown.range.start)).startswith("# BW202 stage-refilled-while-read")
        assert await session.hover(types.Position(0, 0)) == ""

        (action,) = await session.actions(shown)
        assert action.edit is not None
        assert action.edit.changes is not None
        suppressed = apply(text, list(action.edit.changes[session.uri]))
        assert f"bw-audit: ignore[BW202] {REASON}" in suppressed
        assert await session.change(suppressed) == []

        # columns are UTF-16 units: the letters before the call take two units and four bytes each
        (moved,) = await session.change(
            text.replace("            bulk_load(", "/* \U0001d7d9\U0001d7d9 */  bulk_load(")
        )
        assert moved.range.start == types.Position(line, len("/* 1234 */  "))

        assert await session.change("\n") == []
        (failure,) = await session.change("\0")
        assert failure.message == "not audited: not a text file"
        assert len(await session.change(text)) == 1
        assert len(await session.save()) == 1
        session.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(session.uri))
        )
        assert await session.told() == []

    in_session(path, body)


def test_settings_count_and_their_errors_are_shown(tmp_path: Path) -> None:
    config = tmp_path / "bw-audit.toml"
    config.write_text('ignore = ["BW2"]\n')

    async def body(session: Session) -> None:
        assert await session.open(BAD.read_text()) == []
        config.write_text("ignor = []\n")
        (wrong,) = await session.save()
        assert "unknown key 'ignor'; did you mean 'ignore'?" in wrong.message

    in_session(tmp_path / "kernel.cu", body)


def test_edits_are_of_whole_lines() -> None:
    before, after = "a\r\nb\x0cc\nd", "a\r\nnew\r\nb\x0cc\nd  // e"
    edits = [(e.range.start.line, e.range.end.line, e.new_text) for e in line_edits(before, after)]
    assert edits == [(1, 1, "new\r\n"), (2, 3, "d  // e")]


def test_a_fix_is_offered_and_mends_the_text(tmp_path: Path) -> None:
    text = (ROOT / "fixtures" / "BW308" / "bad_freed_before_wait.cu").read_text()

    async def body(session: Session) -> None:
        (shown,) = await session.open(text)
        fixes: list[types.CodeAction] = []
        for _ in range(100):  # fixes are confirmed after the finding has been told
            fixes = [action for action in await session.actions(shown) if action.is_preferred]
            if fixes:
                break
            await asyncio.sleep(0.1)
        (fix,) = fixes
        assert fix.title == "Fix BW308: insert tcgen05.wait::ld.sync.aligned"
        assert fix.edit is not None
        assert fix.edit.changes is not None
        repaired = apply(text, list(fix.edit.changes[session.uri]))
        assert "    loads_done();\n    before_sync();\n" in repaired
        assert await session.change(repaired) == []

    in_session(tmp_path / "kernel.cu", body)


def test_hover_tells_the_row_of_a_barrier_and_of_tensor_memory(tmp_path: Path) -> None:
    text = (ROOT / "fixtures" / "BW308" / "good_released_after_wait.cu").read_text()
    lines = text.split("\n")
    init = next(n for n, line in enumerate(lines) if "mbar_init(smem_u32(&empty)" in line)
    load = next(n for n, line in enumerate(lines) if "tmem_ld_x8(r" in line)

    async def body(session: Session) -> None:
        assert await session.open(text) == []
        row = ""
        for _ in range(200):  # rows are found after the findings have been told
            row = await session.hover(types.Position(init, len(lines[init]) - 1))
            if row:
                break
            await asyncio.sleep(0.1)
        assert row.startswith("**Barrier empty** in ")
        assert "\n- Count: 128\n" in row
        assert f"\n- Init line: {init + 1}\n" in row
        region = await session.hover(types.Position(load, 0))
        assert region.startswith("**Tensor memory, columns 0-31** in ")
        assert "- Reader: tcgen05.ld by " in region
        assert await session.hover(types.Position(0, 0)) == ""
        await session.change(text + "// more\n")
        for _ in range(200):  # a new text has rows of its own
            if await session.hover(types.Position(init, 0)):
                break
            await asyncio.sleep(0.1)
        assert await session.hover(types.Position(init, 0)) == row

    in_session(tmp_path / "kernel.cu", body)
