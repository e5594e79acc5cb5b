"""Connections of editors: the standard streams, or a port of this computer."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Queue
from typing import BinaryIO, Final

from pocketgpu.editor.dap.adapter import Adapter
from pocketgpu.editor.dap.protocol.framing import FIELD, BadFrame, Frames, framed
from pocketgpu.errors import UsageError

HOST: Final = "127.0.0.1"
"""The only address that is listened at: who speaks to the adapter reads files."""
_PART: Final = 1 << 16
MOST_WAITING: Final = 1000
"""Messages that are read before those that came earlier are answered."""

Log = Callable[[str], None]


def _quiet(line: str) -> None:
    del line


def serve(read: Callable[[], bytes], write: Callable[[bytes], None], log: Log = _quiet) -> None:
    """One session, until the editor ends it or goes away. Messages are read by a thread of their own, so that they can
    give up what goes on."""
    adapter = Adapter(lambda body: write(framed(body)), log)
    waiting: Queue[bytes | BadFrame | None] = Queue(MOST_WAITING)

    def listen() -> None:
        try:
            for body in Frames(read):
                adapter.hear(body)
                waiting.put(body)
        except (OSError, ValueError) as error:
            log(f"the editor is gone: {error}")
        finally:
            waiting.put(None)

    threading.Thread(target=listen, daemon=True, name="messages of the editor").start()
    try:
        while (body := waiting.get()) is not None:
            adapter.take(body)
            if adapter.over:
                return
    except (BrokenPipeError, ConnectionError) as error:
        log(f"the editor is gone: {error}")


def serve_streams(reading: BinaryIO, writing: BinaryIO, log: Log = _quiet) -> None:
    """One session over two streams."""

    def write(data: bytes) -> None:
        writing.write(data)
        writing.flush()

    def read() -> bytes:
        return os.read(reading.fileno(), _PART)

    serve(read, write, log)


def serve_standard_streams(log: Log = _quiet) -> None:
    """One session over the standard streams. What the program prints in the meantime goes to the error stream."""
    reading, writing = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # also what is no Python
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb") as target:
        before, sys.stdout = sys.stdout, sys.stderr
        try:
            serve_streams(source, target, log)
        finally:
            sys.stdout = before
            os.dup2(target.fileno(), 1)


def serve_port(port: int, ready: Callable[[int], None], log: Log = _quiet, *, sessions: int | None = None) -> None:
    """Sessions over a port of this computer, one after another; 0: any free port. ready: takes the port.

    sessions: how many there are; None: no end.

    :raises UsageError: the port cannot be listened at.
    """
    try:
        listening = socket.create_server((HOST, port))
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"port {port} cannot be listened at: {reason}", location="--port") from None
    with listening:
        ready(listening.getsockname()[1])
        done = 0
        while sessions is None or done < sessions:
            connection, _ = listening.accept()
            done += 1
            with connection:
                if not _is_an_editor(connection):
                    continue
                serve(partial(connection.recv, _PART), connection.sendall, log)
                with suppress(OSError):  # ends the thread that reads
                    connection.shutdown(socket.SHUT_RDWR)


def _is_an_editor(connection: socket.socket) -> bool:
    """Whether what comes begins with a header. A page in a browser can send requests to a port, but they begin with
    another word, and none may start a session."""
    begin = FIELD[: FIELD.index(b"-") + 1]
    try:
        first = connection.recv(len(begin), socket.MSG_PEEK | socket.MSG_WAITALL)
    except OSError:
        return False
    return first.lower() == begin.lower()


__all__ = ["HOST", "serve", "serve_port", "serve_standard_streams", "serve_streams"]
