"""The requests of docs/formats/view.md, answered by `questions` on the machine's thread, and the files of the page."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from pocketgpu.errors import PocketGPUError
from pocketgpu.view.live_stream import LiveStreams
from pocketgpu.view.machine_thread import Busy, MachineThread, Overtaken
from pocketgpu.view.questions import asked_of
from pocketgpu.view.questions.asking import AnyAsked, Buffer, Download, Json, Pixels
from pocketgpu.view.questions.desk import Desk
from pocketgpu.view.questions.notes_file import Notes
from pocketgpu.view.questions.parameters import Parameters

_NO_STORE: Final = {"cache-control": "no-store"}
_ALIVE: Final = 15.0
"""Seconds without an event after which a stream of events sends a comment: that fails if nobody reads."""
_MOST_STEPS: Final = 64
"""Most events of a stream that wait to be sent."""
_MOST_NAME: Final = 120
"""Most characters of the name of a file."""
_MOST_PANEL: Final = 80
"""Most characters of the names of a tab and a panel."""
_CLIENT_CLOSED: Final = 499
"""The status that nginx gives to such requests; nobody gets it."""
T = TypeVar("T")


def _plain(value: Any) -> Any:
    """Data with texts in place of numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _json(value: Json, status: int = 200) -> Response:
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(_plain(value), allow_nan=False, separators=(",", ":"))
    return Response(text, status, _NO_STORE, "application/json")


def _download(found: Download) -> Response:
    """A file that the browser saves. It cannot be shown here: pages to send have styles, which this site forbids."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", found.name)[:_MOST_NAME]
    headers = _NO_STORE | {"content-disposition": f'attachment; filename="{name}"'}
    return Response(found.data, 200, headers, found.type)


def _bytes(request: Request, found: Buffer) -> Response:
    tag = f'"{found.tag}"'
    headers = {"etag": tag, "cache-control": "no-cache"} if found.tag else dict(_NO_STORE)
    if isinstance(found, Pixels):
        headers["x-size"] = f"{found.width}x{found.height}"
    if found.tag and request.headers.get("if-none-match") == tag:
        return Response(None, 304, headers)
    return Response(found.data, 200, headers, found.type)


def _error(message: str, location: str | None, hint: str | None, status: int) -> Response:
    return _json({"error": {"message": message, "location": location, "hint": hint}}, status)


class _Gone(Exception):
    """Nobody waits for the answer any more."""


async def _unless_gone(request: Request, asking: Coroutine[Any, Any, T]) -> T:
    """The result of `asking`. It is cancelled as soon as the browser closes the connection, as it does for requests
    that the page gives up: what has not begun then never does.

    :raises _Gone: it was cancelled.
    """
    answer, gone = asyncio.ensure_future(asking), asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise _Gone
        return answer.result()
    finally:
        answer.cancel()
        gone.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


class Routes:
    """The app for one open capture.

    :param name: of its file. version: of this package. page: folder of the built page. notes: of the user. is_live:
        whether it is a program; runs: it begins to run when a page is there.
    """

    def __init__(
        self, machine: MachineThread[Desk], name: str, version: str, page: Path, notes: Notes, *,
        is_live: bool = False, runs: bool = False,
    ) -> None:  # fmt: skip
        self._machine = machine
        self._streams: list[asyncio.Queue[str | None]] = []
        asked = asked_of(name, version, notes, is_live)
        routes = [Route(f"/api/{path}", self._route(one)) for path, one in asked.items()]
        routes.append(Route("/api/progress", self._progress))
        routes.append(Route("/api/live/give-up", self._give_up))
        routes.append(Route("/api/live/frames", LiveStreams(machine, self._streams, runs).answer))
        files = Mount("/", StaticFiles(directory=page, html=True, follow_symlink=False))
        self.app = Starlette(routes=[*routes, files], lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        yield
        self._machine.close()

    def end(self) -> None:
        """End the streams, and refuse what waits. May be called by a handler of signals."""
        for stream in tuple(self._streams):
            stream.put_nowait(None)
        self._machine.close()

    def _route(self, asked: AnyAsked) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            given = Parameters(request.query_params)
            tab, panel = given.text("tab", ""), given.text("panel", "")
            asker = f"{tab}, {panel}"[:_MOST_PANEL] if tab and panel else ""
            try:
                question, slow, turn = asked.question(given), asked.is_slow(given), given.number("turn", 0)
                asking = self._machine.ask(asker, question, slow, turn)
                found = await (asking if asked.acts else _unless_gone(request, asking))
            except _Gone:
                return Response(None, _CLIENT_CLOSED)
            except PocketGPUError as error:
                return _error(error.message, error.location, error.hint, 400)
            except Overtaken:
                return _error("the panel has asked something newer", None, None, 409)
            except Busy:
                return _error("too many questions wait", None, "Ask again in a moment.", 503)
            if isinstance(found, Download):
                return _download(found)
            return _bytes(request, found) if isinstance(found, Buffer) else _json(found)

        return answer

    async def _give_up(self, request: Request) -> Response:
        """Give up what takes long. No question: it would wait for what it is about."""
        return _json({"given_up": self._machine.working.give_up()})

    async def _progress(self, request: Request) -> Response:
        return StreamingResponse(self._steps(request), media_type="text/event-stream", headers=_NO_STORE)

    async def _steps(self, request: Request) -> AsyncIterator[str]:
        """What the machine begins and ends, until the reader is gone."""
        loop, steps = asyncio.get_running_loop(), asyncio.Queue[str | None]()
        asker = ""

        def put(step: Json) -> None:
            if steps.qsize() < _MOST_STEPS:  # a slow reader misses some
                steps.put_nowait(json.dumps(step))

        def heard(panel: str) -> None:
            nonlocal asker
            asker = panel.partition(", ")[2]
            loop.call_soon_threadsafe(put, {"busy": bool(panel), "panel": asker})

        def worked(done: int, of: int) -> None:
            loop.call_soon_threadsafe(put, {"busy": True, "panel": asker, "done": done, "of": of})

        self._machine.listeners.append(heard)
        self._machine.working.listeners.append(worked)
        self._streams.append(steps)
        try:
            while not await request.is_disconnected():
                try:
                    step = await asyncio.wait_for(steps.get(), _ALIVE)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if step is None:
                    return
                yield f"data: {step}\n\n"
        finally:
            self._streams.remove(steps)
            self._machine.listeners.remove(heard)
            self._machine.working.listeners.remove(worked)


__all__ = ["Routes"]
