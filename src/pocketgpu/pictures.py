"""Arrays of pixels as pictures: for Pillow, and as the bytes of a PNG file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL.Image import Image

Bytes = NDArray[np.uint8]


def to_png(array: Bytes) -> bytes:
    """The bytes of a PNG file of RGB or RGBA (height, width, 3 or 4); notebooks show objects by it."""
    from io import BytesIO

    out = BytesIO()
    to_image(array).save(out, "png")
    return out.getvalue()


def to_image(pixels: Bytes) -> Image:
    """A Pillow image of an array (height, width), (height, width, 3) or (height, width, 4)."""
    from PIL import Image  # Pillow costs 30 ms to load; most runs show no picture

    return Image.fromarray(np.ascontiguousarray(pixels))
