"""Requests that the page gives up: nothing is computed for them. What changes something is done all the same."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from support.view_desk import on_desk

import pocketgpu
from pocketgpu.inspect.index.events import IndexedEvents
from pocketgpu.inspect.model.address import Address
from pocketgpu.view.questions.notes_file import Notes
from pocketgpu.view.routes import Routes

DATA = Path(pocketgpu.__file__).parent / "data"


@pytest.mark.parametrize(("path", "done"), [("why", False), ("note", True)])
def test_a_question_begins_only_if_somebody_waits(path: str, done: bool, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("")
    asked: list[str] = []

    class Watched(IndexedEvents):
        def why(self, place: Address | str, every: bool = False) -> Any:
            asked.append(str(place))
            return super().why(place, every)

    sample = DATA / "sample.ctf.xz"
    run = Watched(pocketgpu.debug(sample).capture, None, lambda: pocketgpu.debug(sample))
    machine, notes = on_desk(run), Notes(tmp_path, "c")
    begun, free = threading.Event(), threading.Event()

    def hold(desk: Any) -> None:
        begun.set()
        assert free.wait(20)

    async def test() -> None:
        holding = asyncio.create_task(machine.ask("", hold))
        await asyncio.to_thread(begun.wait, 20)
        heard = asyncio.create_task(request(Routes(machine, "c", "1", tmp_path, notes).app, path))
        if not done:
            await asyncio.wait_for(heard, 10)  # though the machine is busy
        free.set()
        await asyncio.gather(holding, heard)
        await machine.ask("", lambda desk: None)  # whatever waited before it has had its turn

    try:
        asyncio.run(test())
    finally:
        machine.close()
    assert asked == [] and bool(notes.all()) is done


async def request(app: Any, path: str) -> None:
    """A request whose browser closes the connection at once."""
    scope = {
        "type": "http", "method": "GET", "path": f"/api/{path}", "raw_path": f"/api/{path}".encode(), "headers": [],
        "query_string": b"at=f0/px1,1&text=x&tab=t&panel=p&turn=1", "root_path": "", "scheme": "http",
        "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1), "http_version": "1.1",
    }  # fmt: skip
    messages = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Any:
        await asyncio.sleep(0.02)
        return next(messages, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        """Nobody hears it."""

    await app(scope, receive, send)
