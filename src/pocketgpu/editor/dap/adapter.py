"""The adapter: takes messages of an editor, asks the handler of each request, and sends responses and events.

Every message gets exactly one response, also one that is no request. What goes wrong in a handler is an error in that.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any, Final

from pocketgpu.editor.dap.debuggee.session import Session
from pocketgpu.editor.dap.protocol.framing import BadFrame
from pocketgpu.editor.dap.protocol.messages import BadMessage, Json, Request, read_request, written
from pocketgpu.editor.dap.requests import REQUESTS
from pocketgpu.errors import PocketGPUError, UsageError

BAD_MESSAGE: Final = 1
BAD_REQUEST: Final = 2
OWN_MISTAKE: Final = 3
"""Numbers of errors: of messages, of requests, of this program."""


class Adapter:
    """One session of an editor.

    :param send: takes each message as bytes of JSON.
    :param log: takes a line of text for each message and each error.
    """

    def __init__(self, send: Callable[[bytes], None], log: Callable[[str], None] = lambda line: None) -> None:
        self._send, self._log = send, log
        self._seq = 0
        self.session = Session(self._event)

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

    def _answer(self, request: Request) -> None:
        self.session.events_later = []
        one = REQUESTS.get(request.command)
        try:
            if one is None:
                raise UsageError(f"there is no request {request.command!r}")
            if self.session.state not in one.states:
                raise UsageError(f"{request.command} has no place here: the session is {self.session.state}")
            body = one.handler(self.session, request.arguments)
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

    # -- sending ------------------------------------------------------------------------------------------------------
    def _fail(self, seq: int, command: str, number: int, text: str) -> None:
        error = {"id": number, "format": text.replace("{", "(").replace("}", ")"), "showUser": True}
        self._respond(seq, command, {"success": False, "message": text, "body": {"error": error}})

    def _respond(self, seq: int, command: str, content: Json) -> None:
        self._put({"type": "response", "request_seq": seq, "command": command, **content})

    def _event(self, event: str, content: Json) -> None:
        self._put({"type": "event", "event": event, **({"body": content} if content else {})})

    def _put(self, message: dict[str, Any]) -> None:
        self._seq += 1
        data = written({"seq": self._seq, **message})
        self._log(f"-> {data[:2000].decode('utf-8', 'replace')}")
        self._send(data)


__all__ = ["Adapter"]
