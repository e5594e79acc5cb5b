"""Scenes of fragment lighting. Surfaces face the eye: their normals are (0, 0, 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pocketgpu.facts.pica import PICA
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.n3ds.canvas import BLUE, LEFT, ORANGE, RIGHT, Box, SceneCanvas

_LIT = """
    .out o0 position
    .out o1 normalquat
    .out o2.xyz view
    .constf c90, 0.0, 0.0, 0.0, 1.0
"""
_TOWARDS_EYE = (0.0, 0.0, 1.0)
_TABLES = ("d0", "d1", "fr", "rb", "rg", "rr")
_ENTRIES = 256
_LIGHTS = sum(field.name.startswith("light") for field in PICA["LIGHTING_LIGHT_PERMUTATION"].fields)
_FULL = {"r": 255, "g": 255, "b": 255}
_NOTHING = {"r": 0, "g": 0, "b": 0}


def _lit(source: str | tuple[str, str], lights: int = 1) -> SceneCanvas:
    """A canvas with lighting on and all tables off, whose lights have no colours. It shows blue where a combiner source
    is 0 and orange where it is full."""
    canvas = SceneCanvas()
    canvas.program("mov o1, c90\nmov o2.xyz, v1", _LIT)
    canvas.by_source(source, BLUE, ORANGE)
    canvas.list.write("LIGHTING_ENABLE0", enable=True).write("LIGHTING_ENABLE1")
    canvas.list.write("LIGHTING_NUM_LIGHTS", count=lights).write_fields("LIGHTING_AMBIENT", _NOTHING)
    canvas.list.write_fields("LIGHTING_LIGHT_PERMUTATION", {f"light{n}": n for n in range(_LIGHTS)})
    canvas.list.write("LIGHTING_LUTINPUT_ABS").write("LIGHTING_LUTINPUT_SELECT").write("LIGHTING_LUTINPUT_SCALE")
    for n in range(lights):
        for part in ("SPECULAR0", "SPECULAR1", "DIFFUSE", "AMBIENT"):
            canvas.list.write_fields(f"LIGHT{n}_{part}", _NOTHING)
        _direction(canvas, n, _TOWARDS_EYE)
    _tables(canvas)
    return canvas


def _direction(canvas: SceneCanvas, light: int, direction: tuple[float, float, float]) -> None:
    """Where a directional light is."""
    x, y, z = direction
    canvas.list.write(f"LIGHT{light}_XY", x=x, y=y).write(f"LIGHT{light}_Z", z=z)
    canvas.list.write(f"LIGHT{light}_CONFIG", directional=True)


def _tables(canvas: SceneCanvas, *on: str, distance_on: int = 0, fresnel: str = "none") -> None:
    """Which tables count; distance_on: lights that have one, a bit each."""
    every = (1 << _LIGHTS) - 1
    off = {f"{name}_off": name not in on for name in _TABLES}
    canvas.list.write("LIGHTING_CONFIG0", layer="all", constant_four=4, constant_one=True, fresnel=fresnel)
    canvas.list.write(
        "LIGHTING_CONFIG1", constant_one=True, shadow_off=every, spot_off=every, distance_off=every ^ distance_on, **off
    )


def _all(value: float) -> ArrayLike:
    """A table that has one value everywhere."""
    return np.full(_ENTRIES + 1, value)


def _draw(canvas: SceneCanvas, box: Box, view: ArrayLike = _TOWARDS_EYE) -> None:
    """A box; view: the vector to the eye, of all corners or of each."""
    canvas.draw(box, view)


@scene("lighting.lut")
def _() -> Made:
    """A light gets its brightness from a table by its distance, which grows to the right over four entries. The left
    square's table is 1 everywhere: orange. The right one's is 0 and 1 in turns: smooth waves (interpolate), or stripes
    (nearest)."""
    canvas = _lit("fragment primary color")
    canvas.list.combiner(1)
    canvas.show("fragment primary color")
    canvas.list.write_fields("LIGHT0_AMBIENT", dict(zip("rgb", ORANGE[:3], strict=True)))
    _tables(canvas, distance_on=1)
    # A light at (1, 0, 0), seen with vectors from (0, 0, 0) to (1, 0, 0): distances from 1 to 2.
    canvas.list.write("LIGHT0_XY", x=1.0, y=0.0).write("LIGHT0_Z", z=0.0).write("LIGHT0_CONFIG")
    shown, first = 4 / _ENTRIES, 100 / _ENTRIES
    canvas.list.write("LIGHT0_ATTENUATION_SCALE", value=shown).write("LIGHT0_ATTENUATION_BIAS", value=first - shown)
    views = [(0, 0, 0), (1, 0, 0), (1, 0, 0), (0, 0, 0)]
    for box, table in ((LEFT, _all(1.0)), (RIGHT, np.arange(_ENTRIES + 1) % 2)):
        canvas.list.lighting_table("DA0", table)
        _draw(canvas, box, views)
    return canvas.made()


@scene("lighting.off_bits")
def _() -> Made:
    """A light has tables for red, green and blue. One that is switched off counts as 1, or as red's. Bits 20, 21 and 22
    are set for the left square: orange. Only bits 20 and 21 are set for the right one: this leaves red's table, which
    is 0, blue (rb-rg-rr), or blue's, which is 1, orange (rr-rg-rb)."""
    canvas = _lit("fragment secondary color")
    canvas.list.write_fields("LIGHT0_SPECULAR1", _FULL)
    for table, value in (("RR", 0.0), ("RG", 1.0), ("RB", 1.0)):
        canvas.list.lighting_table(table, _all(value))
    for box, on in ((LEFT, ()), (RIGHT, ("rr",))):
        _tables(canvas, *on)
        _draw(canvas, box)
    return canvas.made()


@scene("lighting.fresnel")
def _() -> Made:
    """Two lights have the Fresnel values 1 and 0. For the left square the light with 1 is the last: orange. For the
    right one the light with 0 is: it alone counts, blue (last), or the sum of both does, orange (sum)."""
    canvas = _lit(("fragment primary color", "alpha"), lights=2)
    canvas.list.write("LIGHTING_LUTINPUT_SELECT", fr="L.N")
    canvas.list.lighting_table("FR", np.arange(_ENTRIES + 1) >= _ENTRIES // 2)
    _tables(canvas, "fr", fresnel="primary alpha")
    for box, before in ((LEFT, 1), (RIGHT, 0)):
        _direction(canvas, before, _TOWARDS_EYE)
        _direction(canvas, 1 - before, (1.0, 0.0, 0.0))
        _draw(canvas, box)
    return canvas.made()


@scene("lighting.color_bits")
def _() -> Made:
    """The ambient light is 255 for the left square: orange. It is 256 for the right one: brighter than full, orange
    (10), or 0 in eight bits, blue (8)."""
    canvas = _lit("fragment primary color")
    for box, bright in ((LEFT, 255), (RIGHT, 256)):
        canvas.list.write("LIGHTING_AMBIENT", r=bright, g=bright, b=bright)
        _draw(canvas, box)
    return canvas.made()
