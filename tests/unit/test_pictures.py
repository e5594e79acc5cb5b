"""PNG files of arrays: what Pillow reads of them is the array."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from pocketgpu.pictures import to_png


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 7, 4), (5, 1, 3), (240, 400, 3), (33, 65, 4)])
def test_pillow_reads_the_same_pixels(shape: tuple[int, int, int]) -> None:
    array = np.random.default_rng(sum(shape)).integers(0, 256, shape, np.uint8)
    for pixels in (array, array[::-1], np.zeros_like(array)):
        read = Image.open(BytesIO(to_png(pixels)))
        assert read.mode == ("RGB" if shape[2] == 3 else "RGBA")
        assert (np.asarray(read) == pixels).all()
