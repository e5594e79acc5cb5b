"""The thread that has the machine of an open capture. All questions run there, one after the other.

    machine = MachineThread(lambda: nullcontext(pocketgpu.debug("scene.pgc")))
    answer = await machine.ask("tab 1, why", lambda run: run.why("f1/px200,120").text())

Moments of an inspection share one machine and move it, so no two threads may use it. A panel is a part of the page. If
it asks again while its question waits, the newer question takes the place of the older one, whose answer nobody needs
any more. Slow questions, those that may take long, wait for quick ones.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import Any, Generic, TypeVar

from pocketgpu.call_room import with_room
from pocketgpu.displayed import line_of
from pocketgpu.interruption import Interrupted, interruptible
from pocketgpu.view.questions.working import Working
from pocketgpu.wording import counted

MOST_WAITING = 64
"""Most questions that wait; further ones are refused."""
GRACE = 0.02
"""Seconds that a slow question waits for quick ones before it begins: for a new place, the page asks several questions
one after the other."""
_MOST_PANELS = 1024
"""Most panels whose last turn is remembered."""
_CLOSING = 2.0
"""Seconds that `close` waits for the question that runs."""
Run = TypeVar("Run")
Answer = TypeVar("Answer")
Listener = Callable[[str], None]
"""Called on the machine's thread, with the name of the panel whose question begins, and with "" when it has ended."""


class Overtaken(Exception):
    """A newer question of the same panel has taken the place of this one, or the thread has ended."""


class Busy(Exception):
    """Too many questions wait."""


class MachineThread(Generic[Run]):
    """Runs questions on one thread, about an object that a context manager gives.

    :param make: makes the context manager. It is entered and left on that thread. If that fails, every question raises
        the error.
    :param idle: called on that thread while no question waits. It returns after how many seconds it has to be called
        again; None: after the next question. If the thread has to end, its replays are given up: nobody waits for them.
    :param working: what questions that take long report to.
    """

    def __init__(
        self, make: Callable[[], AbstractContextManager[Run]], idle: Callable[[Run], float | None] | None = None,
        working: Working | None = None,
    ) -> None:  # fmt: skip
        self._make, self._idle = make, idle
        self.working = working or Working()
        self._waiting: OrderedDict[str, tuple[Callable[[Run], Any], Future[Any], bool]] = OrderedDict()
        self._state = threading.Condition()
        self._ended = False
        self._number = 0
        self._newest: dict[str, int] = {}
        self.listeners: list[Listener] = []
        self._thread = threading.Thread(target=with_room, args=(self._work,), name="pocketgpu-view", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return line_of(self, f"{counted(len(self._waiting), 'question')} waiting")

    async def ask(self, panel: str, question: Callable[[Run], Answer], slow: bool = False, turn: int = 0) -> Answer:
        """The answer to a question. panel: the part of the page that asks; "": no newer question takes the place of
        this one. slow: it waits for questions that are not slow. turn: the number of the question, which grows with
        each one of a panel, as questions may arrive in another order than they were asked; 0: they are not numbered.

        :raises Overtaken: the panel has asked something newer. :raises Busy: too many questions wait.
        """
        future = self.put(panel, question, slow, turn)
        try:
            answer: Answer = await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            future.cancel()  # the request has ended: the question need not begin
            raise
        return answer

    def close(self) -> None:
        """End the thread after the question that runs. Those that wait raise `Overtaken`. A question that takes too
        long is not waited for: the process can end without the thread."""
        self.end()
        self._thread.join(_CLOSING)

    def end(self) -> None:
        """End the thread as `close` does, without waiting for it."""
        with self._state:
            self._ended = True
            waiting, self._waiting = self._waiting, OrderedDict()
            self._state.notify()
        for _, future, _ in waiting.values():
            _refuse(future)

    def put(
        self, panel: str, question: Callable[[Run], Answer], slow: bool = False, turn: int = 0
    ) -> Future[Answer]:
        """Have a question answered, as `ask` does: for who has no event loop. What has not begun can be cancelled.

        :raises Overtaken: the panel has asked something newer. :raises Busy: too many questions wait.
        """
        future: Future[Answer] = Future()
        with self._state:
            self._number += 1
            name = panel or f"#{self._number}"
            if turn and panel:
                if turn < self._newest.get(panel, 0):
                    raise Overtaken
                if len(self._newest) >= _MOST_PANELS:
                    self._newest.clear()
                self._newest[panel] = turn
            older = self._waiting.pop(name, None)
            if self._ended or len(self._waiting) >= MOST_WAITING:
                raise Busy
            self._waiting[name] = question, future, slow
            self._state.notify()
        if older is not None:
            _refuse(older[1])
        return future

    def _work(self) -> None:
        with ExitStack() as stack:
            try:
                run = stack.enter_context(self._make())
            except BaseException as error:
                self._answer_all(partial(_raise, error), lambda: None)
            else:
                self._answer_all(lambda question: question(run), lambda: self._work_idly(run))

    def _work_idly(self, run: Run) -> float | None:
        """Call `idle`. If it fails, it is not called again; questions are answered all the same."""
        if self._idle is None:
            return None
        try:
            with interruptible(lambda: self._ended):
                return self._idle(run)
        except Interrupted:
            return None
        except Exception:
            logging.getLogger(__name__).exception("the work between questions has failed, and is not done any more")
            self._idle = None
            return None

    def _answer_all(
        self, answer: Callable[[Callable[[Run], Any]], Any], idle: Callable[[], float | None]
    ) -> None:
        """Answer questions until the end, and work idly between them."""
        pause: float | None = 0
        while not self._ended:
            found = self._next(pause)
            if found is None:
                pause = idle()
                continue
            pause = 0
            panel, question, future = found
            if not future.set_running_or_notify_cancel():
                continue
            self._tell(panel)
            try:
                answered = answer(question)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(answered)
            self._tell("")

    def _next(self, pause: float | None) -> tuple[str, Callable[[Run], Any], Future[Any]] | None:
        """The next question and its panel. None: none came within `pause` seconds, or the thread has to end."""
        with self._state:
            if not self._state.wait_for(lambda: self._waiting or self._ended, pause):
                return None
            self._state.wait_for(lambda: self._ended or self._quick() is not None, GRACE)
            if self._ended:
                return None
            panel = self._quick() or next(iter(self._waiting))
            question, future, _ = self._waiting.pop(panel)
        return panel, question, future

    def _quick(self) -> str | None:
        """The first panel whose question is not slow."""
        return next((panel for panel, (_, _, slow) in self._waiting.items() if not slow), None)

    def _tell(self, panel: str) -> None:
        for listener in tuple(self.listeners):
            listener(panel)


def _raise(error: BaseException, _: object) -> Any:
    raise error


def _refuse(future: Future[Any]) -> None:
    if future.set_running_or_notify_cancel():
        future.set_exception(Overtaken())


__all__ = ["MOST_WAITING", "Busy", "MachineThread", "Overtaken"]
