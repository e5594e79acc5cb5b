"""Render targets of a Switch as pictures: colours, depth and stencil, with the address of each pixel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.pictures import OPAQUE, Bytes, TargetPart, grey
from pocketgpu.inspect.switch.surfaces import Surface, TargetPicture
from pocketgpu.maxwell.formats import arrays

_KINDS: Final = {"Z": "depth", "S": "stencil"}
"""By the name of a format's component."""


class SwitchTargetPart(TargetPart):
    """load: reads the surface; it is called when the part is looked at."""

    def __init__(
        self, surface: Surface, load: Callable[[Surface], TargetPicture], name: str, kind: str, draw: Address | None
    ) -> None:
        across, down = surface.grid
        super().__init__(name, kind, (surface.width // across, surface.height // down), str(surface), draw)
        self._surface, self._load = surface, load

    @cached_property
    def _shown(self) -> TargetPicture:
        return self._load(self._surface)

    @cached_property
    def numbers(self) -> NDArray[Any]:
        """Of the first sample of each pixel."""
        if self.kind == "colour":
            return self._shown.array
        found = self._shown.depth_and_stencil[self.kind == "stencil"]
        assert found is not None
        return found

    @property
    def pixels(self) -> Bytes:
        if self.kind != "colour":
            return grey(self.numbers, self.kind == "stencil")
        if self._surface.samples == 1:
            return np.ascontiguousarray(arrays.picture(self._shown.rows, self._surface.format))
        mixed = self._shown.colours
        mixed[..., 3] = OPAQUE
        return mixed


def target_pictures(
    surfaces: Sequence[Surface], load: Callable[[Surface], TargetPicture], draw: Address | None
) -> Iterator[TargetPart]:
    """The pictures of targets in the order of outputs, then of depth. load: reads one. draw: the address of the draw
    that has just happened: of its first target `why` explains pixels, which depth and stencil of that size share."""
    colours, first = 0, None
    for surface in surfaces:
        kinds = [_KINDS[part.name] for part in surface.format.components if part.name in _KINDS]
        if not kinds:
            name, explained = f"target {colours}" if colours else "target", None if colours else draw
            yield SwitchTargetPart(surface, load, name, "colour", explained)
            colours, first = colours + 1, first or surface
        shared = first is not None and _pixels(first) == _pixels(surface)
        for kind in sorted(kinds):
            yield SwitchTargetPart(surface, load, kind, kind, draw if shared else None)


def _pixels(surface: Surface) -> tuple[int, int, tuple[int, int]]:
    return surface.width, surface.height, surface.grid


__all__ = ["target_pictures"]
