"""Kernels make the same pictures of surfaces as arrays do."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pocketgpu.facts.maxwell.formats import SHOWN
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.display.present import Surface, to_picture
from pocketgpu.maxwell.display.scan_out import picture_at, picture_of
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory

AT, SIZE = 0x30_0000_0000, 4 * MIB


class Guest:
    """Memory with random bytes. scattered: neighbouring pages lie in another order, and some are missing."""

    def __init__(self, scattered: bool) -> None:
        self.memory = GpuMemory(MIB, 32 * MIB)
        self.backing = self.memory.allocate(SIZE)
        if scattered:
            for page in range(SIZE >> 12):
                if page % 5 != 3:
                    self.memory.map(AT + (page << 12), 4096, self.backing, (page ^ 1) << 12)
        else:
            self.memory.map(AT, SIZE, self.backing)
        rng = np.random.default_rng(3)
        self.memory.arena[self.backing.offset :][:SIZE] = rng.integers(0, 256, SIZE, dtype=np.uint8)
        self.engine = Engine(self.memory.arena)

    def check(self, surface: Surface) -> None:
        want = to_picture(self.memory.try_read(AT, surface.size)[0], surface)
        found = picture_of(self.memory, self.engine, AT, surface, surface.size)
        assert found.flags.c_contiguous and np.array_equal(found, want)


@pytest.fixture(scope="module")
def whole() -> Guest:
    return Guest(False)


@pytest.fixture(scope="module")
def scattered() -> Guest:
    return Guest(True)


@pytest.mark.parametrize("format", SHOWN)
def test_formats_and_layouts(format: str, whole: Guest, scattered: Guest) -> None:
    for size, block in product(((1, 1), (3, 2), (37, 21), (64, 64), (321, 133)), (None, 0, 2, 4)):
        for guest in (whole, scattered):
            guest.check(Surface(*size, format, block))
            guest.check(Surface(*size, format, block, pitch=1344))


@pytest.mark.parametrize("transform", range(8))
def test_transforms_and_what_is_left_out(transform: int, whole: Guest, scattered: Guest) -> None:
    for format, block in product(("RGBA8", "RGB565"), (None, 1, 4)):
        for left, top in ((0, 0), (5, 0), (0, 3), (31, 17)):
            for guest in (whole, scattered):
                guest.check(Surface(417, 400, format, block, transform=transform, left=left, top=top))


def test_surfaces_larger_than_the_staging_area(whole: Guest) -> None:
    for size, transform in (((16384, 3), 0), ((16384, 17), 4), ((1280, 720), 0), ((3, 9000), 5)):
        whole.check(Surface(*size, block_height=0, transform=transform))
        whole.check(Surface(*size, block_height=None, transform=transform))


def test_all_colours_of_16_bits(whole: Guest) -> None:
    whole.memory.write(AT, np.arange(1 << 16, dtype="<u2").tobytes())
    whole.check(Surface(256, 256, "RGB565", None))


def test_memory_that_is_not_mapped_is_read_by_its_place(whole: Guest) -> None:
    surface, start = Surface(100, 50), whole.backing.offset + 4096
    want = to_picture(whole.memory.arena[start : start + surface.size].tobytes(), surface)
    assert np.array_equal(picture_at(whole.memory, whole.engine, start, surface, surface.size), want)
