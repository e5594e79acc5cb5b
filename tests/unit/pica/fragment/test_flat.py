"""Flat shading: a triangle has the colour of its third vertex. Source: GBATEK. And what is told instead of drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.parametrize("tier", ["specialised", "general"], indirect=True)
RED, GREEN, BLUE, WHITE = [1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]


def colors(gpu: Any) -> set[tuple[int, ...]]:
    pixels = gpu.pixels().reshape(-1, 4)
    return {tuple(pixel) for pixel in pixels[pixels[:, 3] > 0].tolist()}


def test_a_flat_triangle_has_the_colour_of_its_third_vertex(gpu: Any) -> None:
    gpu.set(FLAT_SHADING=1)
    # Of different distances, so that anything that is interpolated would show.
    corners = np.array([[-1, -1, -0.5, 1], [3, -3, -1.5, 3], [-2, 2, -1, 2]], np.float32)
    gpu.draw(corners, color=[RED, GREEN, BLUE])
    gpu.run()
    assert colors(gpu) == {(0, 0, 255, 255)}
    assert not gpu.ids


def test_every_triangle_of_a_strip_has_its_own_third_vertex(gpu: Any) -> None:
    gpu.set(FLAT_SHADING=1)
    gpu.quad(color=[RED, GREEN, BLUE, WHITE])
    gpu.run()
    assert colors(gpu) == {(0, 0, 255, 255), (255, 255, 255, 255)}


def test_clipped_corners_have_the_colour_too(gpu: Any) -> None:
    gpu.set(FLAT_SHADING=1)
    corners = np.array([[-4, -4, -0.5, 1], [4, -4, -0.5, 1], [0, 4, -0.5, 1]], np.float32)
    gpu.draw(corners, color=[RED, WHITE, GREEN])
    gpu.run()
    assert colors(gpu) == {(0, 255, 0, 255)}


def test_texture_coordinates_stay_smooth(gpu: Any) -> None:
    gpu.set(FLAT_SHADING=1)
    gpu.texture(0, np.arange(64, dtype=np.uint32).reshape(8, 8) << 24 | 0xFF)
    gpu.show()
    gpu.span(0, 1, 0, 1, color=[RED, GREEN, BLUE, WHITE])
    gpu.run()
    assert len(colors(gpu)) == 64


@pytest.mark.parametrize(
    ("registers", "id"),
    [({"PIXEL_SKIP": 1 << 8}, "pica.pixel-skip"), ({"COLOR_OPERATION": 0x01E40000}, "pica.line-skip")],
)
def test_left_out_pixels_are_told_of(gpu: Any, registers: dict[str, int], id: str) -> None:
    gpu.set(**registers)
    gpu.quad(color=[WHITE] * 4)
    gpu.run()
    (event,) = gpu.events
    assert (event.kind, event.id) == ("warning", id) and "all are drawn" in event.message
    assert colors(gpu) == {(255, 255, 255, 255)} and (gpu.pixels()[..., 3] == 255).all()
