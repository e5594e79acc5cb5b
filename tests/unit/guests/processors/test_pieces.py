"""The map of an engine, in pieces: what the engine gets to know of changes, and when."""

from __future__ import annotations

import ctypes
import random

import pytest

from pocketgpu.guests.kernel.memory import AddressSpace, Area, Permission, host_memory
from pocketgpu.guests.processors.engine import Engine
from pocketgpu.guests.processors.pieces import PIECE, Pieces

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

READ, BOTH, CODE = Permission.READ, Permission.READ | Permission.WRITE, Permission.READ | Permission.EXECUTE
BASE, PAGE = 3 * PIECE, 0x1000


class Told(Engine):
    """An engine that notes what it is told."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int, int]] = []
        self.map_now: dict[int, tuple[int, int, int]] = {}

    def map(self, base: int, view: memoryview, rights: int) -> None:
        assert not [at for at, (size, _, _) in self.map_now.items() if at < base + len(view) and base < at + size]
        self.map_now[base] = len(view), ctypes.addressof(ctypes.c_char.from_buffer(view)), rights
        self.calls.append(("map", base, len(view)))

    def unmap(self, base: int, size: int) -> None:
        assert self.map_now.pop(base)[0] == size
        self.calls.append(("unmap", base, size))


class Follower:
    """Hands the changes of an address space over."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces

    def mapped(self, area: Area) -> None:
        self._pieces.map(area, int(area.permission))

    def unmapped(self, base: int, size: int) -> None:
        self._pieces.unmap(base)


def made() -> tuple[AddressSpace, Pieces, Told]:
    """A space with one area of three pieces and a half, which the engine knows."""
    engine = Told()
    space, pieces = AddressSpace(1 << 39), Pieces(engine)
    space.followers.append(Follower(pieces))
    space.map(Area(BASE, 3 * PIECE + PIECE // 2, BOTH, "heap", host_memory(3 * PIECE + PIECE // 2)))
    assert engine.calls == []
    pieces.bring_up_to_date()
    return space, pieces, engine


def same(space: AddressSpace, engine: Told) -> None:
    """The engine has each byte of the space where it is, with its rights, and nothing else."""
    total = 0
    for area in space:
        host = ctypes.addressof(ctypes.c_char.from_buffer(area.view))
        for at, (size, place, rights) in engine.map_now.items():
            if area.base <= at < area.end:
                assert at + size <= area.end and place == host + at - area.base and rights == int(area.permission)
                total += size
    assert total == sum(area.size for area in space) == sum(size for size, _, _ in engine.map_now.values())


def test_areas_are_cut() -> None:
    space, pieces, engine = made()
    assert [size for _, _, size in engine.calls] == [PIECE, PIECE, PIECE, PIECE // 2]
    same(space, engine)
    assert repr(pieces) == "<Pieces: 4 of 1 areas>"
    engine.calls.clear()
    pieces.bring_up_to_date()
    assert engine.calls == []


def test_a_changed_page_costs_its_piece_alone() -> None:
    space, pieces, engine = made()
    engine.calls.clear()
    page = BASE + PIECE + 5 * PAGE
    space.protect(page, PAGE, READ)
    assert engine.calls == [], "until the processor runs"
    pieces.bring_up_to_date()
    assert engine.calls == [
        ("unmap", BASE + PIECE, PIECE), ("map", BASE + PIECE, 5 * PAGE), ("map", page, PAGE),
        ("map", page + PAGE, PIECE - 6 * PAGE),
    ]  # fmt: skip
    same(space, engine)


def test_what_is_there_again_is_left_alone() -> None:
    space, pieces, engine = made()
    engine.calls.clear()
    space.protect(BASE, PAGE, READ)
    space.protect(BASE, PAGE, BOTH)
    space.unmap(BASE + 2 * PIECE, PIECE)
    pieces.bring_up_to_date()
    assert [call for call in engine.calls if call[1] >= BASE + PIECE] == [("unmap", BASE + 2 * PIECE, PIECE)]
    same(space, engine)


def test_what_comes_and_goes_between_runs_is_not_told() -> None:
    space, pieces, engine = made()
    engine.calls.clear()
    area = space.map(Area(BASE + 8 * PIECE, PAGE, BOTH, "x", host_memory(PAGE)))
    space.unmap(area.base, area.size)
    pieces.bring_up_to_date()
    assert engine.calls == []


def test_code_that_comes_back_is_told() -> None:
    """Its bytes may be others, and the engine has translated them."""
    space, pieces, engine = made()
    area = space.map(Area(BASE + 8 * PIECE, PAGE, CODE, "text", host_memory(PAGE)))
    pieces.bring_up_to_date()
    engine.calls.clear()
    space.unmap(area.base, area.size)
    space.map(area)
    pieces.bring_up_to_date()
    assert engine.calls == [("unmap", area.base, PAGE), ("map", area.base, PAGE)]


def test_many_changes_end_in_the_same_map() -> None:

    r = random.Random(5)
    space, pieces, engine = made()
    for number in range(300):
        at = BASE + PAGE * r.randrange(3 * PIECE // PAGE)
        size = PAGE * r.randrange(1, 200)
        if r.random() < 0.7 and space.find(at) is not None and space.find(at + size - 1) is space.find(at):
            space.protect(at, size, r.choice((READ, BOTH, CODE)))
        elif len(list(space)) < 200:
            space.unmap(at, size)
            space.map(Area(at, size, BOTH, "new", host_memory(size)))
        if number % 7 == 0:
            pieces.bring_up_to_date()
            same(space, engine)
