"""What `hid` of the Switch shares with programs: sections, rings, states; buttons, styles and attributes.

    SECTIONS["touch"]            # 0x400
    BUTTONS["PLUS"]              # 0x400
    HID.make("pad_state")["buttons"] = BUTTONS["A"]

The rows are in switch/hid.tsv.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, IntFlag
from typing import Final

from pocketgpu.facts.dialect.records import RecordTable
from pocketgpu.facts.switch import TABLES

HID: Final = RecordTable(TABLES, "hid")
"""The records."""
SHARED_SIZE: Final = 0x40000
ENTRIES: Final = 17
"""Of a ring; one less is valid."""
PLAYERS: Final = 8
HANDHELD, OTHER = 8, 9
"""Places of the controllers that are no player's."""
IDS: Final[Mapping[int, int]] = {**{n: n for n in range(PLAYERS)}, 0x10: OTHER, 0x20: HANDHELD}
"""Where a controller lies, by its number in commands."""
TOUCHES: Final = 16
STICK: Final = 0x7FFF
"""What the service says of a stick that is pushed to its edge."""

BUTTONS: Final[Mapping[str, int]] = {
    "A": 1 << 0, "B": 1 << 1, "X": 1 << 2, "Y": 1 << 3, "LSTICK": 1 << 4, "RSTICK": 1 << 5, "L": 1 << 6, "R": 1 << 7,
    "ZL": 1 << 8, "ZR": 1 << 9, "PLUS": 1 << 10, "MINUS": 1 << 11, "LEFT": 1 << 12, "UP": 1 << 13, "RIGHT": 1 << 14,
    "DOWN": 1 << 15, "LEFT_SL": 1 << 24, "LEFT_SR": 1 << 25, "RIGHT_SL": 1 << 26, "RIGHT_SR": 1 << 27,
}  # fmt: skip
"""Bits of the buttons. Source: libnx's HidNpadButton."""
STICK_BUTTONS: Final[Mapping[str, tuple[int, int, int, int]]] = {
    "left": (1 << 16, 1 << 17, 1 << 18, 1 << 19), "right": (1 << 20, 1 << 21, 1 << 22, 1 << 23),
}  # fmt: skip
"""Bits for a stick that is pushed to the left, up, right, down."""


class Style(IntFlag):
    """How a controller is held. Source: libnx's HidNpadStyleTag."""

    FULL_KEY = 1 << 0
    HANDHELD = 1 << 1
    JOY_DUAL = 1 << 2
    JOY_LEFT = 1 << 3
    JOY_RIGHT = 1 << 4


class Device(IntFlag):
    """What a controller is. Source: libnx's HidDeviceTypeBits."""

    FULL_KEY = 1 << 0
    HANDHELD_LEFT = 1 << 2
    HANDHELD_RIGHT = 1 << 3
    JOY_LEFT = 1 << 4
    JOY_RIGHT = 1 << 5


class Attribute(IntFlag):
    """Of a controller's entry. Source: libnx's HidNpadAttribute."""

    CONNECTED = 1 << 0
    WIRED = 1 << 1
    LEFT_CONNECTED = 1 << 2
    LEFT_WIRED = 1 << 3
    RIGHT_CONNECTED = 1 << 4
    RIGHT_WIRED = 1 << 5


class Assignment(IntEnum):
    """Whether two halves are one controller."""

    DUAL = 0
    SINGLE = 1


def place(record: str, field: str) -> int:
    """Where a field of a record begins."""
    return HID.layouts[record].fields[field].offset
