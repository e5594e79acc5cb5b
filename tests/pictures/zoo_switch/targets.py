"""Where pixels go: formats of colour targets, several targets, layers, samples."""

from __future__ import annotations

import numpy as np
from zoo.stage import BLUE, GREEN, RED, WHITE, YELLOW

from pocketgpu.builder.maxwell import PushBuffer
from pocketgpu.facts.maxwell.formats import COLOR_TARGET

from .stage import PIXEL, VERTEX, Scene, corners, scene

RAINBOW = [(1, 0, 0, 0), (0, 0, 1, 0.2), (0, 1, 1, 1.0), (1, 1, 0, 0.8)]
FORMATS = [layout for layout in COLOR_TARGET.values() if layout.bytes]
INTEGERS = "".join(
    f"FMUL R{n}, R{n}, c[0x0][{4 * n:#x}]\nF2I.S32.F32 R{n}, R{n}\n" for n in range(4)
) + "EXIT"  # fmt: skip


def blended(pb: PushBuffer) -> None:
    """Half of the source over what is there."""
    pb.method("SET_BLEND", 0, 1)
    for part in ("COLOR", "ALPHA"):
        pb.method(f"SET_BLEND_{part}_SOURCE_COEFF", V="OGL_SRC_ALPHA")
        pb.method(f"SET_BLEND_{part}_DEST_COEFF", V="OGL_ONE_MINUS_SRC_ALPHA")


def kind_of(name: str) -> str:
    layout = COLOR_TARGET.named(name)
    return layout.components[0].type


@scene(8, 9, 16)
def color_formats(s: Scene) -> None:
    """Every format of colour targets, each a target of its own: a rainbow with alpha rising to the upper right, from
    -0.2 to 1.2; its lower half blended again over itself upside down. Integers get 0 to about half of what they
    hold."""
    s.surfaces.clear()
    for layout in FORMATS:
        kind = kind_of(layout.name)
        pb = s.tile(layout.name, layout.name, (0.25, 0.5, 0.75, 0.5))
        shades = np.array(RAINBOW) * 1.4 - 0.2
        if kind in ("sint", "uint"):
            s.programs(PIXEL.replace("EXIT", INTEGERS))
            widths = {c.name: c.width for c in layout.components}
            s.constants(np.array([2.0 ** (min(widths.get(c, 8), 24) - 1) for c in "RGBA"], np.float32))
        s.quad(shades)
        blended(pb)
        s.quad(shades[[2, 3, 0, 1]], box=(-1, -1, 1, 0))


@scene(4, 4, 16)
def format_rules(s: Scene) -> None:
    """sRGB written with and without conversion; saturated outputs of a program in float targets; zero times infinity;
    masks and bits of a logic operation in other formats; a target in rows."""
    s.surfaces.clear()
    for srgb in (0, 1):
        for blend in (0, 1):
            pb = s.tile(f"srgb write {srgb}, blend {blend}", "A8BL8GL8RL8", (0.2, 0.2, 0.2, 1))
            pb.method("SET_SRGB_WRITE", srgb)
            if blend:
                blended(pb)
            s.quad(RAINBOW)
    wide = np.array(RAINBOW) * 4 - 2
    for label, fields in (
        ("not saturated", {}),
        ("0 to 1", {"OUTPUT0": 1}),
        ("-1 to 1", {"OUTPUT0": 1, "CLAMP_RANGE0": 1}),
        ("other output", {"OUTPUT1": 1}),
    ):
        pb = s.tile(label, "RF16_GF16_BF16_AF16")
        pb.method("SET_PS_SATURATE", **fields)
        s.quad(wide)
    for zero in (0, 1):
        pb = s.tile(f"infinity times zero, option {zero}", "RF32_GF32_BF32_AF32", (0.5, 0.25, 0.125, 0))
        s.programs(PIXEL.replace("EXIT", "MOV32I R0, 0x7f800000\nMOV32I R3, 0x3f000000\nEXIT"))
        pb.method("SET_BLEND", 0, 1).method("SET_BLEND_COLOR_SOURCE_COEFF", V="OGL_DST_ALPHA")
        pb.method("SET_BLEND_COLOR_DEST_COEFF", V="OGL_ONE").method("SET_BLEND_FLOAT_OPTION", zero)
        s.quad(RAINBOW)
    for name in ("R5G6B5", "A2B10G10R10"):
        pb = s.tile(f"{name}, green and alpha masked", name)
        pb.method("SET_CT_WRITE", 0, R_ENABLE=1, B_ENABLE=1)
        s.quad(RAINBOW)
        pb = s.tile(f"{name}, xor", name)
        pb.method("SET_LOGIC_OP", 1).method("SET_LOGIC_OP_FUNC", V="XOR")
        s.quad(RAINBOW)
        s.quad(TURNED)
    pb = s.tile("of 8 bits, equiv", "R8")
    pb.method("SET_LOGIC_OP", 1).method("SET_LOGIC_OP_FUNC", V="EQUIV")
    s.quad(RAINBOW)
    pb = s.tile("unsigned, and", "AU8BU8GU8RU8", (0.0, 0, 0, 0))
    s.programs(PIXEL.replace("EXIT", INTEGERS))
    s.constants(np.array([255.0] * 4, np.float32))
    s.quad(RAINBOW)
    pb.method("SET_LOGIC_OP", 1).method("SET_LOGIC_OP_FUNC", V="AND_INVERTED")
    s.quad(TURNED)


TURNED = RAINBOW[1:] + RAINBOW[:1]
FOUR = PIXEL.replace(
    "EXIT",
    """
    FADD R4, -R0, 1
    FADD R5, -R1, 1
    FADD R6, -R2, 1
    MOV32I R7, 0x3f800000
    MOV R8, R1
    MOV R9, R2
    MOV R10, R0
    MOV R11, R3
    FMUL R12, R0, 0.5
    FMUL R13, R1, 0.25
    EXIT""",
)


@scene(6, 1, 20)
def several_targets(s: Scene) -> None:
    """Four targets of different formats: outputs to targets of the same number, turned around, to two only, the first
    output to all, masks and blending of their own."""
    colours = {1: "RF16_GF16_BF16_AF16", 2: "R5G6B5", 3: "R8"}
    for slot, format in colours.items():
        s.show(s.target(slot, format))
    whole = {"targets": ("rgba", "rgba", "rgba", "rg")}
    for label, count, order in (
        ("in order", 4, (0, 1, 2, 3)),
        ("turned", 4, (3, 2, 1, 0)),
        ("two", 2, (2, 0, 0, 0)),
        ("none", 0, (0, 1, 2, 3)),
    ):
        pb = s.cell(label)
        pb.method("SET_CT_SELECT", TARGET_COUNT=count, **{f"TARGET{n}": order[n] for n in range(4)})
        s.programs(FOUR, options=whole)
        s.quad(RAINBOW)
    pb = s.cell("first to all")
    pb.method("SET_CT_SELECT", TARGET_COUNT=4, **{f"TARGET{n}": n for n in range(4)})
    s.quad(RAINBOW)
    pb = s.cell("own masks and blending")
    pb.method("SET_CT_SELECT", TARGET_COUNT=4, **{f"TARGET{n}": n for n in range(4)})
    s.programs(FOUR, options=whole)
    pb.method("SET_CT_WRITE", 0, R_ENABLE=1).method("SET_CT_WRITE", 1, G_ENABLE=1, B_ENABLE=1)
    pb.method("SET_BLEND_STATE_PER_TARGET", 1).method("SET_BLEND", 2, 1)
    pb.method("SET_BLEND_PER_TARGET_COLOR_DEST_COEFF", 2, V="OGL_ONE")
    s.quad(RAINBOW)


LAYERED = VERTEX.replace("EXIT", "ALD R12, a[0xa8]\nF2I.S32.F32 R12, R12\nAST a[0x64], R12\nEXIT")


@scene(3, 2, 20, layers=4)
def layers(s: Scene) -> None:
    """Four layers below each other: the vertices choose one, or a register does, or the number of the viewport; layers
    that are not there; depth in each."""
    for label in ("from vertices", "not there", "register", "base", "depth", "viewport"):
        pb = s.cell(label)
        if label in ("from vertices", "not there", "depth"):
            pb.method("SET_RT_LAYER", V=1, CONTROL=1)
            s.programs(vertex=LAYERED)
        elif label == "register":
            pb.method("SET_RT_LAYER", V=2)
        elif label == "base":
            pb.method("SET_COLOR_TARGET_LAYER", 0, 1).method("SET_RT_LAYER", V=1)
        elif label == "viewport":
            pb.method("SET_OFFSET_RENDER_TARGET_INDEX", 1)
            s.programs(vertex=LAYERED.replace("a[0x64]", "a[0x68]"))
            for n in range(1, 4):
                x, y, w, h = s.box
                pb.viewport(x + n, y + 2 * n, w - 4, h - 8, number=n)
        pb.method("SET_DEPTH_TEST", int(label == "depth")).method("SET_DEPTH_WRITE", 1).method(
            "SET_DEPTH_FUNC", V="OGL_LESS"
        )
        for n in range(4):
            to = 3 * n - 2 if label == "not there" else n
            shades = [RED, GREEN, BLUE, YELLOW, WHITE, RED][: 3 + n]
            s.draw(corners(3 + n, 0.9 - 0.1 * n), shades, topology="TRIANGLE_FAN", uv=(0.0, 0.0, float(to)))
            if label == "depth":
                s.quad((0.5, 0.5, 0.5, 1), z=(0.1, 0.1, 0.9, 0.9), uv=(0.0, 0.0, float(n)))
    s.show_depth()


SHAPE = [(-0.9, -0.8), (0.95, -0.3), (-0.2, 0.9)]
CENTROID = "IPA.PASS.CENTROID R12, a[0x7c], RZ\nMUFU.RCP R12, R12\n" + "".join(
    f"IPA.CENTROID R{n}, a[{0x80 + 4 * n:#x}], R12\n" for n in range(4)
) + "EXIT"  # fmt: skip
BY_SAMPLE = PIXEL.replace("EXIT", "PIXLD.MY_INDEX R4, [RZ]\nI2F.F32.U32 R4, R4\nFMUL R2, R4, 0.25\nEXIT")
MASKED = PIXEL.replace("EXIT", "MOV32I R4, 0x5\nEXIT")


def multisampled(mode: str) -> None:
    """A scene of a mode of multisampling."""

    def draw(s: Scene) -> None:
        colours, count = [RED, GREEN, (0.2, 0.2, 1, 0.5)], s.grid[0] * s.grid[1]
        for label in (
            "coverage",
            "not enabled",
            "mask of samples",
            "alpha to coverage",
            "dithered",
            "alpha to one",
            "centroid",
            "each sample",
            "mask from the program",
            "depth",
            "lines",
            "points",
        ):
            pb = s.cell(label)
            if label == "not enabled":
                pb.method("SET_ANTI_ALIAS_ENABLE", 0)
            elif label == "mask of samples":
                pb.method("SET_SAMPLE_MASK_X0_Y0", 1, 2, 5, 0xFFFF)
            elif label in ("alpha to coverage", "dithered", "alpha to one"):
                pb.method(
                    "SET_ANTI_ALIAS_ALPHA_CONTROL",
                    ALPHA_TO_COVERAGE=label != "alpha to one",
                    ALPHA_TO_ONE=label == "alpha to one",
                )
                pb.method("SET_ALPHA_TO_COVERAGE_DITHER_CONTROL", int(label == "dithered"))
                s.quad([(1, 1, 0, 0), (1, 1, 0, 1), (1, 1, 0, 1), (1, 1, 0, 0)], box=(-1, 0.3, 1, 1))
            elif label == "centroid":
                s.programs(CENTROID)
            elif label == "each sample":
                s.programs(BY_SAMPLE)
                pb.method("SET_HYBRID_ANTI_ALIAS_CONTROL", PASSES=count & 15, PASSES_EXTENDED=count >> 4)
            elif label == "mask from the program":
                s.programs(MASKED, options={"mask": True})
                pb.method("SET_PS_OUTPUT_SAMPLE_MASK_USAGE", ENABLE=1, QUALIFY_BY_ANTI_ALIAS_ENABLE=1)
            elif label == "depth":
                pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_WRITE", 1).method("SET_DEPTH_FUNC", V="OGL_LESS")
                s.quad(YELLOW, z=(0, 1, 0.9, 0.2))
            if label == "lines":
                pb.method("SET_LINE_WIDTH_FLOAT", 2.5)
                s.draw([p for at in corners(5) for p in ((0, 0), at)], [RED, GREEN] * 5, topology="LINES")
            elif label == "points":
                pb.method("SET_POINT_SIZE", 6.5)
                s.draw(corners(3, 0.55), colours, topology="POINTS")
            else:
                s.draw(SHAPE, colours)
        s.show_depth()

    draw.__name__ = f"samples_{mode[5:].lower()}"
    draw.__doc__ = f"""{mode}: covered samples of a triangle, multisampling off, masks, alpha as coverage and as one,
    inputs at the centroid, a program run for each sample, its own mask, depth of samples, lines and points."""
    scene(6, 2, 20, samples=mode)(draw)


for each in ("MODE_2X1", "MODE_2X2", "MODE_4X2", "MODE_4X4"):
    multisampled(each)
