"""Memory fill, the units PSC0 and PSC1: the four registers of each (GPU/External Registers, "Memory Fill")."""

from __future__ import annotations

import pytest

from .console import FCRAM, PSC0, VRAM, Console, both

UNITS = pytest.mark.parametrize("unit", [0, 1])


@pytest.fixture
def console() -> Console:
    return Console()


@both("fill.0x1EF000X0")
@UNITS
def test_the_first_register_is_the_address_of_the_first_byte_in_units_of_eight(console: Console, unit: int) -> None:
    """The page counts in units of 8 bytes; the lowest bit is not kept (GBATEK), so fills begin at multiples of 16."""
    for start in (VRAM + 0x20, FCRAM + 0x7FF0):
        console.put(start - 16, b"\x5a" * 64)
        assert console.fill(unit, start, start + 32, 0x11223344) == {f"PSC{unit}": 1}
        assert console.read(PSC0 + 0x10 * unit) == start >> 3
        assert console.get(start - 16, 64) == b"\x5a" * 16 + bytes.fromhex("44332211") * 8 + b"\x5a" * 16
    console.fill(unit, VRAM + 0x1008, VRAM + 0x1020, 0xFFFFFFFF)
    assert console.read(PSC0 + 0x10 * unit) == VRAM + 0x1000 >> 3
    assert console.get(VRAM + 0xFF0, 48) == bytes(16) + b"\xff" * 32


@both("fill.0x1EF000X4")
@UNITS
def test_the_second_register_is_the_address_after_the_last_byte(console: Console, unit: int) -> None:
    for size in (16, 32, 4096, 0x12350):
        console.put(VRAM, b"\x5a" * (size + 16))
        console.fill(unit, VRAM, VRAM + size, 0x0B0A, 0x001)
        assert console.read(PSC0 + 0x10 * unit + 4) == VRAM + size >> 3
        assert console.get(VRAM, size + 16) == b"\x0a\x0b" * (size // 2) + b"\x5a" * 16
    # An end at the start or below it: nothing is written, the unit is done all the same.
    for end in (VRAM, VRAM - 16):
        console.put(VRAM - 0, b"\x5a" * 32)
        assert console.fill(unit, VRAM, end, 0, 0x001) == {f"PSC{unit}": 1}
        assert console.get(VRAM, 32) == b"\x5a" * 32


WIDTHS = [(0, "4433"), (1, "443322"), (2, "44332211"), (3, "443322")]


@both("fill.0x1EF000X8")
@UNITS
@pytest.mark.parametrize(("width", "pattern"), WIDTHS)
def test_the_third_register_is_the_value_low_byte_first(console: Console, unit: int, width: int, pattern: str) -> None:
    console.fill(unit, VRAM + 0x10, VRAM + 0x70, 0x11223344, width << 8 | 1)
    assert console.get(VRAM + 0x10, 0x61) == (bytes.fromhex(pattern) * 48)[:0x60] + b"\0"
    assert console.read(PSC0 + 0x10 * unit + 8) == 0x11223344


@both("fill.0x1EF000XC")
@UNITS
def test_control_starts_by_bit_0_and_finishes_by_bit_1(console: Console, unit: int) -> None:
    control = PSC0 + 0x10 * unit + 0xC
    assert console.fill(unit, VRAM, VRAM + 16, 0xFFFFFFFF, 0x200) == {}
    assert (console.get(VRAM, 16), console.read(control)) == (bytes(16), 0x200)
    assert console.fill(unit, VRAM, VRAM + 16, 0xFFFFFFFF, 0x201) == {f"PSC{unit}": 1}
    assert (console.get(VRAM, 16), console.read(control)) == (b"\xff" * 16, 0x202)
    # "Finished" is a pending interrupt (GBATEK): a write can clear it but not set it.
    console.write(control, 0x202)
    assert console.read(control) == 0x202
    console.write(control, 0x200)
    assert console.read(control) == 0x200
    console.write(control, 0x202)
    assert console.read(control) == 0x200
    # A new start takes the flag down until the new fill is done.
    assert console.fill(unit, VRAM, VRAM + 16, 0x22222222, 0x201) == {f"PSC{unit}": 1}
    assert (console.get(VRAM, 16), console.read(control)) == (b"\x22" * 16, 0x202)


@both("fill.0x1EF000XC")
@pytest.mark.parametrize(("width", "step"), [(0, 2), (1, 3), (2, 4), (3, 3)])
def test_control_bits_8_and_9_are_the_width(console: Console, width: int, step: int) -> None:
    """Width codes 1 and 3 are both 24 bits. A fill of 24 bits that does not come out even stops at the end."""
    console.fill(0, FCRAM, FCRAM + 0x100, 0x44332211, width << 8 | 1)
    assert console.get(FCRAM, 0x102) == (b"\x11\x22\x33\x44"[:step] * 128)[:0x100] + b"\0\0"
    assert console.read(PSC0 + 0xC) == width << 8 | 2
