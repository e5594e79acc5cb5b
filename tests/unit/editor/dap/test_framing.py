"""Messages in a stream: whole, in pieces, damaged."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pocketgpu.editor.dap.protocol.framing import MOST_BYTES, MOST_HEADER, BadFrame, Frames, framed


def reader(data: bytes, size: int) -> Callable[[], bytes]:
    at = 0

    def read() -> bytes:
        nonlocal at
        part = data[at : at + size]
        at += size
        return part

    return read


def cut(data: bytes, size: int = 1 << 16) -> list[bytes | str]:
    return [one if isinstance(one, bytes) else str(one) for one in Frames(reader(data, size))]


@pytest.mark.parametrize("size", (1, 2, 7, 1000))
def test_messages_come_whole_however_they_are_cut(size: int) -> None:
    bodies = [b"{}", b"", b'{"a": "\xc3\xa9"}', b"x" * 3000]
    assert cut(b"".join(map(framed, bodies)), size) == bodies
    assert cut(b"", size) == []


def test_more_fields_and_other_letters() -> None:
    assert cut(b"Content-Type: x\r\ncontent-length:  2\r\n\r\n{}" + framed(b"1")) == [b"{}", b"1"]


@pytest.mark.parametrize("bad", (
    b"garbage\r\n\r\n", b"Content-Length: x\r\n\r\n", b"Content-Length: -5\r\n\r\n{}", b"Length: 2\r\n\r\n{}",
    b"Content-Length: 99999999999999999999\r\n\r\n", b"Content-Length: %d\r\n\r\n" % (MOST_BYTES + 1),
    b"\0" * (3 * MOST_HEADER),
))  # fmt: skip
@pytest.mark.parametrize("size", (1, 100, 1 << 16))
def test_what_is_no_message_is_skipped_up_to_the_next_one(bad: bytes, size: int) -> None:
    reason, *rest = cut(bad + framed(b"{}") + framed(b"[]"), size)
    assert isinstance(reason, str) and rest == [b"{}", b"[]"]


def test_a_stream_that_ends_too_early() -> None:
    assert cut(framed(b"{}") + b"Content-Le") == [b"{}", "the stream ends within a header"]
    assert cut(b"Content-Length: 5\r\n\r\n{}") == ["the stream ends within a message"]
    assert cut(framed(b"{}") + b"\r\n") == [b"{}"]


def test_memory_is_bounded() -> None:
    """Bytes without a header are dropped while they come."""
    given = 0

    def read() -> bytes:
        nonlocal given
        given += 1
        return b"x" * 65536 if given < 200 else framed(b"{}") if given == 200 else b""

    frames = Frames(read)
    found = iter(frames)
    assert isinstance(next(found), BadFrame) and next(found) == b"{}"
    assert len(frames._buffer) < 1 << 17
