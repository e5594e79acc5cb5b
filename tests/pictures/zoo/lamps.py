"""What scenes of lights share: a dome to shine on, and calls for lights and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pocketgpu.builder import Buffer, assemble

from .stage import Scene

PROGRAM = assemble("""
    .out o0 position
    .out o1 quaternion
    .out o2.xyz view
    .out o3.xy texcoord0
    .out o3.zw texcoord1
    main:
        mov o0, v0
        mov o1, v1
        mov o2.xyz, v2
        mov o3, v3.xyxy
        end
""")
LAYOUT = [("f32", 4), ("f32", 4), ("f32", 3), ("f32", 2)]
EYE = np.array([0.0, 0.0, 3.0])
BOTH = ("add", "fragment primary color", "fragment secondary color")
TABLES = ("d0", "d1", "fr", "rr", "rg", "rb")
SPREAD = {"d0": "D0", "d1": "D1", "fr": "FR", "rr": "RR", "rg": "RG", "rb": "RB"}
Vector = Sequence[float]


def dome(s: Scene, steps: int = 2, tilt: float = 0.9, flip: bool = False) -> None:
    """A square that bulges toward the eye: normals lean outward by `tilt` at its edges. flip: half of the quaternions
    have the other sign, which means the same turn."""
    side = np.linspace(-1, 1, steps + 1)
    x, y = (a.ravel() for a in np.meshgrid(side, side))
    normal = np.stack([tilt * x, tilt * y, np.ones_like(x)], axis=-1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    place = np.stack([x, y, normal[:, 2] - 1], axis=-1)
    # The shortest turn from z to the normal.
    turn = np.stack([-normal[:, 1], normal[:, 0], 0 * x, 1 + normal[:, 2]], axis=-1)
    turn /= np.linalg.norm(turn, axis=-1, keepdims=True)
    if flip:
        turn[::2] *= -1
    corners = np.stack([x, y, np.full_like(x, -0.5), np.ones_like(x)], axis=-1)
    rows = np.concatenate([corners, turn, EYE - place, (corners[:, :2] + 1) / 2], axis=1).astype(np.float32)
    order = []
    for j in range(steps):
        for i in range(steps):
            a, b = j * (steps + 1) + i, (j + 1) * (steps + 1) + i
            order += [a, a + 1, b + 1, a, b + 1, b]
    address = s.put(rows[order])
    if s.cl.vertices != address:
        s.cl.attributes(Buffer(address, LAYOUT))
    s.cl.draw_arrays(len(order))


def lighting(s: Scene, count: int = 1, layer: str = "all", **config: Any) -> None:
    """Lights on, all tables off but those that `config` (fields of LIGHTING_CONFIG0) or `tables` bring in; the result
    is the sum of both colours."""
    s.cl.shader(PROGRAM).combiner(0, BOTH, ("replace", "fragment primary color"))
    s.cl.write("LIGHTING_ENABLE0", enable=True).write("LIGHTING_ENABLE1")
    s.cl.write("LIGHTING_NUM_LIGHTS", count=count).write("LIGHTING_AMBIENT", r=12, g=12, b=20)
    s.cl.write("LIGHTING_LIGHT_PERMUTATION", **{f"light{n}": n for n in range(8)})
    s.cl.write("LIGHTING_LUTINPUT_ABS").write("LIGHTING_LUTINPUT_SELECT").write("LIGHTING_LUTINPUT_SCALE")
    config0(s, layer, **config)
    tables(s)


def config0(s: Scene, layer: str = "all", **fields: Any) -> None:
    s.cl.write("LIGHTING_CONFIG0", layer=layer, constant_four=4, constant_one=True, **fields)


def tables(s: Scene, *on: str, shadow_off: int = 255, spot_off: int = 255, distance_off: int = 255) -> None:
    """Which tables count."""
    off = {f"{name}_off": name not in on for name in TABLES}
    s.cl.write(
        "LIGHTING_CONFIG1",
        constant_one=True,
        shadow_off=shadow_off,
        spot_off=spot_off,
        distance_off=distance_off,
        **off,
    )


def light(
    s: Scene, number: int = 0, at: Vector = (0.4, 0.5, 1.0), *, diffuse: Vector = (160, 130, 90),
    specular: Vector = (0, 0, 0), specular1: Vector = (0, 0, 0), ambient: Vector = (0, 0, 0), directional: bool = True,
    **config: Any,
) -> None:  # fmt: skip
    """A light; `at` is its place in coordinates of the dome, or the direction to it. Colours are 0 to 255 and more."""
    name = f"LIGHT{number}_"
    if not directional:
        at = np.asarray(at) - EYE  # places count from the eye
    colors = (("DIFFUSE", diffuse), ("SPECULAR0", specular), ("SPECULAR1", specular1), ("AMBIENT", ambient))
    for register, (r, g, b) in colors:
        s.cl.write(name + register, r=int(r), g=int(g), b=int(b))
    s.cl.write(name + "XY", x=float(at[0]), y=float(at[1])).write(name + "Z", z=float(at[2]))
    s.cl.write(name + "CONFIG", directional=directional, **config)


def aim(s: Scene, direction: Vector, number: int = 0) -> None:
    """Where a spot light shines to."""
    x, y, z = -np.asarray(direction, np.float64) / np.linalg.norm(direction)
    s.cl.write(f"LIGHT{number}_SPOTDIR_XY", x=float(x), y=float(y)).write(f"LIGHT{number}_SPOTDIR_Z", z=float(z))
