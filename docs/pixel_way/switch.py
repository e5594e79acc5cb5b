"""What the page about the Switch tells, read from a run of the sample: one pixel and the two draws that made it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixel_way import followed
from pocketgpu.facts.maxwell import CLASSES, Method
from pocketgpu.inspect.model.why import Touch
from pocketgpu.inspect.switch.block_runs import sample_points
from pocketgpu.inspect.switch.overdraw import ShapeWatch
from pocketgpu.maxwell.graphics.primitives.assembled import SUBPIXELS

SCREEN, X, Y = "screen", 613, 569
ADDRESS = f"f0/px{X},{Y}"
"""The pixel that the page follows: ground of the island, with a firefly in front of it."""
CLASS_3D = "b197"
EDGES = 3


class _Shapes(ShapeWatch):
    """Keeps the edges of a draw's shapes, and the place of a pixel's centre."""

    def __init__(self) -> None:
        self.edges: list[tuple[Any, ...]] = []
        self.boxes: list[Any] = []
        self.centre = (0, 0)

    def take(self, plan: Any, layers: Any, boxes: Any, edges: Any) -> None:
        self.edges.append(edges)
        self.boxes.append(boxes)
        (self.centre,) = sample_points(plan)


class Shape:
    """A triangle as the rasteriser has it. a, b, c: of its edge functions; values: these at the pixel's centre."""

    def __init__(self, a: Any, b: Any, c: Any, box: Any, centre: tuple[int, int]) -> None:
        self.a, self.b, self.c = (part[:EDGES] for part in (a, b, c))
        self.box, self.centre = box, centre
        self.values = self.at(X + centre[0] / SUBPIXELS, Y + centre[1] / SUBPIXELS).astype(np.int64)

    def at(self, x: float, y: float) -> NDArray[np.float64]:
        """The edge functions at a point of the target."""
        return np.asarray(self.a * (x * SUBPIXELS) + self.b * (y * SUBPIXELS) + self.c, np.float64)

    def opposite(self, corners: list[tuple[float, float]]) -> list[int]:
        """For each corner, the edge that does not touch it: the one that is largest there."""
        return [int(np.argmax(self.at(*corner))) for corner in corners]

    def mask(self, width: int, height: int) -> NDArray[np.bool_]:
        """The pixels that it covers."""
        x, y = np.arange(width)[None, :, None], np.arange(height)[:, None, None]
        dx, dy = self.centre
        covered = self.a * (x * SUBPIXELS + dx) + self.b * (y * SUBPIXELS + dy) + self.c >= 0
        return np.asarray(covered.all(-1))


class Followed(followed.Followed):
    """The pixel, and what is known about it.

    ground, firefly: the two draws that made it, the first of which the page follows; rejected: one that the depth test
    rejected.
    """

    def __init__(self, capture: Path) -> None:
        super().__init__(capture, SCREEN, ADDRESS)
        self.vertices = self.moment.vertices

    def choose(self) -> Touch:
        self.ground, self.firefly = (one for one in self.answer.touches if one.writer is not None)
        self.rejected = next(one for one in self.answer.touches if one.fragments and one.writer is None)
        return self.ground

    # -- methods ------------------------------------------------------------------------------------------------------
    def real(self, name: str) -> float:
        """The word of a method at the draw of the ground, as a float."""
        return float(np.array([self.value(name)], np.uint32).view(np.float32)[0])

    def long(self, upper: str, lower: str) -> int:
        """An address of two words."""
        return self.value(upper) << 32 | self.value(lower)

    # -- vertices and shape -------------------------------------------------------------------------------------------
    @property
    def outputs(self) -> list[Any]:
        """What the vertex program made of the triangle's vertices."""
        return [self.vertices.outputs[one] for one in self.corners]

    def window(self, position: Any) -> tuple[float, float, float]:
        """The column, row and depth of a position in clip space."""
        x, y, z, w = (float(one) for one in position)
        scale, offset = (
            [self.real(f"SET_VIEWPORT_{part}_{axis}(0)") for axis in "XYZ"] for part in ("SCALE", "OFFSET")
        )
        first, second, third = (a / w * s + o for a, s, o in zip((x, y, z), scale, offset, strict=True))
        return first, second, third

    @cached_property
    def pixel_trace(self) -> Any:
        """The steps of the pixel program for the ground."""
        return self.run.trace(self.ground.pixel)

    @cached_property
    def firefly_trace(self) -> Any:
        """The steps of the pixel program for the firefly."""
        return self.run.trace(self.firefly.pixel)

    @cached_property
    def shape(self) -> Shape:
        """The triangle that covers the pixel."""
        watch, player = _Shapes(), self.run.player
        tick = self.run.tick_of(self.draw.address)
        player.go(player.at(tick - 1))
        player.play_to(player.at(tick), watch)
        shapes = [
            Shape(*parts, box, watch.centre)
            for edges, boxes in zip(watch.edges, watch.boxes, strict=True)
            for *parts, box in zip(*edges, boxes, strict=True)
            if box[0] <= X <= box[2] and box[1] <= Y <= box[3]
        ]
        return next(one for one in shapes if (one.values >= 0).all())

    # -- memory -------------------------------------------------------------------------------------------------------
    @cached_property
    def texture(self) -> Any:
        """The texture that the pixel program read."""
        handle = int(self.stage("texture").values["handle"], 16)
        textures = self.run.seek(self.draw.address).textures.values()
        return next(one for one in textures if one.handle == handle)


def known(name: str) -> Method:
    """A method of the 3D engine by its name; one of an array by that of the array, NAME(2)."""
    block = next(one for one in CLASSES.values() if one.name == CLASS_3D)
    found = block.get(name.partition("(")[0])
    assert found is not None, name
    return found
