"""Running scenes, and making pictures of what they leave in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pocketgpu import N3DS
from pocketgpu.capture.formats.citrace_write import Load, Write
from pocketgpu.facts.formats import BY_NAME
from pocketgpu.pica.memory import surface

from .stage import Cell, Entry, Scene, Surface

Array = NDArray[Any]
TOP_WIDTH = 400
MEMORY = 16 << 20
"""Bytes of main memory: no scene needs more."""


@dataclass(frozen=True)
class Shown:
    """What a scene left: bytes of its surfaces by name, ids of events, counted interrupts."""

    scene: Scene
    data: dict[str, bytes]
    events: tuple[str, ...]
    interrupts: dict[str, int]

    def surface(self, name: str) -> Surface:
        return next(s for s in self.scene.surfaces if s.name == name)

    def pixels(self, name: str) -> Array:
        """Stored words of a surface as (height, width, bytes of a pixel), upright."""
        s = self.surface(name)
        size = BY_NAME[s.format].bits // 8
        raw = np.frombuffer(self.data[name], np.uint8).reshape(-1, size)
        return raw[_index(s)]

    def picture(self, name: str) -> Array:
        """RGBA of a surface for looking at; of depths, bright is far from zero."""
        s = self.surface(name)
        pixels = np.ascontiguousarray(self.pixels(name))
        format = BY_NAME[s.format]
        if s.shadow:
            depth, intensity = pixels[..., 0], pixels[..., 3]
            return np.stack([intensity, depth, 0 * depth, np.full_like(depth, 255)], axis=-1)
        if format.kind != "depth":
            return surface.decode(pixels.tobytes(), format, s.width, s.height, "linear")
        found = surface.decode_depth(pixels.tobytes(), format, s.width, s.height, "linear")
        bits = format.channels[0][2]
        grey = (found["depth"] >> (bits - 8)).astype(np.uint8)
        return np.stack([grey, grey, grey, np.full_like(grey, 255)], axis=-1)

    def panels(self) -> dict[str, Array]:
        """RGB pictures to look at: colours, alpha where it says anything, depth, stencil. Surfaces of single cells come
        as one picture."""
        out = {}
        pictures = {s.name: self.picture(s.name) for s in self.scene.surfaces if s.cell is None}
        tiles = [s for s in self.scene.surfaces if s.cell is not None]
        if tiles:
            pictures["cells"] = np.zeros((self.scene.height, self.scene.width, 4), np.uint8)
            pictures["cells"][..., 3] = 255
        for s in tiles:
            cell = self.scene.cells[cast(int, s.cell)]
            picture = self.picture(s.name)[:: s.shrink, :: s.shrink][: cell.height, : cell.width]
            pictures["cells"][cell.y : cell.y + picture.shape[0], cell.x : cell.x + picture.shape[1]] = picture
        for name, picture in pictures.items():
            out[name] = picture[..., :3]
            if len(np.unique(picture[..., 3])) > 1:
                out[f"{name}: alpha"] = np.repeat(picture[..., 3:], 3, axis=-1)
        for s in self.scene.surfaces:
            if s.format == "D24S8":
                out["stencil"] = np.repeat(self.pixels(s.name)[..., 3:], 3, axis=-1)
        return out

    def sheet(self) -> Array:
        """All panels in one picture, side by side."""
        return side_by_side(list(self.panels().values()))

    def cell(self, cell: Cell) -> bytes:
        """What a cell shows: its part of all surfaces of the target's size, or a surface of its own."""
        own = [s for s in self.scene.surfaces if s.cell is not None and self.scene.cells[s.cell] == cell]
        if own:
            return b"".join(self.data[s.name] for s in own)
        box = np.s_[cell.y : cell.y + cell.height, cell.x : cell.x + cell.width]
        return b"".join(self.pixels(s.name)[box].tobytes() for s in self.scene.surfaces if s.cell is None)


def side_by_side(panels: list[Array]) -> Array:
    """RGB pictures as one, with grey where they end."""
    height = max(p.shape[0] for p in panels)
    padded = [np.pad(p, ((0, height - p.shape[0]), (0, 4), (0, 0)), constant_values=96) for p in panels]
    return np.concatenate(padded, axis=1)


def _index(s: Surface) -> Array:
    """Pixel number in memory of each (row, column)."""
    if not s.blocks32:
        return surface.texel_index(s.width, s.height, cast(Any, s.layout))
    y, x = np.mgrid[: s.height, : s.width]
    inside = sum(((x >> b & 1) << 2 * b) + ((y >> b & 1) << 2 * b + 1) for b in range(5))
    return ((y >> 5) * (s.width >> 5) + (x >> 5)) * 1024 + inside


def show(entry: Entry, scene: Scene | None = None, **how: Any) -> Shown:
    """Draw a scene on a new machine. how: evaluator, threads, tier."""
    scene = scene or entry.make()
    machine = N3DS(fcram=MEMORY, switches=entry.choices, **how)
    data = {}
    for number, frame in enumerate(scene.capture.frames):
        for event in frame:
            if isinstance(event, Load):
                machine.load_memory(event.address, event.data)
            else:
                assert isinstance(event, Write)
                machine.write_register(event.address, event.value)
        for s in scene.surfaces:
            if s.frame == number:
                screen = machine.screens["top" if s.width == TOP_WIDTH else "bottom"]
                data[s.name] = screen.array[..., ::-1].tobytes()  # blue first, as RGB8 has it
    data |= {s.name: machine.memory.read(s.address, s.size) for s in scene.surfaces if s.frame is None}
    ids = tuple(sorted({event.id for event in machine.events.drain()}))
    return Shown(scene, data, ids, machine.take_interrupts())
