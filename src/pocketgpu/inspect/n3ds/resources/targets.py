"""Render targets of a moment: as pictures, and where each of their pixels is in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import Readable
from pocketgpu.displayed import line_of, picture_html, title_html
from pocketgpu.events import sized
from pocketgpu.facts.formats import DEPTH_FORMATS, FRAMEBUFFER_COLOR_FORMATS, RGBA8, PixelFormat
from pocketgpu.facts.pica_enums import FRAGMENT_MODE
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.engines.transfer import tile_order
from pocketgpu.pica.front.draw_target import color_format
from pocketgpu.pica.front.targets import RenderTarget
from pocketgpu.pica.memory import surface
from pocketgpu.pictures import to_image, to_png

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class Target:
    """A render target. address, depth_address: physical. depth_format: None without a depth buffer. flip: rows of
    memory run from the top of the viewport down. blocks: as for `RenderTarget`."""

    address: int
    width: int
    height: int
    format: PixelFormat
    depth_address: int
    depth_format: PixelFormat | None
    flip: bool
    blocks: str
    memory: Readable

    @property
    def array(self) -> NDArray[np.uint8]:
        """RGBA (height, width, 4), upright as the screen would show it if it has a screen's size."""
        return self.in_memory.picture(self.memory)

    @property
    def rows(self) -> NDArray[np.uint8]:
        """The same pixels as rows and columns of memory, not rotated."""
        return self.in_memory.read(self.memory)

    @property
    def in_memory(self) -> RenderTarget:
        """Its colours as the machine finds them: `whole_width`, and `turned` if `array` is rotated against memory."""
        return RenderTarget(self.address, self.width, self.height, self.format, self.blocks)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of `array` and `depth`."""
        rows, columns = self.height, self.in_memory.whole_width
        return (columns, rows) if self.in_memory.turned else (rows, columns)

    @property
    def has_depth(self) -> bool:
        """Whether there is `depth`: it has none without a depth buffer, without memory at its address, or in blocks of
        32x32."""
        if self.depth_format is None or self.blocks:
            return False
        return self.memory.offset_of(self.depth_address, self._depth_bytes(self.depth_format)) is not None

    def _depth_bytes(self, format: PixelFormat) -> int:
        return surface.byte_size(format, self.in_memory.whole_width, self.height, "tiled")

    @property
    def depth(self) -> NDArray[Any] | None:
        """Depth and stencil as stored, as `surface.DEPTH_DTYPE` (height, width), rotated like `array`; None if it has
        none."""
        if self.depth_format is None or not self.has_depth:
            return None
        data = self.memory.read(self.depth_address, self._depth_bytes(self.depth_format))
        texels = surface.decode_depth(data, self.depth_format, self.in_memory.whole_width, self.height)
        return np.ascontiguousarray(texels.T[::-1]) if self.in_memory.turned else texels

    @property
    def image(self) -> Image:
        """The picture, without its alpha."""
        return to_image(self.array[..., :3])

    @property
    def has_stencil(self) -> bool:
        """Whether the depth buffer has room for stencil."""
        return self.depth_format is not None and any(channel == "s" for channel, _, _ in self.depth_format.channels)

    def place(self, x: int, y: int) -> tuple[int, int]:
        """Column and row of memory of a pixel of `array`."""
        return (self.width - 1 - y, x) if self.in_memory.turned else (x, y)

    def row(self, y: int) -> int:
        """The row of memory of a viewport's y, or the y of a row."""
        return self.height - 1 - y if self.flip else y

    def number(self, x: int, row: int) -> int:
        """The number, in order of memory, of the pixel at a column and a row of memory."""
        return int(tile_order(x, row, self.width >> 3, self.blocks))

    def texel(self, data: bytes) -> list[int]:
        """Red, green, blue and alpha of a pixel's bytes."""
        return [int(c) for c in surface.decode_texels(np.frombuffer(data, np.uint8), self.format).ravel()]

    def __str__(self) -> str:
        text = f"{sized(self.width, self.height)} {self.format.name} at {self.address:#010x}"
        if self.depth_format is None:
            return text
        return f"{text}, {self.depth_format.name} at {self.depth_address:#010x}"

    def __repr__(self) -> str:
        return line_of(self, str(self))

    def _repr_png_(self) -> bytes:
        return to_png(self.array[..., :3])

    def _repr_html_(self) -> str:
        return title_html(str(self)) + picture_html(self._repr_png_())


def target_of(memory: Readable, registers: NDArray[np.uint32], choices: Mapping[str, str]) -> Target | None:
    """The render target that registers (0x300 words) describe; None if it has no size or leaves memory."""
    get = StaticRegisters(RegisterWords(registers))
    width, height = get("FRAMEBUFFER_DIM.width"), get("FRAMEBUFFER_DIM.height") + 1
    format = FRAMEBUFFER_COLOR_FORMATS[min(get("COLORBUFFER_FORMAT.format"), 4)]
    blocks = choices["transfer.block32"] if get("FRAMEBUFFER_BLOCK32.enable") else ""
    # Draws ignore the lower bits of an address.
    place, depth = ((get(f"{name}_LOC.address") << 3) & ~63 for name in ("COLORBUFFER", "DEPTHBUFFER"))
    if width < 8 or memory.offset_of(place, (width & ~7) * ((height + 7) & ~7) * format.bits // 8) is None:
        return None
    return Target(
        place, width, height, format, depth, DEPTH_FORMATS.get(get("DEPTHBUFFER_FORMAT.format")),
        bool(get("FRAMEBUFFER_DIM.flip")), blocks, memory,
    )  # fmt: skip


def buffer_formats(get: StaticRegisters) -> tuple[PixelFormat, PixelFormat | None]:
    """Formats of the colour and the depth buffer as draws write them; None without a depth buffer. Gas and shadows have
    32-bit formats of their own."""
    special = get("COLOR_OPERATION.fragment_mode") in (FRAGMENT_MODE.GAS, FRAGMENT_MODE.SHADOW)
    color = RGBA8 if special else color_format(get)
    return color, DEPTH_FORMATS.get(get("DEPTHBUFFER_FORMAT.format"))


class RegisterWords(dict[int, int]):
    """Register words looked up in an array."""

    def __init__(self, registers: NDArray[np.uint32]) -> None:
        self._registers = registers

    def get(self, number: int, default: int = 0) -> int:  # type: ignore[override]
        return int(self._registers[number]) if number < len(self._registers) else default


def untiled(number: int, tiles: int, blocks: str = "") -> tuple[int, int]:
    """(x, y) of pixel `number` where rows have `tiles` tiles; the inverse of `tile_order`."""
    side = 32 if blocks else 8
    first, inside = divmod(number, side * side)
    across = max(tiles >> 2 if blocks else tiles, 1)
    x0, y0 = first % across * side, first // across * side
    for y in range(side):
        for x in range(side):
            if tile_order(x, y, side >> 3, blocks) == inside:
                return x0 + x, y0 + y
    raise AssertionError("every pixel has a place in its tile")
