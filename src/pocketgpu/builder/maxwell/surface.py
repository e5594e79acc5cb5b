"""Surfaces in GPU memory for builders: address, size, format, layout."""

from __future__ import annotations

from typing import Final

from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell.formats import COLOR_TARGET, PixelLayout
from pocketgpu.late_dataclass import dataclass

GOB_WIDTH: Final = 64
GOB_HEIGHT: Final = 8


@dataclass(frozen=True, slots=True)
class Surface:
    """A two-dimensional surface at GPU address `address`, of `width` x `height` pixels.

    format: a name among the formats of colour targets. pitch: bytes per row in pitch layout; None for block-linear,
    whose blocks are 2 ** `block_height_log2` GOBs high.
    """

    address: int
    width: int
    height: int
    format: str = "A8B8G8R8"
    pitch: int | None = None
    block_height_log2: int = 4

    def __repr__(self) -> str:
        return line_of(self, f"{self.width}x{self.height} {self.format} at {self.address:#x}")

    @property
    def pixel(self) -> int:
        """Bytes of a pixel. Raises UsageError for a format that does not exist."""
        return self._layout.bytes

    @property
    def code(self) -> int:
        """The number of the format, the same in the 3D and the 2D class."""
        return self._layout.code

    @property
    def _layout(self) -> PixelLayout:
        try:
            return COLOR_TARGET.named(self.format)
        except KeyError:
            known = ", ".join(layout.name for layout in COLOR_TARGET.values())
            raise UsageError(f"no colour target has format {self.format!r}", hint=f"Known are {known}.") from None

    @property
    def row(self) -> int:
        """Bytes of a row's pixels."""
        return self.width * self.pixel

    @property
    def size(self) -> int:
        """Bytes from the start to the end: whole blocks if it is block-linear."""
        if self.pitch is not None:
            return self.pitch * self.height
        rows = GOB_HEIGHT << self.block_height_log2
        return -(-self.row // GOB_WIDTH) * GOB_WIDTH * (-(-self.height // rows) * rows)


def size_of(width: int, height: int, format: str = "A8B8G8R8", *, block_height_log2: int = 4) -> int:
    """Bytes of a block-linear surface."""
    return Surface(0, width, height, format, None, block_height_log2).size
