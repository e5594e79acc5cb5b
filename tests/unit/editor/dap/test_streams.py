"""The real command, over the standard streams and over a port."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from support.dap_client import Stream

DATA = Path(__file__).resolve().parents[4] / "src" / "pocketgpu" / "data"
COMMAND = [sys.executable, "-m", "pocketgpu", "dap"]
CONFIGURATION = {"capture": str(DATA / "sample.ctf.xz"), "address": "f0/d5/v3"}
SECONDS = 60


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    # A background job of a shell ignores SIGINT, and so would what it starts.
    heard = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        [*COMMAND, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heard
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def begin(one: Stream) -> None:
    assert one.ask("initialize", adapterID="pocketgpu")["success"]
    assert one.ask("launch", **CONFIGURATION)["success"]
    one.event("initialized")
    assert one.ask("setExceptionBreakpoints", filters=["nan"])["success"]
    assert one.ask("configurationDone")["success"]
    assert one.event("stopped")["reason"] == "entry"


def walk(one: Stream) -> None:
    begin(one)
    for command in ("next", "stepIn", "stepBack", "continue", "reverseContinue"):
        assert one.ask(command, threadId=1)["success"]
        one.event("stopped")
    frame = one.ask("stackTrace", threadId=1)["body"]["stackFrames"][0]
    scopes = one.ask("scopes", frameId=frame["id"])["body"]["scopes"]
    assert one.ask("variables", variablesReference=scopes[1]["variablesReference"])["body"]["variables"]


def test_the_standard_streams(tmp_path: Path) -> None:
    log = tmp_path / "dap.log"
    with running("--log", str(log)) as process:
        assert process.stdout is not None and process.stdin is not None
        out = process.stdout.fileno()
        one = Stream(lambda: os.read(out, 1 << 16), process.stdin)
        walk(one)
        one.put(b"Content-Length: 3\r\n\r\n{x}")
        assert one.response()["success"] is False
        one.put(b"garbage\r\n\r\n")
        assert one.ask("threads")["success"] is False, "what was skipped is told first"
        assert one.response()["success"]
        assert one.ask("disconnect")["success"]
        assert process.wait(SECONDS) == 0
        assert process.stdout.read() == b"", "nothing but messages"
    lines = log.read_text().splitlines()
    assert lines[0].startswith("<- {") and any(line.startswith("-> {") for line in lines)


def test_an_editor_that_goes_away() -> None:
    with running() as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()
        assert process.wait(SECONDS) == 0 and process.stdout.read() == b""


def answer_of(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1 << 16)
    except ConnectionResetError:
        return b""


def test_a_port() -> None:
    with running("--port", "0") as process:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        assert "127.0.0.1:" in line
        port = int(line.rsplit(":", 1)[1])
        body = b'{"seq": 1, "type": "request", "command": "initialize", "arguments": {}}'
        with socket.create_connection(("127.0.0.1", port), SECONDS) as connection:  # a page in a browser
            connection.settimeout(SECONDS)
            connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            assert answer_of(connection) == b""
        for _ in range(2):  # one editor after another
            with socket.create_connection(("127.0.0.1", port), SECONDS) as connection:
                connection.settimeout(SECONDS)
                one = Stream(lambda connection=connection: connection.recv(1 << 16), connection.makefile("wb"))  # type: ignore[misc]
                walk(one)
                assert one.ask("disconnect")["success"]
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 130


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run([*COMMAND, "--port", str(port)], capture_output=True, timeout=SECONDS, check=False)
        assert done.returncode == 2 and b"cannot be listened at" in done.stderr


@pytest.mark.parametrize("words", (["--port", "70000"], ["--log", "/nowhere/x"], ["--vsix", "/nowhere/x"]))
def test_mistakes(words: list[str]) -> None:
    done = subprocess.run([*COMMAND, *words], input=b"", capture_output=True, timeout=SECONDS, check=False)
    assert done.returncode == 2 and done.stdout == b""
