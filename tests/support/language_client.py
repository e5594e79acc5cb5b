"""A client of the language server: that of pygls, with the server as a process of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

PATIENCE = 60
SERVER = (sys.executable, "-m", "pocketgpu", "lsp")


class Editor:
    """What a test does as an editor. diagnostics: the last ones of each document. published: all that came."""

    def __init__(self, client: LanguageClient, answer: lsp.InitializeResult) -> None:
        self.client, self.answer = client, answer
        self.diagnostics: dict[str, lsp.PublishDiagnosticsParams] = {}
        self.published: list[tuple[str, int | None]] = []
        self.messages: list[str] = []
        self.texts: dict[str, str] = {}

    async def open(self, uri: str, text: str, language: str = "", version: int = 1) -> None:
        self.texts[uri] = text
        item = lsp.TextDocumentItem(uri, language, version, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    async def change(self, uri: str, text: str, version: int) -> None:
        self.texts[uri] = text
        item = lsp.VersionedTextDocumentIdentifier(version, uri)
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(item, [whole]))

    async def problems(self, uri: str, version: int = 1) -> list[lsp.Diagnostic]:
        """The diagnostics of a version, when they come."""
        async with asyncio.timeout(PATIENCE):
            while (found := self.diagnostics.get(uri)) is None or found.version != version:
                await asyncio.sleep(0.01)
        return [*found.diagnostics]

    def at(self, uri: str, part: str, after: int = 0) -> dict[str, Any]:
        """The place of a part of a text, in UTF-16 units: arguments of a request."""
        text = self.texts[uri]
        offset = text.index(part) + after
        line = text.count("\n", 0, offset)
        head = text[:offset].rpartition("\n")[2]
        position = lsp.Position(line, len(head.encode("utf-16-le")) // 2)
        return {"text_document": lsp.TextDocumentIdentifier(uri), "position": position}

    async def ask(self, method: str, params: Any) -> Any:
        """The answer to a request."""
        async with asyncio.timeout(PATIENCE):
            return await self.client.protocol.send_request_async(method, params)


def talk(work: Callable[[Editor], Awaitable[None]], encodings: list[str] | None = None, port: int = 0) -> None:
    """Start a server, let `work` use it, and end it. port: connect there instead."""
    asyncio.run(_talk(work, encodings, port))


async def _talk(work: Callable[[Editor], Awaitable[None]], encodings: list[str] | None, port: int) -> None:
    client = LanguageClient("test", "1")
    if port:
        await client.start_tcp("127.0.0.1", port)
    else:
        await client.start_io(*SERVER)
    general = lsp.GeneralClientCapabilities(position_encodings=encodings) if encodings else None
    params = lsp.InitializeParams(capabilities=lsp.ClientCapabilities(general=general))
    editor = Editor(client, await client.initialize_async(params))

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(found: lsp.PublishDiagnosticsParams) -> None:
        editor.diagnostics[found.uri] = found
        editor.published.append((found.uri, found.version))

    @client.feature(lsp.WINDOW_SHOW_MESSAGE)
    def said(message: lsp.ShowMessageParams) -> None:
        editor.messages.append(message.message)

    client.initialized(lsp.InitializedParams())
    try:
        await work(editor)
        assert editor.messages == [], "the server had an error"
    finally:
        await asyncio.wait_for(client.shutdown_async(None), PATIENCE)
        client.exit(None)
        await client.stop()


def edited(text: str, edits: list[lsp.TextEdit]) -> str:
    """A text after edits, whose columns are UTF-16 units."""
    lines = text.split("\n")

    def offset(place: lsp.Position) -> int:
        before = sum(len(line) + 1 for line in lines[: place.line])
        units = lines[place.line].encode("utf-16-le")[: 2 * place.character]
        return before + len(units.decode("utf-16-le"))

    for one in sorted(edits, key=lambda edit: (edit.range.start.line, edit.range.start.character), reverse=True):
        text = text[: offset(one.range.start)] + one.new_text + text[offset(one.range.end) :]
    return text
