"""`lm`: what a program logs is text of its output."""

from __future__ import annotations

import struct

import pytest
from support.cmif_client import CmifClient, In

from pocketgpu.guests.switch.services.lm import LogService, text_of

HEAD, TAIL = 1, 2


def packet(*pieces: tuple[int, bytes], flags: int = HEAD | TAIL) -> bytes:
    data = b"".join(bytes([kind, len(text)]) + text for kind, text in pieces)
    return struct.pack("<QQBxBBI", 0x51, 1, flags, 1, 0, len(data)) + data


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (packet((2, b"hello"), (3, b"\7\0\0\0")), b"hello\n"), (packet((2, b"a\n")), b"a\n"), (packet(), b""),
        (packet((4, b"file.cpp"), (2, b"x"), (2, b"y")), b"xy\n"), (packet((2, b"a"), flags=HEAD), b"a"),
        (packet((2, b"b"), flags=TAIL), b"b\n"), (b"just text\0rest", b"just text\n"), (b"", b""),
        (packet((2, b"abc"))[:-1], b"Q\n"),
        (struct.pack("<QQBxBBI", 0, 0, 3, 0, 0, 0x85) + b"\2\x82\1" + b"z" * 130, b"z" * 130 + b"\n"),
        (struct.pack("<QQBxBBI", 0, 0, 3, 0, 0, 4) + b"\2\xff\xff\xff", b""),
    ],
)  # fmt: skip
def test_the_text_of_a_packet(data: bytes, text: bytes) -> None:
    assert text_of(data) == text


def test_messages_become_lines() -> None:
    client = CmifClient()
    service = client.open(LogService(client.kernel))
    logger = service.ask(0, bytes(8), pid=True, out_objects=1).objects[0]
    logger.pointer_size = service.pointer_size
    for kind in ("auto", "map"):
        assert logger.ask(0, buffers=[In(packet((2, b"one")), kind)]).result == 0
    assert logger.ask(1, struct.pack("<I", 2)).result == logger.ask(0).result == 0
    assert client.kernel.text == b"one\none\n"
