"""Library applets of the Switch: their numbers, and the records that programs exchange with them.

    APPLETS.make("keyboard", data)["most"]
    AppletId.KEYBOARD  # 0x11

The rows are in switch/applets.tsv.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Final

from pocketgpu.facts.dialect.records import RecordTable
from pocketgpu.facts.switch import TABLES

APPLETS: Final = RecordTable(TABLES, "applets", "applet")
"""The records."""


class AppletId(IntEnum):
    """Source: libnx's services/applet.h; switchbrew Applet Manager services."""

    AUTH = 0x0A
    CABINET = 0x0B
    CONTROLLER = 0x0C
    DATA_ERASE = 0x0D
    ERROR = 0x0E
    NET_CONNECT = 0x0F
    PLAYER_SELECT = 0x10
    KEYBOARD = 0x11
    MII_EDIT = 0x12
    WEB = 0x13
    SHOP = 0x14
    PHOTO_VIEWER = 0x15
    SET = 0x16
    OFFLINE_WEB = 0x17
    LOGIN_SHARE = 0x18
    WIFI_WEB = 0x19
    MY_PAGE = 0x1A


class AppletMode(IntEnum):
    """How an applet covers the display. Source: libnx's services/applet.h."""

    ALL_FOREGROUND = 0
    BACKGROUND = 1
    NO_UI = 2
    BACKGROUND_INDIRECT = 3
    ALL_FOREGROUND_HIDDEN = 4


class Forbidden(IntFlag):
    """Keys that a keyboard does not have. Source: libnx's applets/swkbd.h."""

    SPACE = 1 << 1
    AT = 1 << 2
    PERCENT = 1 << 3
    SLASH = 1 << 4
    BACKSLASH = 1 << 5
    DIGITS = 1 << 6
    DOWNLOAD_CODE = 1 << 7
    USER_NAME = 1 << 8


FORBIDDEN: Final = {
    Forbidden.SPACE: " ", Forbidden.AT: "@", Forbidden.PERCENT: "%", Forbidden.SLASH: "/", Forbidden.BACKSLASH: "\\",
    Forbidden.DIGITS: "0123456789", Forbidden.USER_NAME: "@%\\",
}  # fmt: skip
"""The characters of these keys, but those of download codes, which are not known."""


class Verdict(IntEnum):
    """What a program says of a keyboard's text. Source: libnx's applets/swkbd.h."""

    GOOD = 0
    BAD = 1
    QUESTIONABLE = 2
    SILENT = 3


class InlineCommand(IntEnum):
    """What a program tells a keyboard within its picture. Source: libnx's applets/swkbd.h."""

    FINALIZE = 0x4
    SET_USER_WORDS = 0x6
    SET_DICTIONARY = 0x7
    CALC = 0xA
    SET_DICTIONARIES = 0xB
    UNSET_DICTIONARIES = 0xC
    CHANGED_TEXT_V2 = 0xD
    MOVED_CURSOR_V2 = 0xE


class InlineChange(IntFlag):
    """Bits of `changes`. Source: libnx's applets/swkbd.h, swkbd.c."""

    APPEAR = 1 << 2
    DISAPPEAR = 1 << 7


class InlineReply(IntEnum):
    """What it says. Source: libnx's applets/swkbd.h."""

    READY = 0x0
    CHANGED = 0x2
    DECIDED = 0x5
    CANCELLED = 0x6
    CHANGED_UTF8 = 0x7
    DECIDED_UTF8 = 0x9
    UNSET_DICTIONARIES = 0xC
    CHANGED_V2 = 0xD
    CHANGED_UTF8_V2 = 0xF


class InlineState(IntEnum):
    """How it is shown. Source: libnx's applets/swkbd.h."""

    READY = 1
    SHOWN = 3
    GOING = 4


INLINE_TEXT: Final = 0x3EC
"""Bytes of a text in its replies. Source: libnx's applets/swkbd.c."""
INLINE_TEXT_UTF8: Final = 0x7D4


class ErrorType(IntEnum):
    """Of errors that are shown. Source: libnx's applets/error.c."""

    CODE = 0
    SYSTEM = 1
    PROGRAM = 2
    LICENCE = 3
    UPDATE_LICENCE = 8
