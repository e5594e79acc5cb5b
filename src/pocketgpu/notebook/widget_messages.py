"""What a widget and its page say to each other: the requests of docs/formats/view.md as messages of the kernel.

The page sends
    {"kind": "ask", "id": 7, "path": "why", "query": {"at": "f0/d3", "tab": "k3f9", "panel": "why", "turn": "2"}}
    {"kind": "drop", "id": 7}                        nobody waits for that answer any more
    {"kind": "shown", "view": "k3f9"}, {"kind": "gone", "view": "k3f9"}
and gets, with the bytes of the answer as the message's buffer,
    {"kind": "reply", "id": 7, "status": 200, "type": "application/json", "headers": {...}}
    {"kind": "here"}                                 somebody hears what is shown

What is no such message gets a reply with an error, whose id is that of the message, or null if it has none.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Final, TypeGuard

from pocketgpu.displayed import line_of
from pocketgpu.notebook.widget_machine import LentMachine
from pocketgpu.view.answering import (
    BAD_REQUEST,
    BUSY,
    MOST_REQUESTS,
    MOST_TARGET,
    NOT_FOUND,
    Reply,
    begin,
    refusal,
    reply_of,
)
from pocketgpu.view.questions.asking import AnyAsked
from pocketgpu.wording import counted

MOST_OPEN: Final = MOST_REQUESTS
"""Most requests of a widget that wait."""
MOST_LETTERS: Final = MOST_TARGET
"""Most letters of a request's path and query."""
MOST_VIEWS: Final = 64
"""Most places where a widget is shown that are known; more are as if they were none."""
_MOST_ID: Final = 1 << 53
"""Numbers that JavaScript has."""
Send = Callable[[dict[str, Any], list[bytes]], None]
"""Sends a message and its buffers to the page."""


class Messages:
    """The requests of one widget.

    :param machine: answers them. asked: the table of requests. send: may be called on any thread.
    """

    def __init__(self, machine: LentMachine, asked: Mapping[str, AnyAsked], send: Send) -> None:
        self._machine, self._asked, self._send = machine, asked, send
        self._open: dict[int, tuple[Future[Any], AnyAsked]] = {}
        self._views: dict[str, None] = {}
        # A new question may refuse an older one of its panel, whose reply is then sent inside.
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return line_of(self, f"{counted(len(self._open), 'request')} open, {counted(len(self._views), 'view')}")

    def heard(self, message: object) -> None:
        """A message has come from the page."""
        if not isinstance(message, dict):
            self._refuse(None, f"a message is an object, not {_named(message)}")
            return
        kind, number = message.get("kind"), message.get("id")
        if kind in ("shown", "gone"):
            self._seen(message.get("view"), kind == "shown")
        elif not _is_number(number):
            self._refuse(None, "a request has a whole number as its id")
        elif kind == "ask":
            self._ask(number, message.get("path"), message.get("query"))
        elif kind == "drop":
            self._drop(number)
        else:
            self._refuse(number, f"there is no message of the kind {_named(kind)}")

    def end(self) -> None:
        """Nobody waits for anything any more."""
        with self._lock:
            asking, self._open = [*self._open.values()], {}
            self._views.clear()
        for one, _ in asking:
            one.cancel()
        self._machine.end()

    # -- requests -----------------------------------------------------------------------------------------------------
    def _ask(self, number: int, path: object, query: object) -> None:
        if not isinstance(path, str) or not isinstance(query, dict) or not all(
            isinstance(one, str) for pair in query.items() for one in pair
        ):
            self._refuse(number, "a request has a path, and a query of texts")
            return
        if len(path) + sum(len(name) + len(value) for name, value in query.items()) > MOST_LETTERS:
            self._refuse(number, f"a request has at most {MOST_LETTERS} letters")
            return
        asked = self._asked.get(path)
        if asked is None:
            self._refuse(number, f"there is no request {_named(path)}", NOT_FOUND)
            return
        with self._lock:
            if number in self._open:
                found = refusal("another request with this id is open", BAD_REQUEST)
            elif len(self._open) >= MOST_OPEN:
                found = refusal("too many requests at a time", BUSY, hint="Ask again in a moment.")
            else:
                found, asking = None, begin(self._machine.thread, asked, query)
                self._open[number] = asking, asked
        if found is None:
            asking.add_done_callback(lambda done: self._answered(number, done))
        else:
            self._reply(number, found)

    def _answered(self, number: int, asking: Future[Any]) -> None:
        """On the machine's thread: an answer does not wait until the kernel's own thread has time."""
        with self._lock:
            known = self._open.get(number)
            wanted = known is not None and known[0] is asking
            if wanted:
                del self._open[number]
        if wanted:
            self._reply(number, reply_of(asking))

    def _drop(self, number: int) -> None:
        with self._lock:
            known = self._open.pop(number, None)
        if known is not None and not known[1].acts:
            known[0].cancel()

    def _refuse(self, number: int | None, message: str, status: int = BAD_REQUEST) -> None:
        self._reply(number, refusal(message, status))

    def _reply(self, number: int | None, reply: Reply) -> None:
        head = {"kind": "reply", "id": number, "status": reply.status, "type": reply.type}
        self._send({**head, "headers": dict(reply.headers)}, [reply.data])

    # -- views --------------------------------------------------------------------------------------------------------
    def _seen(self, view: object, is_shown: bool) -> None:
        """A place where the widget is shown has come or gone. With the last one the machine goes, too."""
        if not isinstance(view, str) or len(view) > MOST_LETTERS:
            self._refuse(None, "a view has a name")
            return
        with self._lock:
            was_there = view in self._views
            if is_shown:
                self._views[view] = None
                while len(self._views) > MOST_VIEWS:
                    del self._views[next(iter(self._views))]
            else:
                self._views.pop(view, None)
            is_last = was_there and not self._views
        if is_shown:
            self._send({"kind": "here"}, [])
        elif is_last:
            self._machine.end()


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_ID


def _named(value: object) -> str:
    """A value in a message: not all of it."""
    return repr(value)[:60]


__all__ = ["MOST_LETTERS", "MOST_OPEN", "MOST_VIEWS", "Messages"]
