"""Fragment lighting: its tables, what they are looked up with, and what they change."""

from __future__ import annotations

import numpy as np

from pocketgpu.facts.pica_enums import FRESNEL, LIGHT_LAYER, LIGHT_LUT_INPUT, LIGHT_LUT_SCALE

from .lamps import SPREAD, TABLES, aim, config0, dome, light, lighting, tables
from .stage import Array, Scene, each, letter, rgba, scene
from .stage import grid as texels

X = np.arange(257) / 256
SIGNED = np.concatenate([np.arange(128) / 128, np.arange(-128, 1) / 128])
"""Inputs of a table with signed input, in its order."""


def bell(centre: float, width: float) -> Array:
    return np.exp(-(((X - centre) / width) ** 2))


@scene(6, 3, 24)
def light_table_inputs(s: Scene) -> None:
    """What table D0 is looked up with (columns), shown as brightness with dark lines at every quarter. Rows: absolute
    value off, so that -1 is dark and 1 bright; absolute value on for a one-sided light, where all below 0 is black; the
    same for a two-sided light, where it mirrors. The light stands at the right edge, low above the dome."""
    lighting(s)
    tables(s, "d0")
    aim(s, (-0.3, 1, -0.2))
    for row in ("signed", "positive", "both sides"):
        ramp = (SIGNED + 1) / 2 if row == "signed" else X
        lines = np.abs((SIGNED if row == "signed" else X) * 4 % 1 - 0.5) < 0.42
        s.cl.lighting_table("D0", np.clip(ramp, 0, 1) * np.where(lines, 1, 0.25))
        s.cl.write("LIGHTING_LUTINPUT_ABS", d0=row == "signed")
        for name in each(LIGHT_LUT_INPUT):
            s.cell(f"{row}: {name}")
            s.cl.write("LIGHTING_LUTINPUT_SELECT", d0=name)
            light(
                s, at=(1.1, 0.5, 0.1), diffuse=(0, 0, 0), specular=(255, 255, 255), directional=False,
                two_sided=row == "both sides",
            )  # fmt: skip
            dome(s)


@scene(6, 1, 24)
def light_table_scales(s: Scene) -> None:
    """Scales of a table's result: 1, 2, 4, 8, 1/4, 1/2, of a highlight of half brightness."""
    lighting(s)
    tables(s, "d0")
    s.cl.lighting_table("D0", 0.5 * X**4)
    light(s, diffuse=(0, 0, 0), specular=(255, 220, 160))
    for scale in each(LIGHT_LUT_SCALE):
        s.cell(scale).write("LIGHTING_LUTINPUT_SCALE", d0=scale)
        dome(s)


def distinct_tables(s: Scene) -> None:
    """Every table has a shape of its own, over N.H, but FR and SP."""
    shapes = {
        "D0": 0.2 + 0.8 * bell(1.0, 0.03), "D1": 0.2 + 0.8 * bell(0.93, 0.02),
        "FR": 1 - X, "RR": 0.2 + 0.8 * (X > 0.9), "RG": 1 - X**6,
        "RB": bell(0.85, 0.05), "SP0": 0.5 + 0.5 * (X > 0.9), "DA0": 1 - 0.6 * X,
    }  # fmt: skip
    for name, values in shapes.items():
        s.cl.lighting_table(name, values)
    s.cl.write("LIGHTING_LUTINPUT_SELECT", fr="N.V", sp="-L.P (spot)")
    aim(s, (-0.1, 0.15, -1))
    s.cl.write("LIGHT0_ATTENUATION_BIAS").write("LIGHT0_ATTENUATION_SCALE", value=0.4)
    light(
        s, at=(-0.3, 0.4, 1.2), diffuse=(40, 40, 40), specular=(150, 70, 40), specular1=(65, 120, 170),
        directional=False,
    )  # fmt: skip


@scene(8, 2, 24)
def light_tables(s: Scene) -> None:
    """Upper row, one table alone (D0: a sharp spot; D1: a ring around it; FR: alpha, bright at the rim; RR, RG, RB:
    red, green, blue of the second highlight, where RG and RB follow RR if off; SP: a spot light's circle; DA: darker
    with distance). Lower row, all of them in each layer configuration, which leaves some out."""
    lighting(s, fresnel="primary alpha")
    distinct_tables(s)
    for name in (*TABLES, "sp", "da"):
        s.cell(f"{SPREAD.get(name, name.upper())} alone")
        tables(s, name, spot_off=254 if name == "sp" else 255, distance_off=254 if name == "da" else 255)
        dome(s)
    for layer in each(LIGHT_LAYER):
        s.cell(f"layer {layer}")
        config0(s, layer, fresnel="primary alpha")
        tables(s, *TABLES, spot_off=254, distance_off=254)
        dome(s)


@scene(4, 2, 16)
def light_fresnel(s: Scene) -> None:
    """Which alpha the Fresnel table (bright at the rim) becomes: none, primary, secondary, both. Upper row shows the
    primary colour and its alpha, lower row the secondary."""
    lighting(s)
    tables(s, "d0", "fr")
    s.cl.lighting_table("D0", X**16).lighting_table("FR", np.clip(2 - 2 * X, 0, 1))
    s.cl.write("LIGHTING_LUTINPUT_SELECT", fr="N.V")
    light(s, specular=(255, 255, 255))
    for source in ("fragment primary color", "fragment secondary color"):
        s.cl.combiner(0, ("replace", source), ("replace", source))
        for selector in each(FRESNEL):
            s.cell(f"{source}: {selector}")
            config0(s, fresnel=selector)
            dome(s)


def bumps(size: int) -> Array:
    """Four round bumps on a flat ground, as a normal map."""
    x, y = texels(size)
    u, v = (2 * x) % 1 * 2 - 1, (2 * y) % 1 * 2 - 1
    inside = np.hypot(u, v) < 0.85
    nx, ny = np.where(inside, u, 0), np.where(inside, v, 0)
    nz = np.sqrt(np.clip(1 - nx**2 - ny**2, 0, 1))
    return rgba(nx / 2 + 0.5, ny / 2 + 0.5, nz / 2 + 0.5)


def hair(size: int) -> Array:
    """Tangents that turn round and round from left to right."""
    x, _ = texels(size)
    return rgba(0.5 + 0.5 * np.cos(4 * np.pi * x), 0.5 + 0.5 * np.sin(4 * np.pi * x), 0.5)


@scene(6, 2, 24)
def light_bump(s: Scene) -> None:
    """Upper row: no bump map; four bumps with z worked out from x and y; with z as it stands in the map; a map whose z
    says little (worked out, then as it stands: flatter); flat light by unit 1. Lower row: highlights by the angle to
    the tangent (cos phi): plain tangents; a map of tangents that turn (unit 0, then 1); the same without the tangent
    mode; a tangent map under another layer configuration, where cos phi counts as 0."""
    lighting(s)
    address, turned = s.capture.put_texture(bumps(32)), s.capture.put_texture(hair(32))
    weak = bumps(32)
    weak[..., 2] = 140
    pale = s.capture.put_texture(weak)

    def show(label: str, map: int, unit: int = 0, layer: str = "all", **fields: object) -> None:
        s.cell(label).no_textures().texture(unit, map, 32, 32, wrap="clamp to edge")
        config0(s, layer, bump_unit=unit, **fields)
        dome(s)

    light(s, at=(0.5, 0.7, 0.6))
    show("none", address)
    show("bumps, z worked out", address, bump_mode="bump map")
    show("bumps, z kept", address, bump_mode="bump map", bump_keep_z=True)
    show("weak z, worked out", pale, bump_mode="bump map")
    show("weak z, kept", pale, bump_mode="bump map", bump_keep_z=True)
    show("bumps, unit 1", address, 1, bump_mode="bump map")
    tables(s, "d0")
    s.cl.lighting_table("D0", (SIGNED + 1) / 2)
    s.cl.write("LIGHTING_LUTINPUT_SELECT", d0="cos phi").write("LIGHTING_LUTINPUT_ABS", d0=True)
    light(s, at=(0.9, 0.7, 0.3), diffuse=(0, 0, 0), specular=(255, 230, 200))
    show("cos phi", turned)
    show("tangent map", turned, bump_mode="tangent map")
    show("tangent map, unit 1", turned, 1, bump_mode="tangent map")
    show("bumps and cos phi", address, bump_mode="bump map")
    show("tangent map, z kept", turned, bump_mode="tangent map", bump_keep_z=True)
    show("tangent map, layer 0", turned, layer="D0, RR, SP, DA", bump_mode="tangent map")


@scene(4, 2, 24)
def light_shadow(s: Scene) -> None:
    """A shadow (an F of unit 0, dark red) on: nothing; diffuse light; highlights; both; both, inverted; alpha, which is
    Fresnel's (bright at the rim); both from unit 1 (a green F on its side); both, but switched off for this light."""
    lighting(s)
    f = letter(32, (0.4, 0, 0, 0.3), (1, 1, 1, 1))
    other = np.ascontiguousarray(np.rot90(letter(32, (0, 0.5, 0, 0.6), (1, 1, 1, 1))))
    for unit, picture in enumerate((f, other)):
        s.cl.texture(unit, s.capture.put_texture(picture), 32, 32, wrap="clamp to edge")
    s.cl.lighting_table("D0", X**8).lighting_table("FR", np.clip(1.4 - X, 0, 1))
    s.cl.write("LIGHTING_LUTINPUT_SELECT", fr="N.V")
    light(s, specular=(120, 140, 200))

    def show(label: str, off: int = 0, **fields: object) -> None:
        s.cell(label)
        config0(s, fresnel="primary alpha", **fields)
        tables(s, "d0", "fr", shadow_off=off)
        dome(s)

    show("none", shadow=False, shadow_primary=True, shadow_secondary=True)
    show("primary", shadow=True, shadow_primary=True)
    show("secondary", shadow=True, shadow_secondary=True)
    show("both", shadow=True, shadow_primary=True, shadow_secondary=True)
    show("inverted", shadow=True, shadow_primary=True, shadow_secondary=True, shadow_invert=True)
    show("alpha", shadow=True, shadow_alpha=True)
    show("both, unit 1", shadow=True, shadow_primary=True, shadow_secondary=True, shadow_unit=1)
    show("off for the light", 1, shadow=True, shadow_primary=True, shadow_secondary=True)
