"""The registers that start a command list (GPU/External Registers, "Command List")."""

from __future__ import annotations

import struct

import pytest

from .console import FCRAM, FINALIZE, VRAM, Console, both

SIZE, ADDRESS, START = 0x1EF018E0, 0x1EF018E8, 0x1EF018F0
COLOR = 0x1EF01000 + 4 * 0xC3
DONE = {"P3D": 1}


@pytest.fixture
def console() -> Console:
    return Console()


def put_list(console: Console, at: int, *colors: int, end: bool = True) -> int:
    """A list that writes TEXENV0_COLOR over and over; its size in bytes."""
    words = [word for color in colors for word in (color, 0x000F00C3)] + list(FINALIZE) * end
    console.put(at, struct.pack(f"<{len(words)}I", *words))
    return 4 * len(words)


def start(console: Console, at: int, size: int, word: int = 1) -> dict[str, int]:
    console.write(SIZE, size >> 3)
    console.write(ADDRESS, at >> 3)
    console.write(START, word)
    return console.fired()


@both("p3d.0x1EF018E0")
@pytest.mark.parametrize(("size", "color"), [(8, None), (16, 2), (24, 2), (32, 4), (40, 4), (48, 6)])
def test_the_size_of_a_list_in_units_of_eight_bytes(console: Console, size: int, color: int | None) -> None:
    """Unknown to the page: lists are read in steps of 16 bytes, so the lowest bit of the register does not count."""
    put_list(console, FCRAM, 1, 2, 3, 4, 5, 6, end=False)
    before = console.read(COLOR)
    assert start(console, FCRAM, size) == {}  # nothing says that the list is at its end
    assert console.read(COLOR) == (before if color is None else color)
    assert console.read(SIZE) >> 1 == size >> 4


@both("p3d.0x1EF018E8")
@pytest.mark.parametrize("at", [VRAM, FCRAM, VRAM + 0x12340, FCRAM + 0x7FFFF00])
def test_the_physical_address_of_a_list_in_units_of_eight_bytes(console: Console, at: int) -> None:
    size = put_list(console, at, at & 0xFFFFFF)
    assert start(console, at, size) == DONE
    assert (console.read(COLOR), console.read(ADDRESS)) == (at & 0xFFFFFF, at >> 3)


@both("p3d.0x1EF018E8")
def test_a_list_outside_of_memory_is_not_run(console: Console) -> None:
    assert start(console, 0x10000000, 16) == {}
    assert console.events == {"list.unmapped"}


@both("p3d.0x1EF018F0")
@pytest.mark.parametrize(("word", "runs"), [(0, False), (2, False), (0xFFFFFFFE, False), (1, True), (0xFFFFFFFF, True)])
def test_bit_0_starts_the_list_and_reads_as_0_afterwards(console: Console, word: int, runs: bool) -> None:
    size = put_list(console, FCRAM, 0xABCDEF)
    assert start(console, FCRAM, size, word) == (DONE if runs else {})
    assert (console.read(COLOR) == 0xABCDEF) == runs
    if runs:
        assert console.read(START) & 1 == 0
    # Once more, without writing address and size again.
    put_list(console, FCRAM, 0x123456)
    console.write(START, 1)
    assert (console.fired(), console.read(COLOR), console.read(START)) == (DONE, 0x123456, 0)


@both("p3d.0x1EF018F0")
def test_a_list_runs_to_the_entry_that_ends_it(console: Console) -> None:
    """That entry raises the interrupt, not the end of the buffer; the words after it are not read."""
    words = (1, 0x000F00C3, *FINALIZE, 2, 0x000F00C3, *FINALIZE)
    console.put(FCRAM, struct.pack("<8I", *words))
    assert start(console, FCRAM, 32) == DONE
    assert (console.read(COLOR), console.read(START)) == (1, 0)
