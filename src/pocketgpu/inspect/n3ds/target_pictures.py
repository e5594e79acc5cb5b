"""The render target of a 3DS as pictures: colour, depth and stencil, upright, with the address of each pixel."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.events import sized
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.pictures import Bytes, TargetPart, grey
from pocketgpu.inspect.n3ds.resources.targets import Target


class N3dsTargetPart(TargetPart):
    """Its memory is read when the part is looked at."""

    def __init__(self, target: Target, kind: str, draw: Address | None) -> None:
        height, width = target.shape
        name, format, address = "target", target.format, target.address
        if kind != "colour":
            assert target.depth_format is not None
            name, format, address = kind, target.depth_format, target.depth_address
        super().__init__(name, kind, (width, height), f"{sized(width, height)} {format.name} at {address:#010x}", draw)
        self._target = target

    @cached_property
    def numbers(self) -> NDArray[Any]:
        """Turned as `Target.array` and `Target.depth` are."""
        if self.kind == "colour":
            return self._target.array
        stored = self._target.depth
        assert stored is not None
        return np.ascontiguousarray(stored[self.kind])

    @property
    def pixels(self) -> Bytes:
        return self.numbers if self.kind == "colour" else grey(self.numbers, self.kind == "stencil")

    def place(self, x: int, y: int) -> tuple[int, int]:
        column, row = self._target.place(x, y)
        return column, self._target.row(row)


def target_pictures(target: Target, draw: Address | None) -> Iterator[TargetPart]:
    """The pictures of a target. draw: the address of the draw that has just happened; None after others."""
    yield N3dsTargetPart(target, "colour", draw)
    if target.has_depth:
        for kind in ("depth", "stencil") if target.has_stencil else ("depth",):
            yield N3dsTargetPart(target, kind, draw)


__all__ = ["target_pictures"]
