"""Result codes of the kernel and of services: the module in bits 0 to 8, the description above.

Source: libnx's result.h, and the headers of its services; switchbrew Error codes.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from pocketgpu.facts.switch.enumerations import LIBNX_ERROR, RESULT_MODULE

_MODULE_BITS: Final = 9
_DESCRIPTION_BITS: Final = 13
_FIRST_SHOWN: Final = 2000
"""Of modules, as consoles show them."""
_KERNEL, _FS, _CMIF, _HIPC, _SM, _SPL, _PCV = 1, 2, 10, 11, 21, 26, 30
_SETTINGS, _NIFM, _VI, _TIME, _ACCOUNT, _APPLET, _APM, _AUDIO, _HID = 105, 110, 114, 116, 124, 128, 148, 153, 202


def code(module: int, description: int) -> int:
    """The result code of a module's description."""
    return module | description << _MODULE_BITS


def result_text(result: int) -> str:
    """A result code as consoles show it, and what it means: "0x3d59 (2345-0030, libnx: InitFail_SM)". A small number
    without a description is no such code, but what a program returned: "0x1"."""
    module, description = _parts_of(result)
    if not description:
        return f"{result:#x}"
    parts = [RESULT_MODULE.get(module, "")]
    if module == RESULT_MODULE.LIBNX:
        parts.append(LIBNX_ERROR.get(description, ""))
    meaning = ": ".join(part for part in parts if part)
    return f"{result:#x} ({shown_code(result)}, {meaning})" if meaning else f"{result:#x} ({shown_code(result)})"


def shown_code(result: int) -> str:
    """A result code as people read it on a console: "2345-0030"."""
    module, description = _parts_of(result)
    return f"{_FIRST_SHOWN + module}-{description:04}"


def _parts_of(result: int) -> tuple[int, int]:
    """Module and description of a result code."""
    return result & (1 << _MODULE_BITS) - 1, result >> _MODULE_BITS & (1 << _DESCRIPTION_BITS) - 1


class Result(IntEnum):
    """Codes that programs are given here."""

    OK = 0
    OUT_OF_SESSIONS = code(_KERNEL, 7)
    INVALID_CAPABILITY = code(_KERNEL, 14)
    NOT_IMPLEMENTED = code(_KERNEL, 33)
    THREAD_ENDS = code(_KERNEL, 59)
    INVALID_SIZE = code(_KERNEL, 101)
    INVALID_ADDRESS = code(_KERNEL, 102)
    OUT_OF_RESOURCE = code(_KERNEL, 103)
    OUT_OF_MEMORY = code(_KERNEL, 104)
    OUT_OF_HANDLES = code(_KERNEL, 105)
    INVALID_MEMORY_STATE = code(_KERNEL, 106)
    INVALID_PERMISSION = code(_KERNEL, 108)
    INVALID_MEMORY_RANGE = code(_KERNEL, 110)
    INVALID_PRIORITY = code(_KERNEL, 112)
    INVALID_CORE = code(_KERNEL, 113)
    INVALID_HANDLE = code(_KERNEL, 114)
    INVALID_POINTER = code(_KERNEL, 115)
    INVALID_COMBINATION = code(_KERNEL, 116)
    TIMED_OUT = code(_KERNEL, 117)
    CANCELLED = code(_KERNEL, 118)
    OUT_OF_RANGE = code(_KERNEL, 119)
    INVALID_ENUM = code(_KERNEL, 120)
    NOT_FOUND = code(_KERNEL, 121)
    BUSY = code(_KERNEL, 122)
    SESSION_CLOSED = code(_KERNEL, 123)
    NOT_HANDLED = code(_KERNEL, 124)
    INVALID_STATE = code(_KERNEL, 125)
    PORT_CLOSED = code(_KERNEL, 131)
    LIMIT_REACHED = code(_KERNEL, 132)
    MESSAGE_TOO_LARGE = code(_KERNEL, 260)
    INVALID_PROCESS_ID = code(_KERNEL, 517)
    PATH_NOT_FOUND = code(_FS, 1)
    PATH_EXISTS = code(_FS, 2)
    FOLDER_NOT_EMPTY = code(_FS, 8)
    NO_SPACE = code(_FS, 39)
    TARGET_NOT_FOUND = code(_FS, 1002)
    FILE_OUT_OF_RANGE = code(_FS, 3005)
    INVALID_PATH = code(_FS, 6002)
    PATH_TOO_LONG = code(_FS, 6003)
    INVALID_FILE_OFFSET = code(_FS, 6061)
    INVALID_FILE_SIZE = code(_FS, 6062)
    FILE_CANNOT_GROW = code(_FS, 6201)
    READ_NOT_PERMITTED = code(_FS, 6202)
    WRITE_NOT_PERMITTED = code(_FS, 6203)
    UNSUPPORTED_OPERATION = code(_FS, 6300)
    BAD_HEADER_SIZE = code(_CMIF, 202)
    BAD_REQUEST_HEADER = code(_CMIF, 211)
    UNKNOWN_COMMAND = code(_CMIF, 221)
    OBJECT_NOT_FOUND = code(_CMIF, 261)
    OUT_OF_OBJECTS = code(_CMIF, 301)
    OUT_OF_DOMAINS = code(_HIPC, 200)
    NOT_A_DOMAIN = code(_HIPC, 491)
    DOMAIN_OBJECT_NOT_FOUND = code(_HIPC, 492)
    CANCELLED_BY_USER = code(_ACCOUNT, 1)
    VI_OPERATION_FAILED = code(_VI, 1)
    VI_NOT_FOUND = code(_VI, 7)
    ALREADY_REGISTERED = code(_SM, 4)
    OUT_OF_SERVICES = code(_SM, 5)
    BAD_SERVICE_NAME = code(_SM, 6)
    NOT_REGISTERED = code(_SM, 7)
    BAD_CONFIGURATION_ITEM = code(_SPL, 2)
    NO_SUCH_DEVICE = code(_PCV, 1)  # the description is a guess
    NO_SETTING = code(_SETTINGS, 11)
    BAD_LANGUAGE = code(_SETTINGS, 625)
    NOT_CONNECTED = code(_NIFM, 106)
    RADIO_IS_OFF = code(_NIFM, 1111)
    NO_USER = code(_ACCOUNT, 100)
    NO_DATA = code(_APPLET, 2)
    NO_MESSAGES = code(_APPLET, 3)
    APPLET_CANCELLED = code(_APPLET, 22)
    BAD_STORAGE = code(_APPLET, 503)
    NO_FATAL_SECTION = code(_APPLET, 512)
    BAD_PERFORMANCE_MODE = code(_APM, 1)
    MAY_NOT_SET_TIME = code(_TIME, 1)
    OTHER_CLOCK = code(_TIME, 102)
    BAD_TIME = code(_TIME, 901)
    NO_TIME = code(_TIME, 902)
    NO_TIME_ZONE = code(_TIME, 989)
    NO_SOUND_DEVICE = code(_AUDIO, 1)
    SOUND_OPERATION_FAILED = code(_AUDIO, 2)
    BAD_SAMPLE_RATE = code(_AUDIO, 3)
    SOUND_BUFFER_TOO_SMALL = code(_AUDIO, 4)
    OUT_OF_SOUND_RESOURCES = code(_AUDIO, 5)
    TOO_MANY_SOUND_BUFFERS = code(_AUDIO, 8)
    BAD_CHANNEL_COUNT = code(_AUDIO, 10)
    INVALID_UPDATE = code(_AUDIO, 41)
    NO_MEMORY_POOL = code(_AUDIO, 42)
    SOUND_NOT_SUPPORTED = code(_AUDIO, 513)
    BAD_SOUND_HANDLE = code(_AUDIO, 1536)
    INVALID_NPAD_ID = code(_HID, 710)
