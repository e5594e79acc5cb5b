"""The meshes and textures of the Switch's sample, computed: an island with a lighthouse, a boat, the sky, letters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sample_art import noise, rgba

Array = NDArray[Any]
VERTEX = np.dtype([("at", "<i2", 4), ("normal", "i1", 4), ("uv", "<f2", 2)])
"""16 bytes: a place in units of 1 / 32767 of the mesh's size, a normal, texture coordinates."""


class Mesh:
    """Triangles with shared vertices, under construction. Counter-clockwise ones are seen from the front."""

    def __init__(self) -> None:
        self.at: list[Array] = []
        self.normals: list[Array] = []
        self.uv: list[Array] = []
        self.indices: list[Array] = []
        self.count = 0

    def add(self, at: Array, normals: Array, uv: Array, indices: Array) -> None:
        """Vertices, (n, 3), (n, 3) and (n, 2), and the triangles between them."""
        for rows, more in ((self.at, at), (self.normals, normals), (self.uv, uv)):
            rows.append(np.asarray(more, float))
        self.indices.append(np.asarray(indices).reshape(-1) + self.count)
        self.count += len(at)

    def grid(self, at: Array, uv: Array, *, normals: Array | None = None) -> None:
        """A surface of rows x columns places, (rows, columns, 3); normals from its slopes unless given."""
        down, across = at.shape[:2]
        if normals is None:
            normals = np.cross(np.gradient(at, axis=0), np.gradient(at, axis=1))
        first = (np.arange(down - 1)[:, None] * across + np.arange(across - 1)).reshape(-1, 1)
        quads = first + np.array([0, across, across + 1, 0, across + 1, 1])
        self.add(at.reshape(-1, 3), normals.reshape(-1, 3), uv.reshape(-1, 2), quads)

    def lathe(self, profile: Any, sides: int, around: float, centre: Any = (0, 0, 0)) -> None:
        """A surface of revolution around y. profile: (radius, height, v) from below; around: textures around it."""
        radius, height, v = np.asarray(profile, float).T
        turn = np.linspace(0, 2 * np.pi, sides + 1)
        at = np.empty((len(radius), sides + 1, 3))
        at[..., 0] = radius[:, None] * np.sin(turn) + centre[0]
        at[..., 1] = height[:, None] + centre[1]
        at[..., 2] = radius[:, None] * np.cos(turn) + centre[2]
        slope = np.gradient(np.stack([radius, height], 1), axis=0)
        normals = np.empty_like(at)
        normals[..., 0] = slope[:, 1:2] * np.sin(turn)
        normals[..., 1] = -slope[:, 0:1]
        normals[..., 2] = slope[:, 1:2] * np.cos(turn)
        uv = np.empty((*at.shape[:2], 2))
        uv[..., 0], uv[..., 1] = turn / (2 * np.pi) * around, v[:, None]
        self.grid(at[::-1], uv[::-1], normals=normals[::-1])

    def box(self, low: Any, high: Any, scale: float = 1.0) -> None:
        """A box without its floor; scale: textures per unit of length."""
        a, b = np.array(low, float), np.array(high, float)
        for axis, side in ((0, 0), (0, 1), (2, 0), (2, 1), (1, 1)):
            u, w = [(2, 1), (0, 2), (0, 1)][axis]
            corners = np.repeat(((b if side else a)[axis] * np.eye(3)[axis])[None], 4, axis=0)
            corners[:, u], corners[:, w] = np.array([a[u], b[u], b[u], a[u]]), np.array([a[w], a[w], b[w], b[w]])
            normal = np.eye(3)[axis] * (1 if side else -1)
            around = np.cross(corners[1] - corners[0], corners[2] - corners[0])
            order = [0, 1, 2, 0, 2, 3] if around @ normal > 0 else [0, 2, 1, 0, 3, 2]
            self.add(corners, np.repeat(normal[None], 4, axis=0), corners[:, [u, w]] * (scale, -scale), np.array(order))

    def packed(self, *, colors: bool = False) -> tuple[float, Array, Array]:
        """The mesh's size, its vertices and its indices. colors: normals are colours, whose lengths count."""
        at, normals, uv = (np.concatenate(rows) for rows in (self.at, self.normals, self.uv))
        size = float(np.abs(at).max())
        out = np.zeros(len(at), VERTEX)
        out["at"][:, :3] = np.round(at / size * 32767)
        out["at"][:, 3] = 32767
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        out["normal"][:, :3] = np.round(normals / (1 if colors else np.maximum(length, 1e-9)) * 127)
        out["uv"] = uv
        return size, out, np.concatenate(self.indices).astype("<u2")


def heights(x: Array, z: Array) -> Array:
    """Of the island, in metres over the water: a hill, a rock for the lighthouse, and a beach."""
    r = np.hypot(x * 0.8 + 1, z)
    angle = np.arctan2(z, x)
    shore = 9.5 + 1.4 * np.sin(3 * angle + 0.7) + 0.8 * np.sin(5 * angle)
    hill = 3.4 * np.clip(1 - r / shore, -0.12, 1) ** 1 + 1.6 * np.exp(-((x + 4) ** 2 + (z + 2) ** 2) / 9)
    rock = 2.6 / (1 + np.exp((np.hypot(x - 3.2, z + 0.5) - 2.6) * 4))
    rough = 0.18 * np.sin(2.3 * x + 1.1) * np.cos(1.9 * z) + 0.08 * np.sin(5.1 * x) * np.sin(4.7 * z + 2)
    rising: Array = np.where(r < shore, hill + rock + rough * np.clip((shore - r) / 3, 0, 1), -0.3)
    return rising


def island(cells: int = 28) -> Mesh:
    mesh = Mesh()
    line = np.linspace(-13, 13, cells + 1)
    x, z = np.meshgrid(line, line)
    mesh.grid(np.stack([x, heights(x, z), z], -1), np.stack([x, z], -1) * 0.3)
    return mesh


def lighthouse() -> Mesh:
    """A tower of 8 m with a gallery; the lower part of its texture is red and white, the rest stone and iron."""
    mesh = Mesh()
    mesh.lathe([(1.0, 0, 0.0), (0.86, 2.2, 0.33), (0.74, 4.4, 0.66), (0.64, 6.4, 1.0)], 20, 2)
    mesh.lathe([(0.64, 6.4, 0.02), (1.0, 6.55, 0.04), (1.0, 6.7, 0.06), (0.5, 6.7, 0.06)], 20, 2)
    mesh.lathe([(0.62, 7.7, 0.02), (0.5, 8.0, 0.06), (0.02, 8.5, 0.1)], 20, 2)
    return mesh


def lamp() -> Mesh:
    """The glass, in the sky's colour at the horizon."""
    mesh = Mesh()
    mesh.lathe([(0.45, 6.7, 0.98), (0.5, 7.2, 0.97), (0.45, 7.7, 0.98)], 12, 0)
    return mesh


def cottage() -> Mesh:
    mesh = Mesh()
    mesh.box((-1.1, -0.4, -0.8), (1.1, 1.1, 0.8), 0.8)
    return mesh


def roof() -> Mesh:
    mesh = Mesh()
    for side in (-1, 1):
        down, up = np.array([-1.3, 0.95, side]), np.array([-1.3, 1.95, 0])
        along = np.linspace(0, 1, 2)[:, None] * np.array([2.6, 0, 0])
        at = np.stack([up + along, down + along] if side > 0 else [down + along, up + along])
        uv = np.stack(np.meshgrid([0, 3], [0, 1.3]), -1).astype(float)
        mesh.grid(at, uv)
    for side in (-1.1, 1.1):
        at = np.array([(side, 1.1, -0.8), (side, 1.1, 0.8), (side, 1.83, 0)])
        order = [0, 2, 1] if side > 0 else [0, 1, 2]
        mesh.add(at, np.repeat([[np.sign(side), 0, 0]], 3, axis=0), at[:, [2, 1]] * (0.5, -0.5), np.array(order))
    return mesh


def trees(count: int = 14) -> Mesh:
    """Firs where the island is flat enough."""
    mesh, random, found = Mesh(), np.random.default_rng(4), 0
    while found < count:
        x, z = random.uniform(-8.5, 5), random.uniform(-6.5, 5)
        y = float(heights(np.array(x), np.array(z)))
        if y < 0.9 or np.hypot(x - 3.2, z + 0.5) < 3.2 or np.hypot(x + 1.2, z - 2.6) < 2.2:
            continue
        size = random.uniform(0.7, 1.15)
        for n in range(3):
            low, radius = (0.25 + 0.55 * n) * size, (0.75 - 0.17 * n) * size
            profile = [(radius, low, 1.0), (0.02, low + 0.95 * size, 0.0)]
            mesh.lathe(profile, 7, 2, (x, y - 0.1, z))
        found += 1
    return mesh


def boat() -> Mesh:
    """A hull with a deck inside, 3 m long."""
    mesh = Mesh()
    t = np.linspace(0, 1, 9)
    width = 0.62 * np.sin(np.pi * np.clip(0.12 + 0.88 * t, 0, 1)) ** 0.6
    for side in (-1, 1):
        rim = np.stack([3 * t - 1.5, 0.55 + 0.25 * (2 * t - 1) ** 2, side * width], -1)
        keel = np.stack([2.6 * t - 1.3, np.full(9, -0.25), side * 0.35 * width], -1)
        uv = np.stack(np.broadcast_arrays(t * 3, np.array([[0.0], [1.0]])), -1)
        mesh.grid(np.stack([rim, keel] if side > 0 else [keel, rim]), uv if side > 0 else uv[::-1])
    across = np.linspace(-1, 1, 2)[:, None]
    deck = np.stack(np.broadcast_arrays((3 * t - 1.5) * 0.97, np.array(0.34), -across * width * 0.98), -1)
    mesh.grid(deck, np.stack(np.broadcast_arrays(t * 3, across), -1))
    mesh.box((-0.7, 0.34, -0.3), (0.1, 0.95, 0.3), 1.0)
    return mesh


def sea() -> Mesh:
    """A plane out to the horizon, finer near the island."""
    line = np.array([-400.0, -30, 0, 30, 400])
    x, z = np.meshgrid(line, line)
    mesh = Mesh()
    mesh.grid(np.stack([x, np.zeros_like(x), z], -1), np.stack([x, z], -1) / 400)
    return mesh


def dome() -> Mesh:
    """The sky: a cylinder that closes above; the texture goes around once."""
    turn = np.linspace(0, 2 * np.pi, 25)
    up = np.array([-0.06, 0.0, 0.2, 0.45, 0.75, 1.0])
    radius = np.array([1.0, 1.0, 1.0, 0.9, 0.6, 0.0])
    at = np.stack(np.broadcast_arrays(radius[:, None] * np.sin(turn), up[:, None], radius[:, None] * np.cos(turn)), -1)
    uv = np.stack(np.broadcast_arrays(turn / (2 * np.pi), 0.985 - np.maximum(up[:, None], 0) * 0.97), -1)
    mesh = Mesh()
    mesh.grid(at, uv)  # seen from inside
    return mesh


def beam(length: float = 60.0) -> Mesh:
    """Two cones of light; `normal` is a colour here: white at the lamp, black far away."""
    mesh = Mesh()
    for side in (-1, 1):
        turn = np.linspace(0, 2 * np.pi, 13)
        ring = np.stack([np.zeros(13), 0.45 * np.sin(turn), 0.45 * np.cos(turn)], -1)
        far = np.stack([np.full(13, side * length), 4.5 * np.sin(turn), 4.5 * np.cos(turn)], -1)
        colors = np.zeros((2, 13, 3))
        colors[0] = 0.18, 0.15, 0.09
        mesh.grid(np.stack([ring, far]), np.zeros((2, 13, 2)), normals=colors)
    return mesh


# -- textures ---------------------------------------------------------------------------------------------------------
def mips(picture: Array) -> list[Array]:
    """A picture and its smaller levels, each the mean of four texels."""
    levels = [picture]
    while min(levels[-1].shape[:2]) > 1:
        h, w = levels[-1].shape[:2]
        parts = levels[-1].reshape(h // 2, 2, w // 2, 2, -1).astype(np.uint32)
        levels.append(((parts.sum((1, 3)) + 2) // 4).astype(np.uint8))
    return levels


def steps(picture: Array, count: int = 40) -> Array:
    """Fewer shades, which compress better."""
    out: Array = np.round(np.round(picture / 255 * count) / count * 255).astype(np.uint8)
    return out


def ground(size: int = 128) -> Array:
    n = 0.5 * noise(size, 6, 1) + 0.3 * noise(size, 17, 2) + 0.2 * noise(size, 40, 3)
    t = np.clip((n - 0.38) * 4, 0, 1)
    return steps(rgba(0.30 + 0.22 * t, 0.36 + 0.10 * t, 0.17 + 0.16 * t))


def stripes(size: int = 64) -> Array:
    """Red and white rings of painted stone."""
    y = np.arange(size)[:, None] / size
    n = 0.85 + 0.15 * noise(size, 12, 6)
    red = (np.floor(y * 6) % 2) == 0
    return steps(rgba(n * np.where(red, 0.72, 0.95), n * np.where(red, 0.12, 0.93), n * np.where(red, 0.10, 0.88)))


def planks(size: int = 64) -> Array:
    y, x = np.mgrid[:size, :size]
    grain = 0.7 + 0.3 * noise(size, 9, 8)[:, :1] + 0.12 * noise(size, 30, 9)
    gap = np.where((y % 16 < 1) | ((x + 32 * (y // 16 % 2)) % 64 < 1), 0.45, 1.0)
    return steps(rgba(0.62 * grain * gap, 0.42 * grain * gap, 0.26 * grain * gap))


def wall(size: int = 64) -> Array:
    """White plaster with a window that shines: alpha is less than 1 there."""
    y, x = (np.mgrid[:size, :size] + 0.5) / size
    n = 0.88 + 0.12 * noise(size, 16, 12)
    red, green, blue = 0.92 * n, 0.90 * n, 0.84 * n
    frame = np.maximum(np.abs(x - 0.5) / 0.17, np.abs(y - 0.45) / 0.2)
    bars = (np.abs(x - 0.5) < 0.015) | (np.abs(y - 0.45) < 0.015)
    lit = (frame < 0.85) & ~bars
    dark = (frame < 1) & ~lit
    parts = ((red, 1.0, 0.25), (green, 0.78, 0.2), (blue, 0.36, 0.16))
    return steps(rgba(*(np.where(lit, v, np.where(dark, d, c)) for c, v, d in parts), np.where(lit, 0.2, 1.0)))


def needles(size: int = 32) -> Array:
    n = noise(size, 16, 15)
    return steps(rgba(0.10 + 0.12 * n, 0.26 + 0.22 * n, 0.16 + 0.08 * n))


def sky(width: int = 256, height: int = 128) -> Array:
    """Dusk around the horizon, clouds, stars above."""
    up = 1 - (np.arange(height)[:, None] + 0.5) / height
    around = np.arange(width)[None] / width
    west = 0.5 + 0.5 * np.cos(2 * np.pi * (around - 0.5))
    red = np.interp(up, [0, 0.12, 0.4, 1], [0.95, 0.80, 0.25, 0.04]) * (0.45 + 0.55 * west)
    green = np.interp(up, [0, 0.12, 0.4, 1], [0.55, 0.42, 0.24, 0.06]) * (0.6 + 0.4 * west)
    blue = np.interp(up, [0, 0.12, 0.4, 1], [0.42, 0.45, 0.46, 0.18]) * (0.85 + 0.15 * west)
    n = 0.6 * noise(width, 5, 31)[:height] + 0.4 * noise(width, 13, 32)[:height]
    cloud = np.clip((n - 0.56) * 5, 0, 1) * np.interp(up, [0, 0.1, 0.35, 0.6], [0, 1, 0.7, 0])
    lit = np.array([0.95, 0.55, 0.45])[:, None, None] * (0.5 + 0.5 * west)
    red, green, blue = (c + cloud * 0.6 * (v - c) for c, v in zip((red, green, blue), lit, strict=True))
    stars = (np.random.default_rng(7).random((height, width)) > 0.997) * np.clip((up - 0.35) * 2.5, 0, 1)
    return steps(rgba(red + stars, green + stars, blue + stars), 64)


def waves(size: int = 64) -> Array:
    """Slopes of waves in red and green; 0.5 is flat."""
    n = 0.7 * noise(size, 7, 41) + 0.3 * noise(size, 15, 42)
    across, down = (np.roll(n, -1, axis) - np.roll(n, 1, axis) for axis in (1, 0))
    return steps(rgba(0.5 + 2.2 * across, 0.5 + 2.2 * down, np.ones_like(n)), 64)
