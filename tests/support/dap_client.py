"""Editors for the tests of the debug adapter: one that asks the adapter itself, and one that speaks over streams."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from pocketgpu.editor.dap import Adapter
from pocketgpu.editor.dap.protocol.framing import BadFrame, Frames, framed

Json = dict[str, Any]


class Refused(Exception):
    """An error response."""


class Editor:
    """Asks one request after another. events: those that have come since the last request."""

    def __init__(self) -> None:
        self.seq = 0
        self.events: list[Json] = []
        self.adapter = Adapter(self._receive)
        self._responses: list[Json] = []

    def _receive(self, body: bytes) -> None:
        message = json.loads(body)
        (self._responses if message["type"] == "response" else self.events).append(message)

    def send(self, body: bytes | BadFrame) -> Json:
        """Any bytes; the one response."""
        self.events, self._responses = [], []
        self.adapter.take(body)
        (response,) = self._responses
        return response

    def request(self, command: str, arguments: Any) -> Json:
        self.seq += 1
        message: Json = {"seq": self.seq, "type": "request", "command": command, "arguments": arguments}
        response = self.send(json.dumps(message).encode())
        assert response["request_seq"] == self.seq and response["command"] == command
        return response

    def ask(self, command: str, **arguments: Any) -> Json:
        response = self.request(command, arguments)
        if not response["success"]:
            raise Refused(response["message"])
        body: Json = response.get("body", {})
        return body

    # -- what tests do often ------------------------------------------------------------------------------------------
    def launch(self, *, filters: tuple[str, ...] = (), **configuration: Any) -> Json:
        """Begin a session; the body of the stopped event."""
        self.ask("initialize", adapterID="pocketgpu", supportsInvalidatedEvent=True)
        self.ask("launch", **configuration)
        assert "initialized" in [one["event"] for one in self.events]
        self.ask("setExceptionBreakpoints", filters=list(filters))
        self.ask("configurationDone")
        return self.stopped

    @property
    def thread(self) -> int:
        return self.adapter.session.thread

    @property
    def stopped(self) -> Json:
        """The body of the stopped event that has come."""
        (event,) = [one["body"] for one in self.events if one["event"] == "stopped"]
        return event

    def named(self, event: str) -> list[Json]:
        return [one.get("body", {}) for one in self.events if one["event"] == event]

    def go(self, command: str, **arguments: Any) -> Json:
        """Move; the body of the stopped event."""
        self.ask(command, threadId=self.thread, **arguments)
        return self.stopped

    @property
    def place(self) -> int:
        return self.adapter.session.lane(self.thread).place

    @property
    def frame(self) -> Json:
        found: Json = self.ask("stackTrace", threadId=self.thread)["stackFrames"][0]
        return found

    def scopes(self) -> dict[str, int]:
        found = self.ask("scopes", frameId=self.frame["id"])["scopes"]
        return {one["name"]: one["variablesReference"] for one in found}

    def variables(self, reference: int, **more: Any) -> dict[str, Json]:
        return {one["name"]: one for one in self.ask("variables", variablesReference=reference, **more)["variables"]}

    def value(self, expression: str, **more: Any) -> str:
        text: str = self.ask("evaluate", expression=expression, frameId=self.frame["id"], **more)["result"]
        return text


class Stream:
    """Speaks over two streams, as an editor does."""

    def __init__(self, reading: Callable[[], bytes], writing: BinaryIO | Any) -> None:
        self._writing = writing
        self._frames: Iterator[bytes | BadFrame] = iter(Frames(reading))
        self.seq = 0
        self.events: list[Json] = []

    def put(self, data: bytes) -> None:
        self._writing.write(data)
        self._writing.flush()

    def next(self) -> Json:
        body = next(self._frames)
        assert isinstance(body, bytes), body
        message: Json = json.loads(body)
        return message

    def ask(self, command: str, **arguments: Any) -> Json:
        self.seq += 1
        message = {"seq": self.seq, "type": "request", "command": command, "arguments": arguments}
        self.put(framed(json.dumps(message).encode()))
        return self.response()

    def response(self) -> Json:
        while (message := self.next())["type"] != "response":
            self.events.append(message)
        return message

    def event(self, name: str) -> Json:
        """The next event of a name."""
        while True:
            message = self.events.pop(0) if self.events else self.next()
            if message.get("event") == name:
                found: Json = message.get("body", {})
                return found
