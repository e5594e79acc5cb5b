"""Texture unit 3, which makes its texture by rule: clamps, shifts, functions, noise, colour table, levels."""

from __future__ import annotations

from pocketgpu.facts.dialect.registers import encode_float
from pocketgpu.facts.pica_enums import PROCTEX_CLAMP, PROCTEX_FILTER, PROCTEX_MAP, PROCTEX_SHIFT

from .stage import Scene, each, scene

SHOW = ("replace", "texture 3 (procedural)")
WIDE = ((-2, -2), (2, -2), (2, 2), (-2, 2))
"""Two units to each side of the origin, which is in the middle of a cell."""


def tables(s: Scene, width: int = 64) -> None:
    """Identity maps; a colour table from dark blue by red to yellow."""
    for name in ("rgb map", "alpha map", "noise"):
        s.cl.procedural_table(name, [i / 128 for i in range(129)])
    ramp = [(min(255, 9 * i), max(0, 6 * i - 130), max(0, 110 - 5 * i), 40 + 3 * i) for i in range(width)]
    s.cl.procedural_table("color", ramp)
    s.cl.write("TEXUNIT3_PROCTEX4", filter="linear", width=width).write("TEXUNIT3_PROCTEX5")
    s.cl.write("TEXUNIT_CONFIG", constant_one=True, unit3_enable=True).combiner(0, SHOW, SHOW)


@scene(8, 2, 16)
def proctex_clamps(s: Scene) -> None:
    """The five clamp modes and codes 5 to 7 of u (upper row, function u) and of v (lower row, function v); coordinates
    go from -2 to 2 and count without their sign: zero is black beyond 1, edge is bright, repeat and mirrored repeat go
    on, pulse is dark up to 0.5 and bright beyond."""
    tables(s)
    for axis in "uv":
        for code in range(8):
            clamp = PROCTEX_CLAMP.get(code, code)
            s.cell(f"{axis}: {clamp}")
            s.cl.write("TEXUNIT3_PROCTEX0", rgb_function=axis, **{f"{axis}_clamp": clamp})
            s.quad(uv0=WIDE)


@scene(6, 3, 16)
def proctex_shifts(s: Scene) -> None:
    """Shifts of u (columns, none, odd, even) by those of v (rows): bricks. Left half: both coordinates repeat, and
    shifts are by half a brick; right half: both mirror, and shifts are by a whole one."""
    tables(s)
    for v_shift in each(PROCTEX_SHIFT):
        for clamp in ("repeat", "mirrored repeat"):
            for u_shift in each(PROCTEX_SHIFT):
                s.cell(f"{clamp}, u {u_shift}, v {v_shift}")
                s.cl.write(
                    "TEXUNIT3_PROCTEX0", u_clamp=clamp, v_clamp=clamp, u_shift=u_shift, v_shift=v_shift,
                    rgb_function="max(u, v)",
                )  # fmt: skip
                s.quad(uv0=((0, 0), (4, 0), (4, 4), (0, 4)))


@scene(10, 2, 16)
def proctex_functions(s: Scene) -> None:
    """The ten functions of u and v, which both go from 0 to 1 over a cell. Upper row: rgb and alpha by the same one;
    lower row: alpha has its own function and goes past the colour table, rgb has u."""
    tables(s)
    for function in each(PROCTEX_MAP):
        s.cell(function)
        s.cl.write("TEXUNIT3_PROCTEX0", u_clamp="edge", v_clamp="edge", rgb_function=function)
        s.quad()
    for function in each(PROCTEX_MAP):
        s.cell(f"alpha {function}")
        s.cl.write(
            "TEXUNIT3_PROCTEX0", u_clamp="edge", v_clamp="edge", rgb_function="u", alpha_function=function,
            separate_alpha=True,
        )  # fmt: skip
        s.quad()


NOISES = (
    ("off", {}),
    ("u", {"u": (0.4, 0.0, 1.5)}),
    ("v", {"v": (0.4, 0.0, 1.5)}),
    ("both", {"u": (0.4, 0.0, 1.5), "v": (0.4, 0.0, 1.5)}),
    ("low frequency", {"u": (0.4, 0.0, 0.6), "v": (0.4, 0.0, 0.6)}),
    ("other phase", {"u": (0.4, 3.5, 0.6), "v": (0.4, 1.25, 0.6)}),
    ("negative amplitude", {"u": (-0.4, 0.0, 0.6), "v": (-0.4, 0.0, 0.6)}),
    ("hard noise table", {"u": (0.4, 0.0, 0.6), "v": (0.4, 0.0, 0.6)}),
)


@scene(4, 2, 24)
def proctex_noise(s: Scene) -> None:
    """Rings disturbed by noise: none, along u, along v, both; a lower frequency, another phase, a negative amplitude, a
    noise table that is a step."""
    tables(s)
    for name, settings in NOISES:
        s.cell(name)
        s.cl.write(
            "TEXUNIT3_PROCTEX0", u_clamp="mirrored repeat", v_clamp="mirrored repeat", noise=bool(settings),
            rgb_function="sqrt(u^2 + v^2)",
        )  # fmt: skip
        frequency = {}
        for number, axis in ((1, "u"), (2, "v")):
            amplitude, phase, frequency[axis] = settings.get(axis, (0.0, 0.0, 0.0))
            s.cl.write(f"TEXUNIT3_PROCTEX{number}", amplitude=amplitude, phase=phase)
        s.cl.write("TEXUNIT3_PROCTEX3", u_frequency=frequency["u"], v_frequency=frequency["v"])
        if name.startswith("hard"):
            s.cl.procedural_table("noise", [float(i >= 64) for i in range(129)])
        s.quad(uv0=((0, 0), (0.75, 0), (0.75, 0.75), (0, 0.75)))


@scene(6, 2, 24)
def proctex_levels(s: Scene) -> None:
    """Filters of the colour table, on a floor that goes into the distance: nearest and linear without levels, with the
    nearest level, between levels. Level 0 is grey steps, 1 red, 2 green, 3 blue. Second row: linear between levels with
    bias 1.5 (farther levels sooner), 0.25, none (level 0 only), at most level 1, at least level 2, half the width."""
    tables(s)
    steps = [(30 + 26 * (i // 8),) * 3 for i in range(64)]
    hues = ((32, (1, 0, 0)), (16, (0, 1, 0)), (8, (0.3, 0.4, 1)))
    for count, hue in hues:
        steps += [tuple(int((90 + 160 * (i + 1) / count) * c) for c in hue) for i in range(count)]
    s.cl.procedural_table("color", [(*step, 255) for step in steps])
    s.cl.write("TEXUNIT3_PROCTEX5", level0=0, level1=64, level2=96, level3=112)

    def floor(label: str, filter: str, bias: float = 0.5, least: int = 0, most: int = 3, width: int = 64) -> None:
        s.cell(label)
        half = encode_float(bias, "f16")
        s.cl.write(
            "TEXUNIT3_PROCTEX0", u_clamp="mirrored repeat", v_clamp="mirrored repeat", rgb_function="u",
            lod_bias_low=half & 0xFF,
        )  # fmt: skip
        s.cl.write(
            "TEXUNIT3_PROCTEX4", filter=filter, min_level=least, max_level=most, width=width, lod_bias_high=half >> 8
        )
        s.floor(12, 0.4, 1.0)

    for filter in each(PROCTEX_FILTER):
        floor(filter, filter)
    best = "linear, linear level"
    for bias in (1.5, 0.25, 0.0):
        floor(f"bias {bias:g}", best, bias)
    floor("levels 0 to 1", best, most=1)
    floor("levels 2 to 3", best, least=2)
    floor("width 32", best, width=32)


@scene(4, 1, 16)
def proctex_coordinates(s: Scene) -> None:
    """Coordinates 0 (ramp to the right), 1 (upward), 2 (to the left); code 3 is not defined and taken as 0."""
    tables(s)
    s.cl.write("TEXUNIT3_PROCTEX0", u_clamp="edge", v_clamp="edge", rgb_function="u")
    for number in range(4):
        s.cell(f"coordinates {number}")
        s.cl.write("TEXUNIT_CONFIG", constant_one=True, unit3_enable=True, unit3_coordinates=number)
        s.quad(uv1=((0, 0), (0, 1), (1, 1), (1, 0)), uv2=((1, 0), (0, 0), (0, 1), (1, 1)))
