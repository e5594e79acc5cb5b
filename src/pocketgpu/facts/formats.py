"""Pixel formats of the 3DS: one description per format for all blocks of the chip.

Nearly the same formats have four numberings; in particular 2 and 3 are exchanged between the 3D unit and the display
side. So each user has its own table here.

Source: 3dbrew GPU/Internal Registers and GPU/External Registers, GPU/Textures.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pocketgpu.late_dataclass import dataclass

Kind = Literal["color", "depth", "etc1"]


@dataclass(frozen=True, slots=True)
class PixelFormat:
    """One pixel format.

    bits: size of a pixel. channels: (channel, lowest bit, width) in the little-endian pixel word; channel is "r" "g"
    "b" "a", "l" (luminance: red, green and blue), "d" (depth) or "s" (stencil). Missing channels read as `defaults` (r,
    g, b, a as 8-bit numbers). In formats of 4 bits the even pixel is the low half of a byte. kind "etc1": 4x4 blocks,
    `channels` is empty; `block_bytes` per block, alpha (if any) first.
    """

    name: str
    bits: int
    channels: tuple[tuple[str, int, int], ...] = ()
    kind: Kind = "color"
    block_bytes: int = 0
    defaults: tuple[int, int, int, int] = (0, 0, 0, 255)
    doc: str = ""

    def __repr__(self) -> str:
        return f"<PixelFormat {self.name}: {self.bits} bits>"

    @property
    def bytes(self) -> float:
        """Bytes per pixel; 0.5 for formats of 4 bits."""
        return self.bits / 8

    def size(self, width: int, height: int) -> int:
        """Bytes of an image without gaps; fractions of a byte are rounded up."""
        return (width * height * self.bits + 7) // 8

    def channel(self, name: str) -> tuple[int, int] | None:
        """(lowest bit, width) of a channel, or None."""
        for channel, lo, width in self.channels:
            if channel == name:
                return lo, width
        return None

    @property
    def has_alpha(self) -> bool:
        return self.channel("a") is not None or self.name == "ETC1A4"


RGBA8: Final = PixelFormat("RGBA8", 32, (("r", 24, 8), ("g", 16, 8), ("b", 8, 8), ("a", 0, 8)))
RGB8: Final = PixelFormat("RGB8", 24, (("r", 16, 8), ("g", 8, 8), ("b", 0, 8)))
RGB5A1: Final = PixelFormat("RGB5A1", 16, (("r", 11, 5), ("g", 6, 5), ("b", 1, 5), ("a", 0, 1)))
RGB565: Final = PixelFormat("RGB565", 16, (("r", 11, 5), ("g", 5, 6), ("b", 0, 5)))
RGBA4: Final = PixelFormat("RGBA4", 16, (("r", 12, 4), ("g", 8, 4), ("b", 4, 4), ("a", 0, 4)))
IA8: Final = PixelFormat("IA8", 16, (("l", 8, 8), ("a", 0, 8)), doc="Luminance and alpha (LA8).")
HILO8: Final = PixelFormat("HILO8", 16, (("r", 8, 8), ("g", 0, 8)), doc="Two channels, for normals (RG8).")
I8: Final = PixelFormat("I8", 8, (("l", 0, 8),), doc="Luminance (L8).")
A8: Final = PixelFormat("A8", 8, (("a", 0, 8),))
IA44: Final = PixelFormat("IA44", 8, (("l", 4, 4), ("a", 0, 4)), doc="Luminance and alpha (LA4).")
I4: Final = PixelFormat("I4", 4, (("l", 0, 4),), doc="Luminance (L4).")
A4: Final = PixelFormat("A4", 4, (("a", 0, 4),))
ETC1: Final = PixelFormat("ETC1", 4, kind="etc1", block_bytes=8)
ETC1A4: Final = PixelFormat("ETC1A4", 8, kind="etc1", block_bytes=16)
D16: Final = PixelFormat("D16", 16, (("d", 0, 16),), kind="depth")
D24: Final = PixelFormat("D24", 24, (("d", 0, 24),), kind="depth")
D24S8: Final = PixelFormat("D24S8", 32, (("d", 0, 24), ("s", 24, 8)), kind="depth")

TEXTURE_FORMATS: Final[Mapping[int, PixelFormat]] = dict(
    enumerate((RGBA8, RGB8, RGB5A1, RGB565, RGBA4, IA8, HILO8, I8, A8, IA44, I4, A4, ETC1, ETC1A4))
)
"""By TEXUNITn_TYPE.format."""

FRAMEBUFFER_COLOR_FORMATS: Final[Mapping[int, PixelFormat]] = {0: RGBA8, 1: RGB8, 2: RGB5A1, 3: RGB565, 4: RGBA4}
"""By COLORBUFFER_FORMAT.format. Number 1 is not on the wiki; other simulators agree on it."""

DEPTH_FORMATS: Final[Mapping[int, PixelFormat]] = {0: D16, 2: D24, 3: D24S8}
"""By DEPTHBUFFER_FORMAT.format."""

EXTERNAL_FORMATS: Final[Mapping[int, PixelFormat]] = {0: RGBA8, 1: RGB8, 2: RGB565, 3: RGB5A1, 4: RGBA4}
"""By the numbers of the display and transfer registers: 2 and 3 are exchanged relative to the 3D unit."""

BY_NAME: Final[Mapping[str, PixelFormat]] = {
    format.name: format for format in (*TEXTURE_FORMATS.values(), *DEPTH_FORMATS.values())
}
"""Every format by its name."""


__all__ = [
    "A4",
    "A8",
    "BY_NAME",
    "D16",
    "D24",
    "D24S8",
    "DEPTH_FORMATS",
    "ETC1",
    "ETC1A4",
    "EXTERNAL_FORMATS",
    "FRAMEBUFFER_COLOR_FORMATS",
    "HILO8",
    "I4",
    "I8",
    "IA8",
    "IA44",
    "RGB5A1",
    "RGB8",
    "RGB565",
    "RGBA4",
    "RGBA8",
    "TEXTURE_FORMATS",
    "Kind",
    "PixelFormat",
]


def __dir__() -> list[str]:
    return [*__all__]
