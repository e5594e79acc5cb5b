"""A client of the language server: that of pygls. The server is a thread here, or a process of its own."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from lsprotocol import types as lsp
from pygls.io_ import run_async
from pygls.lsp.client import LanguageClient

from pocketgpu.editor.lsp.server import make_server

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


def talk(
    work: Callable[[Editor], Awaitable[None]], encodings: list[str] | None = None, port: int = 0, process: bool = False
) -> None:
    """Start a server, let `work` use it, and end it. port: connect there instead. process: the server is a process, as
    it is for editors; a thread has read its modules already."""
    asyncio.run(_talk(work, encodings, port, process))


@asynccontextmanager
async def _with_thread(client: LanguageClient) -> AsyncIterator[None]:
    """Connect a client with a server that reads its streams in a thread."""
    here, there = socket.socketpair()
    with there, there.makefile("rb") as asked, there.makefile("wb") as answered:
        server = threading.Thread(target=make_server().start_io, args=(asked, answered), daemon=True)
        server.start()
        reader, writer = await asyncio.open_connection(sock=here)
        client.protocol.set_writer(writer)
        reading = asyncio.create_task(run_async(threading.Event(), reader, client.protocol))
        yield
        await asyncio.to_thread(server.join, PATIENCE)
        assert not server.is_alive(), "the server has not ended"
    await reading
    writer.close()


@asynccontextmanager
async def _connected(client: LanguageClient, port: int) -> AsyncIterator[None]:
    """Connect a client with a server at a port, or with a process."""
    if port:
        await client.start_tcp("127.0.0.1", port)
    else:
        await client.start_io(*SERVER)
    yield
    await client.stop()


async def _talk(
    work: Callable[[Editor], Awaitable[None]], encodings: list[str] | None, port: int, process: bool
) -> None:
    client = LanguageClient("test", "1")
    connected: AbstractAsyncContextManager[None]
    connected = _connected(client, port) if port or process else _with_thread(client)
    async with connected:
        await _use(client, work, encodings)


async def _use(
    client: LanguageClient, work: Callable[[Editor], Awaitable[None]], encodings: list[str] | None
) -> None:
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
