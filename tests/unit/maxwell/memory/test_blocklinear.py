"""Block-linear surfaces: published vectors, the formula as a slow model, and copies with both evaluators."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketgpu.errors import UsageError
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.memory import page_table
from pocketgpu.maxwell.memory.blocklinear import Layout, detile, mip_layout, tile
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.memory.surface_copy import SurfaceSide, copy_rect, from_array, to_array

PAGE = 4096


def gob_offset(x: int, y: int) -> int:
    """The bits of an offset in a GOB: x5 y2 y1 x4 y0 x3 x2 x1 x0."""
    bits = (x >> 5 & 1, y >> 2 & 1, y >> 1 & 1, x >> 4 & 1, y & 1, x >> 3 & 1, x >> 2 & 1, x >> 1 & 1, x & 1)
    return int("".join(map(str, bits)), 2)


def slow_offset(x: int, y: int, z: int, width: int, height: int, high: int, deep: int) -> int:
    """Counts GOBs in the order in which they lie in memory."""
    columns = (width + 63) // 64
    rows = (height + 8 * high - 1) // (8 * high)
    block = 512 * high * deep
    blocks = ((z // deep) * rows + y // (8 * high)) * columns + x // 64
    inside = (z % deep) * high + (y // 8) % high
    return blocks * block + inside * 512 + gob_offset(x % 64, y % 8)


# Vectors


@pytest.mark.parametrize(
    ("x", "y", "offset"),
    [
        (0, 0, 0x000), (15, 0, 0x00F), (16, 0, 0x020), (32, 0, 0x100), (0, 1, 0x010), (15, 1, 0x01F),
        (0, 2, 0x040), (31, 3, 0x07F), (32, 4, 0x180), (48, 5, 0x1B0), (63, 7, 0x1FF),
    ],
)  # fmt: skip
def test_the_order_in_a_gob(x: int, y: int, offset: int) -> None:
    assert Layout(64, 8).offset_of(x, y) == offset


def test_a_screen() -> None:
    layout = Layout(1280 * 4, 720, block_height_log2=4)
    assert layout.size == 0x3C0000
    assert layout.offset_of(64, 0) == 0x2000
    assert layout.offset_of(0, 8) == 0x200
    assert layout.offset_of(0, 128) == 0xA0000
    assert layout.offset_of(1279 * 4, 719) == 0x3BF3FC


def test_a_volume() -> None:
    layout = Layout(64 * 4, 64, 16, block_height_log2=1, block_depth_log2=2)
    assert layout.offset_of(4 * 4, 9, 5) == 0x10630
    assert layout.offset_of(63 * 4, 63, 15) == 0x3FFFC
    assert layout.size == 0x40000


def test_mip_levels_follow_each_other_in_smaller_blocks() -> None:
    found = mip_layout(100, 60, element_bytes=4, levels=7, block_height_log2=4)
    assert [level.offset for level in found.levels] == [0, 0x7000, 0x9000, 0x9800, 0x9A00, 0x9C00, 0x9E00]
    assert [1 << level.layout.block_height_log2 for level in found.levels] == [8, 4, 2, 1, 1, 1, 1]
    assert [(level.width, level.height) for level in found.levels][-3:] == [(6, 3), (3, 1), (1, 1)]
    assert found.size == 0xA000
    assert found.layer_stride == 0xA000  # already a multiple of the block of level 0, 8 GOBs


def test_layers_are_rounded_up_to_blocks_of_the_base_level() -> None:
    found = mip_layout(256, 128, element_bytes=4, levels=3, layers=6, block_height_log2=3)
    sizes = [256 * 4 * 128, 128 * 4 * 64, 64 * 4 * 32]
    assert [level.layout.size for level in found.levels] == sizes
    block = 512 * 8
    assert found.layer_stride == -(-sum(sizes) // block) * block
    assert found.offset_of(2, 5) == 5 * found.layer_stride + sizes[0] + sizes[1]
    assert found.size == 5 * found.layer_stride + sum(sizes)
    odd = mip_layout(64, 16, element_bytes=4, levels=2, layers=2, block_height_log2=1)
    assert odd.levels[1].offset == 4096 and odd.levels[1].layout.size == 1024
    assert odd.layer_stride == 5 * 1024


def test_compressed_levels_count_blocks_of_texels() -> None:
    found = mip_layout(100, 60, element_bytes=8, element=(4, 4), levels=7, block_height_log2=4)
    shapes = [(level.layout.width_bytes, level.layout.height) for level in found.levels]
    assert shapes == [(200, 15), (104, 8), (56, 4), (24, 2), (16, 1), (8, 1), (8, 1)]
    assert [level.layout.block_height_log2 for level in found.levels] == [1, 0, 0, 0, 0, 0, 0]


def test_depth_of_blocks_shrinks_for_the_base_level_by_choice() -> None:
    shape = {"element_bytes": 4, "levels": 3, "block_height_log2": 1, "block_depth_log2": 5}
    both = [mip_layout(64, 64, 8, reduce_base_depth=choice, **shape) for choice in (True, False)]
    assert [[level.layout.block_depth for level in found.levels] for found in both] == [[8, 4, 2], [32, 4, 2]]
    assert [level.depth for level in both[0].levels] == [8, 4, 2]


def test_sparse_tiles_widen_levels_that_hold_one() -> None:
    layout = Layout(5 * 64, 64, block_height_log2=2, tile_width_log2=2)
    assert layout.gobs_per_row == 8 and layout.size == 8 * 64 * 64
    assert Layout(3 * 64, 64, block_height_log2=2, tile_width_log2=2).gobs_per_row == 3
    assert Layout(5 * 64, 31, block_height_log2=2, tile_width_log2=2).gobs_per_row == 5
    assert Layout(5 * 64, 64, 3, block_depth_log2=2, tile_width_log2=2).gobs_per_row == 5


@pytest.mark.parametrize("bad", [(0, 1), (1, 0), (1, 1, 0), (1, 1, 1, 6), (1, 1, 1, 0, -1), (1, 1, 1, 0, 0, 6)])
def test_impossible_layouts_are_refused(bad: tuple[int, ...]) -> None:
    with pytest.raises(UsageError):
        Layout(*bad)


@pytest.mark.parametrize("bad", [{"levels": 0}, {"levels": 17}, {"layers": 0}, {"element_bytes": 0}, {"depth": 0}])
def test_impossible_textures_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        mip_layout(4, 4, **({"element_bytes": 4} | bad))


# Properties

layouts = st.builds(
    Layout,
    width_bytes=st.integers(1, 300),
    height=st.integers(1, 90),
    depth=st.integers(1, 6),
    block_height_log2=st.integers(0, 5),
    block_depth_log2=st.integers(0, 3),
)


@given(layouts, st.data())
def test_offsets_follow_the_slow_model(layout: Layout, data: st.DataObject) -> None:
    high, deep = 1 << layout.block_height_log2, 1 << layout.block_depth_log2
    for _ in range(8):
        x = data.draw(st.integers(0, layout.width_bytes - 1))
        y = data.draw(st.integers(0, layout.height - 1))
        z = data.draw(st.integers(0, layout.depth - 1))
        offset = slow_offset(x, y, z, layout.width_bytes, layout.height, high, deep)
        assert layout.offset_of(x, y, z) == offset < layout.size
        low, end = layout.reach(x, y, z, layout.width_bytes - x, layout.height - y)
        assert low <= offset < end <= layout.size


@settings(max_examples=60, deadline=None)
@given(layouts, st.integers(0, 1 << 30))
def test_whole_surfaces_to_rows_and_back(layout: Layout, seed: int) -> None:
    raw = np.random.default_rng(seed).integers(0, 256, layout.size, dtype=np.uint8)
    rows = detile(raw, layout)
    assert rows.shape == (layout.depth, layout.height, layout.width_bytes)
    rng = random.Random(seed)
    high, deep = 1 << layout.block_height_log2, 1 << layout.block_depth_log2
    for _ in range(50):
        z, y, x = (rng.randrange(side) for side in rows.shape)
        assert rows[z, y, x] == raw[slow_offset(x, y, z, layout.width_bytes, layout.height, high, deep)]
    surface = tile(np.ascontiguousarray(rows), layout)
    assert len(surface) == layout.size and np.array_equal(detile(surface.tobytes(), layout), rows)
    # Every byte of the surface that no row covers is zero.
    assert np.count_nonzero(surface) == np.count_nonzero(rows)


def test_rows_of_another_shape_are_refused() -> None:
    with pytest.raises(UsageError):
        detile(bytes(511), Layout(10, 1))
    with pytest.raises(UsageError):
        tile(np.zeros((1, 2, 10), np.uint8), Layout(10, 1))
    with pytest.raises(UsageError):
        tile(np.zeros((1, 1, 10), np.int8), Layout(10, 1))


# Copies

memories: dict[str, Any] = {}


def machine(evaluator: str) -> tuple[GpuMemory, Engine]:
    """One small memory for each evaluator, emptied: making one costs more than a small copy."""
    if evaluator not in memories:
        memory = GpuMemory(MIB, 2 * MIB)
        memories[evaluator] = memory, Engine(memory.arena, evaluator)
    memory, engine = memories[evaluator]
    memory.reset()
    return memory, engine


def place(rng: random.Random, memory: GpuMemory, va: int, size: int, fill: bytes, shape: str) -> None:
    """Map a range: in one piece ("whole"), in pages that are not contiguous ("pages"), with holes ("holes")."""
    pages = -(-size // PAGE)
    if shape == "whole":
        memory.map(va, pages * PAGE)
    else:
        backing = memory.allocate(pages * PAGE)
        order = list(range(pages))
        rng.shuffle(order)
        for page, source in enumerate(order):
            if shape == "pages" or rng.random() < 0.7:
                memory.map(va + page * PAGE, PAGE, backing, source * PAGE)
    memory.try_write(va, fill)


SOURCE, TARGET = 0x1_0000_0000, 0x2_0000_0000

rectangles = st.tuples(st.integers(0, 200), st.integers(0, 60), st.integers(1, 260), st.integers(1, 50))
shapes = st.sampled_from(["whole", "pages", "holes"])


@st.composite
def sides(draw: st.DrawFn, width: int, lines: int, va: int) -> tuple[SurfaceSide, int]:
    """A side that holds a rectangle, and bytes of its surface (of a pitch surface: before and after it, too)."""
    x, y = draw(st.integers(0, 150)), draw(st.integers(0, 40))
    if draw(st.booleans()):
        pitch = draw(st.integers(0, 400))
        backwards = draw(st.booleans())
        start = 400 * 100 if backwards else draw(st.integers(0, 70))
        return SurfaceSide(va + start, x, y, 0, -pitch if backwards else pitch), 90_000
    z = draw(st.integers(0, 3))
    # Some rectangles reach beyond the surface: then the address formula goes on.
    layout = Layout(
        max(1, x + width - draw(st.sampled_from([0, 0, 0, 70]))),
        max(1, y + lines - draw(st.sampled_from([0, 0, 9]))),
        z + draw(st.integers(1, 2)),
        draw(st.integers(0, 4)),
        draw(st.integers(0, 2)),
    )
    return SurfaceSide(va, x, y, z, 0, layout), layout.reach(x, y, z, width, lines)[1] + layout.size


def slow_place(side: SurfaceSide, x: int, y: int) -> int:
    x, y = x + side.x, y + side.y
    if side.layout is None:
        return side.address + y * side.pitch + x
    a = side.layout
    high, deep = 1 << a.block_height_log2, 1 << a.block_depth_log2
    return side.address + slow_offset(x, y, side.z, a.width_bytes, a.height, high, deep)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_copies_follow_the_slow_model(data: st.DataObject) -> None:
    width, lines = data.draw(st.integers(1, 200)), data.draw(st.integers(1, 30))
    source, source_size = data.draw(sides(width, lines, SOURCE))
    target, target_size = data.draw(sides(width, lines, TARGET))
    kinds = data.draw(shapes), data.draw(shapes)
    seed = data.draw(st.integers(0, 1 << 30))
    results = []
    for evaluator in ("llvm", "numpy"):
        memory, engine = machine(evaluator)
        rng = random.Random(seed)
        before = [rng.randbytes(size) for size in (source_size, target_size)]
        for va, fill, kind in zip((SOURCE, TARGET), before, kinds, strict=True):
            place(rng, memory, va, len(fill), fill, kind)
        if not results:
            expected = bytearray(memory.try_read(TARGET, target_size)[0])
            lost = 0
            for y in range(lines):
                for x in range(width):
                    read, write = slow_place(source, x, y), slow_place(target, x, y)
                    there, mapped = memory.mapping_at(read), memory.mapping_at(write)
                    lost += not (there and mapped)
                    if mapped:
                        expected[write - TARGET] = memory.try_read(read, 1)[0][0]
        stamps = memory.page_versions.copy()
        everything = memory.arena[page_table.PHYSICAL : memory.guest_end].copy()
        missed = copy_rect(memory, engine, source, target, width, lines)
        after = memory.try_read(TARGET, target_size)[0]
        assert after == bytes(expected)
        assert missed == lost
        assert memory.try_read(SOURCE, source_size)[0] == _masked(memory, SOURCE, before[0])
        # Nothing else in the arena has changed, least of all pages that are not mapped.
        for at, (offset, length) in _mapped(memory, TARGET, target_size):
            everything[offset - page_table.PHYSICAL :][:length] = np.frombuffer(expected, np.uint8)[at : at + length]
        assert np.array_equal(memory.arena[page_table.PHYSICAL : memory.guest_end], everything)
        assert not memory.arena[: page_table.ZEROS_SIZE].any()
        # Every page that changed has a new stamp.
        for page in {slow_place(target, x, y) & -PAGE for y in range(lines) for x in (0, width - 1)}:
            offset = memory.offset_of(page, 1)
            assert offset is None or memory.page_versions[offset // PAGE] != stamps[offset // PAGE]
        results.append((after, missed))
    assert results[0] == results[1]


def _mapped(memory: GpuMemory, va: int, size: int) -> list[tuple[int, tuple[int, int]]]:
    """Where the pieces of a range begin that are mapped, with arena offset and length."""
    found, at = [], 0
    for offset, length in memory.spans(va, size):
        if offset is not None:
            found.append((at, (offset, length)))
        at += length
    return found


def _masked(memory: GpuMemory, va: int, data: bytes) -> bytes:
    """`data` with zeros where nothing is mapped."""
    kept = bytearray(data)
    for at, length in memory.unmapped(va, len(data)):
        kept[at - va : at - va + length] = bytes(length)
    return bytes(kept)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_arrays_come_and_go(data: st.DataObject) -> None:
    width, lines = data.draw(st.integers(1, 200)), data.draw(st.integers(1, 40))
    side, size = data.draw(sides(width, lines, TARGET).filter(lambda s: s[0].layout is not None or s[0].pitch >= 200))
    shape = data.draw(shapes)
    evaluator = data.draw(st.sampled_from(["llvm", "numpy"]))
    seed = data.draw(st.integers(0, 1 << 30))
    memory, engine = machine(evaluator)
    rng = random.Random(seed)
    place(rng, memory, TARGET, size, rng.randbytes(size), shape)
    rows = np.frombuffer(rng.randbytes(width * lines), np.uint8).reshape(lines, width)
    expected = bytearray(memory.try_read(TARGET, size)[0])
    places = [[slow_place(side, x, y) for x in range(width)] for y in range(lines)]
    mapped = np.array([[memory.mapping_at(va) is not None for va in line] for line in places])
    lost = int((~mapped).sum())
    for y, x in np.argwhere(mapped).tolist():
        expected[places[y][x] - TARGET] = rows[y, x]
    # Beyond a surface's width the formula comes to bytes of its next rows: what was written last is read.
    kept = np.array([[expected[va - TARGET] for va in line] for line in places], np.uint8) * mapped
    assert from_array(memory, engine, side, rows) == lost
    assert memory.try_read(TARGET, size)[0] == bytes(expected)
    found, missed = to_array(memory, engine, side, width, lines)
    assert np.array_equal(found, kept) and missed == lost


@pytest.mark.parametrize("unaligned", [0, 5])
def test_large_surfaces_go_through_staging_in_pieces(unaligned: int) -> None:
    memory = GpuMemory(MIB, 16 * MIB)
    engine = Engine(memory.arena)
    source = Layout(100_000, 40, block_height_log2=2)
    target = Layout(90_000, 50, block_height_log2=0)
    for va, layout in ((SOURCE, source), (TARGET, target)):
        memory.map(va, layout.size)
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 256, (1, source.height, source.width_bytes), dtype=np.uint8)
    memory.write(SOURCE, tile(rows, source))
    read, write = SurfaceSide(SOURCE, 3, 2, layout=source), SurfaceSide(TARGET, 3 + unaligned, 7, layout=target)
    assert copy_rect(memory, engine, read, write, 80_000, 37) == 0
    found = detile(memory.read(TARGET, target.size), target)[0]
    expected = np.zeros_like(found)
    x = 3 + unaligned
    expected[7:44, x : x + 80_000] = rows[0, 2:39, 3:80_003]
    assert np.array_equal(found, expected)
    assert np.array_equal(to_array(memory, engine, write, 80_000, 37)[0], rows[0, 2:39, 3:80_003])


def test_rows_are_copied_within_a_surface_in_order() -> None:
    for evaluator in ("llvm", "numpy"):
        memory, engine = machine(evaluator)
        memory.map(SOURCE, PAGE)
        memory.write(SOURCE, bytes(range(256)) * 16)
        copy_rect(memory, engine, SurfaceSide(SOURCE), SurfaceSide(SOURCE + 64), 1000)
        # Pieces of 64 bytes: each one reads what the one before it wrote.
        assert memory.read(SOURCE, 1024) == bytes(range(64)) * 16


def test_nothing_is_copied_for_nothing() -> None:
    memory, engine = machine("llvm")
    assert copy_rect(memory, engine, SurfaceSide(0), SurfaceSide(0), 0, 5) == 0
    assert copy_rect(memory, engine, SurfaceSide(0), SurfaceSide(0), 5, 0) == 0
    assert copy_rect(memory, engine, SurfaceSide(0), SurfaceSide(64), 5, 2) == 10
    assert to_array(memory, engine, SurfaceSide(0), 0, 3)[0].shape == (3, 0)


@pytest.mark.parametrize(
    ("side", "width", "lines"),
    [
        (SurfaceSide(0), -1, 1),
        (SurfaceSide(0), 1, -1),
        (SurfaceSide(0), 1 << 31, 1),
        (SurfaceSide(0, x=1 << 31), 1, 1),
        (SurfaceSide(0, y=-(1 << 31)), 1, 1),
        (SurfaceSide(0, x=-1, layout=Layout(64, 8)), 1, 1),
        (SurfaceSide(0, z=-1, layout=Layout(64, 8)), 1, 1),
    ],
)
def test_impossible_copies_are_refused(side: SurfaceSide, width: int, lines: int) -> None:
    memory, engine = machine("llvm")
    with pytest.raises(UsageError):
        copy_rect(memory, engine, side, SurfaceSide(0), width, lines)
    with pytest.raises(UsageError):
        copy_rect(memory, engine, SurfaceSide(0), side, width, lines)
    with pytest.raises(UsageError):
        to_array(memory, engine, side, width, lines)


def test_arrays_of_another_kind_are_refused() -> None:
    memory, engine = machine("llvm")
    for bad in (np.zeros(4, np.uint8), np.zeros((2, 2), np.uint16)):
        with pytest.raises(UsageError):
            from_array(memory, engine, SurfaceSide(0), bad)
