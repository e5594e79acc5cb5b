"""Patterns: sizes, colours, edges that fit, and maps of normals that lean the right way."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.builder import patterns
from pocketgpu.errors import UsageError

RED, BLUE = (250, 0, 0, 255), (0, 0, 250, 255)


def test_checks() -> None:
    picture = patterns.checks(8, 4, [RED, BLUE])
    assert picture.dtype == np.uint8 and picture.shape == (8, 8, 4)
    assert picture[0, ::2, 0].tolist() == [250, 0, 250, 0] and picture[:, 7, 2].tolist() == [250, 250, 0, 0] * 2


def test_noise_is_soft_fills_its_range_and_fits_at_its_edges() -> None:
    noise = patterns.noise(64, 4, 3, seed=7)
    assert noise.shape == (64, 64) and noise.min() == 0 and noise.max() == 1
    step = np.abs(np.diff(noise, axis=0)).max()
    assert 0 < step < 0.25
    assert np.abs(noise[0] - noise[-1]).max() <= step and np.abs(noise[:, 0] - noise[:, -1]).max() < 0.25
    assert np.array_equal(noise, patterns.noise(64, 4, 3, seed=7))
    assert not np.array_equal(noise, patterns.noise(64, 4, 3, seed=8))
    assert np.abs(np.diff(patterns.noise(64, 4, 1))).max() < step, "octaves add fine spots"


def test_bricks_are_high_and_joints_low() -> None:
    wall = patterns.bricks(64, 2, 4)
    assert wall.min() == 0 and wall.max() == 1 and 0.3 < (wall == 1).mean() < 0.5
    assert (wall[0] < 0.1).all(), "a joint along the first row"
    assert np.array_equal(wall, wall[::-1, (np.arange(64) + 16) % 64]), "the same from below, half a brick further"
    assert wall[8, 0] == 0 and wall[8, 16] == 1 and wall[24, 0] == 1 and wall[24, 16] == 0, "every second row is moved"


def test_ramp_mixes_colors() -> None:
    picture = patterns.ramp([[-1, 0, 0.25, 0.5, 1, 2]], [RED, BLUE, (0, 200, 0, 55)])
    assert picture[0].tolist() == [[*RED], [*RED], [125, 0, 125, 255], [*BLUE], [0, 200, 0, 55], [0, 200, 0, 55]]


def test_colors_without_alpha_are_opaque() -> None:
    green = (0, 90, 0)
    pictures = [patterns.checks(8, 2, [green, RED]), patterns.ramp([[0]], [green, RED])]
    pictures.append(patterns.drawn("g", {"g": green}))
    assert [picture[0, 0].tolist() for picture in pictures] == [[0, 90, 0, 255]] * 3


def test_normals_lean_away_from_hills() -> None:
    y, x = np.mgrid[:16, :16] - 7.5
    hill = np.maximum(1 - np.hypot(x, y) / 8, 0)
    picture = patterns.normals(hill, 1.0).astype(float)
    assert picture[8, 13, 0] > 140 and picture[8, 2, 0] < 115, "x: to the right on the right slope"
    assert picture[2, 8, 1] > 140 and picture[13, 8, 1] < 115, "y: up on the upper slope, which is the first rows"
    assert picture[0, 0].tolist() == [128, 128, 255, 255], "flat"
    slope = np.tile(np.arange(16) / 16, (16, 1))  # 1 over 16 texels
    assert patterns.normals(slope, 1.0)[8, 8].tolist() == [37, 128, 218, 255], "leans by 45 degrees"


def test_patterns_of_nothing_are_refused() -> None:
    for make, message in (
        (lambda: patterns.checks(0), "0 texels"),
        (lambda: patterns.checks(8, 0), "0 cells"),
        (lambda: patterns.checks(8, 2, [RED]), "two colours, not 1"),
        (lambda: patterns.checks(8, 2, [RED, BLUE, RED]), "two colours, not 3"),
        (lambda: patterns.noise(0), "0 texels"),
        (lambda: patterns.noise(8, 0), "0 cells"),
        (lambda: patterns.noise(8, 2, 0), "0 octaves"),
        (lambda: patterns.bricks(-1), "-1 texels"),
        (lambda: patterns.bricks(8, 0), "0 columns"),
        (lambda: patterns.bricks(8, 1, 0), "0 rows"),
        (lambda: patterns.ramp([[0.5]], []), "at least one colour"),
    ):
        with pytest.raises(UsageError, match=message):
            make()


def test_drawings() -> None:
    sign = patterns.drawn("\n  rb \n  bb\n\n", {"r": RED, "b": BLUE, "x": RED})
    assert sign.tolist() == [[[*RED], [*BLUE]], [[*BLUE], [*BLUE]]]
    for rows, message in (("rb\nr", "one length"), ("", "one length"), ("rz", "no colour for z")):
        with pytest.raises(UsageError, match=message):
            patterns.drawn(rows, {"r": RED, "b": BLUE})
