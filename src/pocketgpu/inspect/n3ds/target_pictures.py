"""The render target of a 3DS as pictures: colour, depth and stencil, upright, with the address of each pixel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.events import sized
from pocketgpu.facts.formats import PixelFormat
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.pictures import Bytes, MomentPicture, grey
from pocketgpu.inspect.n3ds.resources.targets import Target

_CHANNELS: Final = ("red", "green", "blue", "alpha")


class _Part(MomentPicture):
    """A part of a target. array: as `Target.array` and `Target.depth` are turned. event: what has drawn, if that was an
    event."""

    def __init__(self, target: Target, name: str, kind: str, array: NDArray[Any], event: Address | None) -> None:
        self.name, self.kind, self._target, self._array, self._event = name, kind, target, array, event
        self.height, self.width = array.shape[:2]
        place, format = target.address, target.format
        if kind != "colour":
            assert target.depth_format is not None
            place, format = target.depth_address, target.depth_format
        self.title = _title(self.width, self.height, format, place)

    @property
    def pixels(self) -> Bytes:
        return self._array if self.kind == "colour" else grey(self._array, self.kind == "stencil")

    def values(self, x: int, y: int) -> dict[str, str]:
        self.check(x, y)
        found = self._array[y, x]
        if self.kind == "colour":
            return dict(zip(_CHANNELS, map(str, found.tolist()), strict=True))
        return {self.kind: str(int(found))}

    def at(self, x: int, y: int) -> Address | None:
        self.check(x, y)
        if self._event is None:
            return None
        column, row = self._target.place(x, y)
        return self._event.at(pixel=(column, self._target.row(row)))


def _title(width: int, height: int, format: PixelFormat, place: int) -> str:
    return f"{sized(width, height)} {format.name} at {place:#010x}"


def target_pictures(target: Target, event: Address | None) -> Iterator[MomentPicture]:
    """The pictures of a target. event: the address of the event that has just happened; None for a frame."""
    yield _Part(target, "target", "colour", target.array, event)
    stored = target.depth
    if stored is None or target.depth_format is None:
        return
    yield _Part(target, "depth", "depth", np.ascontiguousarray(stored["depth"]), event)
    if target.has_stencil:
        yield _Part(target, "stencil", "stencil", np.ascontiguousarray(stored["stencil"]), event)


__all__ = ["target_pictures"]
