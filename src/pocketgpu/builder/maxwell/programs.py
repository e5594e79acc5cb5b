"""Programs of a canvas as assembly text, and parts of them.

Pixel programs leave a colour in R0 to R3. Those of squares get four values for each pixel, those of meshes the normal,
the place and the texture coordinates.
"""

from __future__ import annotations

from typing import Final

VERTEX: Final = """
    ALD.128 R0, a[0x80]
    ALD.128 R4, a[0x90]
    AST.128 a[0x70], R0
    AST.128 a[0x80], R4
    EXIT
"""
"""Hands on position and four values, which are attributes 0 and 1."""
VALUES: Final = """
    IPA.PASS R4, a[0x7c], RZ
    MUFU.RCP R4, R4
    IPA R0, a[0x80], R4
    IPA R1, a[0x84], R4
    IPA R2, a[0x88], R4
    IPA R3, a[0x8c], R4
"""
"""The four values of a pixel in R0 to R3."""
COLORED: Final = VALUES + "EXIT"
"""The values are the colour."""
TEXTURED: Final = VALUES + "TEX R0, R0, RZ, 0x0, 2D, 0xf\nEXIT"
"""The first two values are coordinates of texture 0."""


def transformed(result: int, at: int, rows: int = 4, *, moved: bool = True) -> str:
    """Text that takes the point in R0 to R2 through a matrix in constant buffer 1, `at` bytes into it, to the registers
    from R`result` on. rows: how many numbers the result has. moved: whether the fourth column counts, which directions
    don't have."""
    text = ""
    for row in range(rows):
        to, first = f"R{result + row}", at + 16 * row
        text += f"FMUL {to}, R0, c[0x1][{first:#x}]\n"
        text += "".join(f"FFMA {to}, R{n}, c[0x1][{first + 4 * n:#x}], {to}\n" for n in (1, 2))
        text += f"FADD {to}, {to}, c[0x1][{first + 12:#x}]\n" if moved else ""
    return text


MESH: Final = (
    "ALD.64 R0, a[0x80]\nALD R2, a[0x88]\n"
    + transformed(8, 0)
    + "AST.128 a[0x70], R8\n"
    + transformed(8, 64, 3)
    + "MOV R11, RZ\nAST.128 a[0xa0], R8\nALD.64 R0, a[0x90]\nALD R2, a[0x98]\n"
    + transformed(8, 64, 3, moved=False)
    + "AST.128 a[0x80], R8\nALD.64 R8, a[0xa0]\nFADD R9, -R9, 1\nMOV R10, RZ\nAST.128 a[0x90], R8\nEXIT"
)
"""Attributes 0 to 2 are position, normal and texture coordinates, v upwards. Constant buffer 1 has the matrices to clip
space and to eye space. Pixel programs get the normal from 0x80 on, texture coordinates from 0x90 on, v downwards, and
the place from 0xa0 on, in eye space."""
MESH_VALUES: Final = """
    IPA.PASS R12, a[0x7c], RZ
    MUFU.RCP R12, R12
    IPA R4, a[0x80], R12
    IPA R5, a[0x84], R12
    IPA R6, a[0x88], R12
    IPA R8, a[0x90], R12
    IPA R9, a[0x94], R12
    FMUL R7, R4, -0.375
    FFMA R7, R5, 0.625, R7
    FFMA R7, R6, 0.6875, R7
    FMNMX R7, R7, RZ, !PT
    FMUL R7, R7, 0.75
    FADD R7, R7, 0.25
    MOV R0, c[0x1][0x0]
    MOV R1, c[0x1][0x4]
    MOV R2, c[0x1][0x8]
    MOV R3, c[0x1][0xc]
"""
"""Of a pixel of a mesh: the colour in R0 to R3, the normal in eye space in R4 to R6, how light it is in R7 (the light
comes from the upper left), texture coordinates in R8 and R9."""
SHADE: Final = """
    FMUL R0, R0, R7
    FMUL R1, R1, R7
    FMUL R2, R2, R7
    EXIT
"""
"""Makes the colour as dark as the light is low."""
FLAT: Final = "".join(f"MOV R{n}, c[0x1][{4 * n:#x}]\n" for n in range(4)) + "EXIT"
"""The colour in constant buffer 1."""
LIT: Final = MESH_VALUES + SHADE
"""The colour of the mesh in light."""
LIT_TEXTURE: Final = MESH_VALUES + "TEX R0, R8, RZ, 0x0, 2D, 0xf" + SHADE
"""Texture 0 in light."""

__all__ = [
    "COLORED", "FLAT", "LIT", "LIT_TEXTURE", "MESH", "MESH_VALUES", "SHADE", "TEXTURED", "VALUES", "VERTEX",
    "transformed",
]  # fmt: skip


def __dir__() -> list[str]:
    return [*__all__]
