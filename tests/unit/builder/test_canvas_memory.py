"""The canvas: vertices of any attributes, other formats of its target, and what is in memory at the end."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.builder import Box, Canvas
from pocketgpu.builder.canvas import WIDTH, clip

RED, GREEN = (255, 0, 0, 255), (0, 255, 0, 255)
CORNERS = [(*clip(x, y), -0.5, 1) for x, y in ((100, 50), (100, 150), (300, 150), (300, 50))]


def test_vertices_are_drawn_in_order_and_by_indices() -> None:
    canvas = Canvas()
    canvas.show("vertex color")
    canvas.draw_vertices(CORNERS[:3], (1, 0, 0), (0, 0, 1))
    canvas.draw_vertices(CORNERS, (0, 1, 0), (0, 0, 1), indices=[0, 2, 3])
    image = canvas.image()
    assert image.getpixel((120, 140)) == RED[:3], "below the line from the upper left to the lower right"
    assert image.getpixel((280, 60)) == GREEN[:3]
    assert image.getpixel((99, 100)) == image.getpixel((301, 100)) == (24, 28, 40)


def test_attributes_of_each_vertex_are_mixed_between_them() -> None:
    canvas = Canvas()
    canvas.show("vertex color")
    colors = [(1, 0, 0), (1, 0, 0), (0, 0, 1), (0, 0, 1)]
    canvas.draw_vertices(CORNERS, colors, (0, 0, 1), primitive="triangle fan")
    row = np.asarray(canvas.image())[100, 100:300].astype(int)
    assert (np.diff(row[:, 0]) <= 0).all() and (np.diff(row[:, 2]) >= 0).all()
    assert row[0, 0] > 250 and row[-1, 2] > 250


@pytest.mark.parametrize(("format", "levels"), [("RGBA8", 256), ("RGB565", 32), ("RGB5A1", 32), ("RGBA4", 16)])
def test_a_target_has_the_levels_of_its_format(format: str, levels: int) -> None:
    canvas = Canvas((0, 0, 0, 255), format=format)
    canvas.show("vertex color")
    canvas.draw_vertices(CORNERS, [(1, 0, 0), (1, 0, 0), (0, 0, 0), (0, 0, 0)], (0, 0, 1), primitive="triangle fan")
    red = np.asarray(canvas.image())[60:140, 100:300, 0]
    assert len(np.unique(red)) == min(levels, len(np.unique(red[0]))) <= levels
    assert format == "RGBA8" or len(np.unique(red)) == levels


def test_a_background_is_that_of_the_format() -> None:
    for format in ("RGBA8", "RGB565"):
        canvas = Canvas((255, 128, 0, 255), format=format)
        red, green, blue = canvas.image().getpixel((5, 5))
        assert (red, blue) == (255, 0) and abs(green - 128) < 4


def test_what_is_in_memory_is_a_picture() -> None:
    canvas = Canvas()
    pixels = np.zeros((8, 16, 4), np.uint8)
    pixels[0, :, 0], pixels[7, 15], pixels[..., 3] = 255, GREEN, 77
    address = canvas.capture.put_texture(pixels)
    made = canvas.decoded(address, 16, 8)
    assert made.mode == "RGBA" and (np.asarray(made) == pixels).all()
    assert np.asarray(canvas.decoded(canvas.target, 240, WIDTH))[0, 0].tolist() == [24, 28, 40, 255]


def test_frames_have_both_screens() -> None:
    canvas = Canvas()
    lower = canvas.capture.allocate(4 * 240 * 320)
    canvas.capture.clear(lower, 240, 320, 0x00FF00FF).present("bottom", lower)
    canvas.fill(Box(0, 0, 400, 240), RED)
    (frame,) = canvas.frames()
    assert frame.top.array[100, 100].tolist() == [255, 0, 0] and frame.bottom.array[100, 100].tolist() == [0, 255, 0]


def test_what_was_submitted_is_shown_once() -> None:
    canvas = Canvas()
    canvas.fill(Box(0, 0, 400, 240), RED)
    canvas.submit()
    assert len(canvas.images()) == 1 and canvas.image().getpixel((7, 7)) == (255, 0, 0)
    canvas.fill(Box(0, 0, 400, 240), GREEN)
    canvas.submit()
    canvas.capture.present("top", canvas.target).end_frame()
    assert [image.getpixel((7, 7)) for image in canvas.images()] == [(255, 0, 0), (0, 255, 0)]
    assert repr(canvas) == "<Canvas 400x240, 2 frames>"
