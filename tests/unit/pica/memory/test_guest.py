"""Guest memory: bounds, page versions, snapshots and reset."""

from __future__ import annotations

import ctypes
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from pocketgpu.errors import GuestMemoryError, UsageError
from pocketgpu.pica.memory.guest import GUARD_SIZE, MIB, PAGE_SIZE, GuestMemory

VRAM = 0x18000000
DSP = 0x1FF00000
WRAM = 0x1FF80000
FCRAM = 0x20000000


@pytest.fixture
def memory() -> GuestMemory:
    return GuestMemory(work_size=MIB)


def test_layout_is_page_aligned_and_in_order(memory: GuestMemory) -> None:
    end = memory.guard_offset + GUARD_SIZE
    bases = []
    for region, offset in memory.regions:
        assert offset == end and offset % PAGE_SIZE == 0
        bases.append(region.base)
        end = offset + region.size
    assert bases == [VRAM, DSP, WRAM, FCRAM]
    assert end == memory.guest_end < memory.work_offset
    assert memory.size == len(memory.arena) == memory.work_offset + MIB < 1 << 31
    assert len(memory.page_versions) * PAGE_SIZE == memory.guest_end


def test_the_largest_console_fits_below_two_gib() -> None:
    memory = GuestMemory(fcram_size=256 * MIB)
    memory.write(FCRAM + 256 * MIB - 2, b"ab")
    assert memory.read(FCRAM + 256 * MIB - 2, 2) == b"ab"
    assert memory.size < 1 << 31


@pytest.mark.parametrize("sizes", [(0, MIB), (-PAGE_SIZE, MIB), (MIB + 1, MIB), (MIB, 100), (1 << 30, 1 << 30)])
def test_odd_sizes_are_refused(sizes: tuple[int, int]) -> None:
    with pytest.raises(UsageError):
        GuestMemory(*sizes)


@pytest.mark.parametrize(
    ("pa", "size", "inside"),
    [
        (VRAM, 6 * MIB, True),
        (VRAM, 6 * MIB + 1, False),
        (VRAM - 1, 1, False),
        (VRAM - 1, 2, False),
        (VRAM + 6 * MIB - 1, 1, True),
        (VRAM + 6 * MIB, 1, False),
        (DSP, 512 * 1024, True),
        (WRAM - 1, 2, False),
        (FCRAM, 128 * MIB, True),
        (FCRAM + 128 * MIB - 4, 5, False),
        (FCRAM + 128 * MIB, 0, False),
        (FCRAM, -1, False),
        (-1, 4, False),
        (0x10400000, 4, False),
        (0, 4, False),
        (1 << 40, 4, False),
    ],
)
def test_bounds(memory: GuestMemory, pa: int, size: int, inside: bool) -> None:
    offset = memory.offset_of(pa, size)
    assert (offset is not None) == inside
    if offset is not None:
        assert memory.address_of(offset) == pa
        assert len(memory.view(pa, size)) == len(memory.read(pa, size)) == size
        extent = memory.extent_of(pa)
        assert extent is not None and extent[0] == offset and extent[1] >= size
    else:
        with pytest.raises(GuestMemoryError) as caught:
            memory.read(pa, size)
        assert (caught.value.address, caught.value.size) == (pa, size)
        with pytest.raises(GuestMemoryError):
            memory.view(pa, size)


def test_a_refused_write_changes_nothing(memory: GuestMemory) -> None:
    with pytest.raises(GuestMemoryError):
        memory.write(VRAM + 6 * MIB - 2, b"1234")
    assert memory.read(VRAM + 6 * MIB - 2, 2) == b"\0\0"
    assert memory.version == 0


def test_read_write_view_and_native_address_are_one_memory(memory: GuestMemory) -> None:
    assert memory.write(FCRAM + 5, b"hello")
    view = memory.view(FCRAM, 16)
    assert bytes(view[5:10]) == b"hello"
    view[0] = 0x7F
    assert memory.read(FCRAM, 1) == b"\x7f"
    offset = memory.offset_of(FCRAM + 5, 5)
    assert offset is not None
    assert ctypes.string_at(memory.address + offset, 5) == b"hello"
    assert memory.arena[offset] == ord("h")


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint16)])
def test_any_buffer_can_be_written(memory: GuestMemory, kind: object) -> None:
    data = bytes(range(64))
    assert callable(kind)
    memory.write(VRAM, kind(data))
    assert memory.read(VRAM, 64) == data


def test_writing_a_view_onto_overlapping_memory(memory: GuestMemory) -> None:
    memory.write(FCRAM, bytes(range(200)))
    memory.write(FCRAM + 10, memory.view(FCRAM, 100))
    assert memory.read(FCRAM + 10, 100) == bytes(range(100))


def test_identical_bytes_stamp_nothing(memory: GuestMemory) -> None:
    data = random.Random(1).randbytes(300_000)
    assert memory.differs(FCRAM + 100, data)
    assert memory.write(FCRAM + 100, data)
    assert not memory.differs(FCRAM + 100, data)
    version = memory.version
    stamps = memory.page_versions.copy()
    assert not memory.write(FCRAM + 100, data)
    assert not memory.write(FCRAM + 8 * MIB, bytes(100_000))
    assert memory.version == version
    assert np.array_equal(memory.page_versions, stamps)


def test_only_pages_with_other_bytes_are_stamped(memory: GuestMemory) -> None:
    rng = random.Random(2)
    data = bytearray(rng.randbytes(50 * PAGE_SIZE))
    start = FCRAM + 3 * PAGE_SIZE + 17
    memory.write(start, data)
    before = memory.page_versions.copy()
    base = memory.offset_of(FCRAM, 1)
    assert base is not None
    changed = set()
    for at in (0, 17 * PAGE_SIZE, 17 * PAGE_SIZE + 1, len(data) - 1):
        data[at] ^= 1
        changed.add((base + 3 * PAGE_SIZE + 17 + at) // PAGE_SIZE)
    assert memory.write(start, data)
    assert set(np.flatnonzero(memory.page_versions != before).tolist()) == changed
    assert all(memory.page_versions[page] == memory.version for page in changed)
    assert memory.read(start, len(data)) == data


@pytest.mark.parametrize("shared", [False, True])
def test_random_writes_agree_with_a_plain_array(memory: GuestMemory, shared: bool) -> None:
    rng = random.Random(3)
    size = 40 * PAGE_SIZE
    model = bytearray(size)
    offset = memory.offset_of(VRAM, size)
    assert offset is not None
    for number in range(200):
        if number % 40 == 39:
            memory.reset(keep_pages=number % 80 == 39)
            model[:] = bytes(size)
        if shared and number == 90:
            memory.share(offset, size)
            memory.view(VRAM, size)[::5000] = 1  # somebody else's, without a stamp
            model[::5000] = bytes([1]) * len(model[::5000])
        at = rng.randrange(size)
        length = min(size - at, rng.choice([1, 7, 4096, 5000, 70_000]))
        data = rng.choice([bytes(length), rng.randbytes(length), bytes(model[at : at + length])])
        pages = {at_page: bytes(model[at_page * PAGE_SIZE :][:PAGE_SIZE]) for at_page in range(40)}
        stamps = memory.page_versions.copy()
        model[at : at + length] = data
        memory.write(VRAM + at, data)
        for page, old in pages.items():
            moved = memory.page_versions[offset // PAGE_SIZE + page] != stamps[offset // PAGE_SIZE + page]
            assert moved == (old != bytes(model[page * PAGE_SIZE :][:PAGE_SIZE]))
    assert memory.read(VRAM, size) == bytes(model)


def test_touch_and_newest(memory: GuestMemory) -> None:
    offset = memory.offset_of(VRAM, MIB)
    assert offset is not None
    assert memory.newest(offset, MIB) == 0
    memory.touch(offset + PAGE_SIZE - 1, 2)
    first = memory.version
    assert memory.newest(offset, 1) == memory.newest(offset + 2 * PAGE_SIZE - 1, 1) == first
    assert memory.newest(offset + 2 * PAGE_SIZE, MIB // 2) == 0
    memory.touch(offset + 5 * PAGE_SIZE, 1)
    assert memory.newest(offset, MIB) == memory.version > first
    assert memory.newest(offset, 5 * PAGE_SIZE) == first
    memory.touch(offset, 0)
    assert memory.newest(offset, 0) == 0
    memory.touch(memory.work_offset, 4096)
    assert memory.newest(memory.work_offset, 4096) == 0


def test_versions_rise_over_every_kind_of_change(memory: GuestMemory) -> None:
    offset = memory.offset_of(FCRAM, 4)
    assert offset is not None
    seen = [0]

    def check() -> None:
        seen.append(memory.newest(offset, 4))
        assert seen[-1] > seen[-2]

    blank = memory.snapshot()
    memory.write(FCRAM, b"a")
    check()
    memory.restore(blank)
    check()
    memory.write(FCRAM, b"b")
    check()
    memory.reset()
    check()


def test_snapshots_bring_contents_back(memory: GuestMemory) -> None:
    rng = random.Random(4)
    states = []
    for _ in range(12):
        for _ in range(rng.randrange(4)):
            memory.write(FCRAM + rng.randrange(20 * PAGE_SIZE), rng.randbytes(rng.choice([1, 5000])))
        if rng.random() < 0.5:
            memory.write(FCRAM + 4 * PAGE_SIZE, bytes(2 * PAGE_SIZE))
        memory.arena[memory.regions[0][1]] = rng.randrange(256)
        memory.touch(memory.regions[0][1], 1)
        states.append((memory.snapshot(), memory.read(FCRAM, 24 * PAGE_SIZE), memory.read(VRAM, PAGE_SIZE)))
        if rng.random() < 0.3:
            memory.reset()
    for snapshot, fcram, vram in [*reversed(states), *rng.sample(states, 12)]:
        if rng.random() < 0.3:
            memory.reset()
        if rng.random() < 0.3:
            memory.write(FCRAM, rng.randbytes(3 * PAGE_SIZE))
        memory.restore(snapshot)
        assert memory.read(FCRAM, 24 * PAGE_SIZE) == fcram
        assert memory.read(VRAM, PAGE_SIZE) == vram
        again = memory.snapshot()
        assert again.pages == snapshot.pages


def test_snapshots_share_unchanged_pages(memory: GuestMemory) -> None:
    memory.write(FCRAM, random.Random(5).randbytes(30 * PAGE_SIZE))
    one = memory.snapshot()
    memory.write(FCRAM + 3 * PAGE_SIZE, b"changed")
    memory.touch(memory.regions[3][1], 30 * PAGE_SIZE)
    two = memory.snapshot()
    assert one.size == two.size == 30 * PAGE_SIZE
    different = [page for page in one.pages if one.pages[page] is not two.pages[page]]
    assert len(different) == 1


def test_restore_stamps_only_what_it_changes(memory: GuestMemory) -> None:
    memory.write(FCRAM, b"x" * (4 * PAGE_SIZE))
    snapshot = memory.snapshot()
    memory.write(FCRAM + PAGE_SIZE, b"y")
    memory.touch(memory.regions[3][1], 4 * PAGE_SIZE)
    before = memory.page_versions.copy()
    memory.restore(snapshot)
    assert np.flatnonzero(memory.page_versions != before).tolist() == [memory.regions[3][1] // PAGE_SIZE + 1]


def test_a_snapshot_of_another_memory_is_refused(memory: GuestMemory) -> None:
    with pytest.raises(UsageError):
        memory.restore(GuestMemory(work_size=MIB).snapshot())


def test_reset_zeroes_the_guest_and_leaves_work_alone(memory: GuestMemory) -> None:
    for region, _ in memory.regions:
        memory.write(region.base + region.size - 3, b"abc")
    memory.arena[memory.work_offset] = 9
    memory.reset()
    assert memory.arena[memory.work_offset] == 9
    memory.arena[memory.work_offset] = 0
    assert not memory.arena.any()


def test_snapshots_survive_the_end_of_the_version_numbers(memory: GuestMemory) -> None:
    memory.write(FCRAM, b"old")
    old = memory.snapshot()
    memory.version = 0xFFFFFFFF
    memory.write(VRAM, b"new")
    assert 0 < memory.version < 10
    new = memory.snapshot()
    memory.restore(old)
    assert memory.read(FCRAM, 3) + memory.read(VRAM, 3) == b"old\0\0\0"
    memory.restore(new)
    assert memory.read(FCRAM, 3) + memory.read(VRAM, 3) == b"oldnew"
    memory.reset()
    assert memory.read(FCRAM, 3) + memory.read(VRAM, 3) == bytes(6)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/statm")
def test_memory_costs_nothing_until_touched_and_reset_gives_it_back() -> None:
    start = _resident()
    memory = GuestMemory(fcram_size=256 * MIB)
    assert _resident() - start < 8 * MIB
    memory.view(FCRAM, 64 * MIB)[:] = 1
    assert _resident() - start > 56 * MIB
    memory.reset()
    assert _resident() - start < 12 * MIB
    assert memory.read(FCRAM + MIB, 4) == bytes(4)


def test_large_pages_change_no_contents() -> None:
    """Whatever part of which range: the ends of the arena too."""
    memory, rng = GuestMemory(work_size=8 * MIB), random.Random(4)
    for _ in range(20):
        offset = rng.randrange(memory.size)
        at = memory.offset_of(VRAM, 1) or 0
        memory.arena[at] = rng.randrange(256)
        before = memory.arena[at], memory.arena[offset]
        memory.enlarge(offset, rng.randrange(1, memory.size - offset + 1))
        assert (memory.arena[at], memory.arena[offset]) == before
    assert len(memory.arena) == memory.size
