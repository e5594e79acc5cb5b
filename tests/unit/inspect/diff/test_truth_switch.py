"""One planted difference between two recordings of the Switch: a method, a pixel, a byte. Just that is named."""

from __future__ import annotations

import random
import struct
from dataclasses import replace

import pytest
from support.switch_model import STEPS, Drawn, Registers, Vertex, look, square

from pocketgpu.inspect.diff import diff

QUIET = {
    "SET_LINE_WIDTH_FLOAT": 3.0, "SET_ALPHA_REF": 0.25, "SET_STENCIL_FUNC_REF": 9, "SET_BACK_STENCIL_FUNC_REF": 9,
    "SET_BACK_STENCIL_FUNC": 0x202, "SET_STENCIL_FUNC": 0x202, "SET_DEPTH_FUNC": 0x201, "SET_SCISSOR_VERTICAL(7)": 77,
    "SET_SCISSOR_HORIZONTAL(7)": 77, "SET_CT_WRITE(5)": 0x11, "SET_BLEND_PER_TARGET_COLOR_OP(6)": 0x8007,
    "SET_VIEWPORT_SCALE_Y(9)": 4.0, "OGL_SET_FRONT_FACE": 0x900, "OGL_SET_CULL_FACE": 0x404, "SET_BLEND(3)": 1,
}  # fmt: skip
"""Registers that change no pixel of these draws."""
BIG = Drawn("TRIANGLES", tuple(square(2, 2, 20, 20)))


def word(value: float) -> int:
    return value if isinstance(value, int) else struct.unpack("<I", struct.pack("<f", value))[0]


@pytest.mark.parametrize("name", QUIET)
def test_one_method(name: str) -> None:
    other = replace(BIG, tests=Registers(methods=((name, QUIET[name]),)))
    a, b = look([BIG, BIG]), look([BIG, other])
    found = diff(a, b)
    (one,) = found.all
    old = a.seek("f0/d1").registers()[name]
    assert (one.level, str(one.a), str(one.b)) == ("register", "f0/d1", "f0/d1")
    assert one.text.startswith(f"{name} {old:#010x} -> {word(QUIET[name]):#010x}")


def test_one_pixel() -> None:
    """A triangle of one pixel has another colour: that pixel, both values, no other pixel."""
    chance = random.Random(5)
    for _ in range(6):
        x, y = chance.randrange(32), chance.randrange(32)
        colours = (1.0, 0.0, 0.0, 1.0), (1.0, 0.0, 1.0, 1.0)
        draws = [Drawn("TRIANGLES", tuple(square(x, y, 1, 1, colour=colour))) for colour in colours]
        found = diff(look([BIG, draws[0]]), look([BIG, draws[1]]))
        assert found.pixel is not None and str(found.pixel.a) == f"f0/d1/px{x},{y}"
        assert found.pixel.text == "(1, 0, 0, 1) -> (1, 0, 1, 1)" and found.pixel.detail["pixels"] == 1
        assert found.vertex is not None and str(found.vertex.a) == "f0/d1/v0"
        (memory,) = found.structure  # blue of six vertices
        assert memory.level == "memory" and memory.detail["bytes"] == 12
        assert (memory.detail["a_word"], memory.detail["b_word"]) == ("0x00000000", "0x3f800000")


def test_one_byte() -> None:
    """The lowest byte of a vertex' depth, which no pixel shows."""
    chance = random.Random(6)
    for _ in range(4):
        number = chance.randrange(6)
        made = list(BIG.vertices)
        nudged = struct.unpack("<f", struct.pack("<I", word(0.5) + 1))[0]
        made[number] = replace(made[number], z=nudged)
        a, b = look([BIG, BIG]), look([BIG, replace(BIG, vertices=tuple(made))])
        found = diff(a, b)
        place = a.seek("f0/d1").vertex_buffers[0].address + 40 * number + 8
        (memory,) = found.structure
        assert memory.level == "memory" and memory.detail["first"] == f"{place:#x}" and memory.detail["bytes"] == 1
        assert (memory.detail["a_word"], memory.detail["b_word"]) == (f"{word(0.5):#010x}", f"{word(0.5) + 1:#010x}")
        assert found.vertex is not None and str(found.vertex.a) == f"f0/d1/v{number}"
        assert found.pixel is None and not found.pictures


def test_one_corner() -> None:
    """A corner that moves by a whole pixel: the first pixel from the top that is covered by one only."""
    small = square(8, 8, 4, 4)
    moved = [replace(v, x=v.x + STEPS) if v.x == 12 * STEPS and v.y == 8 * STEPS else v for v in small]
    draws = [Drawn("TRIANGLES", tuple(each)) for each in (small, moved)]
    found = diff(look([draws[0]]), look([draws[1]]))
    assert found.pixel is not None and str(found.pixel.a) == "f0/d0/px12,8", found.pixel
    assert found.vertex is not None and str(found.vertex.a) == "f0/d0/v5"


def test_what_is_the_same() -> None:
    odd = [Vertex(0, 0, broken=True), *square(1, 1, 3, 3)[:2]]
    draws = [BIG, Drawn("TRIANGLES", tuple(odd))]
    assert diff(look(draws), look(draws)).same
