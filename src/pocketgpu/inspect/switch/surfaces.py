"""Surfaces: the addresses of the pixels of a target, a blit or a shown picture, and the pixel of an address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.formats.mxcap import Present
from pocketgpu.displayed import line_of, picture_html, title_html
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell.formats import PixelLayout, shown_layout
from pocketgpu.inspect.model.event import Range
from pocketgpu.lanes import Engine
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.slices import Plane
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.formats import arrays
from pocketgpu.maxwell.graphics.output.targets import Target, colour_slots, colour_target, depth_target
from pocketgpu.maxwell.memory.blocklinear import Layout
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.memory.surface_copy import SurfaceSide, to_array
from pocketgpu.pictures import png_bytes, to_image
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_BYTES = 1 << 29
"""Most bytes of a surface that becomes a picture: registers can describe more than the memory has."""


@dataclass(frozen=True)
class Surface:
    """One slice of a surface. width, height: in samples; grid: samples of a pixel across and down.

    name: for people. slot: of a colour target, None for others.
    """

    name: str
    plane: Plane
    format: PixelLayout
    width: int
    height: int
    grid: tuple[int, int] = (1, 1)
    slot: int | None = None

    @property
    def address(self) -> int:
        """GPU address of the surface."""
        return self.plane.va

    @property
    def samples(self) -> int:
        """How many samples a pixel has."""
        return self.grid[0] * self.grid[1]

    @property
    def size(self) -> int:
        """Bytes from the address to the end of the slice."""
        if self.plane.layout is not None:
            return self.plane.layout.size
        return self.plane.pitch * max(self.height - 1, 0) + self.width * self.format.bytes

    def place(self, x: int, y: int) -> int:
        """GPU address of the sample at column x, row y."""
        column = self.plane.columns(np.array(x * self.format.bytes, np.int64))
        return self.plane.va + int(column) + int(self.plane.rows(np.array(y, np.int64)))

    def places(self, x: int, y: int) -> list[int]:
        """GPU addresses of the samples of pixel x, y, row by row."""
        across, down = self.grid
        return [self.place(x * across + i, y * down + j) for j in range(down) for i in range(across)]

    def find(self, address: int) -> tuple[int, int] | None:
        """Column and row of the sample that a GPU address belongs to."""
        size = self.format.bytes
        offset = address - self.plane.va
        rows = self.plane.rows(np.arange(self.height, dtype=np.int64))
        columns = self.plane.columns(np.arange(self.width, dtype=np.int64) * size)
        left = offset - rows
        order = np.argsort(columns, kind="stable")
        at = np.searchsorted(columns, left, side="right", sorter=order) - 1
        good = at >= 0
        found = columns[order[np.maximum(at, 0)]]
        good &= (left >= found) & (left < found + size)
        hits = np.flatnonzero(good)
        if not len(hits):
            return None
        y = int(hits[0])
        return int(order[at[y]]), y

    def inside(self, x: int, y: int) -> bool:
        """Whether there is such a pixel."""
        return 0 <= x < self.width // self.grid[0] and 0 <= y < self.height // self.grid[1]

    def __repr__(self) -> str:
        return line_of(self, str(self))

    def __str__(self) -> str:
        samples = f", {counted(self.samples, 'sample')}" if self.samples > 1 else ""
        size = f"{self.width // self.grid[0]}x{self.height // self.grid[1]}"
        return f"{self.name} {size} {self.format.name} at {self.address:#x}{samples}"

    # -- contents -----------------------------------------------------------------------------------------------------
    def rows(self, memory: GpuMemory, engine: Engine) -> NDArray[np.uint8]:
        """Its bytes row by row, (height, bytes of a row); 0 where nothing is mapped.

        :raises UsageError: it has more than MOST_BYTES.
        """
        plane = self.plane
        if self.width * self.format.bytes * self.height > MOST_BYTES:
            raise UsageError(f"{self} has more than {MOST_BYTES >> 20} MiB")
        if not self.width * self.height:
            return np.zeros((self.height, self.width * self.format.bytes), np.uint8)
        side = SurfaceSide(plane.va, z=plane.z, pitch=plane.pitch, layout=plane.layout)
        return to_array(memory, engine, side, self.width * self.format.bytes, self.height)[0]

    def value(self, raw: bytes) -> tuple[Any, ...]:
        """The meaning of a sample's bytes: red, green, blue and alpha, or depth and stencil (None if there is none)."""
        rows = np.frombuffer(raw, np.uint8).reshape(1, -1)
        if any(c.name in "ZS" for c in self.format.components):
            depth, stencil = arrays.decode_depth(rows, self.format)
            return (
                None if depth is None else float(depth[0, 0]),
                None if stencil is None else int(stencil[0, 0]),
            )
        return tuple(arrays.decode(rows, self.format)[0, 0].tolist())


_MIXED_ROWS: Final = 16
"""Rows of pixels that are mixed at a time."""


@dataclass(frozen=True, eq=False)
class TargetPicture:
    """The contents of a target at a moment.

    rows: bytes, (height, bytes of a row), in samples. `array`: values of pixels, (height, width, 4), or (height, width)
    for depth; with several samples, those of the first. `samples`: values of all, (height, width, samples, …).
    """

    surface: Surface
    rows: NDArray[np.uint8]

    @property
    def is_depth(self) -> bool:
        """Whether it holds depth or stencil."""
        return any(c.name in "ZS" for c in self.surface.format.components)

    @property
    def stored(self) -> NDArray[Any]:
        """Values of all samples, row by row: (height, width, 4) for colours, (height, width) for depth or stencil."""
        if not self.is_depth:
            return arrays.decode(self.rows, self.surface.format)
        depth, stencil = arrays.decode_depth(self.rows, self.surface.format)
        found = depth if depth is not None else stencil
        assert found is not None
        return found

    @property
    def depth_and_stencil(self) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """Depth and stencil of the first sample of each pixel, (height, width); None for what it does not hold."""
        if not self.is_depth:
            return None, None
        across, down = self.surface.grid
        cut = np.s_[: self.height * down : down, : self.width * across : across]
        depth, stencil = (
            None if one is None else np.ascontiguousarray(one[cut])
            for one in arrays.decode_depth(self.rows, self.surface.format)
        )
        return depth, stencil

    @property
    def samples(self) -> NDArray[Any]:
        """Values by pixel and sample."""
        across, down = self.surface.grid
        values = self.stored
        height, width = values.shape[0] // down, values.shape[1] // across
        cut = values[: height * down, : width * across]
        parts = cut.reshape(height, down, width, across, *values.shape[2:])
        return np.moveaxis(parts, 1, 2).reshape(height, width, down * across, *values.shape[2:])

    @property
    def array(self) -> NDArray[Any]:
        """Values of the first sample of each pixel."""
        return np.ascontiguousarray(self.samples[:, :, 0])

    @property
    def width(self) -> int:
        return self.surface.width // self.surface.grid[0]

    @property
    def height(self) -> int:
        return self.surface.height // self.surface.grid[1]

    @property
    def image(self) -> Image:
        """A Pillow image: colours as screens show them, samples mixed; depth as grey, its least value black."""
        if self.is_depth:
            grey = self.samples[:, :, 0].astype(np.float64)
            low, high = float(np.nanmin(grey)), float(np.nanmax(grey))
            scaled = np.nan_to_num((grey - low) / (high - low or 1.0)) * 255
            return to_image(np.repeat(scaled.astype(np.uint8)[..., None], 3, axis=2))
        return to_image(np.ascontiguousarray(self.colours[..., :3]))

    @property
    def colours(self) -> NDArray[np.uint8]:
        """RGBA as screens show it, (height, width, 4), samples mixed. Not for depth."""
        across, down = self.surface.grid
        pixels = np.ascontiguousarray(arrays.picture(self.rows, self.surface.format))
        if across * down == 1:
            return pixels
        words = pixels.view(np.uint32)[..., 0]
        mixed = np.empty((self.height, self.width), np.uint32)
        for top in range(0, self.height, _MIXED_ROWS):  # so many that the processor's cache holds them
            cut = words[top * down : (top + _MIXED_ROWS) * down, : self.width * across]
            mixed[top : top + _MIXED_ROWS] = _mixed(cut[: self.height * down - top * down], across, down)
        return mixed[..., None].view(np.uint8)

    def _repr_png_(self) -> bytes:
        return png_bytes(self.image)

    def _repr_html_(self) -> str:
        return title_html(str(self)) + picture_html(self._repr_png_())

    def __str__(self) -> str:
        return str(self.surface)

    def __repr__(self) -> str:
        return line_of(self, f"{self.surface.name}: {self.width}x{self.height} {self.surface.format.name}")


def _mixed(words: NDArray[np.uint32], across: int, down: int) -> NDArray[np.uint32]:
    """The mean of each grid of samples, whose four bytes are channels. Rows are of whole grids."""
    # Two channels are added at once, in 16 bits each; samples of two columns, in a word of 64 bits.
    shift, low, wide = np.uint32(8), np.uint32(0xFF00FF), np.uint64(0xFF00FF)
    half, places = np.uint32(across * down // 2 * 0x10001), np.uint32((across * down).bit_length() - 1)
    pairs = words.view(np.uint64)
    mask = wide | wide << np.uint64(32)
    found: NDArray[np.uint32] = np.zeros((), np.uint32)
    for high in (False, True):
        total = (pairs[::down] >> np.uint64(shift) if high else pairs[::down]) & mask
        for row in range(1, down):
            total += (pairs[row::down] >> np.uint64(shift) if high else pairs[row::down]) & mask
        columns = total.view(np.uint32)
        while columns.shape[1] > words.shape[1] // across:
            columns = columns[:, ::2] + columns[:, 1::2]
        mean = (columns + half) >> places & low
        found = mean << shift | found if high else mean
    return found


def surface_of(target: Target, grid: tuple[int, int], layer: int = 0) -> Surface:
    """A layer of a target."""
    words = dict(target.words)
    if words["PITCH"]:
        plane = Plane.linear(target.address, words["PITCH"])
    else:
        z = words["FIRST_LAYER"] + layer if not words["LAYER_STRIDE"] else 0
        layout = Layout(
            max(target.width, 1) * target.format.bytes, max(target.height, 1), max(z + 1, target.layers),
            words["BLOCK_HEIGHT"], words["BLOCK_DEPTH"],
        )  # fmt: skip
        plane = Plane(target.address + layer * words["LAYER_STRIDE"], 0, layout, z)
    return Surface(target.name, plane, target.format, target.width, target.height, grid, target.slot)


def targets_of(state: State) -> list[Target]:
    """The colour targets that registers route outputs to, then the depth target."""
    found = []
    for slot in dict.fromkeys(colour_slots(state)):
        target = colour_target(state, slot, False, [])
        if target is not None:
            found.append(target)
    depth = depth_target(state, False, [])
    return [*found, *([depth] if depth is not None else [])]


def shown_surface(present: Present) -> Surface:
    """The surface of a present."""
    format = shown_layout(present.format)
    if present.block_linear:
        plane = Plane.blocks(present.gpu_va, present.stride, present.height, present.block_height_log2)
    else:
        plane = Plane.linear(present.gpu_va, present.stride)
    return Surface("the shown surface", plane, format, present.width, present.height)


def targets_read(state: State) -> tuple[Range, ...]:
    """The targets whose contents decide what is drawn: depth and stencil that are tested, colours that are blended."""
    tested = any(state.field(name, "ENABLE") for name in ("SET_DEPTH_TEST", "SET_STENCIL_TEST"))
    logic = state.field("SET_LOGIC_OP", "ENABLE")
    return tuple(
        Range(target.address, target.size)
        for target in targets_of(state)
        if (tested if target.slot is None else logic or state.field("SET_BLEND", "ENABLE", target.slot))
    )
