"""Rows of the map that are about the machine: model, banks of memory, busy units, backlight, and time (GPU/External
Registers)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .console import BUSY, FCRAM, FINALIZE, PPF, PSC0, PSC1, VRAM, Console, both, explained

HARDWARE_ID, BANKS, BACKLIGHT = 0x1EF00000, 0x1EF00030, 0x1EF000C0
BANK = 0x300000
"""Bytes of a bank of video memory."""


def timed(**choices: str) -> Console:
    return Console({"timing": "emulated"}, **choices)


@pytest.mark.row("ext2.map.0x1EF00000")
@pytest.mark.parametrize(
    ("machine", "new"), [({}, False), ({"model": "new"}, True), ({"fcram": 256 << 20}, True), ({"model": "old"}, False)]
)
def test_bit_2_of_the_hardware_id_tells_the_new_model(machine: dict[str, Any], new: bool) -> None:
    """The other bits are 0x00010002 (GBATEK, which found the word constant: choice external.hardware_id)."""
    console = Console(machine)
    assert console.read(HARDWARE_ID) == (0x00010006 if new else 0x00010002)
    console.write(HARDWARE_ID, 0xFFFFFFFF)
    assert console.read(HARDWARE_ID) == (0x00010006 if new else 0x00010002)
    assert Console(machine, external__hardware_id="constant").read(HARDWARE_ID) == 0x00010002


# -- memory banks ----------------------------------------------------------------------------------------------------


@pytest.mark.row("ext.map.0x1EF00030", "ext2.map.0x1EF00030")
@pytest.mark.parametrize("bank", range(4))
def test_bits_8_to_11_disable_a_bank_of_video_memory(bank: int) -> None:
    """Unknown to the first revision. Bits 8 and 9 are the low and high eight bytes of every sixteen of bank A, 10 and
    11 of bank B. What was held there is lost (GBATEK), and reads as zero here (choice vram.power_off)."""
    console = Console()
    console.put(VRAM, b"\xff" * BANK * 2)
    console.write(BANKS, 1 << 8 + bank)
    assert console.read(BANKS) == 1 << 8 + bank and console.events == {"vram.off"}
    expected = np.full((2, BANK // 16, 2, 8), 0xFF, np.uint8)
    expected[bank >> 1, :, bank & 1] = 0
    assert console.get(VRAM, 2 * BANK) == expected.tobytes()
    # While it is off it takes nothing; on again, it does.
    start = VRAM + BANK * (bank >> 1)
    console.fill(0, start, start + 16, 0x77777777)
    half = [b"\x77" * 8, b"\x77" * 8]
    half[bank & 1] = bytes(8)
    assert console.get(start, 16) == b"".join(half)
    console.write(BANKS, 0)
    assert console.get(start, 16) == b"".join(half)
    console.fill(0, start, start + 16, 0x55555555)
    assert console.get(start, 16) == b"\x55" * 16


@pytest.mark.row("ext2.map.0x1EF00030")
def test_banks_can_be_told_to_keep_what_they_hold() -> None:
    console = Console(vram__power_off="keep")
    console.put(VRAM, b"\xff" * 64)
    console.write(BANKS, 0xF00)
    assert console.read(BANKS) == 0xF00 and console.get(VRAM, 64) == b"\xff" * 64


@pytest.mark.row("ext.map.0x1EF00030", "ext2.map.0x1EF00030")
def test_other_bits_of_the_bank_register_are_unused(capsys: Any) -> None:
    console = Console()
    console.put(VRAM, b"\xff" * 64)
    console.write(BANKS, 0xFFFFF0FF)
    assert console.read(BANKS) == 0 and console.get(VRAM, 64) == b"\xff" * 64
    told = explained(capsys, "0x1EF00030", "0xFFFFF1FF")
    assert told["unexplained_bits"] == 0xFFFFF0FF


# -- busy units ------------------------------------------------------------------------------------------------------


def started(console: Console, unit: str) -> None:
    """Give a unit work for a while, so that it is not done when the write returns."""
    if unit in ("psc0", "psc1"):
        console.fill(int(unit[3]), VRAM, VRAM + 0x80000, 0xFFFFFFFF)
    elif unit == "ppf":
        console.copy(FCRAM, FCRAM + 0x1000000, 0x80000)
    else:
        console.run_list((0, 0x000F00C3) * 4000 + FINALIZE * 2, FCRAM + 0x2000000)


BITS = {"psc0": 26, "psc1": 27, "ppf": 30, "p3d": 31}


@pytest.mark.row("ext2.map.0x1EF00034")
@pytest.mark.parametrize("unit", BITS)
def test_034_as_the_second_revision_has_it_is_busy_while_a_unit_works(unit: str) -> None:
    """With choice external.status, in emulated time."""
    console = timed(external__status="busy", external__core_reads="at-once")
    assert console.read(BUSY) == 0
    started(console, unit)
    assert console.read(BUSY) == 1 << BITS[unit]
    console.n3ds.advance(50_000_000)
    assert console.read(BUSY) == 0


@pytest.mark.row("ext.map.0x1EF00034")
@pytest.mark.parametrize(("unit", "bit"), [("psc0", 27), ("psc1", 26), ("p3d", 31)])
def test_034_as_the_first_revision_has_it_exchanges_the_fill_units(unit: str, bit: int) -> None:
    console = timed(external__status="busy-exchanged", external__core_reads="at-once")
    started(console, unit)
    assert console.read(BUSY) == 1 << bit
    console.n3ds.advance(50_000_000)
    assert console.read(BUSY) == 0


# -- units in time ---------------------------------------------------------------------------------------------------


@both("fill.0x1EF000XC")
@pytest.mark.parametrize(("unit", "base"), [(0, PSC0), (1, PSC1)])
def test_bit_0_of_a_fill_stays_set_until_it_is_done(unit: int, base: int) -> None:
    console = timed()
    assert console.fill(unit, VRAM, VRAM + 0x80000, 0x11111111) == {}
    assert console.read(base + 0xC) & 3 == 1
    assert console.n3ds.run_until(f"PSC{unit}")
    assert console.read(base + 0xC) & 3 == 2
    assert console.get(VRAM, 0x80000) == b"\x11" * 0x80000


@both("fill.0x1EF000XC")
@pytest.mark.parametrize(("unit", "base"), [(0, PSC0), (1, PSC1)])
def test_a_new_start_aborts_a_fill_on_the_same_unit(unit: int, base: int) -> None:
    """Only one interrupt comes, and what the first fill had not come to is not written; the other unit goes on."""
    console = timed()
    other = 1 - unit
    console.fill(unit, VRAM, VRAM + 0x200000, 0x11111111)
    console.fill(other, FCRAM, FCRAM + 0x200000, 0x33333333)
    console.n3ds.advance(2000)
    console.fill(unit, VRAM + 0x300000, VRAM + 0x300040, 0x22222222)
    console.n3ds.advance(50_000_000)
    assert console.fired() == {"PSC0": 1, "PSC1": 1}
    assert console.get(VRAM + 0x300000, 0x40) == b"\x22" * 0x40
    first = console.get(VRAM, 0x200000)
    done = first.rstrip(b"\0")
    assert 0x100 < len(done) < 0x10000 and set(done) == {0x11}
    assert console.get(FCRAM, 0x200000) == b"\x33" * 0x200000


@both("transfer.0x1EF00C18")
def test_bit_0_of_a_transfer_stays_set_until_it_is_done() -> None:
    console = timed()
    console.put(FCRAM, b"\x77" * 0x10000)
    assert console.copy(FCRAM, VRAM, 0x10000) == {}
    assert console.read(PPF + 0x18) & 0x101 == 1
    assert console.n3ds.run_until("PPF")
    assert console.read(PPF + 0x18) & 0x101 == 0x100
    assert console.get(VRAM, 0x10000) == b"\x77" * 0x10000


@both("p3d.0x1EF018F0")
def test_bit_0_of_the_list_start_stays_set_until_it_is_done() -> None:
    console = timed(external__core_reads="at-once")
    started(console, "p3d")
    assert console.read(0x1EF018F0) & 1 == 1
    assert console.n3ds.run_until("P3D")
    assert console.read(0x1EF018F0) & 1 == 0


# -- backlight -------------------------------------------------------------------------------------------------------


@both("map.0x1EF000C0")
def test_0_lets_the_backlights_turn_off_and_bit_29_keeps_them_on(capsys: Any) -> None:
    """It changes no picture; the machine tells."""
    console = Console()
    assert console.read(BACKLIGHT) == 0x20000000
    for word, may in ((0, True), (0x20000000, False)):
        console.write(BACKLIGHT, word)
        assert console.read(BACKLIGHT) == word
        assert {light.may_turn_off for light in console.n3ds.backlights.values()} == {may}
    assert set(console.n3ds.backlights) == {"top", "bottom"}
    assert "0x20000000" in explained(capsys, "0x1EF000C0")["doc"]
