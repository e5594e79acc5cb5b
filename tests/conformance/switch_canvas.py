"""Small pictures of the Switch's GPU: real draws on a target of a few pixels, told as letters that a test can spell.

A picture is a function of a `Canvas` that writes state and draws; `paint` runs it on a machine that was just switched
on. Places are pixels from the target's upper left corner, so that what a test expects can be read off its coordinates.
The general code draws all of them: it is compiled once, and every other code gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from zoo_switch.show import Shown, show
from zoo_switch.stage import PIXEL, VERTEX, Entry, Scene, Surface

from pocketgpu.maxwell.formats import arrays

Array = NDArray[Any]
RED, GREEN, BLUE, WHITE = (1.0, 0, 0, 1), (0, 1.0, 0, 1), (0, 0, 1.0, 1), (1.0, 1, 1, 1)
YELLOW, CYAN, MAGENTA = (1.0, 1, 0, 1), (0, 1.0, 1, 1), (1.0, 0, 1, 1)
LETTERS = {
    (0, 0, 0): ".", (255, 0, 0): "R", (0, 255, 0): "G", (0, 0, 255): "B", (255, 255, 255): "W", (255, 255, 0): "Y",
    (0, 255, 255): "C", (255, 0, 255): "M",
}  # fmt: skip
"""What pixels are called; all other colours are "?"."""
INDEXED_VIEW = VERTEX.replace("EXIT", "ALD R12, a[0xa8]\nF2I.S32.F32 R12, R12\nAST a[0x68], R12\nEXIT")
"""The vertex program with a viewport's number in the third texture coordinate."""

__all__ = [
    "BLUE", "CYAN", "GREEN", "INDEXED_VIEW", "MAGENTA", "PIXEL", "RED", "VERTEX", "WHITE", "YELLOW", "Array",
    "Canvas", "Painting", "Surface", "empty", "paint", "row",
]  # fmt: skip


class Canvas(Scene):
    """A target of side x side pixels, all zero, with a depth target at 1.0; the viewport is the whole of it."""

    def __init__(self, side: int = 8, **options: Any) -> None:
        super().__init__(1, 1, side, **{"clear": (0, 0, 0, 0), "format": "A8B8G8R8", **options})
        self.side = side
        if self.depth is not None:
            self.show_depth()
        self.cell("canvas")
        self.pb.viewport(0, 0, side, side).scissor(None)

    def set(self, **methods: Any) -> Canvas:
        """Write to each method a value, a mapping of its fields, or (number, value) where it has elements."""
        for name, given in methods.items():
            number, value = ((given[0],), given[1]) if isinstance(given, tuple) else ((), given)
            if isinstance(value, Mapping):
                self.pb.method(name, *number, **value)
            else:
                self.pb.method(name, *number, value)
        return self

    def places(self, at: ArrayLike) -> Array:
        """Positions of vertices at pixels (x, y, and z and w where they are given)."""
        places = np.array(at, np.float64)
        places[:, 0] = places[:, 0] / (self.side / 2) - 1
        places[:, 1] = 1 - places[:, 1] / (self.side / 2)
        if places.shape[1] == 4:
            places[:, :3] *= places[:, 3:]
        return places

    def shape(self, at: ArrayLike, color: ArrayLike = RED, topology: str = "TRIANGLES", **more: Any) -> None:
        """Vertices at pixels."""
        self.draw(self.places(at), color, topology=topology, **more)

    def rect(
        self, color: ArrayLike = RED, box: Sequence[float] | None = None, z: float = 0.5, **more: Any
    ) -> None:  # fmt: skip
        """A rectangle (left, top, right, bottom in pixels), counter-clockwise; the whole target unless told."""
        x0, y0, x1, y1 = box or (0, 0, self.side, self.side)
        self.shape([(x0, y1, z), (x1, y1, z), (x1, y0, z), (x0, y0, z)], color, "TRIANGLE_FAN", **more)

    def bars(self, *colors: ArrayLike, z: Sequence[float] | float = 0.5, width: int = 2) -> None:
        """Upright bands from the left, `width` pixels each; z: of all, or of each."""
        for n, color in enumerate(colors):
            self.rect(color, (n * width, 0, (n + 1) * width, self.side), z if isinstance(z, float) else z[n])


class Painting:
    """What a canvas left."""

    def __init__(self, canvas: Canvas, shown: Shown) -> None:
        self.canvas, self._shown, self.events = canvas, shown, shown.events

    def rows(self, surface: Surface, layer: int = 0) -> Array:
        """(rows, bytes) of a surface's samples."""
        rows: Array = self._shown.rows(surface)[layer]
        return rows

    def raw(self, surface: Surface) -> bytes:
        """A surface as it lies in memory."""
        return self._shown.data[surface.name]

    def rgba(self, surface: Surface | None = None, layer: int = 0) -> Array:
        """Colours of a target (the first one) as numbers from 0 to 1 or as stored, (rows, columns, 4)."""
        surface = surface or self.canvas.color
        found: Array = arrays.decode(self.rows(surface, layer), surface.layout)
        return found

    def letters(self, surface: Surface | None = None, layer: int = 0) -> str:
        """Rows from top to bottom, with spaces between them."""
        pixels = np.round(np.clip(self.rgba(surface, layer), 0, 1) * 255).astype(int)
        return " ".join("".join(LETTERS.get(tuple(p[:3].tolist()), "?") for p in line) for line in pixels)

    @property
    def picture(self) -> str:
        return self.letters()

    def zeta(self, layer: int = 0) -> tuple[Array, Array]:
        """Depth and stencil, (rows, columns) each."""
        assert self.canvas.depth is not None
        depth, stencil = arrays.decode_depth(self.rows(self.canvas.depth, layer), self.canvas.depth.layout)
        assert depth is not None and stencil is not None
        return depth, stencil

    @property
    def depth(self) -> Array:
        return self.zeta()[0]

    @property
    def stencil(self) -> Array:
        return self.zeta()[1]

    def result(self, number: int = 0) -> bytes:
        """Memory that the canvas took with `result`."""
        return self._shown.data[f"result {number}"]


def paint(
    function: Callable[..., object], *args: Any, choices: Mapping[str, str] | None = None, tier: str = "general",
    evaluator: str = "llvm", canvas: Mapping[str, Any] | None = None, **more: Any,
) -> Painting:  # fmt: skip
    """Run a picture: function(canvas, *args, **more). canvas: options of the canvas."""
    made = Canvas(**(canvas or {}))
    function(made, *args, **more)
    made.submit()
    entry = Entry("canvas", "", lambda: made, "", (), choices or {})
    return Painting(made, show(entry, made, tier=tier, evaluator=evaluator))


def empty(side: int = 8) -> str:
    """The letters of a target that nothing was drawn to."""
    return row(*["." * side] * side)


def row(*lines: str) -> str:
    """Letters of a picture from its rows; "4 x" in front of one repeats it."""
    out: list[str] = []
    for line in lines:
        times, _, rest = line.rpartition(" x ")
        out += [rest] * int(times or 1)
    return " ".join(out)
