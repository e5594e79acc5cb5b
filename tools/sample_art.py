"""The pictures and letters of the sample, computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
FORMATS = ["RGBA8", "RGB565", "RGBA4", "ETC1", "IA8", "I4"]
"""What the cubes show, one texture format each."""


def textures() -> Iterator[tuple[str, Array, str]]:
    """(name, picture with its top row first, texture format) of all textures."""
    yield "stone", stone(), "RGBA8"
    yield "surroundings", surroundings(), "RGB565"
    yield "ripples", ripples(), "I8"
    yield "glow", glow(), "IA8"
    yield "moon", moon(), "IA8"
    picture = emblem()
    grey = np.broadcast_to((picture[..., :3] @ [0.30, 0.59, 0.11]).astype(np.uint8)[..., None], picture.shape)
    for format in FORMATS:
        yield format, grey if format.startswith("I") else picture, format


def noise(size: int, cells: int, seed: int) -> Array:
    """Smooth noise in 0..1 that repeats at the edges."""
    grid = np.random.default_rng(seed).random((cells, cells))
    at = np.arange(size) * cells / size
    low = at.astype(int)
    t = at - low
    t = t * t * (3 - 2 * t)
    rows = grid[low % cells] * (1 - t)[:, None] + grid[(low + 1) % cells] * t[:, None]
    smooth: Array = rows[:, low % cells] * (1 - t) + rows[:, (low + 1) % cells] * t
    return smooth


def ridge(seed: int, points: int) -> Array:
    """The outline of hills, 0..1."""
    x = np.linspace(0, 1, points)
    random = np.random.default_rng(seed)
    y: Array = np.zeros(points)
    for f in (1.3, 2.9, 5.3, 11.0, 23.0):
        y += np.sin(2 * np.pi * (f * x + random.random())) / f
    outline: Array = (y - y.min()) / np.ptp(y)
    return outline


def rgba(red: Array, green: Array, blue: Array, alpha: Array | float = 1.0) -> Array:
    """A picture from channels in 0..1."""
    parts = np.broadcast_arrays(red, green, blue, alpha)
    return np.clip(np.round(np.stack(parts, axis=-1) * 255), 0, 255).astype(np.uint8)


def stone(size: int = 64) -> Array:
    """Bands of blue and violet in a clear stone."""
    n = 0.6 * noise(size, 3, 1) + 0.3 * noise(size, 7, 2) + 0.1 * noise(size, 16, 3)
    y = np.linspace(0, 1, size)[:, None]
    band = 0.5 + 0.5 * np.sin(2 * np.pi * (1.5 * y + 1.4 * n))
    return rgba(0.20 + 0.45 * band, 0.42 + 0.40 * (1 - band), 0.85 + 0.15 * band)


def surroundings(size: int = 64) -> Array:
    """What polished facets mirror: sky above, lake below, a window of light."""
    y, x = np.mgrid[0:size, 0:size] / (size - 1)
    up = 1 - y
    red = np.interp(up, [0, 0.45, 0.55, 1], [0.05, 0.10, 0.75, 0.10])
    green = np.interp(up, [0, 0.45, 0.55, 1], [0.05, 0.08, 0.42, 0.12])
    blue = np.interp(up, [0, 0.45, 0.55, 1], [0.20, 0.25, 0.45, 0.50])
    window = np.clip(1.6 - 9 * np.maximum(np.abs(x - 0.30), np.abs(y - 0.25)), 0, 1)
    return rgba(red + window, green + window, blue + window)


def ripples(size: int = 64) -> Array:
    """Waves, longer across than along."""
    n = 0.5 * noise(size, 4, 7) + 0.3 * np.roll(noise(size, 8, 9), 5, 0) + 0.2 * noise(size, 16, 4)
    y = np.linspace(0, 1, size, endpoint=False)[:, None]
    wave = 0.5 + 0.5 * np.sin(2 * np.pi * (3 * y + 1.6 * n))
    return rgba(wave, wave, wave)


def glow(size: int = 32) -> Array:
    y, x = (np.mgrid[0:size, 0:size] + 0.5) / size * 2 - 1
    r = np.hypot(x, y)
    light = np.clip(np.exp(-5 * r * r) - 0.0067 + 0.5 * np.exp(-60 * r * r), 0, 1) * (r < 1)
    return rgba(np.ones_like(r), np.ones_like(r), np.ones_like(r), light)


def moon(size: int = 64) -> Array:
    y, x = (np.mgrid[0:size, 0:size] + 0.5) / size * 2 - 1
    r = np.hypot(x, y)
    spots = 0.6 * noise(size, 5, 21) + 0.4 * noise(size, 11, 22)
    light = np.clip(1.05 - 0.35 * spots - 0.18 * r * r, 0, 1)
    disc = np.clip((0.72 - r) * size / 2, 0, 1)
    halo = 0.34 * np.clip(1 - (r - 0.70) / 0.30, 0, 1) ** 2
    return rgba(light, light, light, np.maximum(disc, halo * (r < 1)))


def emblem(size: int = 32) -> Array:
    """One picture for all formats: a sun over waves in a frame."""
    y, x = (np.mgrid[0:size, 0:size] + 0.5) / size * 2 - 1
    r = np.hypot(x, y + 0.15)
    up = 0.5 - 0.5 * y
    red, green, blue = 0.20 + 0.7 * (1 - up), 0.16 + 0.25 * (1 - up), 0.50 + 0.15 * up
    sun = np.clip((0.52 - r) * size / 2, 0, 1)
    red, green, blue = (
        c * (1 - sun) + sun * v for c, v in ((red, 1.0), (green, 0.80 - 0.45 * (y + 0.5)), (blue, 0.30))
    )
    for i in range(3):
        crest = 0.28 + 0.22 * i + 0.07 * np.sin(2 * np.pi * (x * (1.0 + 0.25 * i) + 0.27 * i))
        sea = np.clip((y - crest) * size / 2, 0, 1)
        shade = 1 - 0.26 * i
        for_sea = (0.10 * shade, 0.62 * shade, 0.78 * shade)
        red, green, blue = (c * (1 - sea) + sea * v for c, v in zip((red, green, blue), for_sea, strict=True))
    edge = np.maximum(np.abs(x), np.abs(y))
    frame = np.clip((edge - 0.88) * size / 2, 0, 1)
    red, green, blue = (c * (1 - frame) + frame * v for c, v in ((red, 0.96), (green, 0.92), (blue, 0.98)))
    return rgba(red, green, blue)


GLYPHS = {
    "A": "01110 10001 10001 11111 10001 10001 10001",
    "B": "11110 10001 10001 11110 10001 10001 11110",
    "C": "01111 10000 10000 10000 10000 10000 01111",
    "E": "11111 10000 10000 11110 10000 10000 11111",
    "G": "01111 10000 10000 10011 10001 10001 01111",
    "I": "01110 00100 00100 00100 00100 00100 01110",
    "K": "10001 10010 10100 11000 10100 10010 10001",
    "O": "01110 10001 10001 10001 10001 10001 01110",
    "P": "11110 10001 10001 11110 10000 10000 10000",
    "R": "11110 10001 10001 11110 10100 10010 10001",
    "T": "11111 00100 00100 00100 00100 00100 00100",
    "U": "10001 10001 10001 10001 10001 10001 01110",
    "1": "00100 01100 00100 00100 00100 00100 01110",
    "4": "00010 00110 01010 10010 11111 00010 00010",
    "5": "11111 10000 11110 00001 00001 10001 01110",
    "6": "00111 01000 10000 11110 10001 10001 01110",
    "8": "01110 10001 10001 01110 10001 10001 01110",
}


def text_runs(text: str, x: float, y: float, scale: float) -> Iterator[tuple[float, float, float, float]]:
    """Rectangles (x, y, width, height) of a line of text whose lower left corner is at (x, y); letters are 6 wide."""
    for n, letter in enumerate(text):
        for row, bits in enumerate(GLYPHS[letter].split()):
            start = 0
            while start < 5:
                if bits[start] == "0":
                    start += 1
                    continue
                stop = (bits + "0").index("0", start)
                yield x + scale * (6 * n + start), y + scale * (6 - row), scale * (stop - start), scale
                start = stop
