"""The address space of a GM20B: backings, mappings, aliases, holes, snapshots; and the page table that kernels see."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocketgpu.errors import GuestMemoryError, UsageError
from pocketgpu.facts.maxwell.page_kinds import KINDS, kind_number
from pocketgpu.lanes import I32, I64, Engine, Lang, Value, kernel
from pocketgpu.maxwell.memory import page_table
from pocketgpu.maxwell.memory.gpu_memory import MAX_MAPPINGS, MIB, GpuMemory

PAGE = 4096
BASE = 0x4_1000_0000
TABLE = 1 << page_table.TABLE_SHIFT


@pytest.fixture
def memory() -> GpuMemory:
    return GpuMemory(work_size=MIB, capacity=64 * MIB)


def test_the_arena_is_in_order_and_below_two_gib() -> None:
    memory = GpuMemory()
    assert page_table.ROOT < page_table.BOOKS < page_table.VERSIONS < page_table.TABLES < page_table.PHYSICAL
    assert memory.guest_end == page_table.PHYSICAL + memory.capacity < memory.work_offset
    assert memory.work_offset + memory.work_size == memory.size == len(memory.arena) < 1 << 31
    assert memory.page_versions.ctypes.data == memory.address + page_table.VERSIONS
    assert not memory.arena[: page_table.ZEROS_SIZE].any()


@pytest.mark.parametrize("sizes", [(0, MIB), (MIB, 0), (-PAGE, MIB), (MIB, 100), (MIB, 2 << 30)])
def test_odd_sizes_are_refused(sizes: tuple[int, int]) -> None:
    with pytest.raises(UsageError):
        GpuMemory(*sizes)


def test_mapped_bytes_can_be_written_and_read(memory: GpuMemory) -> None:
    mapping = memory.map(BASE, 3 * PAGE, kind="generic_16bx2")
    assert (mapping.address, mapping.size, mapping.kind, mapping.end) == (BASE, 3 * PAGE, 0xFE, BASE + 3 * PAGE)
    assert memory.read(BASE, 3 * PAGE) == bytes(3 * PAGE)
    data = random.Random(0).randbytes(2 * PAGE)
    assert memory.write(BASE + 100, data)
    assert memory.read(BASE + 100, len(data)) == data
    assert not memory.write(BASE + 100, data)
    assert memory.mapping_at(BASE) is memory.mapping_at(BASE + 3 * PAGE - 1) is mapping
    assert memory.mapping_at(BASE - 1) is memory.mapping_at(BASE + 3 * PAGE) is None
    offset = memory.offset_of(BASE, 3 * PAGE)
    assert offset is not None and offset % PAGE == 0
    assert memory.addresses_of(offset + 5) == [BASE + 5]
    assert bytes(memory.view(BASE + 100, 8)) == data[:8]


def test_sizes_are_rounded_up_to_pages(memory: GpuMemory) -> None:
    assert memory.map(BASE, 1).size == PAGE
    assert memory.allocate(PAGE + 1).size == 2 * PAGE


def test_what_is_not_mapped_cannot_be_reached(memory: GpuMemory) -> None:
    memory.map(BASE, PAGE)
    memory.map(BASE + 3 * PAGE, PAGE)
    for va, size in [(BASE - 1, 2), (BASE + PAGE - 1, 2), (BASE, 4 * PAGE), (0, 1), (1 << 40, 4), (-4, 4)]:
        with pytest.raises(GuestMemoryError) as caught:
            memory.read(va, size)
        assert caught.value.address == va and caught.value.size == size
        with pytest.raises(GuestMemoryError):
            memory.write(va, bytes(range(1, size + 1)) if size < 200 else b"\1" * size)
        with pytest.raises(GuestMemoryError):
            memory.view(va, size)
    assert not any(memory.read(BASE, PAGE)) and not any(memory.read(BASE + 3 * PAGE, PAGE))
    with pytest.raises(GuestMemoryError, match=f"{BASE + PAGE:#x}..{BASE + 3 * PAGE:#x}"):
        memory.read(BASE, 4 * PAGE)
    assert memory.unmapped(BASE - 8, 5 * PAGE) == [(BASE - 8, 8), (BASE + PAGE, 2 * PAGE), (BASE + 4 * PAGE, PAGE - 8)]


def test_engines_read_zeros_and_lose_writes_in_holes(memory: GpuMemory) -> None:
    memory.map(BASE, PAGE)
    memory.map(BASE + 2 * PAGE, PAGE)
    data = bytes([7]) * (3 * PAGE)
    assert memory.try_write(BASE, data) == PAGE
    assert memory.try_read(BASE, 3 * PAGE) == (bytes([7]) * PAGE + bytes(PAGE) + bytes([7]) * PAGE, PAGE)
    assert memory.try_read(BASE + PAGE, 10) == (bytes(10), 10)
    assert memory.try_write(BASE - 10, b"x" * 12) == 10
    assert memory.try_read(0, 0) == (b"", 0)
    with pytest.raises(GuestMemoryError):
        memory.try_read(BASE, 1 << 39)


def test_aliases_show_the_same_bytes(memory: GpuMemory) -> None:
    backing = memory.allocate(4 * PAGE)
    memory.map(BASE, 4 * PAGE, backing)
    memory.map(BASE + 16 * PAGE, 2 * PAGE, backing, 2 * PAGE, kind=0xDB)
    memory.write(BASE + 2 * PAGE + 3, b"alias")
    assert memory.read(BASE + 16 * PAGE + 3, 5) == b"alias"
    version = memory.newest(backing.offset + 2 * PAGE, PAGE)
    memory.write(BASE + 16 * PAGE, b"!")
    assert memory.newest(backing.offset + 2 * PAGE, PAGE) != version
    assert memory.read(BASE + 2 * PAGE, 1) == b"!"
    assert memory.addresses_of(backing.offset + 2 * PAGE) == [BASE + 2 * PAGE, BASE + 16 * PAGE]


def test_pieces_that_touch_in_the_arena_are_one(memory: GpuMemory) -> None:
    backing = memory.allocate(4 * PAGE)
    other = memory.allocate(PAGE)
    memory.map(BASE, PAGE, backing)
    memory.map(BASE + PAGE, 2 * PAGE, backing, PAGE)
    memory.map(BASE + 3 * PAGE, PAGE, other)
    memory.map(BASE + 4 * PAGE, PAGE, backing)
    assert memory.spans(BASE + 1, 3 * PAGE - 1) == [(backing.offset + 1, 3 * PAGE - 1)]
    assert memory.offset_of(BASE + 1, 3 * PAGE - 1) == backing.offset + 1
    assert memory.spans(BASE + 2 * PAGE, 4 * PAGE) == [
        (backing.offset + 2 * PAGE, PAGE),
        (other.offset, PAGE),
        (backing.offset, PAGE),
        (None, PAGE),
    ]
    assert memory.offset_of(BASE + 2 * PAGE, 2 * PAGE) is None
    data = random.Random(1).randbytes(5 * PAGE)
    assert memory.write(BASE, data)
    # The first page is shown twice, and what was written last counts.
    assert memory.read(BASE, 5 * PAGE) == data[4 * PAGE :] + data[PAGE:]
    with pytest.raises(GuestMemoryError, match="not contiguous"):
        memory.view(BASE + 2 * PAGE, 2 * PAGE)


def test_the_last_mapping_counts_until_it_is_gone(memory: GpuMemory) -> None:
    low = memory.map(BASE, 4 * PAGE)
    memory.write(BASE, b"L" * (4 * PAGE))
    middle = memory.map(BASE + PAGE, 4 * PAGE)
    memory.write(BASE + PAGE, b"M" * (4 * PAGE))
    top = memory.map(BASE + 2 * PAGE, PAGE)
    memory.write(BASE + 2 * PAGE, b"T" * PAGE)

    def seen() -> str:
        return "".join(chr(memory.try_read(BASE + i * PAGE, 1)[0][0] or ord("-")) for i in range(6))

    assert seen() == "LMTMM-"
    memory.unmap(middle)
    assert seen() == "LLTL--"
    memory.unmap(top)
    assert seen() == "LLLL--"
    memory.unmap(low)
    assert seen() == "------"
    with pytest.raises(UsageError):
        memory.unmap(low)


def test_the_newest_of_equal_addresses_is_unmapped_first(memory: GpuMemory) -> None:
    first, second = memory.map(BASE, PAGE), memory.map(BASE, 2 * PAGE)
    memory.unmap(BASE)
    assert memory.mappings == [first]
    memory.unmap(BASE)
    assert memory.mappings == [] and second.size == 2 * PAGE
    with pytest.raises(UsageError, match="nothing is mapped"):
        memory.unmap(BASE)


def test_bad_mappings_are_refused_and_change_nothing(memory: GpuMemory) -> None:
    backing = memory.allocate(PAGE)
    for arguments in [
        (BASE + 1, PAGE, backing),
        (BASE, PAGE, backing, 1),
        (BASE, 2 * PAGE, backing),
        (BASE, PAGE, backing, PAGE),
        (BASE, PAGE, backing, -PAGE),
        (BASE, PAGE, None, PAGE),
        (BASE, 0, backing),
        (BASE, -PAGE, backing),
        (-PAGE, PAGE, backing),
        ((1 << 40) - PAGE, 2 * PAGE),
        (BASE, 65 * MIB),
        (BASE, PAGE, backing, 0, 256),
        (BASE, PAGE, backing, 0, "velvet"),
        (BASE, PAGE, GpuMemory(MIB, MIB).allocate(PAGE)),
    ]:
        with pytest.raises(UsageError):
            memory.map(*arguments)
    assert memory.mappings == [] and memory.backings == [backing]
    assert not memory.arena[page_table.ROOT : page_table.BOOKS].any()
    memory.map((1 << 40) - PAGE, PAGE, backing)
    assert memory.read((1 << 40) - 1, 1) == b"\0"


def test_kinds_have_names() -> None:
    assert kind_number("pitch") == 0 and kind_number("GENERIC_16BX2") == 0xFE and kind_number("kind_0xdb") == 0xDB
    assert all(kind_number(name) == number == kind_number(number) for name, number in KINDS.items())
    for bad in (-1, 256, "", "kind_0x", "kind_0x100"):
        with pytest.raises(ValueError, match="no page kind"):
            kind_number(bad)
        with pytest.raises(UsageError, match="no page kind"):
            GpuMemory().map(0x1000, 4096, kind=bad)


def test_a_kind_can_change(memory: GpuMemory) -> None:
    mapping = memory.map(BASE, 2 * PAGE)
    memory.map(BASE + PAGE, PAGE, kind=0x7B)
    changed = memory.set_kind(mapping, "c32_2cra")
    assert memory.mapping_at(BASE) is changed and changed.kind == 0xDB
    covering = memory.mapping_at(BASE + PAGE)
    assert covering is not None and covering.kind == 0x7B
    assert [word % PAGE for word in words(memory, [BASE, BASE + PAGE])] == [0, 0]  # words of the table have no kind
    memory.unmap(BASE + PAGE)
    assert memory.mapping_at(BASE + PAGE) is changed
    with pytest.raises(UsageError):
        memory.set_kind(mapping, 0)


def test_released_memory_is_used_again_and_zero(memory: GpuMemory) -> None:
    a, b, c = (memory.allocate(size * PAGE) for size in (2, 3, 1))
    memory.map(BASE, 3 * PAGE, b)
    memory.write(BASE, b"old")
    with pytest.raises(UsageError, match="still mapped"):
        memory.release(b)
    memory.unmap(BASE)
    version = memory.newest(b.offset, PAGE)
    memory.release(b)
    assert memory.newest(b.offset, PAGE) != version
    with pytest.raises(UsageError):
        memory.release(b)
    small = memory.allocate(PAGE)
    assert small.offset == b.offset
    rest = memory.allocate(2 * PAGE)
    assert rest.offset == b.offset + PAGE
    assert not memory.arena[b.offset : b.offset + b.size].any()
    for backing in (a, c, small, rest):
        memory.release(backing)
    assert memory.backings == [] and memory.allocate(64 * MIB).offset == a.offset


def test_capacity_and_tables_are_bounded() -> None:
    memory = GpuMemory(MIB, 8 * MIB)
    memory.allocate(8 * MIB - PAGE)
    with pytest.raises(UsageError, match="left"):
        memory.allocate(2 * PAGE)
    page = memory.allocate(PAGE)
    for i in range(page_table.MAX_TABLES):
        memory.map(i * TABLE, PAGE, page)
    with pytest.raises(UsageError, match="page tables"):
        memory.map(page_table.MAX_TABLES * TABLE, PAGE, page)
    memory.unmap(5 * TABLE)
    memory.map(page_table.MAX_TABLES * TABLE, PAGE, page)
    assert translated(memory, [5 * TABLE, page_table.MAX_TABLES * TABLE + 1]) == [None, page.offset + 1]


def test_there_is_an_end_to_mappings(memory: GpuMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pocketgpu.maxwell.memory.gpu_memory.MAX_MAPPINGS", 3)
    for i in range(3):
        memory.map(BASE + i * PAGE, PAGE)
    with pytest.raises(UsageError, match="more than 3"):
        memory.map(0, PAGE)
    assert MAX_MAPPINGS > 3


def test_snapshots_of_little_and_of_much_memory_bring_back_each_other(memory: GpuMemory) -> None:
    """A snapshot keeps versions of the pages in use; more or fewer may be when it is restored."""
    few = memory.allocate(4 * PAGE)
    memory.store(few.offset, b"few")
    little = memory.snapshot()
    many = memory.allocate(64 * PAGE)
    memory.store(many.offset + 60 * PAGE, b"many")
    much = memory.snapshot()
    assert len(little.versions) < len(much.versions) < len(memory.page_versions)
    assert much.bytes_beside(little) == PAGE + much.versions.nbytes
    assert little.bytes_beside(much) == PAGE + little.versions.nbytes
    memory.release(many)
    none = memory.snapshot()
    for _ in range(2):
        for kept, found in ((little, b"\0\0\0\0"), (much, b"many"), (none, b"\0\0\0\0"), (much, b"many")):
            memory.restore(kept)
            assert memory.arena[many.offset + 60 * PAGE :][:4].tobytes() == found
            assert memory.arena[few.offset :][:3].tobytes() == b"few"
            assert memory.snapshot().pages == kept.pages
    memory.reset(keep_pages=True)
    assert not memory.arena[few.offset : many.offset + 64 * PAGE].any()


def test_snapshots_bring_back_bytes_and_mappings(memory: GpuMemory) -> None:
    first = memory.map(BASE, 2 * PAGE)
    memory.map(BASE + 64 * TABLE, PAGE, first.backing, PAGE)
    memory.write(BASE, b"before")
    kept = memory.snapshot()
    assert kept.size == PAGE
    memory.write(BASE, b"after!")
    memory.unmap(first)
    memory.map(BASE + 8 * PAGE, PAGE)
    memory.write(BASE + 8 * PAGE, b"new")
    memory.restore(kept)
    assert memory.read(BASE, 6) == b"before"
    assert memory.unmapped(BASE, 16 * PAGE) == [(BASE + 2 * PAGE, 14 * PAGE)]
    assert memory.backings == [first.backing] and [m.address for m in memory.mappings] == [BASE, BASE + 64 * TABLE]
    assert translated(memory, [BASE, BASE + 8 * PAGE, BASE + 64 * TABLE]) == [
        first.backing.offset, None, first.backing.offset + PAGE,
    ]  # fmt: skip
    again = memory.map(BASE + 8 * PAGE, PAGE)
    assert memory.read(BASE + 8 * PAGE, 3) == b"\0\0\0" and again.number > first.number
    with pytest.raises(UsageError, match="another"):
        GpuMemory(MIB, MIB).restore(kept)


@pytest.mark.parametrize("keep_pages", [False, True])
def test_reset_forgets_everything(memory: GpuMemory, keep_pages: bool) -> None:
    mapping = memory.map(BASE, PAGE)
    memory.write(BASE, b"something")
    kept = memory.snapshot()
    version = memory.newest(mapping.backing.offset, PAGE)
    memory.reset(keep_pages)
    assert memory.mappings == [] and memory.backings == [] and translated(memory, [BASE]) == [None]
    assert not memory.arena[mapping.backing.offset :][:PAGE].any()
    assert memory.newest(mapping.backing.offset, PAGE) != version
    memory.map(BASE + PAGE, PAGE)
    memory.restore(kept)
    assert memory.read(BASE, 9) == b"something" and memory.unmapped(BASE + PAGE, 1)


# What kernels see


@kernel(8, addresses=I64, results=I64, count=I32)
def _translate(k: Lang, addresses: Value, results: Value, count: Value) -> None:
    for i in k.range(0, count, k.lanes):
        at = k.to_i64(i * 16)
        offset, mapped = page_table.translate(k, k.load(I64, addresses + k.to_i64(i * 8), k.lanes))
        k.store(I64, results + at, k.select(mapped, offset, -1))
        for lane in range(k.lanes):
            one = k.load(I64, addresses + k.to_i64(i * 8 + 8 * lane))
            offset, mapped = page_table.translate(k, one)
            k.store(I64, results + at + 64 + 8 * lane, k.select(mapped, offset, -1))
            # What unmapped addresses read, for the rest of their page.
            k.store(I32, results - 64 + 4 * lane, k.load(I32, offset & -4))


def translated(memory: GpuMemory, addresses: list[int], evaluator: str = "numpy") -> list[int | None]:
    """Arena offsets as kernels look them up, with lanes and alone."""
    count = len(addresses)
    padded = np.array(addresses + [0] * (-count % 8), np.int64)
    at, out = memory.work_offset, memory.work_offset + 0x8000
    memory.arena[at : at + 8 * len(padded)].view(np.int64)[:] = padded
    Engine(memory.arena, evaluator).get(_translate)(at, out, len(padded))
    results = memory.arena[out : out + 16 * len(padded)].view(np.int64).reshape(-1, 2, 8)
    assert np.array_equal(results[:, 0], results[:, 1])
    return [None if x < 0 else x for x in results[:, 0].ravel().tolist()[:count]]


def words(memory: GpuMemory, addresses: list[int]) -> list[int]:
    """The words of lower tables for addresses."""
    root = memory.arena[page_table.ROOT : page_table.BOOKS].view(np.uint32)
    found = []
    for va in addresses:
        table = int(root[va >> 26])
        found.append(int(memory.arena[table + ((va >> 12) & 0x3FFF) * 4 :][:4].view(np.uint32)[0]) if table else 0)
    return found


pages = st.integers(0, 40)
steps = st.one_of(
    st.tuples(st.just("map"), pages, st.integers(1, 12), st.integers(0, 20), st.integers(0, 255)),
    st.tuples(st.just("unmap"), st.integers(0, 7)),
    st.tuples(st.just("kind"), st.integers(0, 7), st.integers(0, 255)),
    st.tuples(st.just("close"), st.integers(0, 7), st.integers(-1, 3), st.sampled_from([-1, 0, 1, 64, 4095])),
    st.tuples(st.just("snapshot")),
    st.tuples(st.just("restore")),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, max_size=25), st.integers(0, 3))
def test_python_and_kernels_agree_with_a_slow_model(script: list[tuple], edge: int) -> None:
    """A model that keeps a list of mappings and asks the newest first; addresses lie across a boundary of tables."""
    memory = GpuMemory(MIB, MIB)
    base = edge * TABLE + TABLE - 20 * PAGE
    backing = memory.allocate(32 * PAGE)
    model: list[list[int]] = []
    handles = []
    kept = None
    for step in script:
        if step[0] == "map":
            _, page, count, start, kind = step
            handles.append(memory.map(base + page * PAGE, count * PAGE, backing, start * PAGE, kind))
            model.append([page, count, start, kind, count * PAGE])
        elif step[0] == "unmap" and model:
            i = step[1] % len(model)
            memory.unmap(handles.pop(i))
            model.pop(i)
        elif step[0] == "kind" and model:
            i = step[1] % len(model)
            handles[i] = memory.set_kind(handles[i], step[2])
            model[i][3] = step[2]
        elif step[0] == "close" and model:
            i = step[1] % len(model)
            memory.close_after(handles[i], step[2] * PAGE + step[3])
            model[i][4] = step[2] * PAGE + step[3]
        elif step[0] == "snapshot":
            kept = (memory.snapshot(), [list(m) for m in model], list(handles))
        elif step[0] == "restore" and kept:
            memory.restore(kept[0])
            model, handles = [list(m) for m in kept[1]], list(kept[2])

    expected: list[int | None] = []
    shown: list[int] = []  # what the page table says
    kinds = []
    for page in range(56):
        top = next((m for m in reversed(model) if m[0] <= page < m[0] + m[1]), None)
        expected.append(None if top is None else backing.offset + (top[2] + page - top[0]) * PAGE)
        kinds.append(None if top is None else top[3])
        open_bytes = 0 if top is None else max(0, min(PAGE, top[4] - (page - top[0]) * PAGE))
        shown.append((expected[-1] or 0) + PAGE - open_bytes if open_bytes else 0)
    addresses = [base + page * PAGE for page in range(56)]
    assert words(memory, addresses) == shown
    assert translated(memory, addresses) == [word & -PAGE or None for word in shown]
    found_at = [memory.mapping_at(va) for va in addresses]
    assert [None if one is None else one.kind for one in found_at] == kinds
    assert [memory.offset_of(va, PAGE) for va in addresses] == expected
    found: list[int | None] = []
    for offset, length in memory.spans(base, 56 * PAGE):
        found += [None if offset is None else offset + at for at in range(0, length, PAGE)]
    assert found == expected
    assert len(memory.spans(base, 56 * PAGE)) == 1 + sum(
        (a is None) != (b is None) or (a is not None and b is not None and a + PAGE != b) for a, b in pairwise(expected)
    )


@pytest.mark.parametrize("evaluator", ["numpy", "llvm"])
def test_kernels_translate_addresses(memory: GpuMemory, evaluator: str) -> None:
    a = memory.map(BASE, 3 * PAGE, kind=0xFE)
    b = memory.map(TABLE * 3 - PAGE, 2 * PAGE, kind=0xFF)
    c = memory.map((1 << 40) - PAGE, PAGE)
    memory.write(BASE, b"\x11" * (3 * PAGE))
    addresses = [
        BASE, BASE + 4095, BASE + 4096, BASE + 3 * PAGE - 1, BASE + 3 * PAGE, BASE - 1, 0, TABLE * 3 - PAGE,
        TABLE * 3 + 7, TABLE * 3 + PAGE, (1 << 40) - 1, (1 << 40) + BASE + 9, -1, 1 << 39,
    ]  # fmt: skip
    at = lambda mapping, offset: mapping.backing.offset + offset  # noqa: E731
    assert translated(memory, addresses, evaluator) == [
        at(a, 0), at(a, 4095), at(a, 4096), at(a, 3 * PAGE - 1), None, None, None, at(b, 0),
        at(b, PAGE + 7), None, at(c, 4095), at(a, 9), at(c, 4095), None,
    ]  # fmt: skip
    read = memory.arena[memory.work_offset + 0x8000 - 64 :][:32].view(np.uint32)
    assert read[3] == 0x11111111 and not read[[1, 2, 4, 5, 6, 7]].any()  # the last round: addresses 8 to 13 and 0, 0


@kernel(8, offset=I64, lost=I32)
def _stamp(k: Lang, offset: Value, lost: Value) -> None:
    page_table.stamp(k, offset)
    far = k.iota() * 4096 + k.low32(offset) + 8 * 4096
    page_table.stamp(k, far, (k.iota() & 1) == 1)
    page_table.stamp(k, offset + 20 * 4096, lost > 5)
    page_table.miss(k, lost)


@pytest.mark.parametrize("evaluator", ["numpy", "llvm"])
def test_kernels_stamp_pages_and_count_what_they_missed(memory: GpuMemory, evaluator: str) -> None:
    backing = memory.map(BASE, 32 * PAGE).backing
    kept = memory.snapshot()
    before = memory.version
    version = memory.open_version()
    assert version != before
    run = Engine(memory.arena, evaluator).get(_stamp)
    run(backing.offset + 5, 4)
    assert memory.take_missed() == 4 and memory.take_missed() == 0
    versions = memory.page_versions[backing.offset // PAGE :][:32]
    assert np.flatnonzero(versions == version).tolist() == [0, 9, 11, 13, 15]
    run(backing.offset, 6)
    assert np.flatnonzero(versions == version).tolist() == [0, 9, 11, 13, 15, 20]
    assert memory.take_missed() == 6
    memory.arena[backing.offset + 9 * PAGE] = 1
    memory.restore(kept)
    assert not memory.arena[backing.offset + 9 * PAGE]


def reached(memory: GpuMemory, address: int, pages: int) -> list[int]:
    """How many bytes of each page threads of programs may reach, from the page table."""
    found = words(memory, list(range(address, address + pages * PAGE, PAGE)))
    return [PAGE - word % PAGE if word else 0 for word in found]


@pytest.mark.parametrize("size, open", [
    (0, [0, 0, 0]), (1, [1, 0, 0]), (4095, [4095, 0, 0]), (4096, [4096, 0, 0]), (4097, [4096, 1, 0]),
    (3 * 4096 - 1, [4096, 4096, 4095]), (3 * 4096, [4096] * 3), (1 << 20, [4096] * 3), (-5, [0, 0, 0]),
])  # fmt: skip
def test_a_mapping_ends_for_threads_where_it_is_told_to(memory: GpuMemory, size: int, open: list[int]) -> None:
    address = TABLE - PAGE  # in two tables
    mapping = memory.map(address, 3 * PAGE, kind=0xFE)
    memory.map(address + 3 * PAGE, PAGE)
    changes = memory.map_changes
    assert reached(memory, address, 4) == [4096] * 4
    memory.close_after(mapping, size)
    assert reached(memory, address, 4) == [*open, 4096]
    assert memory.map_changes == changes and memory.read(address, 3 * PAGE) == bytes(3 * PAGE)  # the host reaches all
    kept = memory.snapshot()
    memory.close_after(mapping, 3 * PAGE)
    assert reached(memory, address, 3) == [4096] * 3
    memory.restore(kept)
    assert reached(memory, address, 4) == [*open, 4096]


def test_the_end_of_a_mapping_stays_under_another_one(memory: GpuMemory) -> None:
    mapping = memory.map(BASE, 4 * PAGE)
    memory.close_after(mapping, 2 * PAGE + 12)
    cover = memory.map(BASE + PAGE, 2 * PAGE)
    assert reached(memory, BASE, 4) == [4096, 4096, 4096, 0]
    memory.close_after(mapping, PAGE + 4)
    assert reached(memory, BASE, 4) == [4096, 4096, 4096, 0]
    memory.unmap(cover)
    assert reached(memory, BASE, 4) == [4096, 4, 0, 0]
    mapping = memory.set_kind(mapping, "generic_16bx2")
    assert reached(memory, BASE, 4) == [4096, 4, 0, 0]
    memory.unmap(mapping)
    memory.map(BASE, 4 * PAGE)
    assert reached(memory, BASE, 4) == [4096] * 4
