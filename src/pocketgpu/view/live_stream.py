"""Request `live/frames`: the newest frame of a program that runs, for as long as somebody reads.

The next message is made when the one before has been sent, so a slow reader misses frames; pictures that no reader
waits for are not made. A message has the rows that changed. With `step`, a program that runs is shown smaller; one that
stands never is. A program without readers stands.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from pocketgpu.view.live.shown import Pictures, step_of
from pocketgpu.view.machine_thread import Busy, MachineThread, Overtaken
from pocketgpu.view.questions.desk import Desk

if TYPE_CHECKING:
    from pocketgpu.view.live.live_run import LiveRun

MOST_READERS: Final = 16
"""Most streams at a time."""
ALONE: Final = 3.0
"""Seconds without a reader after which the program stands: enough for a page to be loaded again."""
_ALIVE: Final = 5.0
"""Seconds without a new frame after which a stream sends the last message again: that fails if nobody reads."""


_DIGITS: Final = 6
"""Of a number in a request, at most."""


class _Reader:
    """A stream as a follower of the run."""

    def __init__(self, loop: asyncio.AbstractEventLoop, wakes: asyncio.Queue[str | None]) -> None:
        self.ready = True
        self._loop, self._wakes = loop, wakes

    def __repr__(self) -> str:
        return f"<a reader, {'ready' if self.ready else 'busy'}>"

    def told(self) -> None:
        """Wake the stream."""
        self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        if self._wakes.empty():
            self._wakes.put_nowait("")


class LiveStreams:
    """Streams of one server. ends: gets a queue for each stream; None in it ends the stream. runs: the program begins
    to run when the first reader is there."""

    def __init__(self, machine: MachineThread[Desk], ends: list[asyncio.Queue[str | None]], runs: bool) -> None:
        self._machine, self._ends, self._runs = machine, ends, runs
        self._readers = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def answer(self, request: Request) -> Response:
        """A stream, or status 404 without a program."""
        from pocketgpu.view.live.live_run import STANDING

        try:
            run = await self._machine.ask("", lambda desk: desk.live)
        except Busy:
            return Response("Too many questions wait.", 503)
        if run is None:
            return Response("No program is open here.", 404)
        if self._readers >= MOST_READERS:
            return Response("Too many pages look at the program.", 503)
        if self._runs:
            self._runs = False
            await self._machine.ask("", lambda desk: run.resume() if run.state == STANDING else None)
        headers = {"cache-control": "no-store"}
        step = request.query_params.get("step", "1")
        step_asked = int(step) if step.isascii() and step.isdigit() and len(step) < _DIGITS else 1
        messages = self._messages(request, run, step_of(step_asked))
        return StreamingResponse(messages, media_type="application/octet-stream", headers=headers)

    async def _messages(self, request: Request, run: LiveRun, step: int) -> AsyncIterator[bytes]:
        loop, wakes = asyncio.get_running_loop(), asyncio.Queue[str | None]()
        reader = _Reader(loop, wakes)
        run.followers.append(reader)
        self._ends.append(wakes)
        self._readers += 1
        try:
            number, known = 0, Pictures()
            while not await request.is_disconnected():
                newest = run.newest
                if newest is not None and newest.number != number:
                    number, reader.ready = newest.number, False
                    sent = newest.sent(step)
                    yield newest.message(sent, known)
                    known = sent
                    continue
                reader.ready = True
                try:
                    if await asyncio.wait_for(wakes.get(), _ALIVE) is None:
                        return
                except TimeoutError:
                    number = 0
        finally:
            self._readers -= 1
            self._ends.remove(wakes)
            run.followers.remove(reader)
            task = loop.create_task(self._stand_alone(run))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _stand_alone(self, run: LiveRun) -> None:
        """Stand if nobody comes back."""
        await asyncio.sleep(ALONE)
        if not self._readers:
            with suppress(Busy, Overtaken):
                await self._machine.ask("", lambda desk: run.stand())


__all__ = ["ALONE", "MOST_READERS", "LiveStreams"]
