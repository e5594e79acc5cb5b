"""Plain shapes as vertices and indices, for scenes that need something to look at.

    vertices, indices = torus(radius=1, tube=0.4)

vertices: float32 of shape (n, 8): x y z, the normal nx ny nz, and texture coordinates u v. indices: uint16 of shape
(m,), three for each triangle, which is counter-clockwise seen from outside. Shapes are around the origin, y is up, and
v is 1 at the top, where textures have their first row (`CaptureBuilder.put_texture`).
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.wording import counted

Shape: TypeAlias = tuple[NDArray[np.float32], NDArray[np.uint16]]
_Floats: TypeAlias = NDArray[np.float64]
_MOST: Final = 1 << 16
"""Vertices that indices of two bytes can name."""
_SIDES: Final = (((1, 0, 0), (0, 1, 0)), ((0, 0, -1), (0, 1, 0)), ((-1, 0, 0), (0, 1, 0)), ((0, 0, 1), (0, 1, 0)),
                 ((1, 0, 0), (0, 0, -1)), ((1, 0, 0), (0, 0, 1)))  # fmt: skip
"""The sides of a cube, front, right, back, left, top, bottom: the directions of u and v."""


def plane(width: float = 2.0, height: float = 2.0, columns: int = 1, rows: int = 1) -> Shape:
    """A rectangle in x and y that faces +z. columns, rows: its cells, of two triangles each.

    :raises UsageError: fewer cells than one, or more vertices than 65536.
    """
    u, v = _grid(columns, rows)
    return _joined([((u - 0.5) * width, (v - 0.5) * height, 0 * u, 0 * u, 0 * u, 1 + 0 * u, u, v)], columns, rows)


def cube(size: float = 2.0, cells: int = 1) -> Shape:
    """A cube whose edges are `size` long. Each side has the whole texture, and cells x cells cells.

    :raises UsageError: fewer cells than one, or more vertices than 65536.
    """
    u, v = _grid(cells, cells)
    sides = []
    for right, up in _SIDES:
        out = np.cross(right, up)
        place = (np.outer(2 * u - 1, right) + np.outer(2 * v - 1, up) + out) * size / 2
        sides.append((*place.T, *(one + 0 * u for one in out), u, v))
    return _joined(sides, cells, cells)


def sphere(radius: float = 1.0, columns: int = 32, rows: int = 16) -> Shape:
    """A sphere. u goes once around the y axis and is 0.5 at +z; v goes from the lower pole to the upper one.

    :raises UsageError: fewer cells than one, or more vertices than 65536.
    """
    u, v = _grid(columns, rows)
    around, up = 2 * np.pi * (u - 0.5), np.pi * (v - 0.5)
    normal = np.sin(around) * np.cos(up), np.sin(up), np.cos(around) * np.cos(up)
    return _joined([(*(radius * one for one in normal), *normal, u, v)], columns, rows)


def torus(radius: float = 1.0, tube: float = 0.4, columns: int = 48, rows: int = 24) -> Shape:
    """A ring around the z axis: `radius` to the middle of its tube, which is `tube` thick from there. u goes once
    around the ring, v once around the tube.

    :raises UsageError: fewer cells than one, or more vertices than 65536.
    """
    u, v = _grid(columns, rows)
    around, across = 2 * np.pi * u, 2 * np.pi * v
    normal = np.cos(around) * np.cos(across), np.sin(around) * np.cos(across), np.sin(across)
    place = (np.cos(around) * radius + normal[0] * tube, np.sin(around) * radius + normal[1] * tube, normal[2] * tube)
    return _joined([(*place, *normal, u, v)], columns, rows)


def tiled(shape: Shape, across: float, up: float) -> Shape:
    """The same shape, with a texture that repeats: u times `across` and v times `up`."""
    vertices, indices = shape
    times = np.ones(vertices.shape[1], np.float32)
    times[6:8] = across, up
    return vertices * times, indices


def _grid(columns: int, rows: int) -> tuple[_Floats, _Floats]:
    """u and v of the corners of cells, row by row."""
    if columns < 1 or rows < 1:
        raise UsageError(f"a shape of {columns} x {rows} cells; there is at least one")
    if (columns + 1) * (rows + 1) > _MOST:
        raise UsageError(f"a shape of {columns} x {rows} cells has more than {_MOST} vertices")
    u, v = np.meshgrid(np.linspace(0, 1, columns + 1), np.linspace(0, 1, rows + 1))
    return u.ravel(), v.ravel()


def _joined(parts: list[tuple[Any, ...]], columns: int, rows: int) -> Shape:
    """Parts of one grid each, as columns of numbers, become one shape."""
    vertices = np.concatenate([np.stack(part, axis=1) for part in parts]).astype(np.float32)
    if len(vertices) > _MOST:
        raise UsageError(f"{counted(len(vertices), 'vertex', 'vertices')}; indices name {_MOST}")
    first = np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)
    above = first + columns + 1
    corners = np.stack([first, first + 1, above + 1, first, above + 1, above], axis=-1)
    starts = np.arange(len(parts)) * (columns + 1) * (rows + 1)
    return vertices, (starts[:, None] + corners.ravel()).ravel().astype(np.uint16)


__all__ = ["Shape", "cube", "plane", "sphere", "tiled", "torus"]


def __dir__() -> list[str]:
    return [*__all__]
