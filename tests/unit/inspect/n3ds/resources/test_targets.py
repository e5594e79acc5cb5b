"""Render targets by registers: where they are, and where each of their pixels is."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.n3ds.resources.targets import Target, target_of, untiled
from pocketgpu.pica.n3ds import N3DS

VRAM, END = 0x18000000, 0x18600000


@cache
def machine() -> N3DS:
    return N3DS(evaluator="numpy")


def by_hand(x: int, y: int, width: int, blocks: str) -> int:
    """The number of a pixel: bits of x and y take turns inside a tile; 4 x 4 tiles make a block."""
    turns = lambda a, b, bits: sum((a >> n & 1) << 2 * n | (b >> n & 1) << 2 * n + 1 for n in range(bits))  # noqa: E731
    if not blocks:
        return (y // 8 * (width // 8) + x // 8) * 64 + turns(x % 8, y % 8, 3)
    block = (y // 32 * (width // 32) + x // 32) * 1024
    if blocks == "morton":
        return block + turns(x % 32, y % 32, 5)
    return block + (y % 32 // 8 * 4 + x % 32 // 8) * 64 + turns(x % 8, y % 8, 3)


@pytest.mark.parametrize("blocks", ["", "morton", "tiles"])
def test_numbers_of_pixels_and_their_places(blocks: str) -> None:
    target = made(blocks=blocks)
    assert target is not None
    places = [(x, y) for y in range(0, 64, 3) for x in range(0, 96, 7)]
    numbers = [target.number(x, y) for x, y in places]
    assert numbers == [by_hand(x, y, 96, blocks) for x, y in places]
    assert [untiled(number, 12, blocks) for number in numbers] == places


def made(
    width: int = 96, height: int = 64, address: int = VRAM, format: int = 0, depth: int = 3, flip: bool = True,
    blocks: str = "", depth_address: int = VRAM + 0x100000,
) -> Target | None:  # fmt: skip
    """The target of registers that say this."""
    words = np.zeros(0x300, np.uint32)

    def put(name: str, **fields: Any) -> None:
        words[PICA[name].offset] = PICA[name].encode(**fields)

    put("FRAMEBUFFER_DIM", width=width, height=height - 1, flip=flip)
    put("COLORBUFFER_LOC", address=address)
    put("DEPTHBUFFER_LOC", address=depth_address)
    put("COLORBUFFER_FORMAT", format=format)
    put("DEPTHBUFFER_FORMAT", format=depth)
    put("FRAMEBUFFER_BLOCK32", enable=bool(blocks))
    return target_of(machine().memory, words, {"transfer.block32": blocks or "morton"})


def test_a_target_has_to_fit() -> None:
    """Whole tiles of it have to be in memory, and it has to have one."""
    assert made(width=8) is not None and made(width=7) is None
    size = 96 * 64 * 4
    assert made(address=END - size) is not None and made(address=END - size + 64) is None
    assert made(address=END - size, height=57) is not None and made(address=END - size, height=65) is None
    assert made(address=END - size // 2, format=2) is not None and made(address=END - size // 2, format=1) is None
    assert made(address=VRAM - 64) is None
    low = made(address=VRAM + 56)
    assert low is not None and low.address == VRAM, "draws ignore the lower bits"


def test_what_registers_say() -> None:
    target = made()
    assert target is not None and str(target) == "96x64 RGBA8 at 0x18000000, D24S8 at 0x18100000"
    assert (target.row(0), target.row(63)) == (63, 0)
    other = made(format=3, depth=0, flip=False)
    assert other is not None and str(other) == "96x64 RGB565 at 0x18000000, D16 at 0x18100000"
    assert (other.row(0), other.row(63)) == (0, 63)
    without = made(depth=1)
    assert without is not None and without.depth_format is None and str(without) == "96x64 RGBA8 at 0x18000000"


def test_the_picture_is_made_of_its_pixels() -> None:
    target = made(width=16, height=8, format=0)
    assert target is not None
    words = np.arange(128, dtype="<u4") << 24 | 0xFF
    machine().memory.write(VRAM, words.tobytes())
    picture = target.array[..., 0]
    rows = [[by_hand(x, y, 16, "") for x in range(16)] for y in range(8)]
    assert picture.tolist() == rows
    assert target.texel(words[5].tobytes()) == [5, 0, 0, 255]


def test_targets_of_a_screens_size_are_shown_upright() -> None:
    """A screen is 240 pixels wide in memory: its columns are rows of memory, the last one first."""
    target, other = made(width=240, height=400), made(width=240, height=392)
    assert target is not None and other is not None
    r = np.random.default_rng(4)
    machine().memory.write(VRAM, r.bytes(240 * 400 * 4))
    machine().memory.write(VRAM + 0x100000, r.bytes(240 * 400 * 4))
    assert target.array.shape == (240, 400, 4) and other.array.shape == (392, 240, 4)
    assert (target.array == target.rows.transpose(1, 0, 2)[::-1]).all() and (other.array == other.rows).all()
    upright, stored = target.depth, other.depth
    assert upright is not None and stored is not None
    assert upright.shape == (240, 400) and (upright.T[:392, ::-1] == stored).all()
    for x, y in ((0, 0), (239, 0), (5, 391), (100, 200)):
        place = VRAM + 0x100000 + 4 * by_hand(x, y, 240, "")
        assert stored["depth"][y, x] == int.from_bytes(machine().memory.read(place, 3), "little")


def test_targets_without_depth() -> None:
    size = 96 * 64 * 4
    last = made(depth_address=END - size)
    assert last is not None and last.depth is not None and last.depth.shape == (64, 96)
    for target in (made(depth=1), made(blocks="tiles"), made(depth_address=END - size + 64)):
        assert target is not None and target.depth is None
