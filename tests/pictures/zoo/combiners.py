"""Texture combiners: sources, operands, functions, scales, the buffer, constants."""

from __future__ import annotations

from pocketgpu.facts.pica_enums import TEXENV_ALPHA_OPERAND, TEXENV_COMBINER, TEXENV_RGB_OPERAND, TEXENV_SOURCE

from .stage import BLUE, GREEN, RED, WHITE, YELLOW, Scene, checker, each, letter, rgba, scene
from .stage import grid as texels

PAINT = ((0.1, 0.0, 0.9, 0.0), (1.0, 0.3, 0.5, 0.1), (1.0, 1.0, 0.1, 1.0), (0.1, 0.7, 0.5, 0.9))
"""Red grows to the right, green and alpha mostly upward, blue falls to the right and upward."""
DOTS = ("dot3 rgb", "dot3 rgba")
NEXT = ("replace", "previous stage")


@scene(10, 3, 16)
def combiner_functions(s: Scene) -> None:
    """Every function (columns) with scale 1, 2 and 4 (rows). In rgb A is the colour (red grows to the right, green
    upward, blue to the lower left), B its alpha (upward), C the constant (0.25, 0.5, 0.75). In alpha A is alpha, B red,
    C the constant 0.6; dot3 rgb leaves alpha to "add", dot3 rgba has it too."""
    for scale in (1, 2, 4):
        for function in each(TEXENV_COMBINER):
            alpha = "add" if function in DOTS else function
            s.cell(f"{function}, x{scale}").combiner(
                0,
                (function, "vertex color", ("vertex color", "alpha"), "constant"),
                (alpha, "vertex color", ("vertex color", "red"), "constant"),
                color=(64, 128, 191, 153), scale_rgb=scale, scale_alpha=scale,
            )  # fmt: skip
            s.quad(PAINT)


@scene(10, 2, 16)
def combiner_operands(s: Scene) -> None:
    """Every operand of rgb (upper row), every operand of alpha (lower row, where rgb is plain) of the colour of
    combiner_functions."""
    for operand in each(TEXENV_RGB_OPERAND):
        s.cell(f"rgb: {operand}").combiner(0, ("replace", ("vertex color", operand)))
        s.quad(PAINT)
    for operand in each(TEXENV_ALPHA_OPERAND):
        cl = s.cell(f"alpha: {operand}")
        cl.combiner(0, ("replace", "vertex color"), ("replace", ("vertex color", operand)))
        s.quad(PAINT)


def sources(s: Scene) -> None:
    """Something different in each source."""
    x, y = texels(16)
    pictures = (
        letter(16, (1, 0.9, 0.2, 1), (0.5, 0, 0, 0.2)),
        checker(16, 4, (0.2, 1, 0.4, 0.9), (0, 0.3, 0.1, 0.4)),
        rgba((x + y) / 2, 0.1, 1 - (x + y) / 2, abs(x - y)),
    )
    for unit, picture in enumerate(pictures):
        s.cl.texture(unit, s.capture.put_texture(picture), 16, 16, filter="nearest")
    s.cl.write("TEXUNIT3_PROCTEX0", u_clamp="repeat", v_clamp="repeat", rgb_function="sqrt(u^2 + v^2)")
    s.cl.write("TEXUNIT3_PROCTEX4", filter="linear", width=128).write("TEXUNIT3_PROCTEX5")
    s.cl.procedural_table("rgb map", [i / 128 for i in range(129)])
    s.cl.procedural_table("color", [(2 * i, 60, 255 - 2 * i, 255 - i) for i in range(128)])
    s.cl.write(
        "TEXUNIT_CONFIG", constant_one=True, unit0_enable=True, unit1_enable=True, unit2_enable=True,
        unit3_enable=True,
    )  # fmt: skip
    s.cl.write("LIGHTING_ENABLE0", enable=True).write("LIGHTING_ENABLE1")
    s.cl.write("LIGHTING_AMBIENT", r=200, g=90, b=20).write("LIGHTING_NUM_LIGHTS", count=1)
    s.cl.write("LIGHTING_CONFIG0", constant_four=4, constant_one=True)
    s.cl.write(
        "LIGHTING_CONFIG1", constant_one=True, d0_off=True, rr_off=True, distance_off=255, spot_off=255, shadow_off=255
    )
    s.cl.write("LIGHT0_SPECULAR0", r=20, g=200, b=230).write("LIGHT0_Z", z=1.0).write("LIGHT0_CONFIG")


@scene(6, 2, 16)
def combiner_sources(s: Scene) -> None:
    """Every source in rgb and alpha of stage 1: the colour of combiner_functions, primary (brown) and secondary (cyan)
    colour of the lights, textures 0 (F), 1 (checker), 2 (diagonals) and 3 (rings), the combiner buffer (violet), the
    constant (green), the stage before (the colour inverted). Then what stage 0 has instead of a stage before it (the
    colour) and of a buffer (black)."""
    sources(s)
    s.cl.write("TEXENV_BUFFER_COLOR", r=160, g=60, b=220, a=128)
    for source in each(TEXENV_SOURCE):
        s.cell(source).combiner(0, ("replace", ("vertex color", "1 - rgb")), ("replace", ("vertex color", "1 - alpha")))
        s.cl.combiner(1, ("replace", source), ("replace", source), color=(40, 220, 60, 90))
        s.quad(PAINT)
    s.cl.combiner(1)
    for source in ("previous stage", "combiner buffer"):
        s.cell(f"{source} in stage 0").combiner(0, ("replace", source), ("replace", source))
        s.quad(PAINT)


SHADES = ((230, 40, 40, 40), (40, 200, 40, 80), (60, 80, 250, 120), (240, 220, 40, 160), (40, 220, 220, 200))
UPDATES: dict[str, dict[str, bool]] = {
    "no updates": {},
    "stage 0": {"rgb0": True, "alpha0": True},
    "stage 2": {"rgb2": True, "alpha2": True},
    "all, rgb": {f"rgb{i}": True for i in range(4)},
    "all, alpha": {f"alpha{i}": True for i in range(4)},
}


@scene(6, 5, 8)
def combiner_buffer(s: Scene) -> None:
    """What stage 0 to 5 (columns) sees in the buffer, by which stages update it (rows). Stages before it give red,
    green, blue, yellow, cyan; the buffer starts violet, and stage 0 sees black. An update shows two stages later: with
    all, columns are black, violet, red, green, blue, yellow."""
    s.cl.write("TEXENV_BUFFER_COLOR", r=160, g=60, b=220, a=255)
    for name, bits in UPDATES.items():
        s.cl.write("TEXENV_UPDATE_BUFFER", **bits)
        for stage in range(6):
            s.cell(f"{name}: seen by stage {stage}")
            for before in range(stage):
                s.cl.combiner(before, ("replace", "constant"), ("replace", "constant"), color=SHADES[before])
            s.cl.combiner(stage, ("replace", "combiner buffer"), ("replace", "combiner buffer"))
            for after in range(stage + 1, 6):
                s.cl.combiner(after)
            s.quad(WHITE)


@scene(6, 2, 8)
def combiner_stages(s: Scene) -> None:
    """Each stage's own constant (red, green, blue, yellow, cyan, white), all other stages handing on; then the sum of
    one sixth of grey from each stage up to that one: it grows to the right."""
    constants = (
        *(tuple(int(255 * c) for c in color) for color in (RED, GREEN, BLUE, YELLOW)),
        (0, 255, 255, 9),
        (255,) * 4,
    )
    for stage, color in enumerate(constants):
        s.cell(f"stage {stage}")
        for number in range(6):
            s.cl.combiner(number)
        s.cl.combiner(stage, ("replace", "constant"), ("replace", "constant"), color=color)
        s.quad(PAINT)
    for last in range(6):
        s.cell(f"stages 0 to {last} add")
        for number in range(6):
            s.cl.combiner(number)
        s.cl.combiner(0, ("replace", "constant"), ("replace", "constant"), color=(42, 42, 42, 255))
        for number in range(1, last + 1):
            s.cl.combiner(number, ("add", "previous stage", "constant"), NEXT, color=(42, 42, 42, 0))
        s.quad(PAINT)
