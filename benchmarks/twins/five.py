"""Five scenes: what frames of a Switch are made of, each with one kind of work in the foreground."""

from __future__ import annotations

import numpy as np

from twins.description import CONSTANT_FLOATS, VERTEX_FLOATS, Array, Draw, Pass, Scene, State, Stencil, Target

SIZE = (1280, 720)
ASPECT = SIZE[0] / SIZE[1]
_WHITE = (1, 1, 1, 1)


def _vertices(position: Array, colour: Array | tuple[float, ...] = _WHITE, place: Array | None = None) -> Array:
    """Vertices, (n, VERTEX_FLOATS), of positions with 2 to 4 coordinates."""
    out = np.zeros((len(position), VERTEX_FLOATS), np.float32)
    out[:, 2:4] = 0.5, 1
    out[:, : position.shape[1]] = position
    out[:, 4:8] = colour
    if place is not None:
        out[:, 8 : 8 + place.shape[1]] = place
    return out


def _sphere(columns: int, rows: int) -> Array:
    """Points of a sphere of radius 1 as triangles, (n, 3)."""
    u, v = np.meshgrid(np.arange(columns), np.arange(rows), indexing="ij")
    corners = [(u, v), (u + 1, v), (u + 1, v + 1), (u, v), (u + 1, v + 1), (u, v + 1)]
    a = np.stack([2 * np.pi * c[0] / columns for c in corners], -1).reshape(-1)
    b = np.stack([np.pi * c[1] / rows for c in corners], -1).reshape(-1)
    return np.stack([np.cos(a) * np.sin(b), np.cos(b), np.sin(a) * np.sin(b)], -1)


def _perspective() -> Array:
    """From a camera that looks along -z, with depth 0 to 1."""
    near, far, high = 0.5, 20.0, 1.7
    slope = far / (near - far)
    rows = [[high / ASPECT, 0, 0, 0], [0, high, 0, 0], [0, 0, slope, near * slope], [0, 0, -1, 0]]
    return np.array(rows, np.float32)


_SCREEN = _vertices(
    np.array([(-1, 1), (3, 1), (-1, -3)], float), place=np.array([(0, 0), (2, 0), (0, 2)], float)
)  # fmt: skip


def deferred() -> Scene:
    """Twelve spheres into three targets of 16-bit floats, which a second pass reads for light."""
    rng, points = np.random.default_rng(1), _sphere(32, 24)
    parts, draws, first = [_SCREEN], [], len(_SCREEN)
    for n in range(12):
        middle = np.array([(n % 4 - 1.5) * 1.6, (n // 4 - 1) * 1.4, -4.5 - rng.random()])
        parts.append(_vertices(points * 0.75 + middle, (*rng.random(3), 1), points))
        draws.append(Draw("kept", first, len(points), state=State(depth="LESS")))
        first += len(points)
    constants = np.zeros((1, CONSTANT_FLOATS), np.float32)
    constants[0, :5] = 2, 3, 2, 0, 0.15
    kept = ("albedo", "normal", "position")
    light = Draw("lit", 0, 3, textures=kept, constants=0)
    targets = dict.fromkeys(kept, Target("RGBA16F")) | {"screen": Target()}
    passes = (Pass(kept, tuple(draws), (0, 0, 0, 0), depth=True), Pass(("screen",), (light,)))
    return Scene(
        "deferred", SIZE, np.concatenate(parts), passes, "screen", targets, constants=constants, matrix=_perspective()
    )  # fmt: skip


SHAPES = 187
_FILL = State(stencil=Stencil("ALWAYS", ("INCR_WRAP", "DECR_WRAP")), writes_colour=False)
_OVER = ("ONE", "ONE_MINUS_SRC_ALPHA")
_EDGE = State(blend=_OVER, stencil=Stencil("EQUAL", ("KEEP", "KEEP")))
_COVER = State(blend=_OVER, stencil=Stencil("NOTEQUAL", ("ZERO", "ZERO"), "ZERO"))


def flat() -> Scene:
    """A user interface: 187 shapes with holes and soft edges, each by a fan that counts in the stencil, a strip for
    its edge, and a quad for its inside: 561 draws."""
    rng = np.random.default_rng(2)
    parts: list[Array] = []
    draws: list[Draw] = []
    constants = np.zeros((SHAPES, CONSTANT_FLOATS), np.float32)
    first = 0

    def add(program: str, topology: str, vertices: Array, state: State, row: int) -> None:
        nonlocal first
        parts.append(vertices)
        draws.append(Draw(program, first, len(vertices), topology, state, (), row))
        first += len(vertices)

    for n in range(SHAPES):
        corners = int(rng.integers(20, 60))
        angle = 2 * np.pi * np.arange(corners) / corners
        radius = rng.uniform(20, 75) * (1 + 0.35 * np.sin(angle * rng.integers(2, 6)))
        middle = np.array([rng.uniform(0, SIZE[0]), rng.uniform(0, SIZE[1])])
        way = np.stack([np.cos(angle), np.sin(angle)], -1)
        outline = middle + radius[:, None] * way
        low, high = outline.min(0) - 1, outline.max(0) + 1
        box = np.array([low, (high[0], low[1]), high, (low[0], high[1])])
        strip = np.stack([outline - way * 0.5, outline + way * 0.5], 1).reshape(-1, 2)
        strip = np.concatenate([strip, strip[:2]])
        soft = np.ones((len(strip), 4))
        soft[1::2, 3] = 0
        direction = rng.normal(size=2)
        direction /= np.abs((box - middle) @ direction).max() * 2
        constants[n, :3] = *direction, 0.5 - middle @ direction
        constants[n, 4:8], constants[n, 8:12] = (*rng.random(3), rng.uniform(0.4, 1)), (*rng.random(3), 1)
        add("paint", "TRIANGLE_FAN", _on_screen(outline), _FILL, n)
        add("paint", "TRIANGLE_STRIP", _on_screen(strip, soft), _EDGE, n)
        add("paint", "TRIANGLE_FAN", _on_screen(box), _COVER, n)
    one = Pass(("screen",), tuple(draws), (0.9, 0.9, 0.92, 1), depth=True)
    return Scene(
        "flat", SIZE, np.concatenate(parts), (one,), "screen", {"screen": Target()}, constants=constants, pushed=False
    )


def _on_screen(points: Array, colour: Array | tuple[float, ...] = _WHITE) -> Array:
    """Vertices at pixels; their texture coordinates are pixels, too."""
    at = points / np.array(SIZE) * (2, -2) + (-1, 1)
    return _vertices(at, colour, points)


def textured() -> Scene:
    """64 quads with 16 textures at 1920 x 1080, turned, over each other, half of them blended."""
    rng, size = np.random.default_rng(3), (1920, 1080)
    textures = {}
    for n in range(16):
        coarse = rng.integers(0, 256, (16, 16, 4)).repeat(16, 0).repeat(16, 1)
        textures[f"texture {n}"] = (coarse // 2 + rng.integers(0, 128, (256, 256, 4))).astype(np.uint8)
    parts, draws = [], []
    for n in range(64):
        angle = rng.uniform(0, 2 * np.pi)
        turn = np.array([(np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))])
        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) @ turn * rng.uniform(150, 260)
        middle = np.array([(n % 8 + 0.5) * size[0] / 8, (n // 8 + 0.5) * size[1] / 8])
        at = (corners + middle) / np.array(size) * (2, -2) + (-1, 1)
        place = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * rng.uniform(0.7, 1.6)
        parts.append(_vertices(at, (1, 1, 1, 0.7), place))
        blend = ("SRC_ALPHA", "ONE_MINUS_SRC_ALPHA") if n % 2 else None
        draws.append(Draw("textured", 4 * n, 4, "TRIANGLE_FAN", State(blend=blend), (f"texture {n % 16}",)))
    one = Pass(("screen",), tuple(draws))
    return Scene("textured", size, np.concatenate(parts), (one,), "screen", {"screen": Target()}, textures)


DRAWS, STATES = 2000, 40
_BLENDS = (
    None, ("SRC_ALPHA", "ONE_MINUS_SRC_ALPHA"), ("ONE", "ONE"), ("DST_COLOR", "ZERO"), ("ONE", "ONE_MINUS_SRC_ALPHA"),
)  # fmt: skip


def states() -> Scene:
    """2,000 draws of a few small triangles, in 40 states in turn, each with constants of its own."""
    rng = np.random.default_rng(4)
    mesh = []
    for _ in range(16):
        corners = rng.normal(size=(4, 1, 2)) * 0.02 + rng.normal(size=(4, 3, 2)) * (0.025, 0.04)
        triangles = np.concatenate([corners.reshape(-1, 2), rng.uniform(0.1, 0.9, (12, 1))], 1)
        mesh.append(_vertices(triangles, rng.random((12, 4))))
    constants = rng.random((DRAWS, CONSTANT_FLOATS)).astype(np.float32)
    constants[:, :2] = rng.uniform(-1, 1, (DRAWS, 2))
    kinds = [
        State(blend, depth, None, True, culls)
        for blend in _BLENDS
        for depth in (None, "LESS", "LEQUAL", "ALWAYS")
        for culls in (False, True)
    ]
    assert len(kinds) == STATES
    draws = [Draw("moved", 12 * (n % 16), 12, state=kinds[n * 7 % STATES], constants=n) for n in range(DRAWS)]
    one = Pass(("screen",), tuple(draws), (0.2, 0.2, 0.25, 1), depth=True)
    return Scene("states", SIZE, np.concatenate(mesh), (one,), "screen", {"screen": Target()}, constants=constants)


def multisampled() -> Scene:
    """Four samples a pixel: 2,000 triangles with depth, 40 blended ones over them, averaged into the picture."""
    rng = np.random.default_rng(5)
    middle = np.concatenate([rng.uniform(-1.1, 1.1, (2000, 2)), rng.uniform(0.1, 0.9, (2000, 1))], 1)
    corners = middle[:, None] + rng.normal(size=(2000, 3, 3)) * (0.05, 0.09, 0.02)
    solid = _vertices(corners.reshape(-1, 3), rng.random((2000, 1, 4)).repeat(3, 1).reshape(-1, 4))
    glass = rng.uniform(-1, 1, (40, 1, 2)) + rng.normal(size=(40, 3, 2)) * 0.4
    colour = rng.random((120, 4)) * (1, 1, 1, 0.6)
    over = _vertices(np.concatenate([glass.reshape(-1, 2), np.full((120, 1), 0.3)], 1), colour)
    blended = State(blend=("SRC_ALPHA", "ONE_MINUS_SRC_ALPHA"))
    draws = (Draw("turned", 0, 6000, state=State(depth="LESS")), Draw("turned", 6000, 120, state=blended))
    one = Pass(("samples",), draws, (0.1, 0.1, 0.2, 1), depth=True)
    targets = {"samples": Target(samples=4), "screen": Target()}
    return Scene("multisampled", SIZE, np.concatenate([solid, over]), (one,), "screen", targets, resolve="samples")


SCENES = (deferred, flat, textured, states, multisampled)
