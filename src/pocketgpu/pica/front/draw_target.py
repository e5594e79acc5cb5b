"""Render targets as registers describe them: colour and depth buffers, and the rectangle that draws may touch."""

from __future__ import annotations

from functools import cached_property

from pocketgpu.facts.formats import DEPTH_FORMATS, FRAMEBUFFER_COLOR_FORMATS, RGBA8, PixelFormat
from pocketgpu.facts.pica_enums import COLOR_FORMAT, FRAGMENT_MODE, SCISSOR
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.memory.guest import GuestMemory

FIELDS = (
    "COLORBUFFER_LOC.address", "DEPTHBUFFER_LOC.address", "FRAMEBUFFER_DIM.width", "FRAMEBUFFER_DIM.height",
    "FRAMEBUFFER_DIM.flip", "COLORBUFFER_FORMAT.format", "DEPTHBUFFER_FORMAT.format", "SCISSORTEST_MODE.mode",
    "SCISSORTEST_POS.x1", "SCISSORTEST_POS.y1", "SCISSORTEST_DIM.x2", "SCISSORTEST_DIM.y2",
    "COLOR_OPERATION.fragment_mode", "FRAMEBUFFER_BLOCK32.enable",
)  # fmt: skip
"""The register fields that a target depends on."""


@dataclass(frozen=True)
class DrawTarget:
    """Where draws write: arena ranges, size, and the rectangle they may touch (x0, x1, y0, y1 in memory rows)."""

    color: tuple[int, int]
    depth: tuple[int, int]
    width: int
    height: int
    rect: tuple[int, int, int, int]
    block: int
    """Side in pixels of a block of the memory layout: 8 for tiles, 32 in block mode."""

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return (*self.color, *self.depth, self.width, self.height, self.block)

    @cached_property
    def ranges(self) -> list[tuple[int, int]]:
        """The ranges that draws write."""
        return [r for r in (self.color, self.depth) if r[1]]


def color_format(get: StaticRegisters) -> PixelFormat:
    """The format of the colour buffer; unknown codes use the last format."""
    return FRAMEBUFFER_COLOR_FORMATS[min(get("COLORBUFFER_FORMAT.format"), max(COLOR_FORMAT))]


def make_target(memory: GuestMemory, get: StaticRegisters) -> DrawTarget | str:
    """The render target that registers describe, or a message why there is none."""
    width, height = get("FRAMEBUFFER_DIM.width"), get("FRAMEBUFFER_DIM.height") + 1
    block = 32 if get("FRAMEBUFFER_BLOCK32.enable") else 8
    texels = (width & -block) * ((height + block - 1) & -block)
    if not texels:
        return f"render target of width {width}: nothing can be drawn"
    ranges = []
    color = color_format(get)
    depth = DEPTH_FORMATS.get(get("DEPTHBUFFER_FORMAT.format"))
    mode = get("COLOR_OPERATION.fragment_mode")
    if mode in (FRAGMENT_MODE.GAS, FRAGMENT_MODE.SHADOW):  # these have word sizes of their own
        color = RGBA8
    if mode == FRAGMENT_MODE.SHADOW:
        depth = None
    for name, format in (("COLORBUFFER", color), ("DEPTHBUFFER", depth)):
        if format is None:
            ranges.append((0, 0))
            continue
        pa, size = get.bytes(f"{name}_LOC.address"), texels * (format.bits // 8)
        offset = memory.offset_of(pa & ~63, size)
        if offset is None:
            return f"{name} {pa:#010x}..{pa + size:#010x} leaves memory; the draw is left out"
        ranges.append((offset, size))
    rect = [0, (width & -block) - 1, 0, height - 1]
    if get("SCISSORTEST_MODE.mode") == SCISSOR.INSIDE:
        x1, x2 = get("SCISSORTEST_POS.x1"), get("SCISSORTEST_DIM.x2")
        ys = (get("SCISSORTEST_POS.y1"), get("SCISSORTEST_DIM.y2"))
        if get("FRAMEBUFFER_DIM.flip"):
            ys = (height - 1 - ys[1], height - 1 - ys[0])
        rect = [max(rect[0], x1), min(rect[1], x2), max(rect[2], ys[0]), min(rect[3], ys[1])]
    return DrawTarget(ranges[0], ranges[1], width, height, (rect[0], rect[1], rect[2], rect[3]), block)
