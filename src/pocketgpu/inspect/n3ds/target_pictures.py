"""The render target of a 3DS as pictures: colour, depth and stencil, upright, with the address of each pixel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.events import sized
from pocketgpu.facts.formats import PixelFormat
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.pictures import Bytes, TargetPart, grey
from pocketgpu.inspect.n3ds.resources.targets import Target


class N3dsTargetPart(TargetPart):
    """numbers: turned as those of `Target.array` and `Target.depth` are. format, address: of their memory."""

    def __init__(
        self, target: Target, kind: str, numbers: NDArray[Any], format: PixelFormat, address: int, draw: Address | None
    ) -> None:
        height, width = numbers.shape[:2]
        name = "target" if kind == "colour" else kind
        title = f"{sized(width, height)} {format.name} at {address:#010x}"
        super().__init__(name, kind, (width, height), title, draw)
        self._target, self._numbers = target, numbers

    @property
    def numbers(self) -> NDArray[Any]:
        return self._numbers

    @property
    def pixels(self) -> Bytes:
        return self._numbers if self.kind == "colour" else grey(self._numbers, self.kind == "stencil")

    def place(self, x: int, y: int) -> tuple[int, int]:
        column, row = self._target.place(x, y)
        return column, self._target.row(row)


def target_pictures(target: Target, draw: Address | None) -> Iterator[TargetPart]:
    """The pictures of a target. draw: the address of the draw that has just happened; None after others."""
    yield N3dsTargetPart(target, "colour", target.array, target.format, target.address, draw)
    stored, format = target.depth, target.depth_format
    if stored is None or format is None:
        return
    for kind in ("depth", "stencil") if target.has_stencil else ("depth",):
        numbers = np.ascontiguousarray(stored[kind])
        yield N3dsTargetPart(target, kind, numbers, format, target.depth_address, draw)


__all__ = ["target_pictures"]
