"""Fog: the table's layout, both directions of its differences, depth as its index, and what it leaves alone.

Source: 3dbrew GPU/Internal Registers ("Fog registers").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

# General code draws any state, specialised code one: both must match the models here.
pytestmark = pytest.mark.parametrize("tier", ["specialised", "general"], indirect=True)

FOG, FLIP = 5, 1 << 16
COLOR, FOG_COLOR = np.array([200, 100, 50]), np.array([10, 60, 250])


def table(gpu: Any, values: Any, differences: Any) -> None:
    """Value in bits 23:13, two's complement difference in bits 12:0."""
    gpu.write("FOG_LUT_INDEX", 0)
    for value, difference in zip(values, differences, strict=True):
        gpu.write("FOG_LUT_DATA0", int(value) << 13 | int(difference) & 0x1FFF)


def draw(gpu: Any, depth: float, mode: int = FOG) -> np.ndarray:
    """The one colour of a quad at a depth (0..1 as the buffer has it)."""
    gpu.set(TEXENV_UPDATE_BUFFER=mode, FOG_COLOR=sum(int(c) << 8 * i for i, c in enumerate(FOG_COLOR)))
    gpu.quad(z=-depth, color=(*(COLOR / 255), 128 / 255))
    gpu.run()
    pixels = gpu.pixels().reshape(-1, 4)
    assert (pixels == pixels[0]).all()
    return pixels[0]


def mixed(keep: float) -> np.ndarray:
    keep = min(max(keep, 0.0), 1.0)
    return keep * COLOR + (1 - keep) * FOG_COLOR


@pytest.mark.parametrize("value", [0, 1, 512, 1024, 2046, 2047])
def test_constant_table_mixes_everywhere_alike_and_leaves_alpha(gpu: Any, value: int) -> None:
    table(gpu, [value] * 128, [0] * 128)
    for depth in (0.0, 0.3, 1.0):
        got = draw(gpu, depth)
        expected = mixed(value / 2047)
        assert np.abs(got[:3] - np.floor(expected + 1e-3)).max() <= (0 if value in (0, 2047) else 1)
        assert got[3] == 128


@pytest.mark.parametrize("sign", [1, -1])
def test_differences_have_both_signs(gpu: Any, sign: int) -> None:
    """One entry, crossed half-way: value + 0.5 * difference."""
    table(gpu, [1000] * 128, [sign * 800] * 128)
    for part in (0.0, 0.25, 0.5, 0.75):
        got = draw(gpu, (64 + part) / 128)
        assert np.abs(got[:3] - mixed((1000 + part * sign * 800) / 2047)).max() <= 1


@pytest.mark.parametrize("flip", [0, FLIP])
def test_depth_is_the_index_from_either_end(gpu: Any, flip: int) -> None:
    values = np.arange(128) * 16
    table(gpu, values, [16] * 128)
    for depth in (0.0, 0.1, 0.5, 0.77, 1.0):
        x = 128 * (1 - depth if flip else depth)
        got = draw(gpu, depth, FOG | flip)
        assert np.abs(got[:3] - mixed(16 * x / 2047)).max() <= 1, depth


def test_sums_past_the_ends_are_cut(gpu: Any) -> None:
    table(gpu, [2047] * 128, [4095] * 128)
    assert draw(gpu, 0.505)[:3].tolist() == COLOR.tolist()
    table(gpu, [0] * 128, [-4096] * 128)
    assert draw(gpu, 0.505)[:3].tolist() == FOG_COLOR.tolist()


@pytest.mark.parametrize("mode", [0, 1, 2, 3, 4, 6])
def test_other_modes_are_no_fog(gpu: Any, mode: int) -> None:
    table(gpu, [0] * 128, [0] * 128)
    assert draw(gpu, 0.5, mode)[:3].tolist() == COLOR.tolist()


def test_each_draw_sees_the_table_as_it_was(gpu: Any) -> None:
    gpu.set(TEXENV_UPDATE_BUFFER=FOG, FOG_COLOR=0xFF00FF)
    table(gpu, [0] * 128, [0] * 128)
    gpu.quad((-1, -1, 0, 1), color=(0, 1, 0, 1))
    table(gpu, [2047] * 128, [0] * 128)
    gpu.quad((0, -1, 1, 1), color=(0, 1, 0, 1))
    table(gpu, [0] * 128, [0] * 128)
    gpu.run()
    words = gpu.color_words()
    assert (words[:, :8] == 0xFF00FFFF).all()
    assert (words[:, 8:] == 0x00FF00FF).all()


@pytest.mark.parametrize(("value", "expected"), [("truncate", 99), ("float", 100)])
def test_mixing_cuts_or_rounds(make_gpu: Callable[..., Any], value: str, expected: int) -> None:
    gpu = make_gpu(fog__arithmetic=value)
    table(gpu, [1023] * 128, [0] * 128)  # 0.49976 of 200 and the rest of 0: 99.95
    gpu.set(TEXENV_UPDATE_BUFFER=FOG, FOG_COLOR=0)
    gpu.quad(color=(200 / 255,) * 4)
    gpu.run()
    assert gpu.pixels()[0, 0, 0] == expected
