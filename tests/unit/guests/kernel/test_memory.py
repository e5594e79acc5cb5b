"""The address space of a program, against a slow model of pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketgpu.guests.kernel.memory import PAGE, AddressError, AddressSpace, Area, Permission, host_memory

BOTH = Permission.READ | Permission.WRITE
PAGES = 16
RANGES = st.tuples(st.integers(0, PAGES - 1), st.integers(1, 4))


class Follower:
    """Keeps a map of its own."""

    def __init__(self) -> None:
        self.pages: dict[int, Permission] = {}

    def mapped(self, area: Area) -> None:
        self.pages |= dict.fromkeys(range(area.base // PAGE, area.end // PAGE), area.permission)

    def unmapped(self, base: int, size: int) -> None:
        for page in range(base // PAGE, (base + size) // PAGE):
            self.pages.pop(page, None)


STEPS = st.tuples(st.sampled_from(["map", "unmap", "protect"]), RANGES, st.sampled_from([BOTH, Permission.READ]))


@given(st.lists(STEPS))
def test_pages_are_those_of_the_slow_model(steps: list[tuple[str, tuple[int, int], Permission]]) -> None:
    space, follower = AddressSpace(2 * PAGES * PAGE), Follower()
    space.followers.append(follower)
    model: dict[int, Permission] = {}
    for what, (first, count), permission in steps:
        wanted = range(first, first + count)
        if what == "map":
            if any(page in model for page in wanted):
                with pytest.raises(AddressError):
                    space.map(Area(first * PAGE, count * PAGE, permission, "x", host_memory(count * PAGE)))
            else:
                space.map(Area(first * PAGE, count * PAGE, permission, "x", host_memory(count * PAGE)))
                model |= dict.fromkeys(wanted, permission)
        elif what == "unmap":
            space.unmap(first * PAGE, count * PAGE)
            for page in wanted:
                model.pop(page, None)
        elif all(page in model for page in wanted):
            space.protect(first * PAGE, count * PAGE, permission)
            model |= dict.fromkeys(wanted, permission)
        else:
            with pytest.raises(AddressError):
                space.protect(first * PAGE, count * PAGE, permission)
    found = {}
    for area in space:
        found |= dict.fromkeys(range(area.base // PAGE, area.end // PAGE), area.permission)
    assert found == model == follower.pages
    for page in range(2 * PAGES):
        assert (space.find(page * PAGE) is not None) == (page in model)
        if page not in model:
            base, size = space.gap(page * PAGE)
            assert base <= page * PAGE < base + size
            assert not any(base <= one * PAGE < base + size for one in model)


def _space() -> AddressSpace:
    space = AddressSpace(1 << 20)
    space.map(Area(0x1000, PAGE, BOTH, "low", host_memory(PAGE)))
    space.map(Area(0x2000, PAGE, BOTH, "high", host_memory(PAGE)))
    space.map(Area(0x4000, PAGE, Permission.READ, "fixed", host_memory(PAGE)))
    return space


def test_bytes_may_lie_in_several_areas() -> None:
    space = _space()
    space.write(0x1FFE, b"abcd")
    assert space.read(0x1FFE, 4) == b"abcd" and space.text(0x1FFE, 10) == "abcd"
    space.set_words(0x1FFC, 1, 0x1_0000_0002)
    assert space.words(0x1FFC, 2) == (1, 2) and space.word(0x2000) == 2


@pytest.mark.parametrize("address", [0, 0xFFF, 0x2FFE, 0x3000, 0x4FFE, 0x5000, (1 << 20) - 2, 1 << 20])
def test_wrong_addresses_are_errors_and_nothing_is_written(address: int) -> None:
    space = _space()
    with pytest.raises(AddressError):
        space.write(address, b"abcd")
    with pytest.raises(AddressError):
        space.read(address, 4)
    assert not any(space.read(0x1000, 0x2000))


def test_what_is_not_for_writing_is_not_written() -> None:
    space = _space()
    with pytest.raises(AddressError, match="not allowed"):
        space.write(0x4000, b"x")
    space.protect(0x4000, PAGE, BOTH)
    space.write(0x4000, b"x")
    assert space.read(0x4000, 1) == b"x"
    space.protect(0x4000, PAGE, Permission.NONE)
    with pytest.raises(AddressError):
        space.read(0x4000, 1)


def test_a_part_that_stays_keeps_its_bytes_and_its_place_for_the_gpu() -> None:
    space = AddressSpace(1 << 20)
    space.map(Area(0x1000, 3 * PAGE, BOTH, "linear", host_memory(3 * PAGE), physical=0x20000000))
    space.write(0x3000, b"kept")
    space.unmap(0x2000, PAGE)
    area = space.find(0x3000)
    assert area is not None and (area.base, area.size, area.physical) == (0x3000, PAGE, 0x20002000)
    assert space.read(0x3000, 4) == b"kept"
    assert space.free(0x1000, 1 << 20, PAGE) == 0x2000 and space.free(0x1000, 1 << 20, 2 * PAGE) == 0x4000


def test_there_are_not_too_many_areas() -> None:
    """Each one costs the processor more time than the one before; all is as it was after a refusal."""
    space = AddressSpace(1 << 20, most=4)
    for n in range(3):
        space.map(Area(0x10000 * n, 4 * PAGE, Permission.READ, str(n), host_memory(4 * PAGE)))
    with pytest.raises(AddressError, match="too many"):
        space.protect(PAGE, PAGE, Permission.NONE)
    space.unmap(PAGE, 2 * PAGE)
    with pytest.raises(AddressError, match="too many"):
        space.unmap(0x10000 + PAGE, PAGE)
    assert [(one.base, one.size) for one in space] == [
        (0, PAGE), (3 * PAGE, PAGE), (0x10000, 4 * PAGE), (0x20000, 4 * PAGE),
    ]  # fmt: skip
    with pytest.raises(AddressError, match="too many"):
        space.map(Area(0x30000, PAGE, Permission.READ, "one more", host_memory(PAGE)))
    space.unmap(0x20000, 4 * PAGE)
    space.map(Area(0x30000, PAGE, Permission.READ, "one more", host_memory(PAGE)))
    assert len(list(space)) == 4


def test_neighbours_that_are_alike_become_one_before_there_are_too_many() -> None:
    """A page of a heap after the other is protected and set free again; its bytes and what is protected stay."""
    memory = host_memory(64 * PAGE)
    space = AddressSpace(1 << 32, most=9)
    space.join = lambda one, other: memory[one.base : other.end] if one.name == other.name == "heap" else None
    both = Permission.READ | Permission.WRITE
    space.map(Area(0, 64 * PAGE, both, "heap", memory))
    space.map(Area(64 * PAGE, PAGE, both, "other", host_memory(PAGE)))
    space.protect(50 * PAGE, PAGE, Permission.READ)
    for page in range(0, 48, 2):
        space.write(page * PAGE, bytes([page + 1]) * PAGE)
        space.protect(page * PAGE, PAGE, Permission.NONE)
        space.protect(page * PAGE, PAGE, both)
        assert len(list(space)) <= 9
    assert all(space.read(page * PAGE, PAGE) == bytes([page + 1]) * PAGE for page in range(0, 48, 2))
    found = [(one.base // PAGE, one.size // PAGE, one.permission) for one in space]
    assert sum(size for _, size, _ in found) == 65 and (50, 1, Permission.READ) in found
    assert [base for base, _, _ in found] == sorted(base for base, _, _ in found)
    space.join = None
    with pytest.raises(AddressError, match="too many areas"):
        for page in range(0, 48, 2):
            space.protect(page * PAGE, PAGE, Permission.NONE)
