"""The encoder of ETC1: the same bytes on every machine, textures that were compressed before, and small errors."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from numpy.typing import NDArray

from pocketgpu.facts import formats
from pocketgpu.pica.memory import surface


def photo(height: int, width: int) -> NDArray[np.uint8]:
    """Smooth colours, an edge, and noise that changes the brightness; RGBA."""
    y, x = np.mgrid[:height, :width]
    random = np.random.default_rng(7)
    noise = random.integers(0, 48, (height, width))
    red = 40 + abs(x * 3 % 320 - 160) + 20 * (x > y) + noise
    green = 2 * y + noise
    blue = 200 - x - y // 2 + noise
    planes = np.stack([red, green, blue, (x * 255) // width], axis=-1)
    found: NDArray[np.uint8] = planes.clip(0, 255).astype(np.uint8)
    return found


def squared(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """The mean squared difference of red, green and blue."""
    return float(((one[..., :3].astype(int) - other[..., :3]) ** 2).mean())


@pytest.mark.parametrize("format", [formats.ETC1, formats.ETC1A4])
def test_textures_that_were_compressed_keep_their_pixels(format: formats.PixelFormat) -> None:
    picture = surface.decode(surface.encode(photo(32, 64), format, "tiled"), format, 64, 32, "tiled")
    again = surface.decode(surface.encode(picture, format, "tiled"), format, 64, 32, "tiled")
    changed = (again != picture).any(axis=-1)
    assert changed.mean() < 0.05 and np.array_equal(again[..., 3], picture[..., 3])


def test_errors_are_small() -> None:
    """Far smaller than with one colour for each half block, which is the least that the format can do."""
    picture = photo(32, 64)
    ours = surface.decode(surface.encode(picture, formats.ETC1, "tiled"), formats.ETC1, 64, 32, "tiled")
    halves = picture.reshape(8, 4, 32, 2, 4).mean(axis=(1, 3), keepdims=True)
    flat = np.broadcast_to(halves, (8, 4, 32, 2, 4)).reshape(picture.shape).astype(np.uint8)
    assert squared(ours, picture) < 0.5 * squared(flat, picture)


def test_the_bytes_are_the_same_everywhere() -> None:
    """Pictures in which many ways to store a block are equally good, too: the first one is taken."""
    y, x = np.mgrid[:16, :16]
    steps = np.stack([x // 4 * 60, y // 4 * 60, 0 * x + 30, 0 * x + 255], axis=-1).astype(np.uint8)
    random = np.random.default_rng(3).integers(0, 256, (16, 16, 4), np.uint8)
    digest = hashlib.sha256()
    for picture in (photo(32, 64), steps, random):
        digest.update(surface.encode(picture, formats.ETC1A4, "tiled"))
    assert digest.hexdigest()[:16] == "22732b412948304f"
