"""What pixel programs see and do besides colours: built-in inputs, side effects, branches, helpers."""

from __future__ import annotations

import numpy as np
from zoo.stage import BLUE, GREEN, RED

from .stage import INTERPOLATE, PIXEL, VERTEX, Scene, corners, scene

SHAPE = [(-0.9, -0.8), (0.95, -0.3), (-0.2, 0.9)]
OPAQUE = "MOV32I R3, 0x3f800000\nEXIT"
SEEN = {
    "place": (
        "IPA.PASS R0, a[0x70], RZ\nIPA.PASS R1, a[0x74], RZ\nFMUL R0, R0, 0.0078125\n"
        "FMUL R1, R1, 0.015625\nMOV R2, RZ\n",
        {},
    ),
    "depth": ("IPA.PASS R0, a[0x78], RZ\nMOV R1, R0\nMOV R2, RZ\n", {}),
    "1 / w": ("IPA.PASS R0, a[0x7c], RZ\nMOV R1, RZ\nMOV R2, R0\n", {}),
    "distances": ("IPA.PASS R0, a[0x2c0], RZ\nIPA.PASS R1, a[0x2c4], RZ\nMOV R2, RZ\n", {}),
    "fog": (INTERPOLATE + "IPA R0, a[0x2e8], R12\nMOV R1, RZ\nMOV R2, R0\n", {}),
    "texture coordinates": (INTERPOLATE + "IPA R0, a[0x300], R12\nIPA R1, a[0x304], R12\nMOV R2, RZ\n", {}),
    "without perspective": ("IPA.PASS R0, a[0x80], RZ\nIPA.PASS R1, a[0x84], RZ\nMOV R2, RZ\n", {}),
    "clamped": (INTERPOLATE + "IPA.SAT R0, a[0x90], R12\nIPA.SAT R1, a[0x94], R12\nMOV R2, RZ\n", {}),
    "by number": (
        INTERPOLATE + "IPA.CONSTANT R4, a[0x80], RZ\nF2I.U32.F32 R4, R4\nSHL R4, R4, 0x2\nIADD R4, R4, 0x80\n"
        "IPA.IDX R0, a[R4], R12, RZ, PT\nMOV R1, RZ\nMOV R2, R0\n",
        {"inputs": {0x80: 2, 0x84: 2}},
    ),
    "not written": ("IPA.PASS R0, a[0x1f0], RZ\nIPA.PASS R1, a[0x1fc], RZ\nMOV32I R2, 0x3f000000\n", {}),
    "offset of a pixel": (
        INTERPOLATE + "MOV32I R5, 0x7ff0800\nIPA.PASS.OFFSET R0, a[0x80], RZ, R5\nMOV R1, RZ\nMOV R2, RZ\n",
        {},
    ),
    "y direction": ("S2R R0, SR_Y_DIRECTION\nFMUL R0, R0, 0.5\nMOV R1, RZ\nMOV R2, RZ\n", {}),
}
GIVING = VERTEX.replace(
    "EXIT",
    """
    AST.64 a[0x2c0], R8
    AST a[0x2e8], R9
    AST.64 a[0x300], R8
    EXIT""",
)


@scene(6, 2, 20)
def pixel_inputs(s: Scene) -> None:
    """The place of a pixel, its depth, 1 / w, distances from user planes, old fog and texture coordinates, inputs that
    nobody wrote, interpolation without perspective, clamped, by number, away from the centre."""
    for label, (text, options) in SEEN.items():
        s.cell(label)
        s.programs(text + OPAQUE, GIVING, options=options)
        w = np.array([1.0, 3.0, 2.0])
        at = np.array([(x, y, 0.2 + 0.3 * n, 1) for n, (x, y) in enumerate(SHAPE)]) * w[:, None]
        s.draw(at, [RED, GREEN, BLUE], uv=[(-0.5, 1.5), (0.5, 0.2), (1.5, 0.9)])


COUNTING = PIXEL.replace(
    "EXIT",
    """
    MOV R4, c[0x0][0x0]
    MOV R5, c[0x0][0x4]
    MOV32I R6, 0x1
    {what}
    EXIT""",
)
COLUMN = "IPA.PASS R7, a[0x70], RZ\nF2I.U32.F32.TRUNC R7, R7\nLOP.AND R7, R7, 0x1f\n"
EFFECTS = {
    "pixels counted": "RED.E.ADD [R4], R6",
    "those that are not red": "FSETP.GT.AND P0, PT, R0, 0.5, PT\n@P0 KIL\nRED.E.ADD [R4], R6",
    "bits of places": COLUMN + "SHL R6, R6, R7\nRED.E.OR [R4+0x8], R6",
    "columns": COLUMN + "SHL R7, R7, 0x2\nIADD R4.CC, R4, R7\nIADD.X R5, R5, RZ\nRED.E.ADD [R4+0x10], R6",
    "stored": "STG.E [R4+0x20], R6",
    "early tests": "RED.E.ADD [R4], R6",
}


@scene(6, 1, 20)
def side_effects(s: Scene) -> None:
    """Pixel programs that add to memory, which is compared: covered pixels only, without killed ones and helpers; with
    tests before the program only those that pass."""
    for label, what in EFFECTS.items():
        pb = s.cell(label)
        address = s.result(0x100)
        s.constants(np.array([address & 0xFFFFFFFF, address >> 32], np.uint32))
        pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_WRITE", 1).method("SET_DEPTH_FUNC", V="OGL_LESS")
        s.quad((0.2, 0.2, 0.2, 1), z=(0.3, 0.3, 0.7, 0.7))
        pb.method("SET_API_MANDATED_EARLY_Z", int(label == "early tests"))
        s.programs(COUNTING.replace("{what}", what))
        s.draw(SHAPE, [RED, GREEN, BLUE])


LOOP = (
    INTERPOLATE
    + """
    IPA R4, a[0x90], R12
    IPA R5, a[0x94], R12
    MOV R6, RZ
    MOV R7, RZ
    MOV R8, RZ
    PBK done
    again:
    FMUL R9, R6, R6
    FMUL R10, R7, R7
    FADD R11, R9, R10
    FSETP.GT.AND P0, PT, R11, 4, PT
    @P0 BRK
    FMUL R7, R6, R7
    FADD R7, R7, R7
    FADD R7, R7, R5
    FADD R6, R9, -R10
    FADD R6, R6, R4
    IADD R8, R8, 0x1
    ISETP.GE.AND P1, PT, R8, 0x18, PT
    @P1 BRK
    BRA again
    done:
    I2F.F32.S32 R0, R8
    FMUL R0, R0, 0.0625
    FMUL R1, R0, 0.5
    FADD R2, -R0, 1
    """
    + OPAQUE
)
BRANCHES = (
    INTERPOLATE
    + """
    IPA R0, a[0x80], R12
    IPA R1, a[0x84], R12
    IPA R2, a[0x88], R12
    SSY joined
    FSETP.GT.AND P0, PT, R0, 0.5, PT
    @P0 BRA red
    FSETP.GT.AND P0, PT, R1, 0.5, PT
    @P0 BRA green
    FMUL R2, R2, R2
    SYNC
    red:
    FADD R0, -R0, 1
    SYNC
    green:
    FADD R1, -R1, 1
    SYNC
    joined:
    """
    + OPAQUE
)
QUADS = (
    INTERPOLATE
    + """
    IPA R0, a[0x80], R12
    FMUL R0, R0, R0
    SHFL.BFLY PT, R4, R0, 0x1, 0x1c03
    SHFL.BFLY PT, R5, R0, 0x2, 0x1c03
    FADD R1, R4, -R0
    FADD R2, R5, -R0
    FMUL R1, R1, 8
    FMUL R2, R2, 8
    S2R R6, SR_LANEID
    LOP.AND R6, R6, 0x3
    I2F.F32.U32 R6, R6
    FMUL R0, R6, 0.25
    """
    + OPAQUE
)
VOTES = (
    INTERPOLATE
    + """
    IPA R4, a[0x80], R12
    FSETP.GT.AND P0, PT, R4, 0.5, PT
    VOTE.ANY R5, P1, P0
    VOTE.ALL R6, P2, P0
    POPC R5, R5
    I2F.F32.U32 R0, R5
    FMUL R0, R0, 0.03125
    MOV R1, RZ
    MOV R2, RZ
    @P1 MOV32I R1, 0x3f000000
    @P2 MOV32I R2, 0x3f800000
    """
    + OPAQUE
)


@scene(4, 1, 32)
def control_flow(s: Scene) -> None:
    """Loops that end at different times (a piece of the Mandelbrot set), branches that part the lanes, what lanes tell
    their neighbours and all others."""
    s.cell("loops")
    s.programs(LOOP)
    s.quad(uv=((-2.0, -1.2), (0.7, -1.2), (0.7, 1.2), (-2.0, 1.2)))
    for label, text in (("branches", BRANCHES), ("quads", QUADS), ("votes", VOTES)):
        s.cell(label)
        s.programs(text)
        s.draw(corners(6), [RED, GREEN, BLUE] * 2, topology="TRIANGLE_FAN")
