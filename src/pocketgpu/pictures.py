"""Arrays of pixels as pictures: for Pillow, and as the bytes of a PNG file."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import Displayed, picture_html, title_html
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from PIL.Image import Image

Bytes = NDArray[np.uint8]


class ShownArray(Displayed):
    """What pictures of a screen have in common: `array` is upright RGB (height, width, 3)."""

    __slots__ = ()
    array: Bytes

    def __str__(self) -> str:
        return f"{self.width}x{self.height} RGB"

    @property
    def width(self) -> int:
        return int(self.array.shape[1])

    @property
    def height(self) -> int:
        return int(self.array.shape[0])

    @property
    def image(self) -> Image:
        """The picture as a Pillow image of mode RGB."""
        return to_image(self.array)

    def _repr_png_(self) -> bytes:
        return to_png(self.array)

    def _repr_html_(self) -> str:
        return title_html(str(self)) + picture_html(self._repr_png_())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Screen(ShownArray):
    """The picture of one screen, or of one eye of a 3DS: `array` is upright RGB of shape (height, width, 3), uint8."""

    name: str
    array: Bytes

    def __str__(self) -> str:
        return f"{self.name}: {self.width}x{self.height} RGB"


def to_png(array: Bytes) -> bytes:
    """The bytes of a PNG file of RGB or RGBA (height, width, 3 or 4); notebooks show objects by it."""
    return png_bytes(to_image(array))


class _PngFile(BytesIO):
    """A file in memory with a name, by whose ending Pillow finds the format. Given a format instead, Pillow loads all
    the usual ones, which takes as long as writing a few pictures."""

    name = "picture.png"


def png_bytes(image: Image, *, optimize: bool = False) -> bytes:
    """The bytes of a PNG file of a Pillow image. optimize: make it small, even if that takes longer."""
    file = _PngFile()
    image.save(file, optimize=optimize)
    return file.getvalue()


def to_image(pixels: Bytes) -> Image:
    """A Pillow image of an array (height, width), (height, width, 3) or (height, width, 4)."""
    from PIL import Image  # Pillow costs 30 ms to load; most runs show no picture

    return Image.fromarray(np.ascontiguousarray(pixels))
