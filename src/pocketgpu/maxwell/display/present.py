"""Presented surfaces: from bytes in memory to the picture on the screen.

Programs pass such surfaces to the system's window, which supports few formats. sRGB bytes are not converted, alpha is
left out. Source: the notes of the recordings; libnx, for the formats of its windows.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.events import sized
from pocketgpu.facts.maxwell.formats import SHOWN, shown_layout
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.formats.arrays import picture
from pocketgpu.maxwell.memory.blocklinear import Layout, detile
from pocketgpu.pictures import ShownArray

FLIP_X, FLIP_Y, TURN = 1, 2, 4
"""Bits of a transform: mirror left and right, mirror top and bottom, a quarter turn to the right."""


class Shown(Protocol):
    """The part of a surface that `to_picture` reads. stride: bytes of a row; row: those of them that are pixels. left,
    top: pixels of width and height that are not in the picture."""

    @property
    def width(self) -> int: ...

    @property
    def height(self) -> int: ...

    @property
    def format(self) -> str: ...

    @property
    def block_linear(self) -> bool: ...

    @property
    def block_height_log2(self) -> int: ...

    @property
    def stride(self) -> int: ...

    @property
    def row(self) -> int: ...

    @property
    def transform(self) -> int: ...

    @property
    def left(self) -> int: ...

    @property
    def top(self) -> int: ...


@dataclass(frozen=True)
class Surface:
    """A surface to be presented. format: RGBA8, BGRA8, RGBX8, BGRX8 or RGB565, with or without a suffix such as _UNORM.

    block_height: log2 of GOBs in a block, None for plain rows. pitch: bytes of a row, 0 for those of its pixels. left,
    top: pixels of width and height that are left out of the picture.

    :raises UsageError: an unknown format, or invalid numbers.
    """

    width: int
    height: int
    format: str = "RGBA8_UNORM"
    block_height: int | None = 4
    pitch: int = 0
    transform: int = 0
    left: int = 0
    top: int = 0

    def __post_init__(self) -> None:
        try:
            shown_layout(self.format)
        except KeyError:
            known = ", ".join(dict.fromkeys(name.partition("_")[0] for name in SHOWN))
            raise UsageError(f"no surface of format {self.format!r} can be shown", hint=f"Known: {known}.") from None
        if not (0 < self.width <= 1 << 14 and 0 < self.height <= 1 << 14):
            raise UsageError(f"a surface of {sized(self.width, self.height)} pixels cannot be shown")
        if not (0 <= self.left < self.width and 0 <= self.top < self.height):
            raise UsageError(f"nothing of a surface is left without {sized(self.left, self.top)} pixels")
        if self.pitch and not self.row <= self.pitch <= 1 << 20:
            raise UsageError(f"rows of {self.row} bytes of pixels do not fit a stride of {self.pitch}")
        if self.block_height is not None and not 0 <= self.block_height <= 5:
            raise UsageError(f"blocks are 2^0 to 2^5 GOBs high, not 2^{self.block_height}")

    @property
    def row(self) -> int:
        return self.width * shown_layout(self.format).bytes

    @property
    def stride(self) -> int:
        return self.pitch or self.row

    @property
    def block_linear(self) -> bool:
        return self.block_height is not None

    @property
    def block_height_log2(self) -> int:
        return self.block_height or 0

    @property
    def size(self) -> int:
        """Bytes of memory."""
        if self.block_linear:
            return Layout(self.stride, self.height, block_height_log2=self.block_height_log2).size
        return self.stride * (self.height - 1) + self.row


@dataclass(frozen=True, eq=False, repr=False)
class Picture(ShownArray):
    """A presented picture: `array` is upright RGB of shape (height, width, 3), uint8."""

    array: NDArray[np.uint8]


def to_picture(data: bytes, surface: Shown) -> NDArray[np.uint8]:
    """RGB (height, width, 3) of the bytes of a surface, upright."""
    if surface.block_linear:
        layout = Layout(surface.stride, surface.height, block_height_log2=surface.block_height_log2)
        rows = detile(data, layout).reshape(surface.height, -1)
    else:
        raw = np.frombuffer(data, np.uint8)
        shape, strides = (surface.height, surface.row), (surface.stride, 1)
        rows = np.lib.stride_tricks.as_strided(raw, shape, strides, writeable=False)
    rows = np.ascontiguousarray(rows[:, : surface.row])
    pixels = picture(rows, shown_layout(surface.format), count=3)[surface.top :, surface.left :]
    if surface.transform & FLIP_X:
        pixels = pixels[:, ::-1]
    if surface.transform & FLIP_Y:
        pixels = pixels[::-1]
    if surface.transform & TURN:
        pixels = np.rot90(pixels, -1)
    return np.ascontiguousarray(pixels)
