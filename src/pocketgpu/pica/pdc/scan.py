"""Maps each line and pixel of the screen to a framebuffer position, by the timing of a mode.

The screen takes the lines that are sent after the frame's back porch, from its own first line on, and of each line the
pixels that are sent after the line's back porch. A pixel is sent with the border's colour or from the picture. Lines
that are not sent keep their contents.

Source: 3dbrew GPU/External Registers (timing registers, scan line output modes, scan doubling).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.pica_enums import INTERLACE
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.pdc.mode import DisplayMode

PIXELS = 240
"""Pixels of a line of either screen."""

Ints = NDArray[np.int64]

NOWHERE = -1
"""No line of the screen, or no framebuffer: the border."""
DARK = -2
"""A pixel that is not sent."""
RED = -3
"""The dot at the end of a line when the front porch comes before the screen has all its pixels (3dbrew: the reason is
unknown). With the usual timing it is after the last pixel."""


@dataclass(frozen=True, eq=False)
class ScanPlan:
    """For each line of a frame (index VCount): panel, the line of the screen; buffer, 0 A, 1 B or NOWHERE; source, the
    framebuffer's line. For each of 240 pixels of the screen: pixel, the framebuffer's, NOWHERE, DARK or RED.
    """

    panel: Ints
    buffer: Ints
    source: Ints
    pixel: Ints
    first_pixel: int
    """The first visible pixel of a framebuffer's line."""
    pixels: int
    """The number of pixels to read from there on."""


def _lines(mode: DisplayMode) -> tuple[Ints, Ints, Ints]:
    total = mode.lines
    panel, buffer = np.full((2, total), NOWHERE, np.int64)
    source = np.zeros(total, np.int64)
    sent = [s for s in mode.vertical if s.name in ("border", "picture", "end border")]
    # An end border may continue after the end of the frame; these lines still come last in time.
    sent.sort(key=lambda span: ("border", "picture", "end border").index(span.name))
    if not mode.hsync_runs:
        return panel, buffer, source  # the screen never moves on to another line
    place = 0
    low, high = mode.v_picture
    for span in sent:
        lines = (span.start + np.arange(span.length)) % total
        panel[lines] = place + np.arange(span.length)
        place += span.length
        if span.name != "picture":
            continue
        number = (lines - low) % total + mode.cut_lines - mode.pushed_lines + mode.skipped_lines
        if low < mode.vblank < high:  # the last two lines are repeated
            at = (mode.vblank - low) % total
            late = (lines - low) % total - at
            last = at + mode.cut_lines - mode.pushed_lines + mode.skipped_lines
            number = np.where(late >= 0, last - 2 + (late & 1), number)
        shown = number >= 0
        buffer[lines], source[lines] = _sources(mode, number)
        buffer[lines[~shown]] = NOWHERE
    panel[panel >= mode.panel_lines] = NOWHERE
    return panel, buffer, source


def _sources(mode: DisplayMode, number: Ints) -> tuple[Ints, Ints]:
    """Framebuffer and its line for lines of the picture."""
    odd = number & 1
    if mode.interlace == INTERLACE.A:
        return np.zeros_like(number), number
    if mode.interlace == INTERLACE.A_TWICE:
        return np.zeros_like(number), number >> 1
    buffer = odd if mode.interlace == INTERLACE.A_THEN_B else 1 - odd
    return buffer, number if mode.choices["display.interleave"] == "skip" else number >> 1


def _pixels(mode: DisplayMode) -> Ints:
    total = mode.clocks
    pixel = np.full(PIXELS, DARK, np.int64)
    order = ("border", "picture", "end border")
    place = 0
    for span in sorted((s for s in mode.horizontal if s.name in order), key=lambda span: order.index(span.name)):
        clocks = (span.start + np.arange(span.length)) % total
        numbers = np.full(span.length, NOWHERE, np.int64)
        if span.name == "picture":
            numbers = (clocks - mode.h_picture[0]) % total - (mode.hstart - mode.h_picture[0])
            if mode.screen == "bottom" and mode.scan_doubling:
                numbers = numbers >> 1
            numbers = np.where((numbers >= 0) & (numbers < mode.width), numbers, NOWHERE)
        taken = min(span.length, max(0, PIXELS - place))
        pixel[place : place + taken] = numbers[:taken]
        place += span.length
    if 0 < place < PIXELS and mode.hfp < mode.clocks:
        pixel[place] = RED
    return pixel


@lru_cache(maxsize=16)
def _plan(mode: DisplayMode, _choices: tuple[tuple[str, str], ...]) -> ScanPlan:
    panel, buffer, source = _lines(mode)
    pixel = _pixels(mode)
    read = pixel[pixel >= 0]
    # Whole pairs of pixels, because some formats store two together.
    first, end = (int(read.min()) & ~1, (int(read.max()) | 1) + 1) if len(read) else (0, 0)
    return ScanPlan(panel, buffer, source, pixel, first, end - first)


def scan_plan(mode: DisplayMode) -> ScanPlan:
    """The plan of a mode."""
    return _plan(mode, tuple(mode.choices.items()))
