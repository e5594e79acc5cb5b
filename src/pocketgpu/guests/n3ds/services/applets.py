"""Library applets, which programs start for a while: the keyboard, the error display, the Mii selector.

    console.answers.append("hello")  # for the next keyboard
    console.answers.append(None)     # cancelled

An applet ends as soon as it is answered: its screens are not drawn.
Source: libctru's swkbd.c, error.c, miiselector.c; 3dbrew's pages of the applets.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from pocketgpu.events import EventLog
from pocketgpu.facts.applets import Applet
from pocketgpu.guests.input.answers import Answers
from pocketgpu.guests.kernel.blocks import MemoryBlock

_FEW_DIGITS: Final = 1 << 0
_FILTERED: Final = {1 << 1: "@", 1 << 2: "%", 1 << 3: "\\"}
"""Characters that the keyboard's filter refuses, by its bit."""
_ASKS_PROGRAM: Final = 1 << 5
"""Of the keyboard's filter: the program checks the text."""
_POLYNOMIAL: Final = 0x1021
_MII: Final = slice(0x0C, 0x6A)
"""Of the Mii selector's answer: what its checksum is about."""
_MII_VERSION: Final = 3


class Id(IntEnum):
    """Numbers of applets."""

    HOME_MENU = 0x101
    KEYBOARD = 0x401
    MII_SELECTOR = 0x402
    PHOTO = 0x404
    SOUND = 0x405
    ERROR = 0x406
    SHOP = 0x407
    EXTRA_PAD = 0x408
    NOTES = 0x409


class ValidInput(IntEnum):
    """Which texts a keyboard accepts."""

    ANYTHING = 0
    NOT_EMPTY = 1
    NOT_EMPTY_NOT_BLANK = 2
    NOT_BLANK = 3
    FIXED_LENGTH = 4


class KeyboardResult(IntEnum):
    """How a keyboard was left."""

    NONE = -1
    ONE_BUTTON = 0
    LEFT_OF_TWO = 1
    RIGHT_OF_TWO = 2
    LEFT_OF_THREE = 3
    RIGHT_OF_THREE = 5
    HOME = 10
    BANNED = 30


class Check(IntEnum):
    """A program's verdict on a keyboard's text."""

    GOOD = 0
    CLOSE = 1
    AGAIN = 2


_CONFIRMED: Final = (KeyboardResult.ONE_BUTTON, KeyboardResult.RIGHT_OF_TWO, KeyboardResult.RIGHT_OF_THREE)
_CANCELLED: Final = (KeyboardResult.NONE, KeyboardResult.LEFT_OF_TWO, KeyboardResult.LEFT_OF_THREE)
_ERROR_CLOSED: Final = 1


class Applets:
    """The applets of a console. answers: what the player says to them. block: the shared memory of the keyboard. asked:
    whether it has asked the program about a text."""

    def __init__(self, events: EventLog) -> None:
        self.answers = Answers(events)
        self.block: MemoryBlock | None = None
        self.asked = False

    def __repr__(self) -> str:
        return f"<Applets: {self.answers}>"

    def asks(self, applet: int) -> bool:
        """Whether an applet needs an answer that comes later."""
        return applet in (Id.KEYBOARD, Id.MII_SELECTOR) and self.answers.must_wait

    def run(self, applet: int, data: bytes, block: MemoryBlock | None) -> tuple[bytes, bool]:
        """Start an applet with a program's data and shared memory.

        :returns: the data that go back, and whether the applet is done. If not, they are a question for the program;
            its answer goes to `checked`.
        """
        if applet == Id.KEYBOARD:
            self.block, self.asked = block, False
            return self._keyboard(Applet("keyboard", data))
        if applet == Id.ERROR:
            return self._error(Applet("error", data)), True
        if applet == Id.MII_SELECTOR:
            return self._mii(Applet("mii", data)), True
        name = Id(applet).name.lower().replace("_", " ") if applet in tuple(Id) else f"{applet:#x}"
        self.answers.tell(f"the applet {name} is not modelled and was left at once")
        return data, True

    # -- the keyboard -----------------------------------------------------------------------------------------------
    def _keyboard(self, state: Applet) -> tuple[bytes, bool]:
        hint = state.text("hint")
        text = self.answers.next(f"the keyboard{f' ({hint})' if hint else ''}")
        if text is not None and not self._accepted(state, text):
            self.answers.tell(f"the keyboard does not accept {text!r}, so it was cancelled")
            text = None
        if text is None:
            cancelled = _CANCELLED[min(state["buttons"], 2)]
            home = cancelled is KeyboardResult.NONE and state["allow_home"]
            state["result"] = KeyboardResult.HOME if home else cancelled
            self._leave_text(state, "")
            return bytes(state.data), True
        self._leave_text(state, text)
        state["result"] = _CONFIRMED[min(state["buttons"], 2)]
        self.asked = bool(state["filter"] & _ASKS_PROGRAM)
        return bytes(state.data), not self.asked

    @staticmethod
    def _accepted(state: Applet, text: str) -> bool:
        wanted, length = state["valid_input"], len(text.encode("utf-16-le")) // 2
        if wanted in (ValidInput.NOT_EMPTY, ValidInput.NOT_EMPTY_NOT_BLANK) and not text:
            return False
        if wanted in (ValidInput.NOT_BLANK, ValidInput.NOT_EMPTY_NOT_BLANK) and text and not text.strip():
            return False
        refused = state["filter"]
        if [one for bit, one in _FILTERED.items() if refused & bit and one in text]:
            return False
        if refused & _FEW_DIGITS and sum(one in "0123456789" for one in text) > state["max_digits"]:
            return False
        return wanted != ValidInput.FIXED_LENGTH or length == state["max_length"]

    def _leave_text(self, state: Applet, text: str) -> None:
        """Store a text at the beginning of the shared memory."""
        room = 0 if self.block is None else len(self.block.view) // 2 - 1
        data = text.encode("utf-16-le", "replace")[: 2 * max(0, min(state["max_length"], room))]
        if self.block is not None:
            self.block.view[: len(data) + 2] = data + b"\0\0"
        state["text_offset"], state["text_length"] = 0, len(data) // 2

    def checked(self, data: bytes) -> tuple[bytes, bool] | None:
        """The program has judged a keyboard's text. As for `run`; None if the player must write another one."""
        self.asked = False
        state = Applet("keyboard", data)
        if state["check"] == Check.AGAIN:
            self.answers.tell(f"the program does not accept the text: {state.text('check_text')}")
            return None
        if state["check"] == Check.CLOSE:
            state["result"] = KeyboardResult.BANNED
        return bytes(state.data), True

    # -- others -----------------------------------------------------------------------------------------------------
    def _error(self, state: Applet) -> bytes:
        """The error becomes an event; a player can only close it."""
        text = state.text("text") or f"code {state['code']:#010x}"
        self.answers.tell(f"the program shows an error: {text}")
        state["result"] = _ERROR_CLOSED
        return bytes(state.data)

    def _mii(self, state: Applet) -> bytes:
        """A Mii with the name that the script says, else none."""
        name = self.answers.next("the Mii selector")
        found = Applet("mii_answer")
        found["cancelled"], found["guest"] = int(name is None), 0xFFFFFFFF
        if name is not None:
            found["version"] = _MII_VERSION
            found.set_text("name", name)
            found["checksum"] = int.from_bytes(_checksum(bytes(found.data[_MII])).to_bytes(2, "big"), "little")
        return bytes(found.data).ljust(len(state.data), b"\0")


def _checksum(data: bytes) -> int:
    """CRC-16 with the polynomial of CCITT, from 0, over data and 16 further zeros."""
    crc = 0
    for byte in (*data, 0, 0):
        for bit in range(7, -1, -1):
            crc = (crc << 1 | byte >> bit & 1) ^ (_POLYNOMIAL if crc & 0x8000 else 0)
            crc &= 0xFFFF
    return crc
