"""Running scenes of the Switch's zoo, and making pictures of what they leave in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from zoo.show import side_by_side

from pocketgpu.capture.driver.switch import SwitchDriver
from pocketgpu.maxwell.formats import arrays
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.memory.blocklinear import detile

from .stage import Cell, Entry, Scene, Surface

Array = NDArray[Any]


@dataclass(frozen=True)
class Shown:
    """What a scene left: bytes of its surfaces by name, of its results by number; ids of events."""

    scene: Scene
    data: dict[str, bytes]
    events: tuple[str, ...]

    def rows(self, s: Surface) -> Array:
        """(layers, rows, bytes) of samples."""
        size = s.layer_size
        return np.stack([detile(self.data[s.name][n * size :][:size], s.block_linear)[0] for n in range(s.layers)])

    def pictures(self, s: Surface) -> dict[str, Array]:
        """RGBA of a surface for looking at, samples mixed; layers below each other."""
        layers = self.rows(s)
        rows = layers.reshape(-1, layers.shape[-1])
        if not s.depth:
            return {s.name: self._mixed(s, arrays.picture(rows, s.layout))}
        depth, stencil = arrays.decode_depth(rows, s.layout)
        out = {}
        for name, values, most in (("depth", depth, 1.0), ("stencil", stencil, 255.0)):
            if values is not None:
                grey = np.clip(values / most * 255, 0, 255).astype(np.uint8)
                out[name] = self._mixed(s, np.stack([grey, grey, grey, np.full_like(grey, 255)], axis=-1))
        return out

    @staticmethod
    def _mixed(s: Surface, pixels: Array) -> Array:
        across, down = s.grid
        grid = pixels.reshape(s.layers * s.height, down, s.width, across, 4)
        mixed: Array = np.round(grid.mean(axis=(1, 3))).astype(np.uint8)
        return mixed

    def panels(self) -> dict[str, Array]:
        """RGB pictures to look at: colours, alpha where it says anything, depth, stencil."""
        out: dict[str, Array] = {}
        pictures = [found for s in self.scene.surfaces if s.cell is None for found in self.pictures(s).items()]
        tiles = [s for s in self.scene.surfaces if s.cell is not None]
        if tiles:
            whole = np.zeros((self.scene.height, self.scene.width, 4), np.uint8)
            whole[..., 3] = 255
            for s in tiles:
                cell = self.scene.cells[s.cell or 0]
                picture = next(iter(self.pictures(s).values()))[: cell.height, : cell.width]
                whole[cell.y : cell.y + picture.shape[0], cell.x : cell.x + picture.shape[1]] = picture
            pictures.insert(0, ("cells", whole))
        for name, picture in pictures:
            out[name] = picture[..., :3]
            if len(np.unique(picture[..., 3])) > 1:
                out[f"{name}: alpha"] = np.repeat(picture[..., 3:], 3, axis=-1)
        return out

    def sheet(self) -> Array:
        """All panels in one picture, side by side."""
        return side_by_side(list(self.panels().values()))

    def cell(self, cell: Cell) -> bytes:
        """What a cell shows: its part of all surfaces, and its results."""
        found = []
        number = self.scene.cells.index(cell)
        for s in self.scene.surfaces:
            if s.cell is not None:
                found += [self.data[s.name]] if s.cell == number else []
                continue
            across, down = s.grid[0] * s.layout.bytes, s.grid[1]
            x, y = cell.x * across, cell.y * down
            found.append(_rows(self, s)[:, y : y + cell.height * down, x : x + cell.width * across].tobytes())
        results = [self.data[f"result {n}"] for n, one in enumerate(self.scene.bytes) if one.cell == number]
        return b"".join(found + results)


@lru_cache(maxsize=8)
def _rows_of(data: bytes, s: Surface, shown: int) -> Array:
    size = s.layer_size
    return np.stack([detile(data[n * size :][:size], s.block_linear)[0] for n in range(s.layers)])


def _rows(shown: Shown, s: Surface) -> Array:
    """Rows of a surface, the last few kept."""
    return _rows_of(shown.data[s.name], s, id(shown.scene))


def show(
    entry: Entry, scene: Scene | None = None, *, threads: int = 1, evaluator: str = "llvm", tier: str = "auto"
) -> Shown:  # fmt: skip
    """Draw a scene on a machine that was just switched on. tier: as for `Drawing`."""
    scene = scene or entry.make()
    machine = _machine(threads, evaluator, tuple(sorted(entry.choices.items())))
    machine.reset()
    machine.drawing.tier = tier
    SwitchDriver(scene.capture.log(), machine).play_rest()
    memory = machine.memory
    data = {s.name: memory.read(s.address, s.layer_size * s.layers) for s in scene.surfaces}
    data |= {f"result {n}": memory.read(one.address, one.size) for n, one in enumerate(scene.bytes)}
    return Shown(scene, data, tuple(sorted({event.id for event in machine.events.drain()})))


@lru_cache(maxsize=8)
def _machine(threads: int, evaluator: str, choices: tuple[tuple[str, str], ...]) -> GM20B:
    """One machine for all scenes that want the same: code that was made once is there for all."""
    chosen: Mapping[str, str] = dict(choices)
    return GM20B(threads=threads, evaluator=evaluator, switches=chosen)
