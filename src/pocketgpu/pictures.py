"""Arrays of pixels as pictures: for Pillow, as bytes of a PNG file, several beside each other, or moving."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import Displayed, picture_html, title_html
from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from PIL.Image import Image

Bytes = NDArray[np.uint8]
_GROUND = (24, 24, 27)
_LABEL = (228, 228, 231)
_LABEL_SIZE = 13
_LABEL_HEIGHT = 20
_MOVING: Final = (".png", ".apng", ".gif", ".webp")
"""Suffixes of formats with animations."""


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


_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_TYPES: Final = {3: 2, 4: 6}
"""PNG's colour types of so many channels."""
_UP: Final = 2
"""PNG's filter that subtracts the pixel above."""
_EFFORT: Final = 3
"""How hard zlib tries. With all filters and more effort Pillow takes three times as long, for 0.9 of the bytes."""


def to_png(array: Bytes) -> bytes:
    """The bytes of a PNG file of RGB or RGBA (height, width, 3 or 4); notebooks show objects by it.

    It needs no Pillow, whose import costs a fifth of a command that renders one frame.
    """
    height, width, channels = array.shape
    rows = np.ascontiguousarray(array).reshape(height, width * channels)
    filtered = np.empty((height, width * channels + 1), np.uint8)
    filtered[:, 0] = _UP
    filtered[:1, 1:] = rows[:1]
    np.subtract(rows[1:], rows[:-1], out=filtered[1:, 1:])
    head = struct.pack(">IIBBBBB", width, height, 8, _TYPES[channels], 0, 0, 0)
    packed = zlib.compress(filtered.data, _EFFORT)
    return _SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", packed) + _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(name)))


class _PngFile(BytesIO):
    """A file in memory with a name, by whose ending Pillow finds the format. Given a format instead, Pillow loads all
    the usual ones, which takes as long as writing a few pictures."""

    name = "picture.png"


def png_bytes(image: Image) -> bytes:
    """The bytes of a PNG file of a Pillow image."""
    file = _PngFile()
    image.save(file)
    return file.getvalue()


def to_image(pixels: Bytes) -> Image:
    """A Pillow image of an array (height, width), (height, width, 3) or (height, width, 4)."""
    from PIL import Image  # Pillow costs 30 ms to load; most runs show no picture

    return Image.fromarray(np.ascontiguousarray(pixels))


def thinned(pixels: Bytes, step: int) -> Bytes:
    """Every n-th pixel in both directions. A side with few pixels keeps one of them."""
    down, across = (min(step // 2, size - 1) for size in pixels.shape[:2])
    return pixels[down::step, across::step]


def beside(
    images: Sequence[Image], labels: Sequence[str] = (), *, columns: int = 0, scale: int = 1, gap: int = 8
) -> Image:  # fmt: skip
    """One picture of several, each under its label, on a dark ground.

        beside([canvas.image(switches={"fog.arithmetic": value}) for value in values], values).save("fog.png")

    columns: pictures in a row (0: all). scale: how often each pixel is repeated, so that small ones can be seen.
    gap: pixels around each. Cells are as large as the largest picture.

    :raises UsageError: there is no picture, there is another number of labels than of pictures, or a number of columns,
        a scale or a gap that no sheet has.
    """
    from PIL import Image as images_of  # only when pictures are put together
    from PIL import ImageDraw, ImageFont

    if not images or (labels and len(labels) != len(images)):
        raise UsageError(f"{counted(len(images), 'picture')} and {counted(len(labels), 'label')}")
    if columns < 0 or gap < 0:
        raise UsageError(f"no sheet has {counted(columns, 'column')} and gaps of {counted(gap, 'pixel')}")
    larger = _larger(images, scale)
    columns = columns or len(larger)
    head = _LABEL_HEIGHT if labels else 0
    width, height = (max(getattr(one, side) for one in larger) + gap for side in ("width", "height"))
    rows = -(-len(larger) // columns)
    sheet = images_of.new("RGB", (columns * width + gap, rows * (height + head) + gap), _GROUND)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(_LABEL_SIZE)
    for number, one in enumerate(larger):
        x, y = gap + number % columns * width, gap + number // columns * (height + head)
        if labels:
            draw.text((x, y), labels[number], _LABEL, font)
        sheet.paste(one, (x, y + head))
    return sheet


def animate(images: Sequence[Image], path: str | os.PathLike[str], *, milliseconds: int = 100, scale: int = 1) -> None:
    """Write pictures of one size as an animation without an end: the suffix of `path` is that of a format with
    animations (".png", ".gif", ".webp"). scale: how often each pixel is repeated.

    :raises UsageError: there is no picture, they have different sizes, a scale below 1, or another suffix.
    """
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix not in _MOVING:
        raise UsageError(f"no animation is written to {os.fspath(path)}", hint=f"Suffixes are {', '.join(_MOVING)}.")
    if len({one.size for one in images}) != 1:
        raise UsageError("an animation has at least one picture, and all of them have one size")
    larger = _larger(images, scale)
    options: dict[str, Any] = {"lossless": True} if suffix == ".webp" else {}
    larger[0].save(path, save_all=True, append_images=larger[1:], duration=milliseconds, loop=0, **options)


def _larger(images: Sequence[Image], scale: int) -> list[Image]:
    """RGB pictures with each pixel repeated in both directions."""
    if scale < 1:
        raise UsageError(f"a scale of {scale}; pixels are repeated at least once")
    return [one.convert("RGB").resize((one.width * scale, one.height * scale), 0) for one in images]


__all__ = ["Screen", "ShownArray", "animate", "beside", "png_bytes", "thinned", "to_image", "to_png"]


def __dir__() -> list[str]:
    return [*__all__]
