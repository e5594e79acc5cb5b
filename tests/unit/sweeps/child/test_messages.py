"""Messages between a worker and its child."""

from __future__ import annotations

import io

import pytest

from pocketgpu.sweeps.child import messages


def test_messages_come_as_they_were_sent() -> None:
    stream = io.BytesIO()
    sent = [({"a": [1, "\u00e9\udcff"]}, [b"", b"x" * 70_000]), ({}, [])]
    for data, blocks in sent:
        messages.write(stream, data, blocks)
    stream.seek(0)
    assert [messages.read(stream), messages.read(stream)] == sent
    assert messages.read(stream) is None


@pytest.mark.parametrize("size", [0, 3, 8, 15, 16, 30, 36, 40])
def test_a_message_that_was_cut_is_none(size: int) -> None:
    stream = io.BytesIO()
    messages.write(stream, {"a": 1234567}, [b"abcdef", b"gh"])
    whole = stream.getvalue()
    assert len(whole) > 40
    assert messages.read(io.BytesIO(whole[:size])) is None
    assert messages.read(io.BytesIO(whole[:-1])) is None
