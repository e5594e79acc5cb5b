"""Programs of the scenes, each in the machine's assembly and in GLSL.

Constant buffer 1 of vertex programs has the matrix, by rows; 2 of both stages has the row of constants of a draw; 0 of
pixel programs has the handles of textures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from pocketgpu.builder.maxwell import Shader, shader

_HEAD = "#version 430 core\n"
_IN = (
    "layout(location=0) in vec4 position; layout(location=1) in vec4 colour; layout(location=2) in vec4 place;\n"
    "layout(location=0) uniform mat4 matrix;\n"
    "layout(std140, binding=2) uniform C { vec4 constants[4]; };\n"
    "out vec4 c; out vec4 t;\n"
)
_OUT = "in vec4 c; in vec4 t;\nlayout(std140, binding=2) uniform C { vec4 constants[4]; };\n"
_ONE = _OUT + "layout(location=0) out vec4 o;\n"
_PASS = "AST.128 a[0x80], R4\nAST.128 a[0x90], R8\nEXIT"
_READ = "ALD.128 R0, a[0x80]\nALD.128 R4, a[0x90]\nALD.128 R8, a[0xa0]\n"
_W = "IPA.PASS R20, a[0x7c], RZ\nMUFU.RCP R20, R20\n"


def _interpolated(first: int, address: int, count: int) -> str:
    return "".join(f"IPA R{first + n}, a[{address + 4 * n:#x}], R20\n" for n in range(count))


_ROWS = "".join(
    f"FMUL R{12 + n}, R0, c[0x1][{16 * n:#x}]\n"
    + "".join(f"FFMA R{12 + n}, R{m}, c[0x1][{16 * n + 4 * m:#x}], R{12 + n}\n" for m in range(1, 4))
    for n in range(4)
)
_VERTEX = {
    "plain": (
        _READ + "AST.128 a[0x70], R0\n" + _PASS,
        _IN + "void main() { gl_Position = position; c = colour; t = place; }",
    ),
    "moved": (
        _READ + "FADD R0, R0, c[0x2][0x0]\nFADD R1, R1, c[0x2][0x4]\nAST.128 a[0x70], R0\n" + _PASS,
        _IN + "void main() { gl_Position = position + vec4(constants[0].xy, 0, 0); c = colour; t = place; }",
    ),
    "turned": (
        _READ + _ROWS + "AST.128 a[0x70], R12\n" + _PASS,
        _IN + "void main() { gl_Position = matrix * position; c = colour; t = place; }",
    ),
}
_COLOUR = _W + _interpolated(0, 0x80, 4)
_PIXEL: dict[str, tuple[str, str, int]] = {
    "colour": (_COLOUR + "EXIT", _ONE + "void main() { o = c; }", 1),
    "scaled": (
        _COLOUR + "".join(f"FMUL R{n}, R{n}, c[0x2][{0x10 + 4 * n:#x}]\n" for n in range(4)) + "EXIT",
        _ONE + "void main() { o = c * constants[1]; }",
        1,
    ),
    "textured": (
        _W
        + _interpolated(4, 0x90, 2)
        + "TEX R0, R4, RZ, 0x0, 2D, 0xf\n"
        + _interpolated(8, 0x80, 4)
        + "".join(f"FMUL R{n}, R{n}, R{8 + n}\n" for n in range(4))
        + "EXIT",
        _ONE + "layout(binding=0) uniform sampler2D s;\nvoid main() { o = texture(s, t.xy) * c; }",
        1,
    ),
    # A gradient between two colours along a direction, with a soft edge; colours are multiplied with alpha.
    "paint": (
        _W
        + _interpolated(4, 0x90, 2)
        + "IPA R7, a[0x8c], R20\n"
        + "FMUL R6, R4, c[0x2][0x0]\nFFMA R6, R5, c[0x2][0x4], R6\nFADD.SAT R6, R6, c[0x2][0x8]\n"
        + "".join(
            f"MOV R{n}, c[0x2][{0x10 + 4 * n:#x}]\nFADD R8, -R{n}, c[0x2][{0x20 + 4 * n:#x}]\nFFMA R{n}, R8, R6, R{n}\n"
            for n in range(4)
        )
        + "FMUL R7, R7, R3\n"
        + "".join(f"FMUL R{n}, R{n}, R7\n" for n in range(3))
        + "MOV R3, R7\nEXIT",
        _ONE
        + """void main() {
    float along = clamp(dot(t.xy, constants[0].xy) + constants[0].z, 0.0, 1.0);
    vec4 p = mix(constants[1], constants[2], along);
    float a = p.a * c.a;
    o = vec4(p.rgb * a, a);
}""",
        1,
    ),
    # Colour, normal and position into three targets.
    "kept": (
        _COLOUR
        + _interpolated(4, 0x90, 3)
        + "FMUL R12, R4, R4\nFFMA R12, R5, R5, R12\nFFMA R12, R6, R6, R12\nMUFU.RSQ R12, R12\n"
        + "".join(f"FMUL R{n}, R{n}, R12\n" for n in (4, 5, 6))
        + "MOV32I R7, 0x3f800000\n"
        + "IPA R8, a[0x80], R20\nFMUL R8, R8, 2\nIPA R9, a[0x94], R20\nIPA R10, a[0x98], R20\nMOV32I R11, 0x3f800000\n"
        + "EXIT",
        _OUT
        + """layout(location=0) out vec4 o0; layout(location=1) out vec4 o1; layout(location=2) out vec4 o2;
void main() {
    o0 = c;
    o1 = vec4(t.xyz * inversesqrt(dot(t.xyz, t.xyz)), 1);
    o2 = vec4(c.x * 2.0, t.yz, 1);
}""",
        3,
    ),
    # Light from these three.
    "lit": (
        _W
        + _interpolated(24, 0x90, 2)
        + "TEX R0, R24, RZ, 0x0, 2D, 0xf\nTEX R4, R24, RZ, 0x1, 2D, 0xf\nTEX R8, R24, RZ, 0x2, 2D, 0xf\n"
        + "FADD R8, -R8, c[0x2][0x0]\nFADD R9, -R9, c[0x2][0x4]\nFADD R10, -R10, c[0x2][0x8]\n"
        + "FMUL R12, R8, R8\nFFMA R12, R9, R9, R12\nFFMA R12, R10, R10, R12\nMUFU.RSQ R12, R12\n"
        + "FMUL R13, R4, R8\nFFMA R13, R5, R9, R13\nFFMA R13, R6, R10, R13\nFMUL R13, R13, R12\n"
        + "FMNMX R13, R13, RZ, !PT\nFMUL R13, R13, R7\nFADD R13, R13, c[0x2][0x10]\n"
        + "".join(f"FMUL.SAT R{n}, R{n}, R13\n" for n in range(3))
        + "MOV32I R3, 0x3f800000\nEXIT",
        _ONE
        + """layout(binding=0) uniform sampler2D s0; layout(binding=1) uniform sampler2D s1;
layout(binding=2) uniform sampler2D s2;
void main() {
    vec4 albedo = texture(s0, t.xy), normal = texture(s1, t.xy), at = texture(s2, t.xy);
    vec3 to = constants[0].xyz - at.xyz;
    float light = max(dot(normal.xyz, to) * inversesqrt(dot(to, to)), 0.0) * normal.w + constants[1].x;
    o = vec4(clamp(albedo.rgb * light, 0.0, 1.0), 1);
}""",
        1,
    ),
}


@dataclass(frozen=True)
class Pair:
    """A vertex program and a pixel program."""

    vertex: str
    pixel: str

    @property
    def glsl(self) -> tuple[str, str]:
        return _HEAD + _VERTEX[self.vertex][1], _HEAD + _PIXEL[self.pixel][1]

    @property
    def shaders(self) -> dict[str, Shader]:
        return {"vertex": _vertex(self.vertex), "pixel": _pixel(self.pixel)}


@cache
def _vertex(name: str) -> Shader:
    return shader("vertex", _VERTEX[name][0])


@cache
def _pixel(name: str) -> Shader:
    text, _, targets = _PIXEL[name]
    return shader("pixel", text, targets=("rgba",) * targets)


PROGRAMS = {
    "plain": Pair("plain", "colour"), "moved": Pair("moved", "scaled"), "turned": Pair("turned", "colour"),
    "textured": Pair("plain", "textured"), "paint": Pair("plain", "paint"), "kept": Pair("turned", "kept"),
    "lit": Pair("plain", "lit"),
}  # fmt: skip
