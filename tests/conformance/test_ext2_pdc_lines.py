"""Timing of a line: the registers 0x00 to 0x20 of a display controller and the range 0x60 (GPU/External Registers)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .console import explained
from .scanning import (
    BOTTOM,
    CONTROL,
    CYCLES,
    FETCH,
    HBL,
    HBP,
    HBR,
    HFP,
    HIRQ,
    HPICTURE,
    HSTART,
    HSYNC,
    HTOTAL,
    SELECT,
    SIZE,
    STATUS,
    TOP,
    VIRQ,
    Scan,
    is_blue,
)

SCREENS = pytest.mark.parametrize("screen", [TOP, BOTTOM], ids=["top", "bottom"])
H_ONLY, V_ONLY = 0x10601, 0x10501
"""Control words that let one of the interrupts through."""


@pytest.fixture
def scan() -> Scan:
    return Scan()


@pytest.mark.row("ext2.pdc.0x00")
@SCREENS
@pytest.mark.parametrize("total", [450, 470, 600])
def test_a_line_lasts_one_clock_more_than_htotal(screen: Any, total: int) -> None:
    """HClock = PClock / (HTotal + 1), with a pixel clock of 268111856 / 24 Hz."""
    scan = Scan(screen)
    scan.set(HTOTAL, total)
    mode = scan.n3ds.display_mode(scan.name)
    assert mode.line_rate == 268111856 / 24 / (total + 1)
    scan.go_to(total, 100)
    scan.n3ds.advance(CYCLES - 1)
    assert scan.position in ((total, 100), (0, 101))  # the last clock may have begun before
    scan.n3ds.advance(CYCLES)
    h, v = scan.position
    assert v == 101 and h <= 1
    for lines in range(1, 4):
        scan.n3ds.advance((total + 1) * CYCLES)
        assert scan.position == (h, 101 + lines)


@pytest.mark.row("ext2.pdc.0x04")
@SCREENS
@pytest.mark.parametrize("late", [0, 1, 24])
def test_hstart_is_the_clock_of_the_first_pixel(screen: Any, late: int) -> None:
    """Later than the start of the visible range (0x60), it leaves the border's colour in front of the picture."""
    scan = Scan(screen)
    scan.set(HSTART, 0xD1 + late)
    shown = scan.settled()
    assert np.array_equal(shown[:, late:], scan.rows()[:, : 240 - late])
    assert is_blue(shown[:, :late])


@pytest.mark.row("ext2.pdc.0x08")
def test_hbr_changes_nothing_but_has_to_be_valid(scan: Scan) -> None:
    """The right border lies between the picture's end and the front porch."""
    scan.set(HFP, 0x1C2)
    pictures = []
    for value in (0x1C1, 0x1C2):
        scan.set(HBR, value)
        pictures.append(scan.settled().copy())
        assert "h-order" not in scan.problems
    assert np.array_equal(pictures[0], pictures[1]) and np.array_equal(pictures[0], scan.rows())
    for value in (0x1C0, 0xD0):
        scan.set(HBR, value)
        assert "h-order" in scan.problems


@pytest.mark.row("ext2.pdc.0x0C")
@SCREENS
@pytest.mark.parametrize("early", [0, 1, 40])
def test_no_pixels_are_sent_during_the_front_porch(screen: Any, early: int) -> None:
    """Neither picture nor border, but the one red dot that the page saw and cannot explain."""
    scan = Scan(screen)
    picture = 240 - early - 16
    scan.set(HPICTURE, 0xD1 + picture << 16 | 0xD1)
    scan.set(HBR, 0xD1 + picture)
    scan.set(HFP, 0x1C1 - early)
    shown = scan.settled()
    assert np.array_equal(shown[:, :picture], scan.rows()[:, :picture])
    assert is_blue(shown[:, picture : 240 - early]) and not shown[:, 241 - early :].any()
    assert (shown[:, 240 - early : 241 - early] == [255, 0, 0]).all()
    assert not scan.problems


def hsync_seen(scan: Scan) -> list[int]:
    """At which of some clocks the status word has a line sync (bit 12)."""
    seen = []
    for h in range(4, 440, 8):
        scan.go_to(h, 60)
        if scan.look(STATUS) >> 12 & 1:
            seen.append(h)
    return seen


@pytest.mark.row("ext2.pdc.0x10", "ext2.pdc.0x14")
@pytest.mark.parametrize(("start", "end"), [(0, 207), (100, 160), (20, 40)])
def test_the_line_sync_lasts_from_hsync_to_the_back_porch(scan: Scan, start: int, end: int) -> None:
    """Reading the word takes a clock or two, so edges are not looked at here, but in the model of the mode below."""
    scan.set(HSYNC, start)
    scan.set(HBP, end)
    assert hsync_seen(scan) == [h for h in range(4, 440, 8) if start <= h < end]
    mode = scan.n3ds.display_mode(scan.name)
    names = [mode.at_clock(h) for h in (start, end - 1, end)]
    assert names[:2] == ["sync", "sync"] and names[2] != "sync"


@pytest.mark.row("ext2.pdc.0x10", "ext2.pdc.0x14")
@SCREENS
@pytest.mark.parametrize(("length", "runs"), [(1, True), (0, False), (-1, False)])
def test_the_back_porch_comes_at_least_one_clock_after_hsync(screen: Any, length: int, runs: bool) -> None:
    """Else there is no sync, and the screen does not go on to its next line: it keeps what it showed."""
    scan = Scan(screen)
    before = scan.settled().copy()
    scan.put(scan.address, scan.data[::-1])
    scan.set(HSYNC, 100)
    scan.set(HBP, 100 + length)
    shown = scan.settled()
    assert np.array_equal(shown, before) != runs
    if runs:
        assert np.array_equal(shown, scan.data[::-1][: scan.width, :, ::-1])
    assert ("no-hsync" in scan.problems) == (not runs)


@pytest.mark.row("ext2.pdc.0x14")
def test_no_pixels_are_sent_during_the_back_porch(scan: Scan) -> None:
    """A later one takes clocks from the border: the screen's first pixels are then those of the picture's middle."""
    mode = scan.n3ds.display_mode("top")
    assert [mode.at_clock(h) for h in (206, 207, 208, 209)] == ["sync", "back porch", "back porch", "picture"]
    scan.set(HBL, 0xC0)
    scan.set(HBP, 0xC8)
    shown = scan.settled()
    border = 0xD1 - 0xC8
    assert is_blue(shown[:, :border]) and np.array_equal(shown[:, border:], scan.rows()[:, : 240 - border])


@pytest.mark.row("ext2.pdc.0x18")
@SCREENS
@pytest.mark.parametrize("start", [0xD1, 0xD0, 0xCF, 0xCE, 100, 0])
def test_hbl_starts_the_pixels_but_not_before_the_back_porch(screen: Any, start: int) -> None:
    """Smaller than the back porch's clock 0xCF it counts as that, also when it is smaller than HSync."""
    scan = Scan(screen)
    scan.set(HBL, start)
    shown = scan.settled()
    border = 0xD1 - max(start, 0xCF)
    assert is_blue(shown[:, :border]) and np.array_equal(shown[:, border:], scan.rows()[:, : 240 - border])
    assert scan.n3ds.display_mode(scan.name).back_porch == max(0, start - 0xCF)


@pytest.mark.row("ext2.pdc.0x18")
@SCREENS
def test_hbl_behind_the_picture_sends_no_pixels(screen: Any) -> None:
    scan = Scan(screen)
    scan.set(HBL, 0xD2)
    assert not scan.settled().any()
    assert "no-pixels" in scan.problems and "display.no-pixels" in scan.events


# -- interrupt -------------------------------------------------------------------------------------------------------


@pytest.mark.row("ext2.pdc.0x1C")
@SCREENS
def test_the_line_interrupt_comes_in_every_line_at_its_clock(screen: Any) -> None:
    scan = Scan(screen)
    scan.set(HIRQ, 110 << 16 | 100)
    scan.set(CONTROL, H_ONLY)
    scan.go_to(0, 10)
    scan.raised()
    scan.n3ds.advance(451 * 414 * CYCLES)
    assert scan.raised() == 414
    assert scan.n3ds.run_until(scan.line, limit=451 * CYCLES + 1)
    assert scan.position[0] == 100
    assert scan.look(SELECT) >> 16 & 1  # pending
    scan.set(SELECT, 1 << 16)
    assert not scan.look(SELECT) >> 16 & 1


@pytest.mark.row("ext2.pdc.0x1C")
@SCREENS
@pytest.mark.parametrize(
    ("low", "high", "fires"),
    [(100, 101, True), (0, 449, True), (100, 100, False), (101, 100, False), (100, 450, False), (450, 460, False),
     (449, 453, False), (500, 501, False)],
)  # fmt: skip
def test_limits_of_the_line_interrupt(screen: Any, low: int, high: int, fires: bool) -> None:
    """Low below high, both below HTotal; the words of the system software (449, 453) never fire. The page says that it
    sets low to HTotal; it is the end that lies past HTotal."""
    scan = Scan(screen)
    assert scan.look(HIRQ) == 453 << 16 | 449 and scan.look(HTOTAL) == 450
    scan.set(HIRQ, high << 16 | low)
    scan.set(CONTROL, H_ONLY)
    scan.raised()
    scan.n3ds.advance(10 * 451 * CYCLES)
    assert (scan.raised() > 0) == fires


@pytest.mark.row("ext2.pdc.0x1C", "ext2.pdc.0x40")
@SCREENS
def test_the_interrupt_lines_are_up_from_the_low_to_the_high_half(screen: Any) -> None:
    """As the status word tells: bit 0 for lines, bit 1 for clocks."""
    scan = Scan(screen)
    scan.set(HIRQ, 200 << 16 | 100)
    for h, bits in ((50, 0), (150, 2), (250, 0)):
        scan.go_to(h, 100)
        assert scan.look(STATUS) & 3 == bits
    low, high = scan.look(VIRQ) & 0xFFFF, scan.look(VIRQ) >> 16
    for v in (low - 1, low, high - 1, high):
        scan.go_to(50, v)
        assert scan.look(STATUS) & 3 == int(low <= v < high)


@pytest.mark.row("ext2.pdc.0x1C")
def test_the_line_interrupt_can_be_masked(scan: Scan) -> None:
    scan.set(HIRQ, 110 << 16 | 100)
    scan.set(CONTROL, V_ONLY)
    scan.go_to(0, 10)
    scan.raised()
    scan.n3ds.advance(100 * 451 * CYCLES)
    assert scan.raised() == 0


# -- what nobody knows -----------------------------------------------------------------------------------------------


@pytest.mark.row("ext2.pdc.0x20")
def test_20_is_kept_and_changes_no_picture(scan: Scan, capsys: Any) -> None:
    """Unknown to the page and to everybody: two halves, of which start-up code sets the upper one to 1."""
    assert scan.look(FETCH) == 0x00010000
    before = scan.settled().copy()
    for word in (0, 0x01F4_0064):
        scan.set(FETCH, word)
        assert scan.look(FETCH) == word
        assert np.array_equal(scan.settled(), before)
    told = explained(capsys, "0x1EF00420", "0x00010000")
    assert told["certainty"] == "unknown"
    assert [(field["lo"], field["value"]) for field in told["fields"]] == [(0, 0), (16, 1)]


# -- the visible range -----------------------------------------------------------------------------------------------


@pytest.mark.row("ext2.pdc.0x60")
@SCREENS
@pytest.mark.parametrize(("low", "high"), [(0xD1, 0x1C1), (0xD1, 0x1A1), (0xE1, 0x1C1), (0xE1, 0x1A1)])
def test_the_picture_begins_at_the_low_half_and_ends_at_the_high_half(screen: Any, low: int, high: int) -> None:
    """Before and after it the border is shown."""
    scan = Scan(screen)
    scan.set(HPICTURE, high << 16 | low)
    scan.set(HSTART, low)
    shown = scan.settled()
    first, last = low - 0xD1, high - 0xD1
    assert np.array_equal(shown[:, first:last], scan.rows()[:, : last - first])
    assert is_blue(shown[:, :first]) and is_blue(shown[:, last:])


@pytest.mark.row("ext2.pdc.0x5C", "ext.lcd.0x5C")
@SCREENS
@pytest.mark.parametrize("width", [240, 239, 100, 8])
def test_pixels_past_the_width_show_the_border(screen: Any, width: int) -> None:
    """The low half of the size: as many pixels of a row are fetched."""
    scan = Scan(screen)
    scan.set(SIZE, scan.width << 16 | width)
    shown = scan.settled()
    assert np.array_equal(shown[:, :width], scan.rows()[:, :width]) and is_blue(shown[:, width:])


@pytest.mark.row("ext2.pdc.0x5C")
def test_the_height_in_the_size_is_not_used(scan: Scan) -> None:
    for height in (400, 0, 17, 0xFFF):
        scan.set(SIZE, height << 16 | 240)
        assert np.array_equal(scan.settled(), scan.rows())
