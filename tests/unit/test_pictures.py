"""PNG files of arrays: what Pillow reads of them is the array."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from pocketgpu.pictures import thinned, to_png


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 7, 4), (5, 1, 3), (240, 400, 3), (33, 65, 4)])
def test_pillow_reads_the_same_pixels(shape: tuple[int, int, int]) -> None:
    array = np.random.default_rng(sum(shape)).integers(0, 256, shape, np.uint8)
    for pixels in (array, array[::-1], np.zeros_like(array)):
        read = Image.open(BytesIO(to_png(pixels)))
        assert read.mode == ("RGB" if shape[2] == 3 else "RGBA")
        assert (np.asarray(read) == pixels).all()


def test_thinned_pictures_keep_a_pixel_of_each_side() -> None:
    pixels = np.arange(9 * 7, dtype=np.uint8).reshape(9, 7, 1)
    assert thinned(pixels, 1) is not pixels and np.array_equal(thinned(pixels, 1), pixels)
    assert thinned(pixels, 3)[..., 0].tolist() == [[8, 11], [29, 32], [50, 53]]
    assert thinned(pixels[:, :1], 4)[..., 0].tolist() == [[14], [42]]
    assert thinned(pixels[:1], 9).shape == (1, 1, 1)
