"""The lights themselves: kinds, number, spots, distance, geometric factors."""

from __future__ import annotations

import numpy as np

from .lamps import aim, config0, dome, light, lighting, tables
from .lighting import X
from .stage import Scene, scene

HUES = (
    (140, 20, 20), (120, 70, 10), (90, 90, 10), (20, 110, 20), (10, 90, 90), (20, 40, 150), (70, 20, 120),
    (110, 20, 80),
)  # fmt: skip


@scene(6, 2, 24)
def light_kinds(s: Scene) -> None:
    """Directional and positional light at the same coordinates (the positional one stands close: its spot is small);
    each from behind, one-sided (dark) and two-sided; quaternions of mixed sign (no seam); ambient light of the light; a
    light brighter than full. Lower row: geometric factors none, first, second, both; highlights where the light does
    not reach, kept and clamped away."""
    lighting(s)
    for directional in (True, False):
        kind = "directional" if directional else "positional"
        s.cell(kind)
        light(s, at=(0.3, 0.4, 0.35), diffuse=(255, 200, 140), directional=directional)
        dome(s)
    for two_sided in (False, True):
        s.cell(f"from behind, {'two' if two_sided else 'one'}-sided")
        light(s, at=(0.5, 0.5, -0.7), two_sided=two_sided)
        dome(s)
    s.cell("quaternions of mixed sign")
    light(s, at=(0.3, 0.4, 0.35))
    dome(s, flip=True)
    s.cell("ambient and over-bright")
    light(s, at=(-0.7, 0.1, 0.4), diffuse=(700, 400, 100), ambient=(0, 30, 60))
    dome(s)
    tables(s, "d0", "d1", "rr")
    s.cl.lighting_table("D0", X**4).lighting_table("D1", X**24).lighting_table("RR", 0.3 + 0.7 * X)
    for first, second in ((False, False), (True, False), (False, True), (True, True)):
        s.cell(f"geometric factors {int(first)}{int(second)}")
        light(
            s, at=(0.9, 0.2, 0.25), diffuse=(0, 0, 0), specular=(220, 60, 30), specular1=(30, 120, 220),
            geometric0=first, geometric1=second,
        )  # fmt: skip
        dome(s)
    for clamp in (False, True):
        s.cell(f"highlights {'clamped' if clamp else 'kept'} where it is dark")
        config0(s, clamp_highlights=clamp)
        light(s, at=(1, 0.3, -0.2), diffuse=(90, 90, 0), specular=(160, 60, 200))
        dome(s)


@scene(4, 3, 24)
def light_count(s: Scene) -> None:
    """One to eight lights around the dome, each in its own hue; then three lights by a permutation (lights 6, 4, 2),
    the same light three times, and eight lights with highlights, in order and backwards (the same)."""
    lighting(s)
    around = [(np.cos(a), np.sin(a), 0.25) for a in np.arange(8) * np.pi / 4]
    for number, (hue, at) in enumerate(zip(HUES, around, strict=True)):
        light(s, number, at, diffuse=hue)
    for count in range(1, 9):
        s.cell(f"{count}").write("LIGHTING_NUM_LIGHTS", count=count)
        dome(s)
    s.cl.write("LIGHTING_NUM_LIGHTS", count=3)
    for order in ((6, 4, 2), (1, 1, 1)):
        s.cell(f"lights {order}")
        s.cl.write("LIGHTING_LIGHT_PERMUTATION", **{f"light{n}": number for n, number in enumerate(order)})
        dome(s)
    s.cl.write("LIGHTING_NUM_LIGHTS", count=8).lighting_table("D0", X**60)
    tables(s, "d0")
    for number, (hue, at) in enumerate(zip(HUES, around, strict=True)):
        light(s, number, at, diffuse=np.array(hue) // 3, specular=2 * np.array(hue))
    for order in (range(8), range(7, -1, -1)):
        s.cell(f"highlights, {'in order' if order[0] == 0 else 'backwards'}")
        s.cl.write("LIGHTING_LIGHT_PERMUTATION", **{f"light{n}": number for n, number in enumerate(order)})
        dome(s)


@scene(4, 2, 24)
def light_spot_and_distance(s: Scene) -> None:
    """A light over the dome. Upper row: no spot; a narrow spot downward; to the left; two spots with tables of their
    own (hard red, soft blue). Lower row, distance: not counted; falling off; with a bias that takes the brightest part
    away; two lights, one far (scale 0.2), one near (scale 1)."""
    lighting(s)
    above = (0.0, 0.0, 0.8)
    s.cl.lighting_table("SP0", (X > 0.9).astype(float)).lighting_table("SP1", np.clip(X * 3 - 2, 0, 1))
    s.cl.lighting_table("DA0", 1 - X).lighting_table("DA1", (X < 0.5).astype(float))
    s.cl.write("LIGHTING_LUTINPUT_SELECT", sp="-L.P (spot)")
    light(s, 0, above, diffuse=(255, 200, 150), directional=False)
    s.cell("no spot")
    dome(s)
    tables(s, spot_off=254)
    for name, direction in (("downward", (0, 0, -1)), ("to the left", (-0.6, 0.1, -0.8))):
        s.cell(f"spot {name}")
        aim(s, direction)
        dome(s)
    s.cell("two spots").write("LIGHTING_NUM_LIGHTS", count=2)
    tables(s, spot_off=252)
    light(s, 0, above, diffuse=(255, 60, 40), directional=False)
    light(s, 1, above, diffuse=(60, 80, 255), directional=False)
    aim(s, (-0.5, 0.4, -0.8), 0)
    aim(s, (0.5, -0.3, -0.8), 1)
    dome(s)
    s.cl.write("LIGHTING_NUM_LIGHTS", count=1)
    light(s, 0, above, diffuse=(255, 200, 150), directional=False)
    for label, off, bias, scale in (
        ("distance not counted", 255, 0.0, 0.5), ("falling off", 254, 0.0, 0.5), ("bias", 254, 0.3, 0.5),
    ):  # fmt: skip
        s.cell(label).write("LIGHT0_ATTENUATION_BIAS", value=bias).write("LIGHT0_ATTENUATION_SCALE", value=scale)
        tables(s, distance_off=off)
        dome(s)
    s.cell("two distances").write("LIGHTING_NUM_LIGHTS", count=2).write("LIGHT0_ATTENUATION_BIAS")
    s.cl.write("LIGHT0_ATTENUATION_SCALE", value=0.2).write("LIGHT1_ATTENUATION_SCALE", value=0.4)
    tables(s, distance_off=252)
    light(s, 0, above, diffuse=(200, 60, 40), directional=False)
    dome(s)
