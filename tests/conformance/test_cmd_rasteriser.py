"""Culling, viewport and depth map: commands 0040 to 0068 (GPU/Commands of 2013)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from .commands import Gpu, command, core, decoded, drawn, f24, f31

# General code draws any state, specialised code one: the rows hold for both.
pytestmark = pytest.mark.parametrize("tier", ["specialised", "general"], indirect=True)

COUNTER_CLOCKWISE = [(-1, -1), (0, -1), (-1, 1)]
CLOCKWISE = [(1, -1), (0, -1), (1, 1)]


def both_windings(gpu: Gpu) -> tuple[bool, bool]:
    """Draw one triangle of each winding; which of them are seen, counter-clockwise (left) first."""
    gpu.draw(COUNTER_CLOCKWISE)
    gpu.draw(CLOCKWISE)
    seen = drawn(gpu)
    return bool(seen[:, :8].any()), bool(seen[:, 8:].any())


@pytest.mark.row("cmd.id.0x000F0040")
@pytest.mark.parametrize(
    ("value", "seen"), [(1, (False, True)), (2, (True, False)), (0, (True, True)), (3, (True, True))]
)
def test_culling(make_gpu: Callable[..., Gpu], value: int, seen: tuple[bool, bool]) -> None:
    """Value 2 drops what runs clockwise, value 1 what runs the other way, and only bits 1-0 count, as the page says.

    The page has 0 and 3 do what 2 does; they drop nothing. The choice raster.cull_0_3 knows the page's reading.
    """
    gpu = make_gpu()
    for unused in (0, 0xFFFFFFFC):
        command(gpu, 0x000F0040, value | unused)
        assert both_windings(gpu) == seen
        assert core(gpu, 0x40) == value | unused
    page = make_gpu(raster__cull_0_3="back")
    command(page, 0x000F0040, value)
    assert both_windings(page) == ((False, True) if value == 1 else (True, False))


VIEWPORT = (0x41, 0x43, 0x42, 0x44)
"""The order in which the page lists the four numbers."""


def viewport(gpu: Gpu, width: float, height: float) -> None:
    """The four commands in the page's order."""
    words = (f24(width / 2), f24(height / 2), f31(2 / width), f31(2 / height))
    for number, word in zip(VIEWPORT, words, strict=True):
        command(gpu, 0x000F0000 | number, word)


@pytest.mark.row("cmd.id.0x000F0041", "cmd.id.0x000F0043")
@pytest.mark.parametrize(("width", "height"), [(16, 16), (8, 16), (16, 4), (5, 3)])
def test_half_of_the_viewport(gpu: Gpu, width: int, height: int) -> None:
    """The page guesses a projection matrix; they are half the width and half the height in pixels, as 24-bit floats."""
    viewport(gpu, width, height)
    gpu.quad()
    seen = drawn(gpu)
    assert seen[:height, :width].all()
    assert seen.sum() == width * height
    assert decoded(0x41, core(gpu, 0x41))["value"] == f"{width / 2:g} pixels"
    assert decoded(0x43, core(gpu, 0x43))["value"] == f"{height / 2:g} pixels"


@pytest.mark.row("cmd.id.0x000F0042", "cmd.id.0x000F0044")
@pytest.mark.parametrize(("width", "height"), [(16, 8), (240, 400), (512, 0.5)])
def test_inverse_of_half_the_viewport(gpu: Gpu, width: float, height: float) -> None:
    """Third and fourth of the four: 2 / width and 2 / height, floats of 31 bits above an unused one.

    The page knows only that they are floats; one over what 0041 and 0043 hold is what makes them agree.
    """
    viewport(gpu, width, height)
    gpu.run()
    for half, inverse, size in ((0x41, 0x42, width), (0x43, 0x44, height)):
        assert core(gpu, inverse) == f31(2 / size)
        assert core(gpu, inverse) & 1 == 0
        told = float(decoded(inverse, core(gpu, inverse))["value"])
        assert told == pytest.approx(2 / size, rel=1e-6)
        assert told * float(decoded(half, core(gpu, half))["value"].split()[0]) == pytest.approx(1, rel=1e-4)
    assert f31(1.0) == 0x3F << 24


@pytest.mark.row("cmd.id.0x801F004D")
@pytest.mark.parametrize(("scale", "offset"), [(-1.0, 0.0), (-0.5, 0.25), (1.0, 1.0), (0.0, 0.75)])
def test_depth_scale_and_offset_in_one_entry(gpu: Gpu, scale: float, offset: float) -> None:
    """The page has a question mark: for the depth buffer, z / w is scaled by the first word and the second is added."""
    command(gpu, 0x801F004D, f24(scale), f24(offset))
    gpu.set(DEPTH_COLOR_MASK=0x1F00)
    gpu.quad(z=-0.5)
    gpu.run()
    expected = int((-0.5 * scale + offset) * 0xFFFFFF)
    assert (gpu.depth_words() & 0xFFFFFF == expected).all()
    assert (core(gpu, 0x4D), core(gpu, 0x4E)) == (f24(scale), f24(offset))


@pytest.mark.row("cmd.id.0x000F0068")
@pytest.mark.parametrize(("x", "y"), [(0, 0), (4, 0), (0, 8), (3, 5), (-4, -2)])
def test_viewport_position(gpu: Gpu, x: int, y: int) -> None:
    """The page says only that it follows the four sizes: column and row of the viewport, signed, 10 bits each."""
    viewport(gpu, 8, 8)
    command(gpu, 0x000F0068, (y & 0x3FF) << 16 | x & 0x3FF)
    gpu.quad()
    expected = np.zeros((16, 16), bool)
    expected[max(y, 0) : y + 8, max(x, 0) : x + 8] = True
    assert (drawn(gpu) == expected).all()
