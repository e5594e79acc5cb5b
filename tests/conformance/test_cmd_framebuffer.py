"""Where pixels go: commands 0116 to 011E and 006E (GPU/Commands of 2013, "Parameter value format for 0x000F011E")."""

from __future__ import annotations

import numpy as np
import pytest

from .commands import FCRAM, VRAM, Gpu, command, core, decoded, unexplained

# General code draws any state, specialised code one: the rows hold for both.
pytestmark = pytest.mark.parametrize("tier", ["specialised", "general"], indirect=True)

COLOR, DEPTH = VRAM + 0x40000, VRAM + 0x80000
AREA = 1 << 14


def buffers(
    gpu: Gpu, color: int = COLOR, depth: int = DEPTH, form: int = 2, depth_form: int = 3, size: int = 0
) -> None:
    """The framebuffer commands in the order that the page gives."""
    size = size or 16 | 15 << 12 | 1 << 24
    command(gpu, 0x000F0117, form)
    command(gpu, 0x000F011D, color >> 3)
    command(gpu, 0x000F0116, depth_form)
    command(gpu, 0x000F011C, depth >> 3)
    command(gpu, 0x000F011E, size)
    command(gpu, 0x000F006E, size)


def clear(gpu: Gpu, *addresses: int) -> None:
    for address in addresses:
        gpu.memory.write(address, bytes(AREA))


def touched(gpu: Gpu, address: int) -> list[int]:
    """Offsets of the bytes that are not zero."""
    return np.flatnonzero(np.frombuffer(gpu.memory.read(address, AREA), np.uint8)).tolist()


def one_pixel(gpu: Gpu, x: int, y: int) -> None:
    """Draw a single white pixel; y from the bottom."""
    gpu.set(SCISSORTEST_MODE=3, SCISSORTEST_POS=x | y << 16, SCISSORTEST_DIM=x | y << 16)
    gpu.set(VIEWPORT_WIDTH=gpu.f24(32), VIEWPORT_HEIGHT=gpu.f24(32))
    gpu.quad()


@pytest.mark.row("cmd.id.0x000F011D")
@pytest.mark.parametrize("address", [VRAM, COLOR, VRAM + 0x5FC000, FCRAM + 0x123440])
def test_colour_buffer_address(gpu: Gpu, address: int) -> None:
    """A physical address divided by eight; what is drawn there is what transfers and copies of GX then read."""
    clear(gpu, COLOR, address)
    buffers(gpu, color=address)
    gpu.quad(color=(1, 0.4, 0.2, 0))
    gpu.run()
    assert gpu.memory.read(address, 1024) == bytes([0, 51, 102, 255]) * 256
    if address != COLOR:
        assert touched(gpu, COLOR) == []
    # GX command 3 reads a framebuffer in VRAM by its address in programs; command 4 copies it as it is.
    if address < FCRAM:
        source, linear, copy = address - VRAM + 0x1F000000, 0x30000000, 0x30010000
        gsp = gpu.n3ds.gsp
        assert gsp.gx([3, source, linear, 16 << 16 | 16, 16 << 16 | 16, 0x1000, 0, 0]) == 0  # to RGB8 rows
        assert gsp.gx([4, source, copy, 1024, 0, 0, 8, 0]) == 0
        assert gpu.memory.read(FCRAM, 768) == bytes([51, 102, 255]) * 256
        assert gpu.memory.read(FCRAM + 0x10000, 1024) == bytes([0, 51, 102, 255]) * 256


@pytest.mark.row("cmd.id.0x000F011C")
@pytest.mark.parametrize("address", [VRAM, DEPTH, FCRAM + 0x123440])
def test_depth_buffer_address(gpu: Gpu, address: int) -> None:
    """The page leaves open what the address in VRAM is for: it is the depth buffer's, divided by eight."""
    clear(gpu, DEPTH, address)
    buffers(gpu, depth=address)
    gpu.set(DEPTH_COLOR_MASK=0x1F00)
    gpu.quad(z=-0.5)
    gpu.run()
    assert gpu.memory.read(address, 1024) == (0x7FFFFF).to_bytes(4, "little") * 256
    if address != DEPTH:
        assert touched(gpu, DEPTH) == []


@pytest.mark.row("cmd.id.0x000F0116")
@pytest.mark.parametrize(
    ("form", "name", "stored", "larger"),
    [(0, "D16", "ff7f", "ffbf"), (2, "D24", "ffff7f", "ffffbf"), (3, "D24S8", "ffff7f00", "ffffbf5a")],
)
def test_depth_buffer_format(gpu: Gpu, form: int, name: str, stored: str, larger: str) -> None:
    """Unknown to the page: how the depth buffer's pixels are stored."""
    clear(gpu, DEPTH)
    buffers(gpu, depth_form=form)
    gpu.set(DEPTH_COLOR_MASK=0x1F00)
    gpu.quad(z=-0.5)
    gpu.run()
    pattern = bytes.fromhex(stored)
    assert gpu.memory.read(DEPTH, 256 * len(pattern)) == pattern * 256
    assert len(touched(gpu, DEPTH)) == 256 * sum(byte != 0 for byte in pattern)
    assert decoded(0x116, form)["format"] == f"{form} ({name})"
    # Depths are compared with what is stored in that form; a stencil byte has no part in it and stays.
    pattern = pattern[:3] + b"\x5a" * (form == 3)
    gpu.memory.write(DEPTH, pattern * 256)
    gpu.set(DEPTH_COLOR_MASK=0x1F00 | 6 << 4 | 1)
    for z, expected in ((-0.25, pattern), (-0.75, bytes.fromhex(larger))):
        gpu.quad(z=z)
        gpu.run()
        assert gpu.memory.read(DEPTH, 256 * len(pattern)) == expected * 256


@pytest.mark.row("cmd.id.0x000F0117")
@pytest.mark.parametrize(
    ("word", "pixel"),
    [
        (0x00000002, "ff3366ff"),
        (0x00010001, "3366ff"),
        (0x00020000, "0dfb"),
        (0x00030000, "26fb"),
        (0x00040000, "3ff6"),
    ],
)
def test_colour_buffer_format(gpu: Gpu, word: int, pixel: str) -> None:
    """The page's usual 2 is RGBA8, 32 bits a pixel; the other formats stand in bits 18-16 (RGB8, 5551, 565, 4444)."""
    clear(gpu, COLOR)
    buffers(gpu, form=word)
    gpu.quad(color=(1, 0.4, 0.2, 1))
    gpu.run()
    pattern = bytes.fromhex(pixel)
    assert gpu.memory.read(COLOR, 256 * len(pattern)) == pattern * 256
    assert decoded(0x117, 2)["pixel_size"] == "2 (32 bits)" and decoded(0x117, 2)["format"] == "0 (RGBA8)"


@pytest.mark.row("cmd.id.0x000F011E", "cmd.viewport.11-0")
@pytest.mark.parametrize("bit_11", [0, 1])
@pytest.mark.parametrize("width", [8, 16, 24, 64, 72, 128, 240, 256, 400, 512, 520, 800, 1016, 1024])
def test_framebuffer_width_is_the_length_of_a_row(gpu: Gpu, width: int, bit_11: int) -> None:
    """The ninth row of memory begins after one row of tiles. The page gives the width 12 bits; it has 11."""
    area = width * 16 * 4
    gpu.memory.write(COLOR, bytes(area))
    word = width | bit_11 << 11
    buffers(gpu, depth=COLOR + 0x40000, size=word | 15 << 12 | 1 << 24)
    one_pixel(gpu, 0, 7)  # sixteen rows: the ninth from above
    gpu.run()
    found = np.flatnonzero(np.frombuffer(gpu.memory.read(COLOR, area), np.uint8)).tolist()
    assert found == [width * 8 * 4 + byte for byte in range(4)]
    assert decoded(0x11E, word)["width"] == str(width)
    assert unexplained(0x11E, word) == bit_11 << 11


@pytest.mark.row("cmd.id.0x000F011E", "cmd.viewport.23-12")
@pytest.mark.parametrize("height", [8, 16, 24, 32])
def test_framebuffer_height_minus_one(gpu: Gpu, height: int) -> None:
    """The bottom row of the picture is the last one in memory. The page gives the height 12 bits; it has 10."""
    clear(gpu, COLOR)
    buffers(gpu, size=8 | height - 1 << 12 | 1 << 24)
    one_pixel(gpu, 0, 0)
    gpu.run()
    tile, inside = (height - 1) // 8, 42  # 42: first column, last row of a tile
    assert touched(gpu, COLOR) == [(64 * tile + inside) * 4 + byte for byte in range(4)]
    assert decoded(0x11E, height - 1 << 12)["height"] == f"{height - 1} (means {height})"


@pytest.mark.row("cmd.viewport.24")
def test_bit_24_is_the_upright_picture(gpu: Gpu) -> None:
    """The page says that it must be set; without it the picture is upside down, shapes and scissor alike."""
    gpu.set(VIEWPORT_WIDTH=gpu.f24(4), VIEWPORT_HEIGHT=gpu.f24(4))
    for bit, rows in ((1, [6, 7]), (0, [0, 1])):
        clear(gpu, COLOR)
        buffers(gpu, size=8 | 7 << 12 | bit << 24)
        gpu.quad(box=(-1, -1, 1, -0.5))  # the two lowest rows
        gpu.run()
        inside = {int(gpu.order(8, 8)[row, column]) for row in rows for column in range(8)}
        assert {byte // 4 for byte in touched(gpu, COLOR)} == inside
    for bit, first in ((1, 42), (0, 0)):  # first column of the last row, or of the first
        clear(gpu, COLOR)
        buffers(gpu, size=8 | 7 << 12 | bit << 24)
        one_pixel(gpu, 0, 0)
        gpu.run()
        assert touched(gpu, COLOR) == [4 * first + byte for byte in range(4)]


@pytest.mark.row("cmd.viewport.31-25")
def test_bits_31_to_25_of_the_size_do_nothing(gpu: Gpu) -> None:
    pictures = []
    for unused in (0, 0xFE000000):
        clear(gpu, COLOR)
        buffers(gpu, size=16 | 15 << 12 | 1 << 24 | unused)
        gpu.quad(box=(-1, -1, 0.25, 0.5))
        gpu.run()
        pictures.append(gpu.memory.read(COLOR, AREA))
    assert pictures[0] == pictures[1] and any(pictures[0])
    assert core(gpu, 0x11E) == 0xFF00F010
    assert unexplained(0x11E, 0xFF00F010) == 0xFE000000


@pytest.mark.row("cmd.id.0x000F006E")
def test_render_buffer_size_has_the_form_of_the_framebuffer_size(gpu: Gpu) -> None:
    """Written after 011E with the same word: it says the same things, and the picture goes where 011E says."""
    size = 24 | 7 << 12 | 1 << 24
    clear(gpu, COLOR)
    buffers(gpu, size=size)
    one_pixel(gpu, 8, 7)
    gpu.run()
    assert core(gpu, 0x6E) == core(gpu, 0x11E) == size
    assert decoded(0x6E, size) == decoded(0x11E, size) == {"width": "24", "height": "7 (means 8)", "flip": "yes"}
    assert touched(gpu, COLOR) == [4 * 64 + byte for byte in range(4)]


@pytest.mark.row("cmd.id.0x000F011E")
def test_size_of_gx_transfers_is_the_usual_one(gpu: Gpu) -> None:
    """Width and height as GX command 3 names them: a frame of 32x64 drawn, then read back in rows."""
    clear(gpu, COLOR)
    buffers(gpu, size=32 | 63 << 12 | 1 << 24)
    gpu.set(VIEWPORT_WIDTH=gpu.f24(16), VIEWPORT_HEIGHT=gpu.f24(32))
    gpu.quad(box=(-1, -1, 1, 0))  # the lower half
    gpu.run()
    dimensions = 64 << 16 | 32
    assert gpu.n3ds.gsp.gx([3, COLOR - VRAM + 0x1F000000, 0x30000000, dimensions, dimensions, 0, 0, 0]) == 0
    rows = np.frombuffer(gpu.memory.read(FCRAM, 32 * 64 * 4), "<u4").reshape(64, 32)
    assert (rows[:32] == 0).all() and (rows[32:] == 0xFFFFFFFF).all()
