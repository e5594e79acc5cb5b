"""The display controllers PDC0 and PDC1: from framebuffers in memory to upright pictures.

Both screens are mounted rotated by 90 degrees: one row of a framebuffer is one *column* of the picture, bottom pixel
first. The pixel at column X and row Y is at base + X * stride + (239 - Y) * bytes per pixel. This module models the
picture of a whole frame, with the settings at VBlank; timing registers have no effect here. `pdc/` is for machines with
emulated time.

Source: 3dbrew GPU/External Registers (LCD source framebuffer setup), LCD Registers; GBATEK for the line modes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from pocketgpu.events import EventLog
from pocketgpu.facts.choices import DEFAULTS
from pocketgpu.facts.dialect.registers import BoundField
from pocketgpu.facts.external import EXTERNAL, shows_both
from pocketgpu.facts.formats import EXTERNAL_FORMATS, RGBA4, RGBA8, PixelFormat
from pocketgpu.facts.pica_enums import INTERLACE, TRANSFER_FORMAT
from pocketgpu.pica.display.lcd import fill_colour
from pocketgpu.pica.memory import surface
from pocketgpu.pica.memory.guest import GuestMemory
from pocketgpu.pictures import Screen

Bytes = NDArray[np.uint8]
ReadRegister = Callable[[int], int]

#: Height of every picture: the pixels in one row of a framebuffer.
HEIGHT = 240
TOP_WIDTH = 400
BOTTOM_WIDTH = 320
#: Columns of the top screen when each of its lines shows a different row.
WIDE_WIDTH = 800

_LUT_INDEX, _LUT_DATA = EXTERNAL["PDC0_LUT_INDEX"]["index"], EXTERNAL["PDC0_LUT_DATA"]
_LUT_ENTRIES = 1 << _LUT_INDEX.width


class ColorTable:
    """The colour look-up table of one display controller: a byte of each channel in, a byte out.

    Pass it the writes to PDCn_LUT_INDEX and PDCn_LUT_DATA. It starts as the identity, which system software uploads.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Reset to the identity."""
        self.index = 0
        self._entries = np.repeat(np.arange(_LUT_ENTRIES, dtype=np.uint8)[:, None], 3, axis=1)
        self.is_identity = True

    def same(self, other: ColorTable) -> bool:
        """Whether another table has the same contents and index."""
        return self.index == other.index and bool(np.array_equal(self._entries, other._entries))

    def copy_from(self, other: ColorTable) -> None:
        """Copy the contents and the index of another table."""
        self.index, self._entries, self.is_identity = other.index, other._entries.copy(), other.is_identity

    def select(self, word: int) -> None:
        """A write to LUT_INDEX."""
        self.index = _LUT_INDEX.raw(word)

    def store(self, word: int) -> None:
        """A write to LUT_DATA (red in the low byte); the index increments, and wraps."""
        self._entries[self.index] = [field.raw(word) for field in _LUT_DATA.fields]
        self.index = (self.index + 1) % _LUT_ENTRIES
        self.is_identity = bool((self._entries == np.arange(_LUT_ENTRIES)[:, None]).all())

    def load(self) -> int:
        """A read of LUT_DATA; the index increments too."""
        red, green, blue = self._entries[self.index].tolist()
        self.index = (self.index + 1) % _LUT_ENTRIES
        return _LUT_DATA.encode(r=red, g=green, b=blue)

    def apply(self, array: Bytes) -> Bytes:
        """Look up RGB of any shape (..., 3) in the table."""
        if self.is_identity:
            return array
        return np.stack([self._entries[array[..., channel], channel] for channel in range(3)], axis=-1)


@cache
def _field(name: str) -> BoundField:
    return EXTERNAL.field(name)


def scan_out(
    memory: GuestMemory,
    read: ReadRegister,
    luts: tuple[ColorTable, ColorTable] | None = None,
    events: EventLog | None = None,
    at: str = "",
    choices: Mapping[str, str] | None = None,
) -> dict[str, Screen]:
    """The pictures of both screens under the current registers: "top", "bottom", perhaps "top-right".

    :param read: gives the 32-bit word of an external or LCD register by physical address.
    :param luts: colour tables of PDC0 and PDC1; none: identity.
    :param events: gets "display.unmapped" and "display.mode" with the place `at`.
    :param choices: chosen values of "display.expand" and "display.formats_5_7"; otherwise the defaults.

    "top" has 400 columns, or 800 when both line mode and scan doubling are off. In the stereo modes it is the picture
    of the left eye, and "top-right" exists if the right eye's picture has another address. A screen that is off is
    black; the fill colour of the LCD covers everything.
    """
    log = EventLog() if events is None else events
    reader = _ScanOut(memory, read, log, at, {**DEFAULTS, **(choices or {})})
    tables = (ColorTable(), ColorTable()) if luts is None else luts
    screens: dict[str, Screen] = {}
    for unit, name in enumerate(("top", "bottom")):
        for screen in reader.controller(unit, name):
            screens[screen.name] = Screen(screen.name, tables[unit].apply(screen.array))
        cover(screens, name, fill_colour(name, read))
    return screens


def framebuffers(
    memory: GuestMemory, read: ReadRegister, unit: int, choices: Mapping[str, str] | None = None
) -> list[tuple[int, int]]:
    """Address and size of each framebuffer that a display controller (0: top, 1: bottom) scans out under the current
    registers. The parameters are those of `scan_out`."""
    return _ScanOut(memory, read, EventLog(), "", {**DEFAULTS, **(choices or {})}).ranges(unit)


def _row_bytes(color_format: int, twice: bool, choices: Mapping[str, str]) -> int:
    """Bytes of a row of a framebuffer, which is a column of the picture."""
    return HEIGHT * pixel_bits(color_format, choices) // 8 // (1 + twice)


def cover(screens: dict[str, Screen], name: str, fill: tuple[int, int, int] | None) -> None:
    """Replace the pictures of a screen by the fill colour of its LCD, if there is one."""
    if fill is not None:
        screens[name] = Screen(name, _plain(screens[name].width, fill))
        screens.pop(f"{name}-right", None)


def _plain(width: int, colour: tuple[int, int, int] = (0, 0, 0)) -> Bytes:
    array = np.empty((HEIGHT, width, 3), np.uint8)
    array[:] = colour
    return array


def _rescaled(texels: Bytes, format: PixelFormat) -> Bytes:
    """Colours expanded by repeating bits, converted to expansion by scaling with truncation."""
    texels = texels.copy()
    for channel, (_, _, bits) in enumerate(format.channels[:3]):  # red, green, blue in all external formats
        values = np.arange(256) >> (8 - bits)
        texels[..., channel] = (values * 255 // ((1 << bits) - 1)).astype(np.uint8)[texels[..., channel]]
    return texels


class _ScanOut:
    """One scan-out: where to read, and where to report events."""

    def __init__(
        self, memory: GuestMemory, read: ReadRegister, events: EventLog, at: str, choices: Mapping[str, str]
    ) -> None:
        self.memory, self.read, self.events, self.at, self.choices = memory, read, events, at, choices

    def value(self, name: str) -> int:
        field = _field(name)
        return int(field.decode(self.read(field.register.address)))

    def eyes(self, unit: int, name: str) -> tuple[int, dict[str, int]]:
        """Columns of the pictures of a controller, and the address of each one's framebuffer by its name."""
        pdc = f"PDC{unit}_"
        lines = self.value(pdc + "FORMAT.interlace")
        doubling = self.value(pdc + "FORMAT.scan_doubling")
        second = self.value(pdc + "SELECT.next")
        a = self.value(f"{pdc}ADDRESS_A{second}.address")
        b = self.value(f"{pdc}ADDRESS_B{second}.address")
        eyes = {name: a}
        width = BOTTOM_WIDTH
        if unit == 0:
            # Bit 5 alone is a stereo mode; with bits 5 and 6 clear the system software scans 800 lines (3dbrew).
            width = TOP_WIDTH if lines or doubling else WIDE_WIDTH
            if shows_both(lines):
                # Even lines reach the left eye: A's in mode AB, B's in mode BA.
                left, right = (a, b) if lines == INTERLACE.A_THEN_B else (b, a)
                eyes = {name: left} if left == right else {name: left, f"{name}-right": right}
        return width, eyes

    def ranges(self, unit: int) -> list[tuple[int, int]]:
        """Addresses and sizes of the framebuffers of a controller that is on, up to the last byte that is read."""
        pdc = f"PDC{unit}_"
        width, eyes = self.eyes(unit, "")
        if not self.value(pdc + "CONTROL.enable"):
            return []
        twice = unit == 1 and bool(self.value(pdc + "FORMAT.scan_doubling"))
        row_bytes = _row_bytes(self.value(pdc + "FORMAT.color_format"), twice, self.choices)
        size = self.value(pdc + "STRIDE.stride") * (width - 1) + row_bytes
        return [(address, size) for address in dict.fromkeys(eyes.values()) if address]

    def controller(self, unit: int, name: str) -> list[Screen]:
        """The pictures of one controller before its colour table."""
        pdc = f"PDC{unit}_"
        lines = self.value(pdc + "FORMAT.interlace")
        doubling = self.value(pdc + "FORMAT.scan_doubling")
        width, eyes = self.eyes(unit, name)
        if not self.value(pdc + "CONTROL.enable"):
            return [Screen(name, _plain(width))]
        if unit == 1 and lines:
            self.events.report(
                "warning", "display.mode", "the bottom screen is in a line mode of the top screen: shown plain", self.at
            )
        stride = self.value(pdc + "STRIDE.stride")
        color_format = self.value(pdc + "FORMAT.color_format")
        twice = unit == 1 and bool(doubling)
        return [
            Screen(eye, self.picture(eye, address, stride, color_format, width, twice)) for eye, address in eyes.items()
        ]

    def picture(self, name: str, base: int, stride: int, color_format: int, width: int, twice: bool = False) -> Bytes:
        """Upright RGB (240, width, 3) of a framebuffer. twice: rows have half the pixels, and each is shown
        twice."""
        if base == 0:
            return _plain(width)  # no framebuffer was ever set: black, not an error
        row_bytes = _row_bytes(color_format, twice, self.choices)
        rows, missing = fetch_rows(self.memory, base, stride, width, row_bytes)
        if missing:
            message = f"{name}: {missing} of {width} columns from {base:#010x}, stride {stride}, lie outside memory"
            self.events.report("fault", "display.unmapped", message, self.at)
        colors = row_colors(rows, color_format, self.choices)
        if twice:
            colors = np.repeat(colors, 2, axis=1)
        upright = np.empty((colors.shape[1], colors.shape[0], 3), np.uint8)
        for channel in range(3):  # one at a time, as in `surface.decode_texels`
            upright[..., channel] = colors[..., channel].T[::-1]
        return upright


def _doubled(color_format: int, choices: Mapping[str, str]) -> bool:
    """Formats after the table may show every pixel twice."""
    return color_format not in TRANSFER_FORMAT and choices["display.formats_5_7"] == "doubled"


def pixel_bits(color_format: int, choices: Mapping[str, str]) -> int:
    """Bits of memory for each visible pixel (the choice display.formats_5_7 defines the codes 5 to 7)."""
    if _doubled(color_format, choices):
        return RGBA8.bits // 2
    return EXTERNAL_FORMATS.get(color_format, RGBA4).bits


def row_colors(rows: Bytes, color_format: int, choices: Mapping[str, str]) -> Bytes:
    """RGB (rows, pixels, 3) of framebuffer rows, an array (rows, bytes)."""
    double = _doubled(color_format, choices)
    format: PixelFormat = EXTERNAL_FORMATS.get(color_format, RGBA8 if double else RGBA4)
    texels = surface.decode_texels(rows, format).reshape(len(rows), -1, 4)
    if choices["display.expand"] == "scale":
        texels = _rescaled(texels, format)
    if double:
        texels = np.repeat(texels, 2, axis=1)
    return texels[..., :3]


def fetch_rows(memory: GuestMemory, base: int, stride: int, count: int, row_bytes: int) -> tuple[Bytes, int]:
    """`count` rows of memory, an array (count, row_bytes), and how many of them are partly unmapped; missing bytes are
    0.

    A negative or odd stride may lead anywhere; addresses wrap at 32 bits.
    """
    first, last = sorted((base, base + (count - 1) * stride))
    offset = memory.offset_of(first, last - first + row_bytes)
    if offset is not None:
        start = memory.arena[offset + (base - first) :]
        return as_strided(start, (count, row_bytes), (stride, 1), writeable=False), 0
    starts = base + stride * np.arange(count, dtype=np.int64)[:, None]
    addresses = (starts + np.arange(row_bytes, dtype=np.int64)) & 0xFFFFFFFF
    rows = np.zeros((count, row_bytes), np.uint8)
    mapped = np.zeros((count, row_bytes), np.bool_)
    for region, start_offset in memory.regions:
        inside = (addresses >= region.base) & (addresses < region.end)
        rows[inside] = memory.arena[addresses[inside] - region.base + start_offset]
        mapped |= inside
    return rows, count - int(mapped.all(axis=1).sum())
