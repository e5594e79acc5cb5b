"""Long work: progress that is shown, and `cancel`, `terminate` and `disconnect` that end it; restarts."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.dap_client import Editor, Refused, Stream

from .test_streams import running

ENDLESS = """.kernel waits
.registers 8
.param data ptr
again:
IADD R0, R0, 0x1;
BRA again;
EXIT;
"""
ENDLESS_PICA = "main:\n    mov r0, v0\nround:\n    add r0, r0, c0\n    jmpu b0, round\n    end\n"
MOST = 1 << 20
QUICK = 30
"""Seconds, of work that would take minutes."""


@pytest.fixture
def endless(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "waits.sass"
    path.write_text(ENDLESS)
    return {"program": str(path), "grid": 1, "block": 32, "args": ["zeros:128"], "at": "b0/t0", "most": MOST}


def request(command: str, seq: int = 900, **arguments: Any) -> bytes:
    return json.dumps({"seq": seq, "type": "request", "command": command, "arguments": arguments}).encode()


@contextmanager
def heard(editor: Editor, body: bytes, after: float) -> Iterator[None]:
    """An editor that says something while the adapter works."""
    saying = threading.Timer(after, editor.adapter.hear, (body,))
    began = time.monotonic()
    saying.start()
    yield
    saying.join()
    assert time.monotonic() - began < QUICK


def test_a_launch_is_given_up(editor: Editor, endless: dict[str, Any], sass: Path) -> None:
    editor.ask("initialize", supportsProgressReporting=True)
    with heard(editor, request("cancel", requestId=2), 1.8), pytest.raises(Refused, match=r"^cancelled$"):
        editor.ask("launch", **endless)
    starts, updates, ends = (editor.named(f"progress{what}") for what in ("Start", "Update", "End"))
    assert len(starts) == len(ends) == 1 and len(updates) >= 1
    assert starts[0]["requestId"] == 2 and starts[0]["cancellable"] and "tracing" in starts[0]["title"]
    assert {one["progressId"] for one in (*starts, *updates, *ends)} == {"work 2"}
    editor.ask("launch", program=str(sass), grid=1, block=32, args=["zeros:128"], at="b0/t3")
    editor.ask("configurationDone")
    for _ in range(6):
        editor.ask("next", threadId=editor.thread)
    assert editor.value("R4 as u32") == "3", "what runs later is not touched by that"


@pytest.mark.parametrize("command", ("terminate", "disconnect"))
def test_the_session_ends_meanwhile(editor: Editor, endless: dict[str, Any], command: str) -> None:
    editor.ask("initialize")
    with heard(editor, request(command), 0.5), pytest.raises(Refused, match="cancelled"):
        editor.ask("launch", **endless)
    with pytest.raises(Refused, match="cancelled"):
        editor.ask("threads")
    editor.ask(command)
    if command == "terminate":
        assert editor.named("terminated") == [{}] and editor.ask("threads") == {"threads": []}
    assert editor.adapter.over == (command == "disconnect")


def test_what_shows_progress_can_be_given_up(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "waits.pica"
    path.write_text(ENDLESS_PICA)
    editor.ask("initialize", supportsProgressReporting=True)
    with heard(editor, request("cancel", progressId="work 2"), 1.0), pytest.raises(Refused, match="cancelled"):
        editor.ask("launch", source=str(path), uniforms={"b0": True}, most=60000)


def test_a_request_that_waits_is_given_up(editor: Editor, pica: Path) -> None:
    editor.launch(source=str(pica))
    following = editor.seq + 1
    editor.adapter.hear(request("cancel", requestId=following))
    with pytest.raises(Refused, match="cancelled"):
        editor.ask("evaluate", expression="v0.x", frameId=4096)
    assert editor.value("v0.x") == "0"
    for body in (b"", b'{"cancel"', *(request("cancel", **one) for one in ({"requestId": "x"}, {"progressId": 5}, {}))):
        editor.adapter.hear(body)
    editor.ask("cancel", requestId=7)
    assert editor.value("v0.x") == "0"


def test_a_what_if_that_is_given_up_changes_nothing(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "waits.pica"
    path.write_text(ENDLESS_PICA)
    editor.launch(source=str(path), uniforms={"b0": False})
    before = [str(step) for step in editor.adapter.session.debuggee.main.trace]
    editor.go("next")
    with heard(editor, request("cancel", requestId=editor.seq + 1), 0.5), pytest.raises(Refused, match="cancelled"):
        editor.ask("setExpression", expression="b0", value="true")
    assert [str(step) for step in editor.adapter.session.debuggee.main.trace] == before and editor.place == 1
    assert "what-if" not in editor.scopes()


def test_over_streams_messages_are_read_meanwhile(endless: dict[str, Any]) -> None:
    with running() as process:
        assert process.stdout is not None and process.stdin is not None
        out = process.stdout.fileno()
        one = Stream(lambda: os.read(out, 1 << 16), process.stdin)
        assert one.ask("initialize", supportsProgressReporting=True)["success"]
        launch = {"seq": 2, "type": "request", "command": "launch", "arguments": endless}
        one.seq = 2
        frame = json.dumps(launch).encode()
        one.put(b"Content-Length: %d\r\n\r\n%s" % (len(frame), frame))
        began = time.monotonic()
        while "opening" in one.event("progressStart")["title"]:
            pass
        answer = one.ask("cancel", requestId=2)
        assert (answer["command"], answer["success"], answer["message"]) == ("launch", False, "cancelled")
        assert one.response()["command"] == "cancel"
        assert one.ask("disconnect")["success"] and process.wait(QUICK) == 0
        assert time.monotonic() - began < QUICK


def test_restarts(editor: Editor, pica: Path) -> None:
    editor.launch(source=str(pica), inputs={"v0": [4, 1, 0, 1]})
    editor.ask("setBreakpoints", source={"path": str(pica)}, breakpoints=[{"line": 5}])
    editor.go("continue")
    assert editor.value("r0.x") == "8"
    editor.ask("restart", arguments={"source": str(pica), "inputs": {"v0": [5, 1, 0, 1]}})
    assert editor.stopped["reason"] == "entry" and editor.place == 0
    assert editor.go("continue")["reason"] == "breakpoint" and editor.value("r0.x") == "10", "breakpoints stay"
    with pytest.raises(Refused, match="names nothing"):
        editor.ask("restart", arguments={"inputs": {}})
    assert editor.value("r0.x") == "10", "a restart that fails leaves everything as it was"
    editor.ask("restart")
    editor.go("continue")
    assert editor.value("r0.x") == "10", "with the arguments of the last one"
    editor.ask("terminate")
    editor.ask("restart")
    assert editor.stopped["reason"] == "entry"
