"""What the page about the 3DS tells, read from a run of the sample: one pixel, its draw, its triangle."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixel_way import followed
from pocketgpu.facts.dialect.registers import Register
from pocketgpu.facts.lookup import register_named
from pocketgpu.facts.shader_isa import SEMANTICS
from pocketgpu.inspect.model.why import Touch
from pocketgpu.inspect.n3ds.display_timing import modes_of
from pocketgpu.inspect.n3ds.overdraw import TriangleWatch, shapes_of
from pocketgpu.inspect.n3ds.register_replay import registers_after
from pocketgpu.pica.core.layout import TRIANGLE
from pocketgpu.pica.pdc import DisplayMode

SCREEN, X, Y = "top", 200, 200
ADDRESS = f"f0/px{X},{Y}"
"""The pixel that the page follows: water, with the reflection of the jewel below it."""


class _Records(TriangleWatch):
    """Keeps the triangle records of one draw."""

    records: NDArray[np.int32]

    def take(self, draw: int, records: NDArray[np.int32]) -> None:
        self.records = records.copy()


class Edges:
    """A part of the primitive as the rasteriser has it: three edge functions a x + b y + c, y counted as the viewport
    counts rows.

    row: of the pixel, as the viewport counts. flip: whether memory has the rows the other way round. values: of the
    three at the pixel. mask: which pixels of the target it covers, as rows and columns of memory.
    """

    def __init__(self, record: NDArray[np.int32], column: int, row: int, size: tuple[int, int], flip: bool) -> None:
        _, (a, b, c) = shapes_of(record[None])
        width, height = size
        self.a, self.b, self.c = a[0], b[0], c[0]
        if flip:  # records count rows of memory
            self.b, self.c = -self.b, self.c + self.b * (height - 1)
        self.values = self.a * column + self.b * row + self.c
        rows = np.arange(height)[::-1] if flip else np.arange(height)
        x, y = np.arange(width)[None, :, None], rows[:, None, None]
        self.mask: NDArray[np.bool_] = (self.a * x + self.b * y + self.c >= 0).all(-1)
        floats = record.view(np.float32)
        self._planes = [
            floats[at // 4 : at // 4 + len(SEMANTICS)] for at in (TRIANGLE.BASE, TRIANGLE.D1, TRIANGLE.D2)
        ]  # fmt: skip

    @property
    def covers(self) -> bool:
        return bool((self.values >= 0).all())

    def plane(self, slot: int) -> tuple[float, float, float]:
        """What a value over w is made of: value = base + d1 * second edge + d2 * third edge."""
        base, d1, d2 = (float(part[slot]) for part in self._planes)
        return base, d1, d2

    def over_w(self, slot: int) -> float:
        """A value over w, at the pixel."""
        base, d1, d2 = (part[slot] for part in self._planes)
        return float(base + d1 * np.float32(self.values[1]) + d2 * np.float32(self.values[2]))


class Followed(followed.Followed):
    """The pixel, and what is known about it.

    source: the pixel of the target that `transfer` copied; touch: the last draw there, and below: the one before.
    """

    def __init__(self, capture: Path) -> None:
        super().__init__(capture, SCREEN, ADDRESS)
        self.list = next(one for one in self.run.events(0) if one.kind == "list")

    def choose(self) -> Touch:
        (self.source,) = self.answer.touches[-1].sources
        self.transfer = self.answer.touches[-1].event
        self.touch = next(one for one in reversed(self.source.touches) if one.writer is not None)
        self.below = next(one for one in self.source.touches if one.writer is not None and one is not self.touch)
        return self.touch

    def text(self, field: str) -> str:
        """A field at the draw, REGISTER.FIELD, as text."""
        name, _, part = field.partition(".")
        return known(name)[part].text(self.value(name))

    @cached_property
    def row(self) -> int:
        """The pixel's row in the target as the viewport and the addresses of pixels count; `source.y` is that of
        memory."""
        target = self.run.seek(self.draw.address).target
        return int(target.height - 1 - self.source.y if target.flip else self.source.y)

    # -- triangle -----------------------------------------------------------------------------------------------------
    @cached_property
    def parts(self) -> list[Edges]:
        """The triangles that clipping made of the primitive."""
        watch = _Records(self.run.player.machine, {self.draw.draw})
        self.run.watch(self.draw, watch)
        mine = watch.records[:, TRIANGLE.PRIMITIVE // 4] == self.fragment.primitive
        target = self.run.seek(self.draw.address).target
        size = (target.width, target.height)
        return [Edges(one, self.source.x, self.row, size, target.flip) for one in watch.records[mine]]

    @cached_property
    def part(self) -> Edges:
        """The one of them that covers the pixel."""
        return next(one for one in self.parts if one.covers)

    # -- memory -------------------------------------------------------------------------------------------------------
    def texels(self) -> Iterator[tuple[dict[str, Any], int, float]]:
        """The texels that were read: each with its address and its weight."""
        texture = self.run.seek(self.draw.address).textures[0]
        values = self.stage("texture 0").values
        s, t = values["fraction_s"], values["fraction_t"]
        weights = [(1 - s) * (1 - t), s * (1 - t), (1 - s) * t, s * t]
        for texel, weight in zip(values["texels"], weights, strict=True):
            # Texels count from the bottom, rows of memory from the top of the picture.
            place = texture.place(texture.parts[0], texel["x"], texture.height - 1 - texel["y"])
            yield texel, place.address, weight

    # -- the screen ---------------------------------------------------------------------------------------------------
    @cached_property
    def display(self) -> dict[str, int]:
        """Words of the display controller's registers by name."""
        words, _ = registers_after(self.run.capture, 0)
        return {name: words[known(name).address] for name in (
            "PDC0_ADDRESS_A0", "PDC0_FORMAT", "PDC0_STRIDE", "PDC0_SELECT", "PDC0_HTOTAL", "PDC0_VTOTAL",
        )}  # fmt: skip

    @cached_property
    def mode(self) -> DisplayMode:
        """How the display controller scans."""
        words, _ = registers_after(self.run.capture, 0)
        return modes_of(words)[SCREEN]

    @property
    def scanned(self) -> tuple[int, int]:
        """Clock and line at which the display controller sends the pixel."""
        mode = self.mode
        row = self.screen.shape[0] - 1 - Y
        return mode.hstart + row, mode.v_picture[0] + X


def known(name: str) -> Register:
    """A register of the 3DS by its name."""
    found = register_named(name)
    assert found is not None, name
    return found
