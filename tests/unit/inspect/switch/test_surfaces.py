"""Surfaces: where each pixel and sample is in memory, and targets as pictures, held to the slow definition."""

from __future__ import annotations

import numpy as np
import pytest
from support.slow_surfaces import Slow

from pocketgpu.facts.maxwell.formats import COLOR_TARGET, DEPTH, PixelLayout
from pocketgpu.inspect.switch.surfaces import Surface, TargetPicture
from pocketgpu.maxwell.engines.common.slices import Plane

ADDRESS = 0x5_0000_0000
RGBA, RED = COLOR_TARGET.named("A8B8G8R8"), COLOR_TARGET.named("R8")


def surfaces(format: PixelLayout, width: int, height: int) -> list[tuple[Surface, Slow]]:
    """The same surface with lines one after the other, with lines that go up, and in blocks."""
    line = width * format.bytes
    return [
        (Surface("a target", Plane.linear(ADDRESS, line + 32), format, width, height),
         Slow(ADDRESS, line, height, pitch=line + 32)),
        (Surface("a target", Plane.linear(ADDRESS, -line), format, width, height),
         Slow(ADDRESS, line, height, pitch=-line)),
        (Surface("a target", Plane.blocks(ADDRESS, line, height, 1), format, width, height),
         Slow(ADDRESS, line, height, block_height=1)),
    ]  # fmt: skip


@pytest.mark.parametrize("format", [RGBA, RED], ids=lambda one: one.name)
def test_each_byte_of_a_pixel_is_found_again(format: PixelLayout) -> None:
    width, height = 20, 19
    for surface, slow in surfaces(format, width, height):
        for y in range(0, height, 3):
            for x in range(0, width, 3):
                assert surface.place(x, y) == slow.address(x * format.bytes, y)
                for byte in range(format.bytes):
                    assert surface.find(slow.address(x * format.bytes + byte, y)) == (x, y)


def test_bytes_beside_the_pixels_belong_to_none() -> None:
    (linear, slow), _, (blocks, blocks_slow) = surfaces(RGBA, 20, 19)
    # Between the lines, before the first and after the last; in blocks to the right of a line and below the last.
    for address in (slow.address(80, 3), slow.address(111, 3), ADDRESS - 1, slow.address(80, 18), slow.address(0, 19)):
        assert linear.find(address) is None
    for x, y in ((80, 3), (127, 18), (0, 19), (64, 31)):
        assert blocks.find(blocks_slow.address(x, y)) is None
    assert (linear.size, blocks.size) == (112 * 18 + 80, blocks_slow.size) and linear.address == ADDRESS


def test_samples_of_a_pixel() -> None:
    """A pixel of 4 x 2 samples: they are one after the other in lines of the surface."""
    surface = Surface("a target", Plane.linear(ADDRESS, 256), RGBA, 16, 8, (4, 2), 0)
    assert surface.samples == 8
    expected = [ADDRESS + 256 * (2 * 3 + j) + 4 * (4 * 2 + i) for j in range(2) for i in range(4)]
    assert surface.places(2, 3) == expected
    inside = {(x, y) for x in range(-1, 6) for y in range(-1, 6) if surface.inside(x, y)}
    assert inside == {(x, y) for x in range(4) for y in range(4)}
    assert str(surface) == "a target 4x4 A8B8G8R8 at 0x500000000, 8 samples"
    assert str(Surface("a target", Plane.linear(ADDRESS, 64), RED, 16, 8)) == "a target 16x8 R8 at 0x500000000"


@pytest.mark.parametrize("grid", [(1, 1), (2, 1), (2, 2), (4, 2), (4, 4)], ids=str)
def test_samples_are_sorted_by_pixel_and_mixed(grid: tuple[int, int]) -> None:
    """A pixel is shown as the mean of its samples, rounded."""
    across, down = grid
    wide, high = 3, 2
    stored = np.random.default_rng(1).integers(0, 256, (high * down, wide * across, 4), np.uint8)
    surface = Surface("a target", Plane.linear(ADDRESS, 0), RGBA, wide * across, high * down, grid, 0)
    picture = TargetPicture(surface, stored.reshape(high * down, -1))
    assert (picture.width, picture.height, picture.is_depth) == (wide, high, False)
    shown = np.asarray(picture.image)
    assert picture.samples.shape == (high, wide, across * down, 4) and shown.shape == (high, wide, 3)
    for y in range(high):
        for x in range(wide):
            mine = [stored[y * down + j, x * across + i] for j in range(down) for i in range(across)]
            assert np.allclose(picture.samples[y, x], np.array(mine) / 255, atol=1e-6)
            assert np.allclose(picture.array[y, x], mine[0] / 255, atol=1e-6)
            total = np.sum(mine, axis=0, dtype=int)[:3]
            assert np.abs(shown[y, x] - total / len(mine)).max() <= 0.5
    assert repr(picture) == "<TargetPicture a target: 3x2 A8B8G8R8>" and str(picture) == str(surface)


def test_depth_is_shown_from_its_least_to_its_greatest_value() -> None:
    format = DEPTH.named("ZF32")
    values = np.array([[0.25, 0.5, 0.75], [0.25, 0.3125, 0.75]], "<f4")
    surface = Surface("the depth target", Plane.linear(ADDRESS, 12), format, 3, 2)
    picture = TargetPicture(surface, values.view(np.uint8).reshape(2, -1))
    assert picture.is_depth and picture.array.tolist() == values.tolist()
    assert np.asarray(picture.image)[..., 0].tolist() == [[0, 127, 255], [0, 31, 255]]
    assert surface.value(values[0, 1].tobytes()) == (0.5, None)
    flat = TargetPicture(surface, np.full((2, 3), 0.5, "<f4").view(np.uint8).reshape(2, -1))
    assert not np.asarray(flat.image).any()


def test_values_of_bytes() -> None:
    surface = Surface("a target", Plane.linear(ADDRESS, 64), RGBA, 16, 8)
    assert np.allclose(surface.value(bytes([255, 0, 51, 102])), (1, 0, 0.2, 0.4))
    both = Surface("the depth target", Plane.linear(ADDRESS, 64), DEPTH.named("Z24S8"), 16, 8)
    assert both.value(0xFFFFFF07.to_bytes(4, "little")) == (1.0, 7)
    stencil = Surface("the depth target", Plane.linear(ADDRESS, 64), DEPTH.named("S8"), 16, 8)
    assert stencil.value(b"\x09") == (None, 9)
