"""Where draws find textures, samplers and programs: pools, their ends, and what pairs a texture with a sampler."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu import Texture
from pocketgpu.builder.maxwell.shaders import PADDING

from .switch_canvas import BLUE, CYAN, GREEN, MAGENTA, RED, VERTEX, WHITE, YELLOW, Array, Canvas, empty, paint, row

ENTRY = 32
"""Bytes of a header in either pool."""
SHOW = "MOV32I R4, 0x3f000000\nMOV32I R5, 0x3f000000\nTEX R0, R4, RZ, 0x0, 2D, 0xf\nEXIT"
OUTSIDE = SHOW.replace("0x3f000000", "0x40400000")
"""Programs that look at the middle of a texture, and beside it, where the sampler's border is."""


def whole(letter: str) -> str:
    return row(f"8 x {8 * letter}")


def plain(color: tuple[float, ...], border: tuple[float, ...] = WHITE) -> Texture:
    """A texture of one colour."""
    texels = np.broadcast_to(np.array(color, np.float64) * 255, (4, 4, 4)).astype(np.uint8)
    return Texture(texels, numbers="unorm", normalized=True, address="border", border=border)


def textured(s: Canvas, text: str = SHOW) -> tuple[int, int]:
    """Handles 1 and 2: red with a green border, and blue with a yellow one."""
    s.programs(text)
    return s.texture(plain(RED, GREEN)), s.texture(plain(BLUE, YELLOW))


@pytest.mark.row("b197.0x55d")
@pytest.mark.parametrize(("moved", "letter"), [(0, "R"), (1, "B")])
def test_texture_headers_count_from_the_start_of_their_pool(moved: int, letter: str) -> None:
    def draw(s: Canvas) -> None:
        first, _ = textured(s)
        s.pb.address("SET_TEX_HEADER_POOL_A", s._headers + ENTRY * moved)
        s.use(first)
        s.rect()

    assert paint(draw).picture == whole(letter)


@pytest.mark.row("b197.0x557")
@pytest.mark.parametrize(("moved", "letter"), [(0, "G"), (1, "Y")])
def test_samplers_count_from_the_start_of_their_pool(moved: int, letter: str) -> None:
    def draw(s: Canvas) -> None:
        first, _ = textured(s, OUTSIDE)
        s.pb.address("SET_TEX_SAMPLER_POOL_A", s._samplers + ENTRY * moved)
        s.use(first)
        s.rect()

    assert paint(draw).picture == whole(letter)


@pytest.mark.parametrize(
    ("pool", "text", "letter"),
    [
        pytest.param("HEADER", SHOW, "B", marks=pytest.mark.row("b197.0x55f")),
        pytest.param("SAMPLER", OUTSIDE, "Y", marks=pytest.mark.row("b197.0x558")),
    ],
)
def test_what_is_beyond_the_last_number_of_a_pool_is_not_there(pool: str, text: str, letter: str) -> None:
    """The last number still counts. The page has that of samplers one word too low."""

    def draw(s: Canvas, last: int) -> None:
        _, second = textured(s, text)
        s.pb.method(f"SET_TEX_{pool}_POOL_C", last)
        s.use(second)
        s.rect()

    assert paint(draw, 2).picture == whole(letter)
    short = paint(draw, 1)
    assert short.picture == empty() and len(short.events) == 1


@pytest.mark.row("b197.0x48d")
@pytest.mark.parametrize(("joined", "letter"), [(0, "Y"), (1, "G")])
def test_a_texture_may_take_the_sampler_of_its_own_number(joined: int, letter: str) -> None:
    """A handle of the first texture and the second sampler."""

    def draw(s: Canvas) -> None:
        first, second = textured(s, OUTSIDE)
        s.set(SET_SAMPLER_BINDING=joined).use(first & 0xFFFFF | second & ~0xFFFFF)
        s.rect()

    assert paint(draw).picture == whole(letter)


@pytest.mark.row("b197.0x599")
def test_cubes_are_filtered_over_edges_as_the_sampler_says_and_not_the_register() -> None:
    """Only the page has the register. On this chip the sampler decides: with it a place at an edge has both colours."""
    text = "MOV32I R4, 0x3f800000\nMOV32I R5, 0x3f7ff000\nMOV R6, RZ\nTEX R0, R4, RZ, 0x0, CUBE, 0xf\nEXIT"
    faces = np.zeros((6, 4, 4, 4), np.uint8)
    for face, color in enumerate((RED, RED, GREEN, GREEN, BLUE, BLUE)):
        faces[face] = np.array(color) * 255

    def draw(s: Canvas, seamless: bool, mode: int) -> None:
        s.programs(text)
        s.set(SET_CUBEMAP_INTER_FACE_FILTERING=mode)
        s.use(Texture(faces, "cube", numbers="unorm", normalized=True, filter="linear", seamless=seamless))
        s.rect()

    colors: dict[bool, list[Array]] = {
        seamless: [paint(draw, seamless, mode).rgba()[0, 0] for mode in range(4)] for seamless in (False, True)
    }
    assert all(color.tolist() == [1, 0, 0, 1] for color in colors[False])
    assert all(np.allclose(color, [0.5, 0.5, 0, 1], atol=0.02) for color in colors[True])


# -- programs ---------------------------------------------------------------------------------------------------------


def solid(color: tuple[float, ...]) -> str:
    """A pixel program of one colour."""
    return "".join(f"MOV32I R{n}, {'0x3f800000' if v else '0x0'}\n" for n, v in enumerate(color)) + "EXIT"


@pytest.mark.row("b197.0x582", "b197.0x821")
@pytest.mark.parametrize(("by", "letter"), [(None, "M"), ("offset", "C"), ("region", "C")])
def test_programs_lie_at_offsets_from_the_region(by: str | None, letter: str) -> None:
    """A second pixel program is reached by another offset, also of a region that begins later."""

    def draw(s: Canvas) -> None:
        s.programs(solid(MAGENTA))
        offsets = {1: s._program("vertex", VERTEX), 5: s._program("pixel", solid(MAGENTA if by is None else CYAN))}
        region = s._program_pool >> 32 << 32
        if by == "region":
            s.pb.address("SET_PROGRAM_REGION_A", region + 0x80)
            region += 0x80
        for stage, address in offsets.items():
            s.set(SET_PIPELINE_PROGRAM=(stage, address + PADDING - region))
        s.rect()

    assert paint(draw).picture == whole(letter)
