"""The requests of docs/formats/view.md, answered by `questions` on the machine's thread, and the files of the page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from pocketgpu.view.answering import NO_STORE, OK, Reply, begin, in_json, reply_of
from pocketgpu.view.live_stream import LiveStreams
from pocketgpu.view.machine_thread import MachineThread
from pocketgpu.view.questions import asked_of
from pocketgpu.view.questions.asking import AnyAsked, Json
from pocketgpu.view.questions.desk import Desk
from pocketgpu.view.questions.notes_file import Notes

_ALIVE: Final = 15.0
"""Seconds without an event after which a stream of events sends a comment: that fails if nobody reads."""
_MOST_STEPS: Final = 64
"""Most events of a stream that wait to be sent."""
_NOT_MODIFIED: Final = 304
_CLIENT_CLOSED: Final = 499
"""The status that nginx gives to such requests; nobody gets it."""
T = TypeVar("T")


def _response(reply: Reply) -> Response:
    return Response(reply.data, reply.status, dict(reply.headers), reply.type)


def _unless_known(request: Request, reply: Reply) -> Response:
    """The reply, or that the browser has the same already."""
    if reply.status == OK and "etag" in reply.headers and request.headers.get("if-none-match") == reply.headers["etag"]:
        return Response(None, _NOT_MODIFIED, dict(reply.headers))
    return _response(reply)


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


async def _done(asking: Future[Any]) -> None:
    """Until there is an answer, or an error. Who cancels this cancels the question."""
    with suppress(Exception):
        await asyncio.wrap_future(asking)


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
            asking = begin(self._machine, asked, request.query_params)
            answered = _done(asking)
            try:
                await (answered if asked.acts else _unless_gone(request, answered))
            except _Gone:
                return Response(None, _CLIENT_CLOSED)
            return _unless_known(request, reply_of(asking))

        return answer

    async def _give_up(self, request: Request) -> Response:
        """Give up what takes long. No question: it would wait for what it is about."""
        return _response(in_json({"given_up": self._machine.working.give_up()}))

    async def _progress(self, request: Request) -> Response:
        return StreamingResponse(self._steps(request), media_type="text/event-stream", headers=NO_STORE)

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
