"""Messages in a stream of bytes: a header with their length, an empty line, and so many bytes.

What is not framed so is skipped up to the next header, in bounded time and memory, and reported once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

MOST_BYTES = 8 << 20
"""Of a message."""
MOST_HEADER = 4096
"""Bytes of a header."""
FIELD = b"Content-Length:"
_LENGTH = re.compile(rb"(?:^|\r\n)Content-Length:[ \t]*(\d{1,12})[ \t]*(?:\r\n|$)", re.IGNORECASE)
_END = b"\r\n\r\n"


class BadFrame(Exception):
    """Bytes that are no message; the text says why."""


class Frames:
    """Cuts a stream into messages.

    :param read: gives the next bytes that have come, none at the end of the stream.
    """

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read, self._buffer, self._ended = read, bytearray(), False

    def __iter__(self) -> Iterator[bytes | BadFrame]:
        """Bodies of messages; a BadFrame for what is skipped."""
        while (found := self._next()) is not None:
            yield found

    def _more(self) -> bool:
        data = b"" if self._ended else self._read()
        self._ended = not data
        self._buffer += data
        return bool(data)

    def _next(self) -> bytes | BadFrame | None:
        end = self._buffer.find(_END)
        while end < 0:
            if len(self._buffer) > MOST_HEADER:
                return self._skip(f"a header has more than {MOST_HEADER} bytes")
            looked = max(len(self._buffer) - len(_END) + 1, 0)
            if not self._more():
                left, self._buffer = bool(self._buffer.strip()), bytearray()
                return BadFrame("the stream ends within a header") if left else None
            end = self._buffer.find(_END, looked)
        header = bytes(self._buffer[:end])
        match = _LENGTH.search(header) if end <= MOST_HEADER else None
        if match is None:
            return self._skip("a header has no Content-Length")
        size = int(match[1])
        if size > MOST_BYTES:
            return self._skip(f"a message has {size} bytes; {MOST_BYTES} are the most")
        start = end + len(_END)
        while len(self._buffer) < start + size:
            if not self._more():
                self._buffer = bytearray()
                return BadFrame("the stream ends within a message")
        body = bytes(self._buffer[start : start + size])
        del self._buffer[: start + size]
        return body

    def _skip(self, reason: str) -> BadFrame:
        """Go on at the next header; there may be none in what has come."""
        at = self._buffer.lower().find(FIELD.lower(), 1)
        while at < 0:
            del self._buffer[: max(len(self._buffer) - len(FIELD), 0)]
            if not self._more():
                self._buffer = bytearray()
                break
            at = self._buffer.lower().find(FIELD.lower(), 1)
        else:
            del self._buffer[:at]
        return BadFrame(reason)


def framed(body: bytes) -> bytes:
    """A message with its header."""
    return b"%s %d%s%s" % (FIELD, len(body), _END, body)


__all__ = ["FIELD", "MOST_BYTES", "BadFrame", "Frames", "framed"]
