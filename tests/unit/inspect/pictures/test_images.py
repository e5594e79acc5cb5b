"""Bytes of a surface as a picture and back, held to a plain walk over its pixels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from PIL import Image

from pocketgpu.errors import UsageError
from pocketgpu.inspect.pictures.images import format_named, from_picture, to_picture
from pocketgpu.pica.memory.surface import Layout

WIDTH, HEIGHT = 16, 8
WAYS = list(itertools.product((False, True), repeat=2))
TILE = [(n & 1 | n >> 1 & 2 | n >> 2 & 4, n >> 1 & 1 | n >> 2 & 2 | n >> 3 & 4) for n in range(64)]
"""Column and row of each pixel of a tile of 8 x 8, in order of memory: the bits of both in turns."""


def stored(layout: Layout) -> list[tuple[int, int]]:
    """Column and row of each pixel, in order of memory."""
    if layout == "linear":
        return [(x, y) for y in range(HEIGHT) for x in range(WIDTH)]
    tiles = [(x, y) for y in range(0, HEIGHT, 8) for x in range(0, WIDTH, 8)]
    return [(left + x, top + y) for left, top in tiles for x, y in TILE]


def seen(column: int, row: int, flip: bool, upright: bool) -> tuple[int, int]:
    """x and y of the picture where a pixel of memory is seen."""
    if flip:
        row = HEIGHT - 1 - row
    return (row, WIDTH - 1 - column) if upright else (column, row)


@pytest.mark.parametrize(("flip", "upright"), WAYS)
@pytest.mark.parametrize("layout", ["linear", "tiled"])
def test_each_pixel_is_seen_at_its_place(layout: Layout, flip: bool, upright: bool) -> None:
    """Bytes of RGBA8 are alpha, blue, green, red."""
    raw = np.random.default_rng(1).integers(0, 256, (WIDTH * HEIGHT, 4), np.uint8)
    picture = to_picture(raw.tobytes(), format_named("RGBA8"), WIDTH, HEIGHT, layout, flip=flip, upright=upright)
    assert picture.size == ((HEIGHT, WIDTH) if upright else (WIDTH, HEIGHT)) and picture.mode == "RGBA"
    for (column, row), pixel in zip(stored(layout), raw.tolist(), strict=True):
        assert picture.getpixel(seen(column, row, flip, upright)) == tuple(pixel[::-1])
    again = from_picture(picture, format_named("rgba8888"), layout, flip=flip, upright=upright)
    assert again == raw.tobytes()


def test_pictures_without_alpha_are_opaque() -> None:
    raw = bytes(range(24))
    picture = to_picture(raw, format_named("RGB8"), 4, 2, "linear")
    assert picture.mode == "RGB" and picture.getpixel((0, 0)) == (2, 1, 0) and picture.getpixel((3, 1)) == (23, 22, 21)
    assert from_picture(picture, format_named("RGB8"), "linear") == raw


@pytest.mark.parametrize(("format", "size", "lowest"), [("D16", 2, 0), ("D24", 3, 1), ("D24S8", 4, 1)])
def test_depth_is_grey_with_its_upper_bits(format: str, size: int, lowest: int) -> None:
    raw = np.random.default_rng(2).integers(0, 256, (WIDTH * HEIGHT, size), np.uint8)
    picture = to_picture(raw.tobytes(), format_named(format), WIDTH, HEIGHT, "linear")
    grey = raw[:, lowest].astype(int) | raw[:, lowest + 1].astype(int) << 8
    assert np.asarray(picture).ravel().tolist() == grey.tolist() and picture.mode.startswith("I;16")
    with pytest.raises(UsageError, match="no colours"):
        from_picture(Image.new("RGB", (8, 8)), format_named(format), "tiled")


@pytest.mark.parametrize("size", [(8, 8), (16, 8), (8, 12), (12, 8), (9, 9)])
def test_tiles_are_whole(size: tuple[int, int]) -> None:
    image = Image.new("RGB", size)
    assert len(from_picture(image, format_named("RGB565"), "linear")) == 2 * size[0] * size[1]
    if any(side % 8 for side in size):
        with pytest.raises(UsageError, match="whole number of tiles"):
            from_picture(image, format_named("RGB565"), "tiled")
    else:
        assert len(from_picture(image, format_named("RGB565"), "tiled")) == 2 * size[0] * size[1]


def test_colours_become_luminance_as_for_television() -> None:
    """Grey stays as it is; red, green and blue count 0.299, 0.587 and 0.114."""
    colours = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (10, 20, 30), *((n, n, n) for n in (200, 255, 0, 1))]
    image = Image.new("RGB", (8, 1))
    for x, colour in enumerate(colours):
        image.putpixel((x, 0), colour)
    found = from_picture(image, format_named("I8"), "linear")
    for value, (r, g, b) in zip(found, colours, strict=True):
        assert abs(value - (0.299 * r + 0.587 * g + 0.114 * b)) <= 0.6
    both = from_picture(image, format_named("LA8"), "linear")
    assert both[1::2] == found and set(both[::2]) == {255}
    assert [*found[4:]] == [200, 255, 0, 1]


def test_names_of_formats() -> None:
    assert format_named(" l8 ") is format_named("I8") and format_named("Rgb565").name == "RGB565"
    with pytest.raises(ValueError, match="'no' is no pixel format"):
        format_named("no")
