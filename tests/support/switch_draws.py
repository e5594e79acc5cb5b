"""Small draws for the Switch's GPU, whole: programs with headers, vertices, textures, state. Fuzzers begin with them.

Everything lies at fixed addresses. A draw is a list of pieces of memory and a pushbuffer that sets state and draws.
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from pocketgpu.builder.maxwell import PushBuffer, Surface
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.headers import SPH, TIC, TSC
from pocketgpu.maxwell.sass.isa.assembler import assemble

PROGRAMS, DATA, TARGETS, OUT = 0x5_0010_0000, 0x5_0020_0000, 0x5_0030_0000, 0x5_0040_0000
SIZES = {PROGRAMS: 0x6000, DATA: 0x8000, TARGETS: 0x10000, OUT: 0x4000}
PROGRAM_ROOM = 0x1000
"""A program of each stage of the pipeline, one after the other."""
VERTICES, INDICES, CONSTANTS, HEADERS, SAMPLERS, TEXELS = (
    DATA + at for at in (0, 0x1000, 0x2000, 0x3000, 0x3800, 0x4000)
)
COLOUR, SECOND, DEPTH = TARGETS, TARGETS + 0x4000, TARGETS + 0x8000
WIDTH, HEIGHT = 40, 24
VERTEX_A, VERTEX_B, CONTROL, EVALUATION, GEOMETRY, PIXEL = range(6)
STAGES = (1, 1, 2, 3, 4, 5)
"""The number that headers have for each of these."""
_POSITION = {f"OMAP_POSITION_{c}": 1 for c in "XYZW"}
_GENERIC = {f"GENERIC_OMAP_{c}(0)": 1 for c in "XYZW"}
_IN = {f"GENERIC_IMAP_{c}({n})": 1 for n in range(2) for c in "XYZW"}
_FROM_VERTEX = {f"GENERIC_IMAP_{c}(0)": 2 for c in "XYZW"} | {"IMAP_POSITION_W": 1}
_COLOUR = {f"OMAP_{c}(0)": 1 for c in ("RED", "GREEN", "BLUE", "ALPHA")}
_INTERPOLATE = """
    IPA.PASS R5, a[0x7c], RZ
    MUFU.RCP R5, R5
    IPA R0, a[0x80], R5
    IPA R1, a[0x84], R5
    IPA R2, a[0x88], R5
    IPA R3, a[0x8c], R5
"""


@dataclass(frozen=True)
class Program:
    """A program of a stage: assembly, and fields of its header."""

    text: str
    fields: dict[str, Any]

    def data(self, stage: int) -> bytes:
        """Header and code."""
        return _program(self.text, stage, tuple(sorted(self.fields.items())))


@cache
def _program(text: str, stage: int, fields: tuple[tuple[str, Any], ...]) -> bytes:
    structure = SPH["PS" if stage == PIXEL else "VTG"]
    values = {"SPH_TYPE": 2 if stage == PIXEL else 1, "VERSION": 3, "SHADER_TYPE": STAGES[stage], **dict(fields)}
    return struct.pack("<20I", *structure.pack(values)) + assemble(text + "\nEXIT").code


PLAIN = Program(
    "ALD.128 R0, a[0x80]\nALD.128 R4, a[0x90]\nAST.128 a[0x70], R0\nAST.128 a[0x80], R4",
    {**_POSITION, **_GENERIC, **_IN},
)
NUMBERED = Program(
    """
    ALD.64 R0, a[0x80]
    ALD.64 R4, a[0x2f8]
    I2F.F32.U32 R6, R4
    I2F.F32.U32 R7, R5
    FFMA R0, R6, c[0x1][0x0], R0
    FFMA R1, R7, c[0x1][0x4], R1
    MOV R2, c[0x1][0x8]
    MOV R3, c[0x1][0xc]
    LOP.AND R8, R5, 0x1
    MOV R9, c[0x1][0x10]
    AST.128 a[0x70], R0
    AST.128 a[0x80], R4
    AST a[0x68], R8
    AST a[0x6c], R9
    AST a[0x2c0], R6
    """,
    {**_POSITION, **_GENERIC, **_IN, "IMAP_VERTEX_ID": 1, "IMAP_INSTANCE_ID": 1, "OMAP_VIEWPORT_INDEX": 1,
     "OMAP_POINT_SIZE": 1, "OMAP_CLIP_DISTANCE0": 1},
)  # fmt: skip
FIRST = Program("ALD.128 R0, a[0x80]\nFADD R0, R0, 0.25\nAST.128 a[0x80], R0\nALD.128 R4, a[0x90]\nAST.128 a[0x90], R4",
                {**_IN, **_GENERIC, **{f"GENERIC_OMAP_{c}(1)": 1 for c in "XYZW"}})  # fmt: skip
SHADED = Program(_INTERPOLATE, {**_FROM_VERTEX, **_COLOUR})
TEXTURED = Program(
    _INTERPOLATE
    + "TEX R0, R0, RZ, 0x2, 2D, 0xf\nTXQ R6, RZ, TEX_HEADER_DIMENSION, 0x3, 0x1\nTEXS R4, R2, R0, R1, 0x3, 2D, RGBA",
    {**_FROM_VERTEX, **_COLOUR},
)
KILLING = Program(
    _INTERPOLATE
    + """
    FSETP.GT.AND P0, PT, R0, 0.75, PT
    @P0 KIL
    MOV R8, c[0x0][0x0]
    MOV R9, c[0x0][0x4]
    MOV32I R10, 0x1
    RED.E.ADD [R8], R10
    S2R R11, SR_LANEID
    ISCADD R8, R11, R8, 0x2
    STG.E [R8+0x40], R11
    MOV32I R4, 0xf
    MOV R5, R2
    """,
    {**_FROM_VERTEX, **_COLOUR, "KILLS_PIXELS": 1, "DOES_GLOBAL_STORE": 1, "OMAP_SAMPLE_MASK": 1, "OMAP_DEPTH": 1},
)
MANY = Program(
    _INTERPOLATE
    + """
    MOV R4, R3
    MOV R6, R1
    MOV R7, R0
    PIXLD.COVMASK R8, [RZ]
    MOV R9, R8
    SAM
    SHFL.BFLY PT, R10, R0, 0x1, 0x1c03
    FSWZADD R10, R10, R0, PNNPPNNP
    RAM
    MOV R11, R10
    """,
    {**_FROM_VERTEX, "MRT_ENABLE": 1,
     **{f"OMAP_{c}({n})": 1 for n in range(3) for c in ("RED", "GREEN", "BLUE", "ALPHA")}},
)  # fmt: skip
LOOPING = Program(
    _INTERPOLATE
    + """
    MOV32I R8, 0x8
    again:
    IADD32I R8, R8, -0x1
    ISETP.NE.AND P0, PT, R8, RZ, PT
    FADD R0, R0, 0.125
    @P0 BRA again
    STL [RZ], R0
    LDL R1, [RZ]
    """,
    {**_FROM_VERTEX, **_COLOUR, "SHADER_LOCAL_MEMORY_LOW_SIZE": 16},
)
CONTROLLING = Program(
    """
    S2R R0, SR_INVOCATION_ID
    ISBERD R4, [R0]
    ALD.128 R8, a[0x80], R4
    AST.128 a[0x80], R8
    MOV32I R2, 0x40400000
    ISETP.EQ.AND P0, PT, R0, RZ, PT
    @P0 AST.P a[0x0], R2
    @P0 AST.P a[0x4], R2
    @P0 AST.P a[0x8], R2
    @P0 AST.P a[0xc], R2
    @P0 AST.P a[0x10], R2
    @P0 AST.P a[0x14], R2
    @P0 AST.P a[0x20], R8
    BAR.SYNC 0x0
    """,
    {"THREADS_PER_INPUT_PRIMITIVE": 3, "PER_PATCH_ATTRIBUTE_COUNT": 2, **_GENERIC, **_IN},
)
EVALUATING = Program(
    """
    S2R R2, SR_LANEID
    ALD.O.64 R0, a[0x2f0], R2
    MOV32I R3, 0x1
    ISBERD R4, [R3]
    ALD R5, a[0x80], R4
    ALD.P R6, a[0x20]
    FADD R0, R0, -0.5
    FADD R1, R1, -0.5
    FMUL R0, R0, 1.5
    MOV R2, RZ
    MOV32I R3, 0x3f800000
    AST.128 a[0x70], R0
    AST.64 a[0x80], R5
    """,
    {**_POSITION, **_GENERIC, **_IN, "OMAP_TESSELLATION_EVALUATION_POINT_U": 1,
     "OMAP_TESSELLATION_EVALUATION_POINT_V": 1},
)  # fmt: skip
EMITTING = Program(
    """
    S2R R0, SR_INVOCATION_ID
    I2F.F32.S32 R12, R0
    MOV R1, RZ
    MOV R3, RZ
    PBK done
    again:
    ISETP.GT.AND P0, PT, R1, 0x2, PT
    @P0 BRK
    ISBERD R4, [R1]
    ALD.128 R8, a[0x70], R4
    FFMA R8, R12, 0.125, R8
    AST.128 a[0x70], R8, R3
    AST.128 a[0x80], R8, R3
    OUT.EMIT R3, R3, RZ
    IADD R1, R1, 0x1
    BRA again
    done:
    OUT.CUT R3, R3, RZ
    AST.128 a[0x70], R8, R3
    OUT.EMIT R3, R3, 0x1
    """,
    {**_POSITION, **_GENERIC, **_IN, **{f"IMAP_POSITION_{c}": 1 for c in "XYZW"}, "MAX_OUTPUT_VERTEX_COUNT": 5,
     "THREADS_PER_INPUT_PRIMITIVE": 2, "OUTPUT_TOPOLOGY": 7, "STREAM_OUT_MASK": 3},
)  # fmt: skip
VERTEX_PROGRAMS = (PLAIN, NUMBERED)
PIXEL_PROGRAMS = (SHADED, TEXTURED, KILLING, MANY, LOOPING)
TOPOLOGIES = tuple(op for op in range(15) if op != 14)
PATCHES = 14


def _vertices() -> bytes:
    """Positions and colours: triangles all over the target, some of them beyond it."""
    values = np.random.default_rng(5)
    rows = np.concatenate([values.uniform(-1.2, 1.2, (96, 2)), values.uniform(-0.2, 1, (96, 1)), np.ones((96, 1)),
                           values.uniform(0, 1, (96, 4))], axis=1)  # fmt: skip
    return rows.astype("<f4").tobytes()


def _textures() -> bytes:
    """Headers: a block-linear 2D texture, one of rows."""
    common = {
        "COMPONENTS": 8, "R_DATA_TYPE": 2, "G_DATA_TYPE": 2, "B_DATA_TYPE": 2, "A_DATA_TYPE": 2, "X_SOURCE": 2,
        "Y_SOURCE": 3, "Z_SOURCE": 4, "W_SOURCE": 5, "WIDTH_MINUS_ONE": 15, "HEIGHT_MINUS_ONE": 15,
        "NORMALIZED_COORDS": 1, "TEXTURE_TYPE": 1,
    }  # fmt: skip
    block = TIC["BL"].pack({
        **common, "HEADER_VERSION": 3, "ADDRESS_BITS31TO9": (TEXELS & 0xFFFFFFFF) >> 9,
        "ADDRESS_BITS47TO32": TEXELS >> 32, "MAX_MIP_LEVEL": 3, "RES_VIEW_MAX_MIP_LEVEL": 3,
    })  # fmt: skip
    rows = TIC["PITCH"].pack({
        **common, "HEADER_VERSION": 2, "ADDRESS_BITS31TO5": (TEXELS & 0xFFFFFFFF) >> 5,
        "ADDRESS_BITS47TO32": TEXELS >> 32, "PITCH_BITS20TO5": 2,
    })  # fmt: skip
    return struct.pack("<16I", *block, *rows)


def _samplers() -> bytes:
    words = TSC.pack({"MAG_FILTER": 2, "MIN_FILTER": 2, "MIP_FILTER": 3, "MAX_LOD_CLAMP": 15.0})
    return struct.pack("<16I", *words, *words)


@cache
def memory() -> dict[int, bytes]:
    """What all draws find in memory, but for programs."""
    texels = np.random.default_rng(9).integers(0, 256, 0x2000, np.uint8).tobytes()
    indices = np.random.default_rng(3).integers(0, 48, 512).astype("<u2").tobytes()
    constants = struct.pack("<Q6I", OUT, 0, 1 | 1 << 20, 1, 0, 1, 0).ljust(0x100, b"\0")
    constants += np.array([0.01, 0.05, 0.5, 1, 4], "<f4").tobytes().ljust(0x100, b"\0")
    return {
        VERTICES: _vertices(), INDICES: indices, CONSTANTS: constants, HEADERS: _textures(), SAMPLERS: _samplers(),
        TEXELS: texels,
    }  # fmt: skip


def state(pb: PushBuffer) -> None:
    """Registers that every draw needs: targets, viewport, streams, constants, textures."""
    pb.bind("3D").render_target(0, Surface(COLOUR, WIDTH, HEIGHT, block_height_log2=1))
    pb.render_target(1, Surface(SECOND, WIDTH, HEIGHT, "RF16_GF16_BF16_AF16", block_height_log2=0))
    pb.method("SET_CT_SELECT", TARGET_COUNT=2, TARGET1=1)
    pb.address("SET_ZT_A", DEPTH).method("SET_ZT_FORMAT", V="Z24S8").method("SET_ZT_BLOCK_SIZE", HEIGHT=1)
    pb.method("SET_ZT_ARRAY_PITCH", 0x800).method("SET_ZT_SIZE_A", WIDTH, HEIGHT, 1).method("SET_ZT_SELECT", 1)
    for n in range(2):
        pb.method("SET_CT_WRITE", n, 0x1111)
    pb.method("SET_VIEWPORT_SCALE_X", 0, WIDTH / 2, -HEIGHT / 2, 1.0, WIDTH / 2, HEIGHT / 2, 0.0)
    pb.method("SET_VIEWPORT_SCALE_X", 1, WIDTH / 4, -HEIGHT / 2, 0.5, WIDTH / 4, HEIGHT / 2, 0.25)
    for n in range(2):
        pb.method("SET_VIEWPORT_CLIP_HORIZONTAL", n, X0=0, WIDTH=WIDTH)
        pb.method("SET_VIEWPORT_CLIP_VERTICAL", n, Y0=0, HEIGHT=HEIGHT)
        pb.method("SET_VIEWPORT_CLIP_MIN_Z", n, 0.0, 1.0)
    pb.method("SET_VIEWPORT_SCALE_OFFSET", 1).method("SET_RASTER_ENABLE", 1).method("SET_VIEWPORT_CLIP_CONTROL", 0x181D)
    pb.method("SET_SAMPLE_MASK_X0_Y0", *[0xFFFF] * 4)
    pb.method("SET_STENCIL_MASK", 0xFF).method("SET_STENCIL_FUNC_MASK", 0xFF).method("SET_POINT_SIZE", 3.0)
    pb.method("SET_DEPTH_FUNC", 0x204).method("SET_ATTRIBUTE_DEFAULT", 0xE).method("SET_ZPASS_PIXEL_COUNT", 1)
    pb.method("SET_VERTEX_STREAM_A_FORMAT", 0, STRIDE=32, ENABLE=1)
    pb.address("SET_VERTEX_STREAM_A_LOCATION_A", 0, VERTICES)
    pb.address("SET_VERTEX_STREAM_LIMIT_A_A", 0, VERTICES + 96 * 32 - 1)
    for n in range(2):
        pb.method("SET_VERTEX_ATTRIBUTE_A", n, STREAM=0, OFFSET=16 * n, COMPONENT_BIT_WIDTHS="R32_G32_B32_A32",
                  NUMERICAL_TYPE="NUM_FLOAT")  # fmt: skip
    pb.address("SET_INDEX_BUFFER_A", INDICES).address("SET_INDEX_BUFFER_C", INDICES + 0x3FF)
    pb.method("SET_INDEX_BUFFER_E", 1)
    for n in range(2):
        pb.method("SET_CONSTANT_BUFFER_SELECTOR_A", 0x100).address(
            "SET_CONSTANT_BUFFER_SELECTOR_B", CONSTANTS + 0x100 * n
        )
        for group in range(5):
            pb.method("BIND_GROUP_CONSTANT_BUFFER", group, VALID=1, SHADER_SLOT=n)
    pb.address("SET_TEX_HEADER_POOL_A", HEADERS).method("SET_TEX_HEADER_POOL_C", 63)
    pb.address("SET_TEX_SAMPLER_POOL_A", SAMPLERS).method("SET_TEX_SAMPLER_POOL_C", 63)
    pb.method("SET_DEPTH_TEST", 1).method("SET_DEPTH_WRITE", 1)
    pb.method(
        "SET_TESSELLATION_PARAMETERS",
        DOMAIN_TYPE="TRIANGLE",
        SPACING="FRACTIONAL_ODD",
        OUTPUT_PRIMITIVES="TRIANGLES_CCW",
    )
    pb.method("SET_TESSELLATION_LOD_U0_OR_DENSITY", 3.0, 2.0, 3.0, 2.0)
    pb.method("SET_PATCH", SIZE=3).address("SET_PROGRAM_REGION_A", PROGRAMS)


def stages(pb: PushBuffer, programs: Collection[int]) -> None:
    """Switch the stages on that have a program (by number of the pipeline), and the others off."""
    for stage in range(6):
        pb.method("SET_PIPELINE_SHADER", stage, ENABLE=stage in programs, TYPE=stage)
        pb.method("SET_PIPELINE_PROGRAM", stage, PROGRAM_ROOM * stage)
        pb.method("SET_PIPELINE_REGISTER_COUNT", stage, 32)
        pb.method("SET_PIPELINE_BINDING", stage, max(stage - 1, 0))


def stream_out(pb: PushBuffer) -> None:
    """Transform feedback of positions into OUT."""
    pb.method("SET_STREAM_OUTPUT", 1)
    for n in range(2):
        pb.method("SET_STREAM_OUT_BUFFER_ENABLE", n, 1).address(
            "SET_STREAM_OUT_BUFFER_ADDRESS_A", n, OUT + 0x1000 * (n + 1)
        )
        pb.method("SET_STREAM_OUT_BUFFER_SIZE", n, 0x400).method("SET_STREAM_OUT_BUFFER_LOAD_WRITE_POINTER", n, 0)
        pb.method("SET_STREAM_OUT_CONTROL_STREAM", n, n).method("SET_STREAM_OUT_CONTROL_COMPONENT_COUNT", n, 4)
        pb.method("SET_STREAM_OUT_CONTROL_STRIDE", n, 16)
        pb.write(B197["SET_STREAM_OUT_LAYOUT_SELECT"](32 * n).word, 0x1F1E1D1C)
