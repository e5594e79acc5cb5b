"""What nngxInitialize writes for the top screen, register by register (GPU/External Registers, both revisions)."""

from __future__ import annotations

import numpy as np
import pytest

from .console import PDC0, VRAM, Console, both
from .scanning import Scan

INIT = {
    **{0x00: 0x1C2, 0x04: 0xD1, 0x08: 0x1C1, 0x0C: 0x1C1, 0x10: 0, 0x14: 0xCF, 0x18: 0xD1, 0x1C: 0x1C501C1},
    **{0x20: 0x10000, 0x24: 0x19D, 0x28: 2, 0x2C: 0x1C2, 0x30: 0x1C2, 0x34: 0x1C2, 0x38: 1, 0x3C: 2},
    **{0x40: 0x1960192, 0x44: 0, 0x48: 0, 0x5C: 0x19000F0, 0x60: 0x1C100D1, 0x64: 0x1920002, 0x70: 0x80340, 0x9C: 0},
}
"""The first list of the page."""
MORE = {0x68: 0x18300000, 0x6C: 0x18300000, 0x94: 0x18300000, 0x98: 0x18300000, 0x78: 1, 0x74: 0x10501}
"""The second one."""
PAST_THE_FRAME = (0x2C, 0x30, 0x34)
LIKELY = 0x192


@pytest.fixture
def console() -> Console:
    return Console()


def row(family: str, at: int) -> pytest.MarkDecorator:
    return both(f"{family}.0x1EF00{0x400 + at:03X}")


def disturbed(console: Console) -> None:
    """Other values in all registers of the controller that keep any."""
    for at in range(0, 0xA0, 4):
        console.write(PDC0 + at, 0x00660055)


@pytest.mark.parametrize("at", [pytest.param(at, marks=row("init", at), id=f"{at:02X}") for at in INIT])
def test_values_of_the_first_list(console: Console, at: int) -> None:
    """They can be written as one set, and are what a new machine holds, but for three lines of the vertical timing:
    0x1C2 lies past the last line there, drivers and GBATEK have 0x192."""
    fresh = console.read(PDC0 + at)
    assert fresh == (LIKELY if at in PAST_THE_FRAME else INIT[at])
    disturbed(console)
    assert console.read(PDC0 + at) != INIT[at]
    console.n3ds.initialise("nngx")
    assert console.read(PDC0 + at) == INIT[at]


@pytest.mark.parametrize("at", [pytest.param(at, marks=row("init", at), id=f"{at:02X}") for at in PAST_THE_FRAME])
def test_the_value_1c2_of_three_registers_is_never_reached(console: Console, at: int) -> None:
    """A frame has 0x19E lines; the mode is warned of. With 0x192 it is as it should be."""
    console.n3ds.initialise("nngx")
    for place in PAST_THE_FRAME:
        console.write(PDC0 + place, INIT[0x2C] if place == at else LIKELY)
    assert "past-total" in {problem.id for problem in console.n3ds.display_mode("top").problems}
    console.write(PDC0 + at, LIKELY)
    assert not [p for p in console.n3ds.display_mode("top").problems if p.severity == "warning"]


@pytest.mark.parametrize(
    "at", [pytest.param(at, marks=row("init2", at), id=f"{at:02X}") for at in (0x68, 0x6C, 0x94, 0x98)]
)
def test_framebuffer_addresses_until_the_system_software_changes_them(console: Console, at: int) -> None:
    assert console.read(PDC0 + at) == VRAM + 0x300000 == MORE[at]
    disturbed(console)
    console.n3ds.initialise("nngx")
    assert console.read(PDC0 + at) == MORE[at]
    # "Later changed": by the call that swaps buffers, the pair that it names.
    pair = int(at in (0x6C, 0x98))
    left, right = 0x1F000100, 0x1F000200
    assert console.gsp.set_buffer_swap(0, [pair, left, right, 720, 0x341, pair, 0]) == 0
    assert console.read(PDC0 + at) == VRAM + (0x100 if at in (0x68, 0x6C) else 0x200)
    assert console.gsp.set_buffer_swap(0, [1 - pair, 0x1F000300, 0x1F000300, 720, 0x341, 1 - pair, 0]) == 0
    assert console.read(PDC0 + at) == VRAM + (0x100 if at in (0x68, 0x6C) else 0x200)


@row("init2", 0x78)
@pytest.mark.parametrize(("value", "read"), [("zero", 0), ("stored", 1)])
def test_a_1_is_written_to_select(value: str, read: int) -> None:
    """It reads as 0 afterwards, says the page; what later sources have is that the bit stays, which is the default
    (choice display.select_read). Either way the second pair of addresses is shown from then on."""
    console = Console(display__select_read=value)
    console.put(VRAM, b"\x55" * 720 * 400)
    console.n3ds.initialise("nngx")
    assert console.read(PDC0 + 0x78) & 1 == read
    console.show(PDC0, x68=VRAM + 0x300000, x6C=VRAM)
    assert (console.frame() == 0x55).all()


@row("init2", 0x74)
def test_control_starts_the_display(console: Console) -> None:
    """0x10501: on, output on, the frame interrupt alone let through."""
    assert console.read(PDC0 + 0x74) == 0x10501
    console.put(VRAM, b"\x55" * 720 * 400)
    console.write(PDC0 + 0x74, 0)
    console.show(PDC0, x68=VRAM, x6C=VRAM)
    assert not console.frame().any()
    console.n3ds.initialise("nngx")
    assert console.read(PDC0 + 0x74) == 0x10501
    console.show(PDC0, x68=VRAM, x6C=VRAM)
    assert (console.frame() == 0x55).all()


@row("init", 0x9C)
@pytest.mark.parametrize(("h", "v"), [(0, 0), (100, 50)])
def test_the_0_in_49c_is_where_settings_are_taken_over(h: int, v: int) -> None:
    """The page has the value and nothing else. GBATEK: clock and line at which the registers of the framebuffer count;
    0 is the start of a frame. Seen in the bit of the select register that tells which of two is shown."""
    scan = Scan()
    scan.set(0x78, 0)
    scan.settled()
    scan.set(0x9C, v << 16 | h)
    scan.go_to(h + 10, v)
    scan.set(0x78, 1)
    scan.n3ds.advance((414 * 451 - 20) * 24)  # ten clocks before the place, in the next frame
    assert scan.look(0x78) & 0x11 == 0x01
    scan.n3ds.advance(20 * 24)
    assert scan.look(0x78) & 0x11 == 0x11


@both(*(f"init.0x1EF00{0x400 + at:03X}" for at in INIT), "init2.0x1EF00474")
def test_the_lists_make_a_picture_of_400_lines_at_60_hertz() -> None:
    """All values together, with the three doubtful ones as drivers have them, in emulated time."""
    scan = Scan()
    for at in range(0, 0xA0, 4):
        if at not in (0x4C, 0x80, 0x84):
            scan.set(at, 0x00660055)
    for at, value in {**INIT, **dict.fromkeys(PAST_THE_FRAME, LIKELY), **MORE}.items():
        scan.set(at, value)
    scan.show(scan.base, x68=scan.address, x6C=scan.address, x70=INIT[0x70] | 1)
    mode = scan.n3ds.display_mode("top")
    assert (mode.clocks, mode.lines) == (451, 414) and mode.refresh == pytest.approx(59.8312, abs=1e-4)
    assert not scan.problems
    assert np.array_equal(scan.settled(), scan.rows())
    scan.raised()
    scan.n3ds.advance(10 * mode.frame_cycles)
    assert scan.raised() == 10
