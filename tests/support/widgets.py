"""The other side of a widget: what its page sends to it and gets, without a kernel and a browser."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import comm
import pytest
from comm.base_comm import BaseComm

WAIT = 60.0
"""Seconds that anything may take."""


class PageComm(BaseComm):
    """Keeps what a widget sends."""

    def __init__(self, **options: Any) -> None:
        self.sent: list[tuple[dict[str, Any], list[bytes]]] = []
        self.news = threading.Condition()
        super().__init__(**options)

    def publish_msg(
        self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
    ) -> None:  # fmt: skip
        with self.news:
            self.sent.append((data or {}, [bytes(one) for one in buffers or ()]))
            self.news.notify_all()


def missing() -> str:
    """Why there can be no widget here; empty if there can be one."""
    if find_spec("anywidget") is None:
        return "anywidget is not installed"
    from pocketgpu.notebook.widget import SCRIPT

    return "" if SCRIPT.is_file() else "the page of the widget is not built: make page"


def without_page(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Widgets that are made from now on have a `PageComm`, and do not need the script of the built page."""
    from pocketgpu.notebook import widget

    script = folder / "widget.js"
    script.write_text("export default {}")
    patch.setattr(widget, "SCRIPT", script)
    patch.setattr(comm, "create_comm", PageComm)


class Page:
    """The page of one widget. It must be the only one who reads its messages."""

    def __init__(self, widget: Any) -> None:
        self.comm: PageComm = widget.comm
        self._id = 0

    def count_from(self, number: int) -> None:
        """Give the next requests larger numbers."""
        self._id = number

    def deliver(self, data: Any) -> None:
        """Let the widget have a message of the kernel's protocol for widgets."""
        self.comm.handle_msg({"content": {"data": data}, "buffers": []})

    def say(self, content: Any) -> None:
        """Let the widget have a message of its page."""
        self.deliver({"method": "custom", "content": content})

    def set(self, **state: Any) -> None:
        """Set traits of the widget."""
        self.deliver({"method": "update", "state": state, "buffer_paths": []})

    def begin(self, path: Any, **query: Any) -> int:
        """Ask, and return the number of the request."""
        self._id += 1
        self.say({"kind": "ask", "id": self._id, "path": path, "query": query})
        return self._id

    def ask(self, path: str, **query: str) -> tuple[dict[str, Any], bytes]:
        """The head and the bytes of the answer to a request."""
        return self.reply(self.begin(path, **query))

    def reply(self, number: int | None) -> tuple[dict[str, Any], bytes]:
        """The answer to the request of a number."""
        with self.comm.news:
            assert self.comm.news.wait_for(lambda: self._found(number), WAIT), f"no answer to {number}"
            found = self._found(number)
        assert found is not None
        return found

    def _found(self, number: int | None) -> tuple[dict[str, Any], bytes] | None:
        for content, buffers in self.said("reply"):
            if content["id"] == number:
                assert len(buffers) == 1
                return content, buffers[0]
        return None

    def said(self, kind: str) -> list[tuple[dict[str, Any], list[bytes]]]:
        """The messages of a kind that have come."""
        return [
            (data["content"], buffers) for data, buffers in [*self.comm.sent]
            if data.get("method") == "custom" and data["content"]["kind"] == kind
        ]  # fmt: skip

    def states(self, name: str) -> list[Any]:
        """The values of a trait that the widget has sent, in order."""
        return [data["state"][name] for data, _ in self.comm.sent if name in data.get("state", ())]


def error_of(reply: tuple[Mapping[str, Any], bytes]) -> tuple[int, dict[str, Any]]:
    """The status and the error of a reply."""
    head, data = reply
    error: dict[str, Any] = json.loads(data)["error"]
    assert set(error) == {"message", "location", "hint"} and head["type"] == "application/json"
    return head["status"], error
