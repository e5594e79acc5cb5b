"""The shader programs of the Switch's sample, in the assembly of SM 5.3, and the layout of their constants.

A vertex has three attributes: a[0x80] position, a[0x90] normal, a[0xa0] texture coordinate (colours and sizes where a
comment says so). Programs hand on a[0x80] normal, a[0x90] texture coordinate, a[0xa0] place in the world and distance.
"""

from __future__ import annotations

from functools import cache

from pocketgpu.builder.maxwell import Shader, shader

# Constant buffer 0 of a vertex program: rows of matrices.
CLIP, MODEL = 0x00, 0x40
OBJECT_BYTES = 0x70
"""Three rows of MODEL follow four of CLIP."""
# Constant buffer 1 of both stages: the same for all draws of a pass.
EYE, SUN, SUN_COLOR, SKY_COLOR, GROUND_COLOR, FOG_COLOR, SCREEN, TIME, DEEP_COLOR = (16 * n for n in range(9))
PASS_BYTES = 0x90
"""SCREEN: 1 / width and 1 / height of the target, width / height. TIME: turns of waves and lights; density of fog."""
HANDLES = 2
"""Constant buffer with the handles of textures: texture n is its word n."""


def row(result: int, source: int, slot: int, offset: int, *, point: bool) -> str:
    """A row of a matrix, times three registers; point: with the row's last number added."""
    at = [f"c[{slot:#x}][{offset + 4 * n:#x}]" for n in range(4)]
    first = f"FFMA R{result}, R{source}, {at[0]}, R{result}" if point else f"FMUL R{result}, R{source}, {at[0]}"
    start = f"MOV R{result}, {at[3]}\n" if point else ""
    return f"{start}{first}\n" + "".join(f"FFMA R{result}, R{source + n}, {at[n]}, R{result}\n" for n in (1, 2))


def rows(result: int, source: int, offset: int, count: int, *, point: bool) -> str:
    """Several rows of constant buffer 0."""
    return "".join(row(result + n, source, 0, offset + 16 * n, point=point) for n in range(count))


def load(result: int, slot: int, offset: int, count: int = 3) -> str:
    """Constants into registers."""
    return "".join(f"MOV R{result + n}, c[{slot:#x}][{offset + 4 * n:#x}]\n" for n in range(count))


def mix(a: int, b: int, t: int, count: int = 3) -> str:
    """R[a] += (R[b] - R[a]) * R[t]; R[b] is used up."""
    return "".join(
        f"FADD R{b + n}, R{b + n}, -R{a + n}\nFFMA R{a + n}, R{b + n}, R{t}, R{a + n}\n" for n in range(count)
    )


def towards(at: int, offset: int, keep: int) -> str:
    """R[at] becomes a constant of the pass, but for the share in R[keep]."""
    places = [f"c[0x1][{offset + 4 * n:#x}]" for n in range(3)]
    return "".join(
        f"FADD R{at + n}, R{at + n}, -{one}\nFMUL R{at + n}, R{at + n}, R{keep}\nFADD R{at + n}, R{at + n}, {one}\n"
        for n, one in enumerate(places)
    )


INPUTS = "ALD.128 R0, a[0x80]\nALD.128 R4, a[0x90]\nALD.128 R8, a[0xa0]\n"
PERSPECTIVE = "IPA.PASS R20, a[0x7c], RZ\nMUFU.RCP R20, R20\n"


def inputs(result: int, address: int, count: int) -> str:
    """Interpolated inputs of a pixel program."""
    return "".join(f"IPA R{result + n}, a[{address + 4 * n:#x}], R20\n" for n in range(count))


def unit(at: int, scratch: int) -> str:
    """Make three registers a vector of length 1."""
    return (
        f"FMUL R{scratch}, R{at}, R{at}\nFFMA R{scratch}, R{at + 1}, R{at + 1}, R{scratch}\n"
        f"FFMA R{scratch}, R{at + 2}, R{at + 2}, R{scratch}\nMUFU.RSQ R{scratch}, R{scratch}\n"
        + "".join(f"FMUL R{at + n}, R{at + n}, R{scratch}\n" for n in range(3))
    )


def dot(result: int, at: int, slot: int, offset: int) -> str:
    """Three registers times three constants."""
    return (
        f"FMUL R{result}, R{at}, c[{slot:#x}][{offset:#x}]\n"
        f"FFMA R{result}, R{at + 1}, c[{slot:#x}][{offset + 4:#x}], R{result}\n"
        f"FFMA R{result}, R{at + 2}, c[{slot:#x}][{offset + 8:#x}], R{result}\n"
    )


MESH = (
    INPUTS
    + rows(12, 0, CLIP, 4, point=True)
    + rows(16, 4, MODEL, 3, point=False)
    + unit(16, 24)
    + rows(20, 0, MODEL, 3, point=True)
    + "MOV R23, R15\nAST.128 a[0x70], R12\nAST.96 a[0x80], R16\nAST.64 a[0x90], R8\nAST.128 a[0xa0], R20\nEXIT"
)
"""Position to clip space, normal and place to the world. The distance is w. Normals lose a mesh's size here, and are
not made unit vectors again for each pixel."""

NEAR = MESH.replace(
    "MOV R23, R15\n", f"FMUL R23, R15, c[0x1][{TIME + 12:#x}]\nRRO.EX2 R23, -|R23|\nMUFU.EX2 R23, R23\n"
)
"""The same for meshes of small triangles: instead of the distance, how much of the light gets through the fog."""

FLAT = INPUTS + rows(12, 0, CLIP, 4, point=True) + "AST.128 a[0x70], R12\nAST.128 a[0x80], R4\nAST.64 a[0x90], R8\nEXIT"
"""Position to clip space; attribute 1 is a colour."""

FOG = f"FMUL R9, R7, c[0x1][{TIME + 12:#x}]\nRRO.EX2 R9, -|R9|\nMUFU.EX2 R9, R9\n" + towards(0, FOG_COLOR, 9)
"""Colour R0 to R2 towards the fog's, by the distance in R7."""

LIT = (
    PERSPECTIVE
    + inputs(4, 0x90, 2)
    + "TEX R0, R4, RZ, 0x0, 2D, 0xf\n"
    + inputs(12, 0x80, 3)
    + dot(9, 12, 1, SUN)
    + "FMNMX R9, R9, RZ, !PT\nMOV32I R10, 0x3f000000\nFFMA R10, R13, 0.5, R10\n"
    + load(16, 1, GROUND_COLOR)
    + load(22, 1, SKY_COLOR)
    + mix(16, 22, 10)
    + "FADD R3, -R3, 1\n"
    + "".join(
        f"FFMA R{16 + n}, R9, c[0x1][{SUN_COLOR + 4 * n:#x}], R{16 + n}\nFADD R{16 + n}, R{16 + n}, R3\n"
        f"FMUL R{n}, R{n}, R{16 + n}\n"
        for n in range(3)
    )
    + "IPA R9, a[0xac], R20\n"
    + towards(0, FOG_COLOR, 9)
    + "MOV32I R3, 0x3f800000\nEXIT"
)
"""A texture in the light of sun, sky and ground, in fog; where its alpha is less than 1, it shines."""

ABOVE_WATER = LIT.replace("EXIT", "IPA R8, a[0xa4], R20\nFSETP.LT.AND P0, PT, R8, RZ, PT\n@P0 KIL\nEXIT")
"""The same for the mirror image: what is below the water is not in it."""

SKY = PERSPECTIVE + inputs(4, 0x90, 2) + "TEX R0, R4, RZ, 0x0, 2D, 0xf\nEXIT"
"""A texture as it is."""

WATER = (
    PERSPECTIVE
    + "IPA R12, a[0xa0], R20\nIPA R14, a[0xa8], R20\nIPA R15, a[0xac], R20\n"
    # Slopes of waves in red and green; 0.5 is flat.
    + f"FMUL R4, R12, 0.125\nFMUL R5, R14, 0.125\nFADD R4, R4, c[0x1][{TIME:#x}]\nTEX R0, R4, RZ, 0x0, 2D, 0x3\n"
    + "FADD R0, R0, -0.5\nFADD R1, R1, -0.5\n"
    # How steep the view is: the eye's height over the distance, whose reciprocal is interpolated.
    + f"IPA.PASS R17, a[0x7c], RZ\nFMUL R17, R17, c[0x1][{EYE + 4:#x}]\n"
    + "FFMA R17, R0, 0.15625, R17\nFMNMX R17, R17, RZ, !PT\nFADD R9, -R17, 1\nFMUL R10, R9, R9\nFMUL R9, R10, R9\n"
    + "FMUL R9, R9, 0.859375\nFADD R9, R9, 0.0625\n"
    # The mirror image lies where the water is on the screen, moved by the waves.
    + "IPA.PASS R4, a[0x70], RZ\nIPA.PASS R5, a[0x74], RZ\n"
    + f"FMUL R4, R4, c[0x1][{SCREEN:#x}]\nFMUL R5, R5, c[0x1][{SCREEN + 4:#x}]\n"
    + "FFMA R4, R0, 0.01953125, R4\nFFMA R5, R1, 0.044921875, R5\nTEX R0, R4, RZ, 0x1, 2D, 0xf\n"
    + towards(0, DEEP_COLOR, 9)
    + "MOV R7, R15\n"
    + FOG
    + "MOV32I R3, 0x3f800000\nEXIT"
)
"""The mirror image that the first pass left in a texture, broken by waves, over the colour of deep water."""

PARTICLE = (
    # a[0x80]: corner, -1 to 1; of the instance: a[0x90] place and phase, a[0xa0] colour and size.
    INPUTS
    + f"FADD R16, R7, c[0x1][{TIME + 4:#x}]\nFMUL32I R16, R16, 6.2831855\nRRO.SINCOS R16, R16\nMUFU.SIN R17, R16\n"
    + "MUFU.COS R18, R16\nFFMA R4, R18, 0.34375, R4\nFFMA R5, R17, 0.203125, R5\nFFMA R6, R17, 0.296875, R6\n"
    + rows(12, 4, CLIP, 4, point=True)
    + "FMUL R0, R0, R11\nFMUL R1, R1, R11\n"
    + f"FADD R12, R12, R0\nFFMA R13, R1, c[0x1][{SCREEN + 8:#x}], R13\n"
    + "MOV32I R19, 0x3f266666\nFFMA R17, R17, 0.34375, R19\n"
    + "".join(f"FMUL R{8 + n}, R{8 + n}, R17\n" for n in range(3))
    + "ALD.128 R0, a[0x80]\nAST.128 a[0x70], R12\nAST.96 a[0x80], R8\nAST.64 a[0x90], R0\nEXIT"
)
"""A square that faces the eye, around a place that swings."""

GLOW = (
    PERSPECTIVE
    + inputs(4, 0x90, 2)
    + "FMUL R8, R4, R4\nFFMA R8, R5, R5, R8\nFADD R8, -R8, 1\nFMNMX R8, R8, RZ, !PT\nFMUL R8, R8, R8\nFMUL R8, R8, R8\n"
    + inputs(0, 0x80, 3)
    + "FMUL R0, R0, R8\nFMUL R1, R1, R8\nFMUL R2, R2, R8\nMOV R3, R8\nEXIT"
)
"""A colour that fades from the middle."""

LETTERS = (
    PERSPECTIVE + inputs(4, 0x90, 2) + "TEX R8, R4, RZ, 0x0, 2D, 0x1\n" + inputs(0, 0x80, 4) + "FMUL R3, R3, R8\nEXIT"
)
"""A colour where the texture has a letter."""


@cache
def programs() -> dict[str, Shader]:
    """All programs by name."""
    vertex = {"mesh": MESH, "near": NEAR, "flat": FLAT, "particle": PARTICLE}
    pixel = {"lit": LIT, "mirrored": ABOVE_WATER, "sky": SKY, "water": WATER, "glow": GLOW, "letters": LETTERS}
    return {n: shader("vertex", t) for n, t in vertex.items()} | {n: shader("pixel", t) for n, t in pixel.items()}
