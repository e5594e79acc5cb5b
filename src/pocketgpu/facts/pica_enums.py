"""Names of the numbers that internal registers hold.

Kept apart from the register table because several registers share them and because tools print them.
Source: 3dbrew GPU/Internal Registers, unless a comment says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Names = Mapping[int, str]

CULL: Final[Names] = {0: "none", 1: "front (counter-clockwise)", 2: "back (clockwise)", 3: "none, code 3"}

COMPARE: Final[Names] = {
    0: "never",
    1: "always",
    2: "equal",
    3: "not equal",
    4: "less",
    5: "less or equal",
    6: "greater",
    7: "greater or equal",
}

EARLY_DEPTH_COMPARE: Final[Names] = {0: "greater or equal", 1: "greater", 2: "less or equal", 3: "less"}

SCISSOR: Final[Names] = {0: "off", 1: "keep outside", 2: "off, code 2", 3: "keep inside"}

# Codes 4 to 7 are known from one simulator's tests on a console only.
WRAP: Final[Names] = {
    0: "clamp to edge",
    1: "clamp to border",
    2: "repeat",
    3: "mirrored repeat",
    4: "repeat below, edge above",
    5: "repeat below, border above",
    6: "repeat, code 6",
    7: "repeat, code 7",
}

FILTER: Final[Names] = {0: "nearest", 1: "linear"}

TEXTURE_TYPE: Final[Names] = {
    0: "2D",
    1: "cube",
    2: "shadow 2D",
    3: "projection",
    4: "shadow cube",
    5: "disabled",
}

TEXTURE_FORMAT: Final[Names] = {
    0: "RGBA8",
    1: "RGB8",
    2: "RGB5A1",
    3: "RGB565",
    4: "RGBA4",
    5: "IA8",
    6: "HILO8",
    7: "I8",
    8: "A8",
    9: "IA44",
    10: "I4",
    11: "A4",
    12: "ETC1",
    13: "ETC1A4",
}

COLOR_FORMAT: Final[Names] = {0: "RGBA8", 1: "RGB8", 2: "RGB5A1", 3: "RGB565", 4: "RGBA4"}

DEPTH_FORMAT: Final[Names] = {0: "D16", 2: "D24", 3: "D24S8"}

PIXEL_SIZE: Final[Names] = {0: "16 bits", 1: "24 bits", 2: "32 bits"}

TEXENV_SOURCE: Final[Names] = {
    0: "vertex color",
    1: "fragment primary color",
    2: "fragment secondary color",
    3: "texture 0",
    4: "texture 1",
    5: "texture 2",
    6: "texture 3 (procedural)",
    13: "combiner buffer",
    14: "constant",
    15: "previous stage",
}

TEXENV_RGB_OPERAND: Final[Names] = {
    0: "rgb",
    1: "1 - rgb",
    2: "alpha",
    3: "1 - alpha",
    4: "red",
    5: "1 - red",
    8: "green",
    9: "1 - green",
    12: "blue",
    13: "1 - blue",
}

TEXENV_ALPHA_OPERAND: Final[Names] = {
    0: "alpha",
    1: "1 - alpha",
    2: "red",
    3: "1 - red",
    4: "green",
    5: "1 - green",
    6: "blue",
    7: "1 - blue",
}

TEXENV_COMBINER: Final[Names] = {
    0: "replace",
    1: "modulate",
    2: "add",
    3: "add signed",
    4: "interpolate",
    5: "subtract",
    6: "dot3 rgb",
    7: "dot3 rgba",
    8: "multiply then add",
    9: "add then multiply",
}

TEXENV_SCALE: Final[Names] = {0: "x1", 1: "x2", 2: "x4"}

FOG_MODE: Final[Names] = {0: "off", 5: "fog", 7: "gas"}

SHADING_DENSITY: Final[Names] = {0: "plain density", 1: "depth density"}

FRAGMENT_MODE: Final[Names] = {0: "default", 1: "gas", 3: "shadow"}

BLEND_EQUATION: Final[Names] = {
    0: "add",
    1: "subtract",
    2: "reverse subtract",
    3: "minimum",
    4: "maximum",
    5: "add, code 5",
    6: "add, code 6",
    7: "add, code 7",
}

BLEND_FACTOR: Final[Names] = {
    0: "zero",
    1: "one",
    2: "source color",
    3: "1 - source color",
    4: "destination color",
    5: "1 - destination color",
    6: "source alpha",
    7: "1 - source alpha",
    8: "destination alpha",
    9: "1 - destination alpha",
    10: "constant color",
    11: "1 - constant color",
    12: "constant alpha",
    13: "1 - constant alpha",
    14: "source alpha, saturated",
}

LOGIC_OP: Final[Names] = {
    0: "clear",
    1: "and",
    2: "and reverse",
    3: "copy",
    4: "set",
    5: "copy inverted",
    6: "keep",
    7: "invert",
    8: "nand",
    9: "or",
    10: "nor",
    11: "xor",
    12: "equivalent",
    13: "and inverted",
    14: "or reverse",
    15: "or inverted",
}

STENCIL_ACTION: Final[Names] = {
    0: "keep",
    1: "zero",
    2: "replace",
    3: "increment",
    4: "decrement",
    5: "invert",
    6: "increment, wrap",
    7: "decrement, wrap",
}

DEPTH_CLASS: Final[Names] = {0: "never", 1: "always", 2: "greater", 3: "other"}

PROCTEX_CLAMP: Final[Names] = {0: "zero", 1: "edge", 2: "repeat", 3: "mirrored repeat", 4: "pulse"}

PROCTEX_MAP: Final[Names] = {
    0: "u",
    1: "u^2",
    2: "v",
    3: "v^2",
    4: "(u + v) / 2",
    5: "(u^2 + v^2) / 2",
    6: "sqrt(u^2 + v^2)",
    7: "min(u, v)",
    8: "max(u, v)",
    9: "((u + v) / 2 + sqrt(u^2 + v^2)) / 2",
}

PROCTEX_SHIFT: Final[Names] = {0: "none", 1: "odd", 2: "even"}

PROCTEX_FILTER: Final[Names] = {
    0: "nearest",
    1: "linear",
    2: "nearest, nearest level",
    3: "linear, nearest level",
    4: "nearest, linear level",
    5: "linear, linear level",
}

PROCTEX_TABLE: Final[Names] = {0: "noise", 2: "rgb map", 3: "alpha map", 4: "color", 5: "color difference"}

LIGHT_LUT: Final[Names] = {
    0: "D0",
    1: "D1",
    3: "FR",
    4: "RB",
    5: "RG",
    6: "RR",
    **{8 + light: f"SP{light}" for light in range(8)},
    **{16 + light: f"DA{light}" for light in range(8)},
}

LIGHT_LUT_INPUT: Final[Names] = {0: "N.H", 1: "V.H", 2: "N.V", 3: "L.N", 4: "-L.P (spot)", 5: "cos phi"}

LIGHT_LUT_SCALE: Final[Names] = {0: "x1", 1: "x2", 2: "x4", 3: "x8", 6: "x0.25", 7: "x0.5"}

LIGHT_LAYER: Final[Names] = {
    0: "D0, RR, SP, DA",
    1: "FR, RR, SP, DA",
    2: "D0, D1, RR, DA",
    3: "D0, D1, FR, DA",
    4: "D0, D1, RR, RG, RB, SP, DA",
    5: "D0, FR, RR, RG, RB, SP, DA",
    6: "D0, D1, FR, RR, SP, DA",
    8: "all",
}

FRESNEL: Final[Names] = {0: "none", 1: "primary alpha", 2: "secondary alpha", 3: "both alphas"}

BUMP_MODE: Final[Names] = {0: "none", 1: "bump map", 2: "tangent map"}

SEMANTIC: Final[Names] = {
    0x00: "position.x",
    0x01: "position.y",
    0x02: "position.z",
    0x03: "position.w",
    0x04: "quaternion.x",
    0x05: "quaternion.y",
    0x06: "quaternion.z",
    0x07: "quaternion.w",
    0x08: "color.r",
    0x09: "color.g",
    0x0A: "color.b",
    0x0B: "color.a",
    0x0C: "texcoord0.u",
    0x0D: "texcoord0.v",
    0x0E: "texcoord1.u",
    0x0F: "texcoord1.v",
    0x10: "texcoord0.w",
    0x12: "view.x",
    0x13: "view.y",
    0x14: "view.z",
    0x16: "texcoord2.u",
    0x17: "texcoord2.v",
    0x1F: "unused",
}

ATTRIBUTE_TYPE: Final[Names] = {0: "s8", 1: "u8", 2: "s16", 3: "f32"}

COMPONENT: Final[Names] = {
    **{attribute: f"attribute {attribute}" for attribute in range(12)},
    12: "skip 4 bytes",
    13: "skip 8 bytes",
    14: "skip 12 bytes",
    15: "skip 16 bytes",
}

INDEX_TYPE: Final[Names] = {0: "u8", 1: "u16"}

GEOMETRY_STAGE: Final[Names] = {0: "off", 2: "on"}

PRIMITIVE: Final[Names] = {0: "triangles", 1: "triangle strip", 2: "triangle fan", 3: "geometry"}

# Source: one simulator; the wiki lists whole words only.
GEOMETRY_MODE: Final[Names] = {0: "point", 1: "variable", 2: "fixed"}
