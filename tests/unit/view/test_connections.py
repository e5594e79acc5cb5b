"""Connections that send too little: they are closed, and others are answered meanwhile."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

pytest.importorskip("uvicorn")
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from pocketgpu.view import connections, serve
from pocketgpu.view.connections import BoundedConnection

Talk = Callable[[int], Awaitable[Any]]
WHOLE = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"


def served(talk: Talk) -> Any:
    """What a conversation with a server gives. talk: gets its port."""
    app = Starlette(routes=[Route("/", lambda _: PlainTextResponse("here"))])

    async def run() -> Any:
        config = uvicorn.Config(app, port=0, log_level="critical", http=BoundedConnection, lifespan="off")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            return await talk(server.servers[0].sockets[0].getsockname()[1])
        finally:
            server.should_exit = True
            await serving

    return asyncio.run(run())


Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def opened(port: int, text: bytes = b"") -> AsyncIterator[Ends]:
    """A connection on which some bytes were sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(text)
        await writer.drain()
        yield reader, writer
    finally:
        writer.transport.abort()
        await asyncio.sleep(0)


async def rest(reader: asyncio.StreamReader) -> bytes:
    """What comes until the server closes the connection."""
    try:
        return await asyncio.wait_for(reader.read(), 30)
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize("begun", [b"", WHOLE[:-3], b"GET /" + b"a" * 1000], ids=["nothing", "a part", "a long part"])
def test_a_request_that_does_not_end_is_closed(monkeypatch: pytest.MonkeyPatch, begun: bytes) -> None:
    monkeypatch.setattr(connections, "MOST_SECONDS", 0.2)

    async def talk(port: int) -> bytes:
        async with opened(port, begun) as (reader, _):
            return await rest(reader)

    assert served(talk) == b""


def test_a_request_that_comes_in_drops_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_SECONDS", 0.5)

    async def talk(port: int) -> int:
        async with opened(port, b"GET / HTTP/1.1\r\n") as (_, writer):
            for sent in range(1000):
                try:
                    writer.write(b"a: b\r\n")
                    await writer.drain()
                except ConnectionError:
                    return sent
                await asyncio.sleep(0.05)
        raise AssertionError("it was never closed")

    assert served(talk) > 0


def test_a_body_without_end_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_SECONDS", 0.3)

    async def talk(port: int) -> bytes:
        async with opened(port, WHOLE[:-2] + b"content-length: 1000\r\n\r\nab") as (reader, _):
            return await rest(reader)

    assert served(talk).startswith(b"HTTP/1.1 200")


def test_a_second_request_on_a_connection_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_SECONDS", 0.3)

    async def talk(port: int) -> bytes:
        async with opened(port, WHOLE) as (reader, writer):
            first = await reader.readuntil(b"here")
            writer.write(WHOLE)
            second = await reader.readuntil(b"here")
            assert first == second
            writer.write(WHOLE[:9])
            return await rest(reader)

    assert served(talk) == b""


def test_too_many_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are too many are closed at once. Those that say nothing make room after a while."""
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 5)
    monkeypatch.setattr(connections, "MOST_SECONDS", 0.5)

    async def talk(port: int) -> tuple[bytes, bytes]:
        async with AsyncExitStack() as stack:
            idle = [await stack.enter_async_context(opened(port)) for _ in range(5)]
            async with opened(port, WHOLE) as (late, _):
                refused = await rest(late)
            for reader, _ in idle:
                assert await rest(reader) == b""
            async with opened(port, WHOLE) as (reader, _):
                return refused, await reader.readuntil(b"here")

    refused, answer = served(talk)
    assert refused == b"" and answer.startswith(b"HTTP/1.1 200")


def test_the_server_uses_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    used: list[Any] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, sockets: used.append((server.config.http, *sockets)))
    monkeypatch.setattr(sys, "setswitchinterval", lambda seconds: None)
    said: list[str] = []
    serve.serve_desk(Mock, "scene.pgc", serve.Place(serve.LOCAL, 0, said.append, open_browser=False, notes=tmp_path))
    (http, listener), = used
    listener.close()
    assert http is BoundedConnection and len(said) == 1
