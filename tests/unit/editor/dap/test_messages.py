"""What is a request, and arguments with their types."""

from __future__ import annotations

import json
import math

import pytest

from pocketgpu.editor.dap.protocol.messages import Arguments, BadMessage, read_request, written
from pocketgpu.errors import UsageError


def test_a_request() -> None:
    one = read_request(b'{"seq": 3, "type": "request", "command": "next", "arguments": {"threadId": 1}}')
    assert (one.seq, one.command, one.arguments.number("threadId")) == (3, "next", 1)
    assert read_request(b'{"seq": 3, "type": "request", "command": "threads"}').arguments.items() == []


@pytest.mark.parametrize(("body", "text", "seq"), (
    (b"", "no JSON", 0), (b"{", "no JSON", 0), (b"\xff", "no JSON", 0), (b"[" * 100_000, "no JSON", 0),
    (b"[]", "no object", 0),
    (b'{"seq": 5}', "not a request", 5), (b'{"seq": 5, "type": "event", "command": "x"}', "not a request", 5),
    (b'{"seq": 1e400, "type": "request", "command": "x"}', "seq is inf", 0),
    (b'{"seq": 1' + b"0" * 100 + b', "type": "request", "command": "x"}', "seq is a huge number", 0),
    (b'{"seq": true, "type": "request", "command": "x"}', "seq is True", 0),
    (b'{"seq": 1, "type": "request", "command": 5}', "the command 5", 1),
    (b'{"seq": 1, "type": "request", "command": "next", "arguments": [1]}', "a list of 1", 1),
    (b'{"seq": 1, "type": "request", "command": "next", "x": NaN}', "NaN is not JSON", 0),
    (b'{"seq": 1' + b"0" * 9000 + b"}", "no JSON", 0),
))  # fmt: skip
def test_what_is_no_request(body: bytes, text: str, seq: int) -> None:
    with pytest.raises(BadMessage, match=text) as caught:
        read_request(body)
    assert caught.value.seq == seq


def test_arguments_have_types() -> None:
    one = Arguments({"n": 5.0, "t": "x", "f": True, "o": {"n": "5"}, "l": [{}], "big": 2**60, "s": ["a"]})
    assert (one.number("n"), one.text("t"), one.flag("f"), one.number("none", 7)) == (5, "x", True, 7)
    assert one.part("none").items() == [] and len(one.parts("l")) == 1 and one.texts("s") == ["a"]
    for ask in (
        lambda: one.number("t"), lambda: one.number("f"), lambda: one.number("big"), lambda: one.number("none"),
        lambda: one.text("n"), lambda: one.flag("t"), lambda: one.part("l"), lambda: one.parts("o"),
        lambda: one.parts("s"), lambda: one.texts("l"), lambda: Arguments({"l": [{}] * 5000}).parts("l"),
    ):  # fmt: skip
        with pytest.raises(UsageError):
            ask()
    with pytest.raises(UsageError) as caught:
        one.part("o").number("n")
    assert caught.value.location == "o.n"


def test_numbers_that_json_has_not_are_written_as_null() -> None:
    assert json.loads(written({"a": [1.5, math.nan], "b": {"c": math.inf}})) == {"a": [1.5, None], "b": {"c": None}}
