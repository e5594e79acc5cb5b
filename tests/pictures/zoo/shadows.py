"""Shadow maps: drawing them, and reading them as textures."""

from __future__ import annotations

import numpy as np

from .lamps import config0, dome, light, lighting
from .stage import UNIT, Scene, scene
from .textures import FACES, cube_addresses, on_grey

SIDE = 32
FAR = (0.0, 1.0, 0.0, 1.0)


def shadow_mode(s: Scene, constant: float = 1.0, linear: float = 0.0) -> None:
    s.cl.write("COLOR_OPERATION", fragment_mode="shadow", line_config=0xE4)
    s.cl.write("FRAGOP_SHADOW", constant=constant, linear=linear)


def occluder(intensity: float) -> tuple[float, float, float, float]:
    """The colour that the mode looks at: green 0 casts a shadow, other values soften its edge."""
    return 0.3, intensity, 0.6, 0.2


@scene(4, 2, 32)
def shadow_map_drawing(s: Scene) -> None:
    """The map itself: red is intensity, green is depth; empty is both full. A triangle at depth 0.25; a slope; the
    triangle after a nearer one and before it (nearest stays); soft values of intensity 0.6 over the triangle at depth
    0.5 and beyond it; farther away (nothing); soft ones with constant 2; with a linear part, by depth; soft ones twice
    (the smaller stays)."""
    s.surfaces = [s.surface("color", s.color, "RGBA8", shadow=True)]
    s.fill_color(np.array((255, 255, 255, 255)))
    shadow_mode(s)
    s.cell("triangle")
    s.triangle(occluder(0), z=-0.25)
    s.cell("slope")
    s.quad(occluder(0), z=(0, -1, -1, 0))
    s.cell("nearest stays")
    for z in (-0.5, -0.25, -0.75):
        s.triangle(occluder(0), size=0.5 - z / 2, z=z)
    s.cell("soft over a triangle")
    s.triangle(occluder(0), size=0.6, z=-0.5)
    s.quad(occluder(0.6), z=-0.25, box=(-0.8, -0.3, 0.8, 0.5))
    s.cell("soft behind it")
    s.triangle(occluder(0), size=0.6, z=-0.25)
    s.quad(occluder(0.6), z=-0.5, box=(-0.8, -0.3, 0.8, 0.5))
    s.cell("constant 2")
    shadow_mode(s, 2.0)
    s.quad(occluder(0.9), z=-0.25, box=(-0.8, -0.3, 0.8, 0.5))
    s.cell("linear 2")
    shadow_mode(s, 0.5, 2.0)
    s.quad(occluder(0.9), z=(0, -1, -1, 0))
    s.cell("soft twice")
    shadow_mode(s)
    s.quad(occluder(0.5), z=-0.25, box=(-0.8, -0.8, 0.3, 0.3))
    s.quad(occluder(0.8), z=-0.25, box=(-0.3, -0.3, 0.8, 0.8))


def draw_map(s: Scene) -> int:
    """A map with a triangle at depth 0.4 and a soft border around it; returns its address."""
    address = s.capture.allocate(4 * SIDE * SIDE, region="VRAM")
    s.capture.load(address, b"\xff" * 4 * SIDE * SIDE)
    s.cl.render_target(address, SIDE, SIDE)
    shadow_mode(s)
    s.triangle(occluder(0.6), size=0.85, z=-0.4)
    s.triangle(occluder(0), size=0.6, z=-0.4)
    s.submit()
    s.surfaces.append(s.surface("map", address, "RGBA8", width=SIDE, height=SIDE, shadow=True))
    return address


@scene(6, 2, 32)
def shadow_textures(s: Scene) -> None:
    """A shadow map read in the draw after it was made: a dark triangle with a half-lit border. Upper row: looked at
    from depth 0.6; from 0.3 (before the triangle: only the border); from depths that grow to the right; biased by 0.3;
    by perspective (coordinates divided by depth); repeated and mirrored with a border colour that is near. Lower row:
    as a cube, its six faces (the map on +x, +y, +z, an empty one elsewhere) from depth 0.6 at their middle."""
    on_grey(s)
    address = draw_map(s)
    empty = s.capture.put(b"\xff" * 4 * SIDE * SIDE, region="VRAM")  # faces share the upper bits of their addresses
    s.cl.combiner(0, ("replace", "texture 0"), ("replace", "texture 0"))

    def bind(kind: str, orthographic: bool, bias: float = 0.0, wrap: tuple[str, str] = ("clamp to edge",) * 2) -> None:
        s.cl.texture(0, address, SIDE, SIDE, wrap=wrap, border=(255, 0, 0, 20))
        s.cl.write("TEXUNIT0_PARAM", type=kind, shadow=True, wrap_s=wrap[0], wrap_t=wrap[1])
        s.cl.write("TEXUNIT0_SHADOW", orthographic=orthographic, bias=int(bias * 0x7FFFFF))

    def at(depth: float) -> list[tuple[float, float, float]]:
        return [(u, v, depth) for u, v in UNIT]

    s.cell("from depth 0.6")
    bind("shadow 2D", True)
    s.quad(uv0=at(0.6))
    s.cell("from depth 0.3")
    s.quad(uv0=at(0.3))
    s.cell("from depths 0 to 1")
    s.quad(uv0=[(u, v, u) for u, v in UNIT])
    s.cell("from depth 0.6, bias 0.3")
    bind("shadow 2D", True, 0.3)
    s.quad(uv0=at(0.6))
    s.cell("perspective")
    bind("shadow 2D", False)
    s.quad(uv0=((0, 0, 0.9), (0.6, 0, 0.9), (0.6, 0.6, 0.6), (0, 0.6, 0.6)))
    s.cell("mirrored, border")
    bind("shadow 2D", True, wrap=("mirrored repeat", "clamp to border"))
    s.quad(uv0=[(3 * u - 1, 3 * v - 1, 0.6) for u, v in UNIT])
    for name, corners in FACES.items():
        s.cell(f"cube {name}")
        bind("shadow cube", False)
        cube_addresses(s, [address, empty] * 3)
        s.quad(uv0=0.6 * np.array(corners))


@scene(2, 1, 32)
def shadow_in_light(s: Scene) -> None:
    """A shadow map at work: the lit square that it darkens, and the same with the shadow inverted."""
    address = draw_map(s)
    lighting(s)
    light(s, at=(0.3, 0.5, 1.0), diffuse=(255, 220, 160))
    s.cl.write("LIGHTING_CONFIG1", constant_one=True, spot_off=255, distance_off=255, d0_off=True, d1_off=True)
    s.cl.texture(0, address, SIDE, SIDE, wrap="clamp to edge")
    s.cl.write("TEXUNIT0_PARAM", type="shadow 2D", shadow=True)
    # Texture coordinate 0.w is not among this program's outputs and counts as 1: the depth looked from.
    s.cl.write("TEXUNIT0_SHADOW", orthographic=True, bias=0)
    for invert in (False, True):
        s.cell("inverted" if invert else "plain")
        config0(s, shadow=True, shadow_primary=True, shadow_invert=invert)
        dome(s)
