"""Scenes of the display controllers: what they read, when, and what the screen makes of it.

Programs cannot read what is on the glass. Where no register tells it either, a person has to look (`by_eye`).
"""

from __future__ import annotations

import numpy as np

from pocketgpu.builder import CaptureBuilder
from pocketgpu.builder.values import FieldValue
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.external_init import INITS
from pocketgpu.facts.memory_map import VRAM
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made, Watch
from pocketgpu.probe.scenes.n3ds.bands import Bands, line_of, word_of
from pocketgpu.probe.scenes.n3ds.canvas import BLUE, HEIGHT, LIGHT, ORANGE, RIGHT, WIDTH

_LEVELS = 256
_RED_LEVEL, _GREEN_LEVEL = 12, 20
"""Levels of 5 and of 6 bits that become different levels of 8 bits."""


def _timing(capture: CaptureBuilder, mode: str = "top-flat") -> None:
    """The timing of both screens, as the system software sets it."""
    for name in (mode, "bottom"):
        for address, word in INITS[name].writes:
            capture.write_word(address, word)


def _show(bands: Bands, address: int, **format: FieldValue) -> CaptureBuilder:
    """Show a framebuffer on the top screen, whose DMA size nobody doubts. format: other fields of FORMAT."""
    bands.capture.show("top", address, format=bands.format)
    fields: dict[str, FieldValue] = {"color_format": bands.format, "dma_size": "128 bytes", **format}
    return bands.capture.write("PDC0_FORMAT", EXTERNAL["PDC0_FORMAT"].reset, **fields)


# -- pixels ------------------------------------------------------------------------------------------------------------
@scene("display.expand")
def _() -> Made:
    """The screen has pixels of 16 bits, whose levels become 8 bits. Some become n or n - 1; the colour table makes
    orange of n and blue of n - 1: the right band is orange (replicate), or blue (scale)."""
    bands = Bands("RGB565")
    narrow = (_RED_LEVEL << 3, _GREEN_LEVEL << 2, _RED_LEVEL << 3, 255)
    bands.fill(RIGHT.left, RIGHT.right, narrow)
    table = np.stack([_table(*channel) for channel in zip((5, 6, 5), narrow, ORANGE, BLUE, strict=False)], axis=1)
    bands.capture.write("PDC0_LUT_INDEX", index=0)
    for red, green, blue in table.tolist():
        bands.capture.write("PDC0_LUT_DATA", r=red, g=green, b=blue)
    return bands.made(by_eye=True)


def _table(bits: int, narrow: int, replicated: int, scaled: int) -> np.ndarray:
    """A channel of a colour table that tells both ways to expand one level apart, and no other level."""
    levels = np.arange(1 << bits)
    first = levels << 8 - bits | levels >> 2 * bits - 8
    second = levels * (_LEVELS - 1) // levels[-1]
    table = np.arange(_LEVELS)
    table[second] = first
    level = narrow >> 8 - bits
    table[first[level]], table[second[level]] = replicated, scaled
    return table


@scene("display.formats_5_7")
def _() -> Made:
    """The screen has format 5. The words of the right band are blue as two pixels of 16 bits (rgba4), or green as a
    pixel of 32 bits that is shown twice (doubled)."""
    bands = Bands("RGBA4", reference=LIGHT)
    # The same half-word twice: 0x20F0 is a pixel of RGBA4, 0x20F020F0 one of RGBA8.
    green, blue = (0x20, 0xF0, 0x20, 0xF0), (0x22, 0x00, 0xFF, 0x00)
    assert word_of(green) == word_of(blue, bands.format) * 0x10001
    bands.fill(RIGHT.left, RIGHT.right, blue)
    bands.capture.show("top", bands.start, format=bands.format)
    bands.capture.write("PDC0_FORMAT", EXTERNAL["PDC0_FORMAT"].reset, color_format=5).end_frame()
    return bands.looked_at(by_eye=True)


@scene("display.stride_unit")
def _() -> Made:
    """Lines of the framebuffer are 968 bytes apart, no multiple of 16. Orange and blue meet at a straight edge (8), or
    at slanted ones, as the register keeps 960 (16)."""
    capture, format = CaptureBuilder(), "RGBA8"
    stride = line_of(format) + 8
    start = capture.allocate(WIDTH * stride)
    lines = np.zeros((WIDTH, stride // 4), np.uint32)
    lines[:, : HEIGHT // 2], lines[:, HEIGHT // 2 :] = word_of(ORANGE), word_of(BLUE)
    capture.load(start, lines).show("top", start, format=format, stride=stride).end_frame()
    return Made(capture.to_pgc(), Watch(registers=(EXTERNAL["PDC0_STRIDE"].address,)))


@scene("display.dma_size_3")
def _() -> Made:
    """Both screens have DMA size 3. The top one's picture is in video memory, the bottom one's in main memory: both
    are shown (show), only the top one (black), or none (always-black)."""
    bands = Bands()
    capture, lines = bands.capture, RIGHT.right
    main = capture.put(np.tile(np.array(ORANGE[2::-1], np.uint8), lines * HEIGHT))
    capture.show("top", bands.start).show("bottom", main)
    for unit in range(2):
        name = f"PDC{unit}_FORMAT"
        capture.write(name, EXTERNAL[name].reset, color_format=bands.format, dma_size="code 3")
    capture.end_frame().end_frame()
    return bands.looked_at(timed=True, by_eye=True)


# -- lines -------------------------------------------------------------------------------------------------------------
@scene("display.latch")
def _() -> Made:
    """The position in LATCH is the middle of the picture, and the second frame has an orange framebuffer. The picture
    is blue on the left and orange on the right (position), or blue (vblank). Then LATCH is soon after VBlank, and
    SELECT changes: soon it is in force (position), or not before the next VBlank (vblank)."""
    bands = Bands()
    capture, orange = bands.capture, bands.another(ORANGE)
    bands.fill(0, WIDTH, BLUE)
    _timing(capture)
    first = EXTERNAL["PDC0_VPICTURE"]["start"].raw(EXTERNAL["PDC0_VPICTURE"].reset)
    blank = EXTERNAL["PDC0_VIRQ"]["start"].raw(EXTERNAL["PDC0_VIRQ"].reset)
    capture.write("PDC0_LATCH", h=0, v=first + WIDTH // 2)
    _show(bands, bands.start).end_frame().end_frame()
    _show(bands, orange).end_frame()
    capture.write("PDC0_LATCH", h=0, v=blank + 4).write("PDC0_SELECT", next=True)
    capture.fill(VRAM.base + VRAM.size // 2, VRAM.end, 0)  # some lines pass
    capture.write("PSC0_CONTROL")
    select = EXTERNAL["PDC0_SELECT"]
    return bands.looked_at(
        timed=True, registers=(select.address,), bits=((select.address, select["current"].mask),)
    )


@scene("display.sync_bits")
def _() -> Made:
    """Bits 0, 4 and 8 of POLARITY are set, then the screen gets an orange framebuffer: it is orange, and all three
    bits are read (polarity); or it keeps its blue picture, as the line sync has stopped, without bit 4 (disable)."""
    bands = Bands()
    capture, orange = bands.capture, bands.another(ORANGE)
    bands.fill(0, WIDTH, BLUE)
    _timing(capture)
    _show(bands, bands.start).end_frame().end_frame()
    capture.write("PDC0_POLARITY", h=True, v4=True, v8=True)
    _show(bands, orange).end_frame().end_frame()
    return bands.looked_at(timed=True, registers=(EXTERNAL["PDC0_POLARITY"].address,))


@scene("display.vstart")
def _() -> Made:
    """A frame has 100 lines more than usual, without pixels. The blue band is where it always is (window), or cut off,
    as if the picture began so many lines later (wiki)."""
    bands = Bands()
    bands.fill(RIGHT.left, RIGHT.right, ORANGE)
    _timing(bands.capture)
    total = EXTERNAL["PDC0_VTOTAL"]
    bands.capture.write("PDC0_VTOTAL", value=total["value"].raw(total.reset) + 100)
    _show(bands, bands.start).end_frame().end_frame()
    return bands.looked_at(timed=True, by_eye=True)


@scene("display.interleave")
def _() -> Made:
    """Lines of two framebuffers alternate, and each has 400 blue lines and 400 orange ones. Each eye sees the first
    400, blue (halves); or every other one of 800, blue on the left and orange on the right (skip)."""
    bands = Bands()
    capture = bands.capture
    buffers = [bands.another(color) for color in (BLUE, ORANGE, BLUE, ORANGE)]  # one after the other
    _timing(capture, "top-stereo")
    _show(bands, buffers[0], interlace="A then B", scan_doubling=False)
    capture.write("PDC0_ADDRESS_B0", address=buffers[2]).end_frame().end_frame()
    return bands.looked_at(timed=True, by_eye=True)


# -- registers ---------------------------------------------------------------------------------------------------------
@scene("display.select_read")
def _() -> Made:
    """SELECT names the second framebuffer, which is orange; then another byte of it is written, while the first one
    keeps what is read from it. The second framebuffer is still shown (stored), or the blue one (zero)."""
    bands = Bands()
    capture, orange = bands.capture, bands.another(ORANGE)
    bands.fill(0, WIDTH, BLUE)
    capture.show("top", bands.start).write("PDC0_ADDRESS_A1", address=orange).write("PDC0_ADDRESS_B1", address=orange)
    select = EXTERNAL["PDC0_SELECT"]
    capture.write("PDC0_SELECT", next=True).write_byte(select.address + 1, 0).end_frame()
    return bands.looked_at(registers=(select.address,), bits=((select.address, select["next"].mask),))

