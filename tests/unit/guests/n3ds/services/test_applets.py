"""The keyboard without a program: what it accepts, and how it is left."""

from __future__ import annotations

import pytest

from pocketgpu.events import EventLog
from pocketgpu.facts.applets import Applet
from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.memory import host_memory
from pocketgpu.guests.n3ds.services.applets import Applets, Id, KeyboardResult, ValidInput


def typed(text: str | None, **fields: int) -> tuple[int, str, list[str]]:
    """How a keyboard is left: its result as signed number, its text, the messages."""
    events = EventLog()
    applets = Applets(events)
    applets.answers.given.append(text)
    state = Applet("keyboard")
    for name, value in ({"buttons": 1, "max_length": 8} | fields).items():
        state[name] = value
    block = MemoryBlock("shared", host_memory(0x1000))
    data, done = applets.run(Id.KEYBOARD, bytes(state.data), block)
    assert done
    found = Applet("keyboard", data)
    size = 2 * found["text_length"]
    shown = bytes(block.view[found["text_offset"] : found["text_offset"] + size]).decode("utf-16-le")
    assert bytes(block.view[size : size + 2]) == b"\0\0"
    return found["result"], shown, [one.message for one in events]


@pytest.mark.parametrize(
    ("buttons", "confirmed", "cancelled"),
    [(0, KeyboardResult.ONE_BUTTON, KeyboardResult.NONE), (1, KeyboardResult.RIGHT_OF_TWO, KeyboardResult.LEFT_OF_TWO),
     (2, KeyboardResult.RIGHT_OF_THREE, KeyboardResult.LEFT_OF_THREE)],
)  # fmt: skip
def test_the_button_that_is_pressed(buttons: int, confirmed: int, cancelled: int) -> None:
    assert typed("abc", buttons=buttons) == (confirmed, "abc", [])
    assert typed(None, buttons=buttons) == (cancelled, "", [])


def test_one_button_and_the_home_menu() -> None:
    assert typed(None, buttons=0, allow_home=1)[0] == KeyboardResult.HOME


@pytest.mark.parametrize(
    ("text", "fields", "accepted"),
    [
        ("", {"valid_input": ValidInput.ANYTHING}, True), ("", {"valid_input": ValidInput.NOT_EMPTY}, False),
        ("  ", {"valid_input": ValidInput.NOT_EMPTY}, True),
        ("  ", {"valid_input": ValidInput.NOT_EMPTY_NOT_BLANK}, False),
        ("", {"valid_input": ValidInput.NOT_BLANK}, True), ("  ", {"valid_input": ValidInput.NOT_BLANK}, False),
        ("1234567", {"valid_input": ValidInput.FIXED_LENGTH}, False),
        ("12345678", {"valid_input": ValidInput.FIXED_LENGTH}, True),
        ("a12", {"filter": 1, "max_digits": 1}, False), ("a1", {"filter": 1, "max_digits": 1}, True),
        ("a@b", {"filter": 2}, False), ("a@b", {"filter": 4}, True), ("5%", {"filter": 4}, False),
        ("a\\b", {"filter": 8}, False), ("äöü", {"filter": 15}, True),
    ],
)  # fmt: skip
def test_texts_that_a_keyboard_accepts(text: str, fields: dict[str, int], accepted: bool) -> None:
    result, shown, messages = typed(text, **fields)
    if accepted:
        assert (result, shown, messages) == (KeyboardResult.RIGHT_OF_TWO, text, [])
    else:
        assert (result, shown) == (KeyboardResult.LEFT_OF_TWO, "")
        assert messages == [f"the keyboard does not accept {text!r}, so it was cancelled"]


def test_a_text_is_cut_at_units_of_utf_16() -> None:
    assert typed("0123456789")[1] == "01234567"
    assert typed("\N{GRINNING FACE}" * 5, max_length=4)[1] == "\N{GRINNING FACE}" * 2


def test_an_applet_that_is_not_modelled_is_left_at_once() -> None:
    events = EventLog()
    assert Applets(events).run(0x408, b"data", None) == (b"data", True)
    assert Applets(events).run(0x999, b"", None) == (b"", True)
    assert [one.message for one in events] == [
        "the applet extra pad is not modelled and was left at once",
        "the applet 0x999 is not modelled and was left at once",
    ]
