"""Showing surfaces of memory."""

from __future__ import annotations

import numpy as np
import pytest
from support.channels import DATA, Sender, inc

from pocketgpu import GM20B
from pocketgpu.errors import UsageError
from pocketgpu.maxwell.display.present import Surface, to_picture
from pocketgpu.maxwell.memory.blocklinear import Layout

PIXELS = np.random.default_rng(1).integers(0, 256, (45, 80, 4), dtype=np.uint8)


def tiled(rows: np.ndarray, block_height: int) -> bytes:
    """Rows in block-linear order, byte by byte."""
    height, width = rows.shape
    layout = Layout(width, height, block_height_log2=block_height)
    out = np.zeros(layout.size, np.uint8)
    for y in range(height):
        for x in range(width):
            out[layout.offset_of(x, y)] = rows[y, x]
    return out.tobytes()


def test_a_block_linear_surface_is_shown_upright() -> None:
    gpu = GM20B()
    gpu.map(DATA, 1 << 16)
    surface = Surface(80, 45, block_height=2)
    gpu.memory.write(DATA, tiled(PIXELS.reshape(45, 320), 2))
    screen = gpu.present(DATA, surface)
    assert np.array_equal(screen.array, PIXELS[..., :3])
    assert screen.image.size == (80, 45) and gpu.stats.presents == 1 and not list(gpu.events)


@pytest.mark.parametrize(("format", "order"), [("RGBA8_UNORM", [0, 1, 2]), ("BGRA8", [2, 1, 0]), ("RGBX8", [0, 1, 2])])
def test_orders_of_colours_and_strides_of_rows(format: str, order: list[int]) -> None:
    surface = Surface(80, 45, format, None, pitch=352)
    data = np.zeros((45, 352), np.uint8)
    data[:, :320] = PIXELS.reshape(45, 320)
    assert np.array_equal(to_picture(data.tobytes(), surface), PIXELS[..., order])


def test_transforms() -> None:
    rows = PIXELS.reshape(45, 320).tobytes()
    for transform, shown in ((1, PIXELS[:, ::-1]), (2, PIXELS[::-1]), (4, np.rot90(PIXELS, -1))):
        assert np.array_equal(to_picture(rows, Surface(80, 45, block_height=None, transform=transform)), shown[..., :3])


def test_16_bit_colours_are_spread_over_8() -> None:
    words = np.array([[0xF800, 0x07E0, 0x001F, 0xFFFF, 0x8410]], "<u2")
    picture = to_picture(words.tobytes(), Surface(5, 1, "RGB565", None))
    assert picture[0].tolist() == [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [132, 130, 132]]


def test_what_is_not_mapped_is_black_and_told() -> None:
    gpu = GM20B()
    gpu.map(DATA, 4096)
    gpu.memory.write(DATA, b"\xff" * 4096)
    picture = gpu.present(DATA, Surface(32, 64, block_height=None)).array
    assert picture[:32].min() == 255 and picture[32:].max() == 0
    assert [(event.id, event.kind) for event in gpu.events] == [("present.unmapped", "fault")]


def test_showing_finishes_the_work_first() -> None:
    sender = Sender()
    sender.send(inc(0x1C, 1, 3 << 8), inc(0x280, 7))
    sender.gpu.present(DATA, Surface(4, 4, block_height=None))
    assert sender.word(0x280) == 7 and sender.ids == ["channel.deadlock"]


def test_surfaces_that_cannot_be_are_refused() -> None:
    for wrong in ({"width": 0}, {"height": 1 << 20}, {"format": "R8"}, {"pitch": 4}, {"block_height": 6}):
        with pytest.raises(UsageError):
            Surface(**({"width": 16, "height": 16} | wrong))  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        GM20B().present((1 << 40) - 4096, Surface(64, 64))
