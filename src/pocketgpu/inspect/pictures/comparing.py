"""Comparison of two pictures: how many pixels differ, by how much, where, and a sheet that shows it.

Goldens are PNG files, whose bytes depend on the encoder. So pixels are compared, channel by channel, including alpha; a
picture without alpha counts as opaque.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pictures import png_bytes, to_image
from pocketgpu.wording import counted

Pixels = NDArray[np.uint8]

_DEEP_MODES = ("I", "F")
"""Prefixes of Pillow's modes with more than 8 bits a channel; a conversion to RGBA would clip them."""
_GAP = 8
_LABEL_HEIGHT = 16
_LFS = b"version https://git-lfs"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of `compare`.

    size, golden_size: (width, height) of both. pixels: how many there are. differing: pixels with a channel that
    differs by more than `tolerance`; touched: pixels with a channel that differs at all. largest: the largest
    difference of a channel, 0 to 255. box: (left, top, right, bottom) around the differing pixels, right and bottom
    excluded; None without any. For pictures of different size nothing is counted.
    """

    size: tuple[int, int]
    golden_size: tuple[int, int]
    tolerance: int
    differing: int
    touched: int
    largest: int
    box: tuple[int, int, int, int] | None

    @property
    def same(self) -> bool:
        """Whether the pictures agree within the tolerance."""
        return self.size == self.golden_size and not self.differing

    @property
    def pixels(self) -> int:
        return self.size[0] * self.size[1]

    def __str__(self) -> str:
        if self.size != self.golden_size:
            (width, height), (wide, high) = self.size, self.golden_size
            return f"the picture is {width}x{height}, the golden {wide}x{high}"
        if self.box is None:
            return "no pixel differs" if not self.touched else f"no pixel differs by more than {self.tolerance}"
        left, top, right, bottom = self.box
        by = f" by more than {self.tolerance}" if self.tolerance else ""
        return (
            f"{self.differing} of {counted(self.pixels, 'pixel')} differ{by}, by {self.largest} at most, "
            f"between ({left}, {top}) and ({right - 1}, {bottom - 1})"
        )


def as_pixels(picture: Any) -> Pixels:
    """RGBA of shape (height, width, 4), from an array (grey, RGB or RGBA, 8 bits a channel), a screen or another object
    with an `array`, or a Pillow image.

    Raises UsageError for anything else.
    """
    from PIL.Image import Image

    if isinstance(picture, Image):
        if picture.mode.startswith(_DEEP_MODES):
            raise UsageError(
                f"a picture of mode {picture.mode} has more than 8 bits a channel", hint="Convert it first."
            )
        return np.array(picture.convert("RGBA"))
    found = np.asarray(getattr(picture, "array", picture))
    if found.dtype != np.uint8 or found.size == 0:
        raise UsageError(
            f"this is no picture: {found.dtype}, shape {found.shape}", hint="Pictures are 8 bits a channel."
        )
    if found.ndim == 2:
        found = np.repeat(found[..., None], 3, axis=-1)
    if found.ndim != 3 or found.shape[2] not in (3, 4):
        raise UsageError(f"this is no picture: shape {found.shape}", hint="Shapes are (height, width, 3 or 4).")
    out = np.full((*found.shape[:2], 4), 255, np.uint8)
    out[..., : found.shape[2]] = found
    return out


def read_picture(path: str | os.PathLike[str]) -> Pixels:
    """The RGBA pixels of a picture file. Raises UsageError if it is missing or cannot be read."""
    from PIL import Image, UnidentifiedImageError

    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the picture: {error.strerror or error}", location=name) from error
    if data.startswith(_LFS):
        raise UsageError("this is a pointer of Git LFS, not the picture", location=name, hint="Run 'git lfs pull'.")
    try:
        with Image.open(io.BytesIO(data)) as image:
            return as_pixels(image)
    except UnidentifiedImageError as error:
        raise UsageError("this is no picture, or a damaged one", location=name) from error
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UsageError(f"cannot read the picture: {error}", location=name) from error


def to_png(pixels: Pixels) -> bytes:
    """RGBA pixels as a PNG file, without alpha if all pixels are opaque."""
    shown = pixels[..., :3] if bool((pixels[..., 3] == 255).all()) else pixels
    return png_bytes(to_image(shown))  # the smallest file would be up to 9 % less, and take 2 to 10 times as long


def compare(ours: Pixels, golden: Pixels, tolerance: int = 0) -> Comparison:
    """Compare two pictures of RGBA pixels; a channel may differ by `tolerance` of 255."""
    size, golden_size = (ours.shape[1], ours.shape[0]), (golden.shape[1], golden.shape[0])
    if size != golden_size:
        return Comparison(size, golden_size, tolerance, 0, 0, 0, None)
    off = _distance(ours, golden)
    wrong = off > tolerance
    box = None
    if wrong.any():
        columns, rows = np.flatnonzero(wrong.any(axis=0)), np.flatnonzero(wrong.any(axis=1))
        box = (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
    return Comparison(size, golden_size, tolerance, int(wrong.sum()), int((off > 0).sum()), int(off.max()), box)


def difference(ours: Pixels, golden: Pixels, tolerance: int = 0) -> Pixels:
    """A picture of the difference: dim grey where both agree, blue where they differ within the tolerance, dark red to
    yellow where they differ more (brighter for a larger difference), violet where only one of them has pixels.
    """
    height, width = (max(a, b) for a, b in zip(ours.shape[:2], golden.shape[:2], strict=True))
    rows, columns = (min(a, b) for a, b in zip(ours.shape[:2], golden.shape[:2], strict=True))
    out = np.zeros((height, width, 4), np.uint8)
    for whole in (ours, golden):
        out[: whole.shape[0], : whole.shape[1]] = (96, 0, 128, 255)
    ours, golden = ours[:rows, :columns], golden[:rows, :columns]
    off = _distance(ours, golden)
    grey = (golden[..., :3].astype(np.uint16).sum(axis=-1) // 12).astype(np.uint8)
    both = out[:rows, :columns]
    both[..., :3] = grey[..., None]
    both[off > 0, :3] = (0, 96, 255)
    wrong = off > tolerance
    # A difference of 1 is visible, and looks different from a large one next to it.
    both[wrong, 0] = np.minimum(96 + 2 * off[wrong].astype(np.uint16), 255)
    both[wrong, 1] = off[wrong]
    both[wrong, 2] = 0
    return out


def sheet(pictures: Sequence[tuple[str, Pixels]]) -> Pixels:
    """Pictures side by side, with their names above."""
    from PIL import Image, ImageDraw

    width = sum(pixels.shape[1] for _, pixels in pictures) + _GAP * (len(pictures) - 1)
    height = max(pixels.shape[0] for _, pixels in pictures) + _LABEL_HEIGHT
    out = Image.new("RGBA", (width, height), (32, 32, 32, 255))
    draw = ImageDraw.Draw(out)
    left = 0
    for name, pixels in pictures:
        draw.text((left + 2, 2), name, fill=(255, 255, 255, 255))
        out.paste(Image.fromarray(pixels), (left, _LABEL_HEIGHT))
        left += pixels.shape[1] + _GAP
    return np.array(out)


def _distance(ours: Pixels, golden: Pixels) -> Pixels:
    """The largest difference of any channel, for each pixel."""
    # The larger minus the smaller fits a byte; a plain difference does not.
    off: Pixels = (np.maximum(ours, golden) - np.minimum(ours, golden)).max(axis=-1)
    return off


__all__ = ["Comparison", "Pixels", "as_pixels", "compare", "difference", "read_picture", "sheet", "to_png"]
