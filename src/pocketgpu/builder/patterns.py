"""Pictures for textures, made by a rule: checks, bricks, noise, drawings in letters, and maps of normals.

    stone = ramp(noise(128), [(60, 56, 64), (190, 184, 176)])
    address = capture.put_texture(stone)

A picture is RGBA of shape (height, width, 4), uint8, with the top row first, as `CaptureBuilder.put_texture` takes
it. A map is float64 of shape (height, width), 0 to 1. All but drawings fit to themselves at their
edges. Colours are red, green and blue, 0 to 255, and alpha if they are not opaque.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pocketgpu.errors import UsageError
from pocketgpu.wording import counted

Picture: TypeAlias = NDArray[np.uint8]
Map: TypeAlias = NDArray[np.float64]
Color: TypeAlias = Sequence[int]
_TILES: Final = ((232, 226, 210), (52, 78, 110))
_OPAQUE: Final = 255


def checks(size: int = 64, cells: int = 8, colors: Sequence[Color] = _TILES) -> Picture:
    """Squares of two colours in turns, `cells` in a row of `size` texels.

    :raises UsageError: there is no texel or no cell, or not two colours.
    """
    _at_least_one(texel=size, cell=cells)
    if len(colors) != len(_TILES):
        raise UsageError(f"checks have two colours, not {len(colors)}")
    at = np.arange(size) * cells // size
    chosen: Picture = np.array([_rgba(color) for color in colors], np.uint8)[np.add.outer(at, at) % 2]
    return chosen


def noise(size: int = 64, cells: int = 4, octaves: int = 3, seed: int = 1) -> Map:
    """A map of soft spots, `cells` in a row of `size` texels, with finer ones of half the strength in each further
    octave.

    :raises UsageError: there is no texel, no cell or no octave.
    """
    _at_least_one(texel=size, cell=cells, octave=octaves)
    random = np.random.default_rng(seed)
    total: Map = np.zeros((size, size))
    for octave in range(octaves):
        knots = random.random((cells << octave,) * 2)
        total += _between(knots, size) / 2**octave
    total -= total.min()
    return total / max(float(total.max()), 1e-9)


def bricks(size: int = 64, columns: int = 2, rows: int = 4) -> Map:
    """A map of heights of a wall: bricks are 1, joints 0, with a slope between them; every second row is half a brick
    further. size: texels in a row. columns, rows: bricks.

    :raises UsageError: there is no texel, no column or no row.
    """
    _at_least_one(texel=size, column=columns, row=rows)
    y, x = (np.mgrid[:size, :size] + 0.5) / size
    row = np.floor(y * rows)
    sides = [(x * columns + row % 2 / 2) % 1, y * rows % 1]
    inside = [np.minimum(one, 1 - one) * size / cells for one, cells in zip(sides, (columns, rows), strict=True)]
    heights: Map = np.clip(np.minimum(*inside) / size * 24 - 0.4, 0, 1)
    return heights


def ramp(values: ArrayLike, colors: Sequence[Color]) -> Picture:
    """A map as a picture: 0 becomes the first colour, 1 the last one, and what is between is mixed.

    :raises UsageError: there is no colour.
    """
    if not len(colors):
        raise UsageError("a ramp has at least one colour")
    at = np.clip(np.asarray(values, np.float64), 0, 1) * (len(colors) - 1)
    columns = np.transpose([_rgba(color) for color in colors])
    channels = [np.interp(at, np.arange(len(colors)), column) for column in columns]
    return np.round(np.stack(channels, axis=-1)).astype(np.uint8)


def normals(heights: Map, strength: float = 4.0) -> Picture:
    """The map of normals of a map of heights, as lighting takes it for bump mapping: red, green and blue are x, y
    and z, and 0 to 255 is -1 to 1. strength: the slope where a height grows by 1 over 16 texels."""
    down, right = (np.roll(heights, -1, axis) - np.roll(heights, 1, axis) for axis in (0, 1))
    normal = np.stack([-right * 8 * strength, down * 8 * strength, np.ones_like(heights)], axis=-1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    alpha = np.full((*heights.shape, 1), 255.0)
    return np.round(np.concatenate([normal * 127.5 + 127.5, alpha], axis=-1)).astype(np.uint8)


def drawn(rows: str, colors: Mapping[str, Color]) -> Picture:
    """A drawing: each letter is a texel of the colour it has in `colors`; blank lines don't count.

    :raises UsageError: a letter has no colour, or rows have different lengths.
    """
    lines = [line.strip() for line in rows.splitlines() if line.strip()]
    unknown = {letter for line in lines for letter in line} - {*colors}
    if unknown:
        raise UsageError(f"no colour for {', '.join(sorted(unknown))}")
    if len({len(line) for line in lines}) != 1:
        raise UsageError("the rows of a drawing have one length, and there is at least one")
    return np.array([[_rgba(colors[letter]) for letter in line] for line in lines], np.uint8)


def _at_least_one(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise UsageError(f"a pattern of {counted(count, name)}; there is at least one")


def _rgba(color: Color) -> Color:
    return color if len(color) > 3 else (*color, _OPAQUE)


def _between(knots: Map, size: int) -> Map:
    """Values at texels, between those at knots, smoothly; it repeats at the edges."""
    count = len(knots)
    at = np.arange(size) * count / size
    low = at.astype(int)
    part = at - low
    part = part * part * (3 - 2 * part)
    along = [knots[(low + n) % count] * weight[:, None] for n, weight in ((0, 1 - part), (1, part))]
    rows = along[0] + along[1]
    return np.asarray(rows[:, low] * (1 - part) + rows[:, (low + 1) % count] * part)


__all__ = ["Color", "Map", "Picture", "bricks", "checks", "drawn", "noise", "normals", "ramp"]


def __dir__() -> list[str]:
    return [*__all__]
