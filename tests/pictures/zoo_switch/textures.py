"""Textures and images of pixel programs."""

from __future__ import annotations

from typing import Any

import numpy as np
from zoo.stage import WHITE, checker, grid, letter, rgba

from pocketgpu import Surface as ImageSurface
from pocketgpu import Texture
from pocketgpu.facts.maxwell.formats import TEXTURE

from .stage import TEXTURED, Scene, sampled, scene

F = letter(16, (1, 0.9, 0.2, 1), (0.1, 0.25, 0.5, 1))
ADDRESSES = ("wrap", "mirror", "clamp", "border", "clamp_gl", "mirror_once", "mirror_once_border", "mirror_once_gl")
AROUND = ((-1.25, 2.25), (2.25, 2.25), (2.25, -1.25), (-1.25, -1.25))
UPRIGHT = ((0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0))
"""Texture coordinates of a quad whose picture stands upright, as rows begin at the top."""
TO_INTEGERS = "F2I.U32.F32 R4, R4\nF2I.U32.F32 R5, R5\n"


def rainbow(size: int) -> np.ndarray:
    x, y = grid(size)
    return rgba(x, y, 1 - x, 0.25 + 0.75 * y)


def mips(size: int) -> list[np.ndarray]:
    """Levels of one colour each with an F in it."""
    colours = [(1, 0.2, 0.2, 1), (0.2, 1, 0.2, 1), (0.3, 0.3, 1, 1), (1, 1, 0.2, 1), (1, 0.2, 1, 1), WHITE]
    return [letter(size >> n, colours[n % 6], (0.1, 0.1, 0.1, 1)) for n in range(size.bit_length())]


@scene(8, 4, 24)
def wrap_modes(s: Scene) -> None:
    """An F that repeats, is mirrored, held or ends in a red border, by the eight modes: the same both ways, nearest and
    linear; then the mode across with another one down."""
    for filter in ("nearest", "linear"):
        for mode in ADDRESSES:
            s.cell(f"{mode}, {filter}")
            s.programs(TEXTURED)
            s.use(Texture(F, numbers="unorm", normalized=True, address=mode, filter=filter, border=(1, 0, 0, 1)))
            s.quad(uv=AROUND)
    for other in ("clamp", "mirror"):
        for mode in ADDRESSES:
            s.cell(f"{mode} across, {other} down")
            s.programs(TEXTURED)
            s.use(Texture(F, numbers="unorm", normalized=True, address=(mode, other), border=(1, 0, 0, 1)))
            s.quad(uv=AROUND)


LEVEL_QUERY = """
    TMML.LOD R0, R4, 0x0, 2D, 0x3
    I2F.F32.U32 R0, R0
    I2F.F32.S32 R1, R1
    FMUL R0, R0, 0.0009765625
    FMUL R1, R1, 0.0009765625
    MOV R2, RZ
    MOV32I R3, 0x3f800000
"""
SIZES = """
    MOV32I R8, 0x1
    TXQ R0, R8, TEX_HEADER_DIMENSION, 0x0, 0xf
    I2F.F32.U32 R0, R0
    I2F.F32.U32 R1, R1
    I2F.F32.U32 R2, R2
    I2F.F32.U32 R3, R3
    FMUL R0, R0, 0.03125
    FMUL R1, R1, 0.0625
    FMUL R2, R2, 0.5
    FMUL R3, R3, 0.125
"""
FLOOR = ((-2.0, 0.0), (2.0, 0.0), (16.0, 24.0), (-16.0, 24.0))


@scene(5, 5, 28)
def mip_levels(s: Scene) -> None:
    """A floor going into the distance, with a colour for each level: filters between texels and between levels; biases
    and bounds; levels that the program names; anisotropy."""

    def floor(text: str = TEXTURED, **more: object) -> None:
        s.programs(text)
        options: dict[str, Any] = {"numbers": "unorm", "normalized": True, "address": "wrap", **more}
        s.use(Texture(mips(32), **options))
        s.quad(w=(1, 1, 8, 8), uv=FLOOR)

    for filter in ("nearest", "linear"):
        for mip in ("none", "nearest", "linear"):
            s.cell(f"{filter}, levels {mip}")
            floor(filter=filter, mip_filter=mip)
    for bias in (-1.5, 1.0, 3.25):
        s.cell(f"bias {bias}")
        floor(filter="linear", mip_filter="linear", lod_bias=bias)
    for bounds in ((0.0, 1.0), (2.5, 15.0), (1.0, 1.0)):
        s.cell(f"levels {bounds[0]} to {bounds[1]}")
        floor(filter="linear", mip_filter="linear", lod_range=bounds)
    lods = {"LZ": "", "LB": "MOV32I R8, 0x3fc00000\n", "LL": "FMUL R8, R4, 0.25\n"}
    for name, text in lods.items():
        s.cell(f"TEX.{name}")
        registers = "R4, RZ" if name == "LZ" else "R4, R8"
        floor(sampled(f"{text}TEX.{name} R0, {registers}, 0x0, 2D, 0xf"), filter="linear", mip_filter="linear")
    for samples in (2, 4, 16):
        s.cell(f"anisotropy {samples}")
        floor(filter="linear", mip_filter="linear", anisotropy=samples)
    s.cell("gradients")
    gradients = "MOV32I R8, 0x3d800000\nMOV R9, RZ\nMOV R10, RZ\nFMUL R11, R5, 0.03125\nTXD R0, R4, R8, 0x0, 2D, 0xf"
    floor(sampled(gradients), filter="linear", mip_filter="linear")
    s.cell("level query")
    floor(sampled(LEVEL_QUERY), filter="linear", mip_filter="linear")
    s.cell("offset")
    floor(sampled("MOV32I R8, 0x7f\nTEX.AOFFI R0, R4, R8, 0x0, 2D, 0xf"), filter="nearest", mip_filter="linear")
    s.cell("texels counted")
    s.programs(TEXTURED)
    s.use(Texture(F, numbers="unorm", normalized=False))
    s.quad(uv=np.array(UPRIGHT) * 16)
    for level in (0, 1):
        s.cell(f"one texel of level {level}")
        s.programs(
            sampled(
                f"FMUL R4, R4, 31\nFMUL R5, R5, 31\n{TO_INTEGERS}MOV32I R8, {level}\nTLD.LL R0, R4, R8, 0x0, 2D, 0xf"
            )
        )
        s.use(Texture(mips(32), numbers="unorm"))
        s.quad(uv=UPRIGHT)
    s.cell("sizes")
    s.programs(sampled(SIZES))
    s.use(Texture(mips(32), numbers="unorm"))
    s.quad()


@scene(6, 3, 24)
def texture_kinds(s: Scene) -> None:
    """Lines, planes, volumes, cubes, arrays of them, and buffers; each with coordinates of its own, nearest in the
    first row, linear in the second; layers beyond the end and edges of cubes."""
    rng = np.random.default_rng(5)

    def picture(*shape: int) -> np.ndarray:
        return rng.integers(0, 256, (*shape, 4), np.uint8)

    cube = np.stack([letter(8, (1, 1, 1, 1), (n & 1, n >> 1 & 1, n >> 2 & 1, 1)) for n in range(1, 7)])
    cubes = np.concatenate([cube, cube[::-1]])
    for filter in ("nearest", "linear"):
        kinds = [
            ("1d", picture(9), "TEX R0, R4, RZ, 0x0, 1D, 0xf"),
            (
                "1d_array",
                picture(5, 9),
                "FMUL R5, R5, 4.5\nF2I.U32.F32 R6, R5\nMOV R7, R4\nTEX R0, R6, RZ, 0x0, ARRAY_1D, 0xf",
            ),
            (
                "2d_array",
                picture(3, 4, 4),
                "FMUL R6, R4, 2.75\nF2I.U32.F32 R6, R6\nMOV R7, R4\nMOV R8, R5\nTEX R0, R6, RZ, 0x0, ARRAY_2D, 0xf",
            ),
            ("3d", picture(3, 4, 4), "FADD R6, R4, R5\nFMUL R6, R6, 0.5\nTEX R0, R4, RZ, 0x0, 3D, 0xf"),
            ("cube", cube, CUBE + "TEX R0, R4, RZ, 0x0, CUBE, 0xf"),
            (
                "cube_array",
                cubes,
                CUBE + "MOV R7, R6\nMOV R6, R5\nMOV R5, R4\nF2I.U32.F32 R4, R9\nTEX R0, R4, RZ, 0x0, ARRAY_CUBE, 0xf",
            ),
        ]
        for kind, texels, text in kinds:
            s.cell(f"{kind}, {filter}")
            s.programs(sampled(text))
            s.use(Texture(texels, kind, numbers="unorm", normalized=True, filter=filter, address="clamp"))
            s.quad(uv=UPRIGHT)
    s.cell("buffer")
    s.programs(sampled("FMUL R4, R4, 40\nF2I.S32.F32 R4, R4\nTLD.LZ R0, R4, RZ, 0x0, 1D, 0xf"))
    s.use(Texture(picture(32), "buffer", numbers="unorm"))
    s.quad(uv=UPRIGHT)
    s.cell("cube without seams closed")
    s.programs(sampled(CUBE + "TEX R0, R4, RZ, 0x0, CUBE, 0xf"))
    s.use(Texture(cube, "cube", numbers="unorm", normalized=True, filter="linear", seamless=False))
    s.quad(uv=UPRIGHT)
    for component in range(2):
        s.cell(f"gather component {component}")
        s.programs(sampled(f"TLD4.{'RG'[component]} R0, R4, RZ, 0x0, 2D, 0xf"))
        s.use(Texture(picture(6, 6), numbers="unorm", normalized=True))
        s.quad(uv=UPRIGHT)
    s.cell("handle from a register")
    s.programs(sampled("MOV R8, c[0xf][0x4]\nTEX.B R0, R4, R8, 0x0, 2D, 0xf"))
    s.use(0, Texture(F, numbers="unorm", normalized=True))
    s.quad(uv=UPRIGHT)
    s.cell("short form")
    s.programs(sampled("TEXS R2, R0, R4, R5, 0x0, 2D, RGBA"))
    s.use(Texture(F, numbers="unorm", normalized=True))
    s.quad(uv=UPRIGHT)


CUBE = """
    FADD R4, R4, -0.5
    FADD R5, R5, -0.5
    FMUL R9, R4, R5
    FMUL R4, R4, 3
    FMUL R5, R5, 4
    FADD R6, R4, R5
    FADD R6, R6, 0.5
    FADD R9, R9, 1
"""


@scene(8, 3, 20)
def shadows(s: Scene) -> None:
    """All comparisons of a slope's depth (up to the right) with a reference that grows upward: nearest, linear, and
    gathered."""
    x, _ = grid(8)
    depths = np.broadcast_to(x, (8, 8)).astype(np.float32)
    for how in ("nearest", "linear", "gather"):
        for compare in ("never", "less", "equal", "less_equal", "greater", "not_equal", "greater_equal", "always"):
            s.cell(f"{how}, {compare}")
            text = "TLD4.R.DC R0, R4, R8, 0x0, 2D, 0x7" if how == "gather" else "TEX.DC R0, R4, R8, 0x0, 2D, 0x7"
            s.programs(sampled(f"MOV R8, R5\n{text}\nMOV32I R3, 0x3f800000"))
            s.use(Texture(depths, normalized=True, filter="nearest" if how == "nearest" else "linear", compare=compare))
            s.quad()


COMPRESSED = [layout for layout in TEXTURE.values() if layout.compressed and layout.bytes]


@scene(8, 6, 20)
def compressed_formats(s: Scene) -> None:
    """Every compressed format of textures: the same random blocks of each, texel by texel."""
    rng = np.random.default_rng(77)
    for layout in COMPRESSED:
        s.cell(layout.name)
        across, down = layout.block
        wide, high = -(-20 // across), -(-20 // down)
        blocks = rng.integers(0, 256, (high, wide, layout.bytes), np.uint8)
        if "ASTC" in layout.name:  # random blocks of these are mostly errors: ones of a single colour
            blocks[..., 0], blocks[..., 1] = 0xFC, 0xFD
            blocks[..., 2:8] = 0xFF
        s.programs(TEXTURED)
        numbers = "float" if "BC6H" in layout.name else "unorm"
        s.use(Texture(blocks, format=layout.name, numbers=numbers, normalized=True))
        s.quad(uv=UPRIGHT)


PLAIN = [layout for layout in TEXTURE.values() if not layout.compressed and layout.bytes]


@scene(8, 6, 16)
def texture_formats(s: Scene) -> None:
    """Every other format of textures as normalised numbers: the same random bits, texel by texel."""
    rng = np.random.default_rng(78)
    for layout in PLAIN:
        s.cell(layout.name)
        block = layout.block[0]
        bits = rng.integers(0, 256, (6, -(-6 // block), layout.bytes), np.uint8)
        s.programs(TEXTURED)
        floats = "F32" in layout.name or layout.name in ("E5B9G9R9_SHAREDEXP", "BF10GF11RF11")
        if floats:
            bits[..., 3] = {"E": 0x78, "B": 0x70}.get(layout.name[0], 0x3F)
        if layout.name == "BF10GF11RF11":
            bits[..., :3] = bits[..., :3] & 0x1F | [0x60, 0x1B, 0x18]
        s.use(Texture(bits, format=layout.name, numbers="float" if floats else "unorm", normalized=True))
        s.quad(uv=UPRIGHT)


@scene(4, 1, 24)
def colour_spaces(s: Scene) -> None:
    """sRGB texels as they are and converted, signed numbers, numbers with and without a filter."""
    for label, more in (
        ("as they are", {}),
        ("sRGB", {"srgb": True}),
        ("signed", {"numbers": "snorm"}),
        ("filtered sRGB", {"srgb": True, "filter": "linear"}),
    ):
        s.cell(label)
        s.programs(TEXTURED)
        s.use(Texture(rainbow(6), **{"numbers": "unorm", "normalized": True, **more}))
        s.quad(uv=UPRIGHT)


IMAGE = """
    IPA.PASS R12, a[0x7c], RZ
    MUFU.RCP R12, R12
    IPA R4, a[0x90], R12
    IPA R5, a[0x94], R12
    FMUL R4, R4, 16
    FMUL R5, R5, 16
    F2I.S32.F32.FLOOR R4, R4
    F2I.S32.F32.FLOOR R5, R5
"""


ADDED = """
    MOV32I R6, 0x40
    SHR.U32 R4, R4, 0x1
    SUATOM.D.2D.ADD.IGN R0, [R4], R6, 0x0
    MOV R0, RZ
    MOV R1, RZ
    MOV R2, RZ
    MOV R3, RZ
    EXIT
"""
SUMS = """
    SULD.D.2D.IGN R0, [R4], 0x0
    I2F.F32.U32 R0, R0
    FMUL R0, R0, 0.00390625
    MOV R1, RZ
    MOV R2, RZ
    MOV32I R3, 0x3f800000
    EXIT
"""


@scene(4, 1, 24)
def images(s: Scene) -> None:
    """An image that pixel programs write (the place in 16 steps, exchanged) and another draw reads as a texture; read
    texel by texel; atomic sums; places outside are dropped."""
    x, y = grid(16)
    for label in ("stored", "loaded", "sums", "outside"):
        pb = s.cell(label)
        picture = rgba(x, y, 0.5 + 0 * x)
        if label == "sums":
            image = ImageSurface(np.zeros((16, 16), np.uint32), numbers="uint")
        else:
            image = ImageSurface(picture, numbers="unorm")
        handle = s.texture(image)
        s.use(handle, handle)
        if label in ("stored", "outside"):
            shift = 0 if label == "stored" else 4
            s.programs(IMAGE + f"""
                I2F.F32.S32 R0, R5
                I2F.F32.S32 R1, R4
                FMUL R0, R0, 0.0625
                FMUL R1, R1, 0.0625
                MOV R2, RZ
                MOV32I R3, 0x3f800000
                IADD R4, R4, {shift:#x}
                SUST.P.2D.IGN [R4], R0, 0x0
                EXIT""")  # fmt: skip
            s.quad(uv=UPRIGHT)
            pb.method("INVALIDATE_TEXTURE_DATA_CACHE", 0)
            s.programs(IMAGE + "MOV R8, RZ\nTLD.LZ R0, R4, R8, 0x0, 2D, 0xf\nEXIT")
            s.quad(uv=UPRIGHT)
        elif label == "loaded":
            s.programs(IMAGE + "SULD.P.2D.IGN R0, [R4], 0x0\nEXIT")
            s.quad(uv=UPRIGHT)
        else:
            s.programs(IMAGE + ADDED)
            s.quad(uv=UPRIGHT)
            s.programs(IMAGE + SUMS)
            s.quad(uv=UPRIGHT)


@scene(3, 1, 24)
def derivatives(s: Scene) -> None:
    """Derivatives across and down of a curve, over quads of pixels whether all are covered or not."""
    for axis, pattern in (("across", "BXOR1"), ("down", "BXOR2")):
        s.cell(axis)
        lane = {"BXOR1": "0x1", "BXOR2": "0x2"}[pattern]
        s.programs(sampled(f"FMUL R6, R4, R5\nSHFL.BFLY PT, R7, R6, {lane}, 0x1c03\nFADD R0, R7, -R6\nFMUL R0, R0, 8\n"
                           "MOV R1, R6\nMOV R2, RZ\nMOV32I R3, 0x3f800000"))  # fmt: skip
        s.draw([(-0.9, -0.8), (0.95, -0.3), (-0.2, 0.9)], uv=((0, 0), (1, 0.3), (0.4, 1)))
    s.cell("checker")
    s.programs(TEXTURED)
    s.use(Texture(checker(16, 8), numbers="unorm", normalized=True, filter="linear"))
    s.draw([(-0.9, -0.8), (0.95, -0.3), (-0.2, 0.9)], uv=((0, 0), (1, 0.3), (0.4, 1)))
