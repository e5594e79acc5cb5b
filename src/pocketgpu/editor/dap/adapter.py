"""The adapter: takes messages of an editor, asks the handler of each request, and sends responses and events.

Every message gets exactly one response, also one that is no request. What goes wrong in a handler is an error in that.
Who reads messages tells the adapter of each at once (`hear`), so that `cancel`, `terminate` and `disconnect` end a
launch that goes on.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from pocketgpu.editor.dap.debuggee.session import Session
from pocketgpu.editor.dap.progress import Progress
from pocketgpu.editor.dap.protocol.framing import BadFrame
from pocketgpu.editor.dap.protocol.messages import BadMessage, Json, Request, read_request, written
from pocketgpu.editor.dap.requests import REQUESTS
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.interruption import Interrupted, interruptible, look

BAD_MESSAGE: Final = 1
BAD_REQUEST: Final = 2
OWN_MISTAKE: Final = 3
GIVEN_UP: Final = 4
"""Numbers of errors: of messages, of requests, of this program; and of what was given up."""
CANCELLED: Final = "cancelled"
"""What the protocol says of a request that was given up."""
MOST_GIVEN_UP: Final = 1000
"""Numbers of requests that are kept until these come."""
_ENDS: Final = ("terminate", "disconnect")
_URGENT: Final = tuple(f'"{name}"'.encode() for name in ("cancel", *_ENDS))
"""What messages have in them that may give something up."""


class Adapter:
    """One session of an editor.

    :param send: takes each message as bytes of JSON; it is also called from another thread, one call at a time.
    :param log: takes a line of text for each message and each error.
    """

    def __init__(self, send: Callable[[bytes], None], log: Callable[[str], None] = lambda line: None) -> None:
        self._send, self._log = send, log
        self._seq = 0
        self._sending, self._deciding = threading.Lock(), threading.Lock()
        self._progress = Progress(self._event)
        self._current = 0
        self._stop = threading.Event()
        self._given_up: set[int] = set()
        self._ending = False
        self.session = Session(self._event, self._working)

    @property
    def over(self) -> bool:
        """Whether the editor has ended the session."""
        return self.session.state == "over"

    def take(self, body: bytes | BadFrame) -> None:
        """Answer a message, or what is none."""
        try:
            if isinstance(body, BadFrame):
                raise BadMessage(str(body))
            self._log(f"<- {body[:2000].decode('utf-8', 'replace')}")
            request = read_request(body)
        except BadMessage as error:
            self._fail(error.seq, error.command, BAD_MESSAGE, error.message)
            return
        self._answer(request)
        for event, content in self.session.take_events():
            self._event(event, content)

    # -- while a request is answered ----------------------------------------------------------------------------------
    def hear(self, body: bytes | BadFrame) -> None:
        """Look at a message that waits to be taken, from any thread: it may give up what goes on now."""
        if isinstance(body, BadFrame) or not any(word in body for word in _URGENT):
            return
        try:
            request = read_request(body)
            wanted = request.arguments.number("requestId", 0)
            progress = request.arguments.text("progressId", "")
        except UsageError:
            return
        with self._deciding:
            if request.command in _ENDS:
                self._ending = True
                self._stop.set()
            elif request.command == "cancel":
                if wanted and wanted != self._current:
                    self._given_up = {*self._given_up, wanted} if len(self._given_up) < MOST_GIVEN_UP else {wanted}
                elif wanted or (progress and progress == self._progress.current):
                    self._stop.set()

    def _begin(self, request: Request) -> None:
        """A request is answered from now on; it may have been given up before that."""
        with self._deciding:
            self._current = request.seq
            self._stop.clear()
            if request.command in _ENDS:
                self._ending = False
            elif self._ending or request.seq in self._given_up:
                self._given_up.discard(request.seq)
                raise Interrupted(CANCELLED)

    def _working(self, title: str) -> AbstractContextManager[None]:
        look()
        if self.session.client.flag("supportsProgressReporting", False):
            return self._progress.shown(title, self._current)
        return nullcontext()

    def _answer(self, request: Request) -> None:
        self.session.events_later = []
        one = REQUESTS.get(request.command)
        try:
            self._begin(request)
            if one is None:
                raise UsageError(f"there is no request {request.command!r}")
            if self.session.state not in one.states:
                raise UsageError(f"{request.command} has no place here: the session is {self.session.state}")
            with interruptible(self._stop.is_set):
                body = one.handler(self.session, request.arguments)
        except Interrupted:
            self._fail(request.seq, request.command, GIVEN_UP, CANCELLED, show=False)
        except PocketGPUError as error:
            hint = f" {error.hint}" if error.hint else ""
            where = f"{error.location}: " if error.location else ""
            self._fail(request.seq, request.command, BAD_REQUEST, f"{where}{error.message}.{hint}")
        except RecursionError:
            self._fail(request.seq, request.command, BAD_REQUEST, "this is nested too deep")
        except Exception as error:  # a mistake here must not end the editor's session
            self._log(traceback.format_exc())
            self._fail(request.seq, request.command, OWN_MISTAKE, f"a mistake of pocketgpu: {error!r}")
        else:
            self._respond(request.seq, request.command, {"success": True, **({"body": body} if body else {})})
        finally:
            with self._deciding:
                self._current = 0

    # -- sending ------------------------------------------------------------------------------------------------------
    def _fail(self, seq: int, command: str, number: int, text: str, show: bool = True) -> None:
        error = {"id": number, "format": text.replace("{", "(").replace("}", ")"), "showUser": show}
        self._respond(seq, command, {"success": False, "message": text, "body": {"error": error}})

    def _respond(self, seq: int, command: str, content: Json) -> None:
        self._put({"type": "response", "request_seq": seq, "command": command, **content})

    def _event(self, event: str, content: Json) -> None:
        self._put({"type": "event", "event": event, **({"body": content} if content else {})})

    def _put(self, message: dict[str, Any]) -> None:
        with self._sending:
            self._seq += 1
            data = written({"seq": self._seq, **message})
            self._log(f"-> {data[:2000].decode('utf-8', 'replace')}")
            self._send(data)


__all__ = ["Adapter"]
