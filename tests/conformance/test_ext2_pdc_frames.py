"""Timing of a frame: the registers 0x24 to 0x54 and 0x64 of a display controller (GPU/External Registers)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .scanning import (
    BORDER,
    BOTTOM,
    CONTROL,
    CYCLES,
    HCOUNT,
    HPICTURE,
    POLARITY,
    SELECT,
    TOP,
    VBLANK,
    VBP,
    VCLOCK,
    VCOUNT,
    VIRQ,
    VPICTURE,
    VSTART,
    VSYNC,
    VTOTAL,
    Scan,
    is_blue,
)

SCREENS = pytest.mark.parametrize("screen", [TOP, BOTTOM], ids=["top", "bottom"])
LINE = 451 * CYCLES
FIRST = {"top": 2, "bottom": 82}
"""The picture's first line."""


@pytest.fixture
def scan() -> Scan:
    return Scan()


@pytest.mark.row("ext2.pdc.0x24")
@SCREENS
@pytest.mark.parametrize(("total", "hertz"), [(413, 59.8312249), (494, 50.040660858), (450, 54.9226766)])
def test_a_frame_lasts_one_line_more_than_vtotal(screen: Any, total: int, hertz: float) -> None:
    """VClock = PClock / (HTotal + 1) / (VTotal + 1); the page's example is 494 for 50.04 Hz."""
    scan = Scan(screen)
    scan.set(VTOTAL, total)
    assert scan.n3ds.display_mode(scan.name).refresh == pytest.approx(268111856 / 24 / 451 / (total + 1), rel=1e-12)
    assert scan.n3ds.display_mode(scan.name).refresh == pytest.approx(hertz, abs=5e-5)
    scan.go_to(5, total)
    scan.n3ds.advance(LINE)
    assert scan.position == (5, 0)
    assert scan.n3ds.run_until(scan.line)
    since = scan.n3ds.time
    assert scan.n3ds.run_until(scan.line)
    assert scan.n3ds.time - since == (total + 1) * LINE
    assert np.array_equal(scan.settled(), scan.rows())


@pytest.mark.row("ext2.pdc.0x28")
@SCREENS
@pytest.mark.parametrize("cut", [1, 2])
def test_a_low_vstart_cuts_off_the_first_lines(screen: Any, cut: int) -> None:
    """The page counts from VTotal - VDisp, which its own start-up values do not fit: they would cut off nine lines. So
    the line is counted from the start of the picture's range (0x64); the choice display.vstart has the other."""
    scan = Scan(screen)
    scan.set(VSTART, FIRST[scan.name] - cut)
    assert np.array_equal(scan.settled(), scan.rows(cut))
    assert "v-start" in scan.problems


@pytest.mark.row("ext2.pdc.0x28")
@pytest.mark.parametrize("start", [4, 11, 20])
def test_vstart_as_the_page_has_it(start: int) -> None:
    scan = Scan(display__vstart="wiki")
    scan.set(VSTART, start)
    shown, away = scan.settled(), start - (413 - 402)
    if away <= 0:
        assert np.array_equal(shown, scan.rows(-away))
    else:
        assert is_blue(shown[:away]) and np.array_equal(shown[away:], scan.rows(0, 400 - away))


@pytest.mark.row("ext2.pdc.0x28")
@SCREENS
@pytest.mark.parametrize("late", [1, 30])
def test_a_high_vstart_pushes_the_picture_down_behind_border(screen: Any, late: int) -> None:
    scan = Scan(screen)
    scan.set(VSTART, FIRST[scan.name] + late)
    shown = scan.settled()
    assert is_blue(shown[:late]) and np.array_equal(shown[late:], scan.rows(0, scan.width - late))


@pytest.mark.row("ext2.pdc.0x28")
@pytest.mark.parametrize("start", [451, 460])
def test_a_vstart_above_htotal_skips_lines_of_memory(scan: Scan, start: int) -> None:
    scan.set(VSTART, start)
    assert np.array_equal(scan.settled(), scan.rows(start - 450))
    assert "v-start" in scan.problems


@pytest.mark.row("ext2.pdc.0x30")
@SCREENS
@pytest.mark.parametrize("early", [1, 100, 101])
def test_an_early_blanking_repeats_the_last_two_lines(screen: Any, early: int) -> None:
    scan = Scan(screen)
    scan.set(VBLANK, 402 - early)
    shown = scan.settled()
    whole = scan.width - early
    assert np.array_equal(shown[:whole], scan.rows(0, whole))
    last = scan.rows(whole - 2, 2)
    assert np.array_equal(shown[whole:], np.resize(last, (early, 240, 3)))


@pytest.mark.row("ext2.pdc.0x30")
def test_the_blanking_must_not_begin_before_the_picture(scan: Scan) -> None:
    for line, wrong in ((402, False), (3, False), (2, True), (0, True)):
        scan.set(VBLANK, line)
        assert (
            any(
                problem.id == "v-blank" and "has to be above" in problem.text
                for problem in scan.n3ds.display_mode("top").problems
            )
            == wrong
        )


@pytest.mark.row("ext2.pdc.0x34")
@pytest.mark.parametrize("lines", [399, 300, 100])
def test_lines_past_vdisp_are_not_renewed(scan: Scan, lines: int) -> None:
    """On the top screen: the frame sync comes before they are sent. They keep what they showed (the real ones fade)."""
    scan.settled()
    old = scan.rows().copy()
    scan.data = scan.data[::-1].copy()
    scan.put(scan.address, scan.data)
    scan.set(VSYNC, 2 + lines)
    shown = scan.settled()
    assert np.array_equal(shown[:lines], scan.rows(0, lines)) and np.array_equal(shown[lines:], old[lines:])
    assert "v-sync" in scan.problems


@pytest.mark.row("ext2.pdc.0x34")
def test_vdisp_must_be_above_the_start_of_the_picture(scan: Scan) -> None:
    for line in (0, 2, 3):
        scan.set(VSYNC, line)
        (told,) = (p.text for p in scan.n3ds.display_mode("top").problems if p.id == "v-sync")
        assert ("has to be above" in told) == (line <= 2)
    bottom = Scan(BOTTOM)
    assert bottom.look(VSYNC) == 0x4F and np.array_equal(bottom.settled(), bottom.rows())  # its sync comes first


@pytest.mark.row("ext2.pdc.0x38")
@SCREENS
@pytest.mark.parametrize("up", [0, 1, 50])
def test_a_late_end_of_the_sync_moves_the_screen_up(screen: Any, up: int) -> None:
    """Lines that are sent before the frame's back porch are lost, so the screen begins with a later one."""
    scan = Scan(screen)
    scan.set(VBP, FIRST[scan.name] + up)
    shown = scan.settled()
    assert np.array_equal(shown[: scan.width - up], scan.rows(up, scan.width - up))


@pytest.mark.row("ext2.pdc.0x38")
def test_less_than_a_line_loses_the_sync(scan: Scan) -> None:
    scan.set(VBP, 400)
    assert "v-back-porch" in scan.problems
    assert not any("sync" in p.text for p in scan.n3ds.display_mode("top").problems if p.id == "v-back-porch")
    scan.set(VBP, 401)
    assert any("loses sync" in p.text for p in scan.n3ds.display_mode("top").problems)


# -- interrupt -------------------------------------------------------------------------------------------------------


@pytest.mark.row("ext2.pdc.0x40")
@SCREENS
@pytest.mark.parametrize("line", [402, 300, 10, 0])
def test_the_frame_interrupt_comes_at_its_line_and_clock_0(screen: Any, line: int) -> None:
    scan = Scan(screen)
    scan.set(VIRQ, line + 4 << 16 | line)
    scan.go_to(0, 200)
    scan.raised()
    scan.n3ds.advance(3 * 414 * LINE)
    assert scan.raised() == 3
    scan.set(SELECT, 1 << 17)
    assert not scan.look(SELECT) >> 17 & 1
    assert scan.n3ds.run_until(scan.line)
    assert scan.position == (0, line)
    assert scan.look(SELECT) >> 17 & 1  # pending


@pytest.mark.row("ext2.pdc.0x40")
@pytest.mark.parametrize(
    ("low", "high", "fires"),
    [(402, 406, True), (10, 11, True), (10, 10, False), (11, 10, False), (402, 413, False), (413, 414, False)],
)
def test_limits_of_the_frame_interrupt(scan: Scan, low: int, high: int, fires: bool) -> None:
    """As for the line interrupt, with VTotal: low below high, both below it."""
    scan.set(VIRQ, high << 16 | low)
    scan.raised()
    scan.n3ds.advance(2 * 414 * LINE)
    assert scan.raised() == (2 if fires else 0)


@pytest.mark.row("ext2.pdc.0x44")
@pytest.mark.parametrize("clock", [0, 1, 100, 449])
def test_44_is_the_clock_at_which_lines_are_counted(scan: Scan, clock: int) -> None:
    """Likened to HSync (0x10) by the page, without a name. GBATEK: the place in a line at which VCount steps."""
    scan.set(VCLOCK, clock)
    scan.n3ds.advance(50 * LINE + 10 * CYCLES)
    steps, last = [], scan.position[1]
    for _ in range(451):
        scan.n3ds.advance(CYCLES)
        h, v = scan.position
        if v != last:
            steps.append(h)
            last = v
    assert steps == [clock]


# -- sync bits -------------------------------------------------------------------------------------------------------


@pytest.mark.row("ext2.pdc.0x48")
def test_48_holds_the_polarity_of_the_syncs(scan: Scan) -> None:
    """GBATEK and a driver library against the page: whatever its bits are, syncs and picture go on."""
    for word, kept in ((0xFFFFFFFF, 0x111), (0x11, 0x11), (0, 0)):
        scan.set(POLARITY, word)
        assert scan.look(POLARITY) == kept
        assert np.array_equal(scan.settled(), scan.rows())


@pytest.mark.row("ext2.pdc.0x48")
@pytest.mark.parametrize(("word", "lost"), [(0x001, "no-hsync"), (0x100, "no-vsync"), (0xFFFFFEFE, None)])
def test_48_as_the_page_has_it_stops_the_syncs(word: int, lost: str | None) -> None:
    """With choice display.sync_bits: bit 0 the line sync, bit 8 the frame sync; no other bit can be written."""
    scan = Scan(display__sync_bits="disable")
    before = scan.settled().copy()
    scan.set(POLARITY, word)
    assert scan.look(POLARITY) == word & 0x101
    mode = scan.n3ds.display_mode("top")
    assert (mode.hsync_runs, mode.vsync_runs) == (lost != "no-hsync", lost != "no-vsync")
    assert {"no-hsync", "no-vsync"} & scan.problems == ({lost} if lost else set())
    scan.put(scan.address, scan.data[::-1])
    shown = scan.settled()
    if lost == "no-hsync":  # the screen never comes to its next line
        assert np.array_equal(shown, before)
    elif lost is None:
        assert np.array_equal(shown, scan.data[::-1][:400, :, ::-1])


# -- border ----------------------------------------------------------------------------------------------------------


@pytest.mark.row("ext2.pdc.0x4C")
@SCREENS
@pytest.mark.parametrize("color", [0x000000FF, 0x0000FF00, 0xAB332211])
def test_what_the_framebuffer_does_not_cover_has_the_border_color(screen: Any, color: int) -> None:
    """24 bits, red in the low byte; the top 8 bits count for nothing."""
    scan = Scan(screen)
    scan.set(BORDER, color)
    scan.set(HPICTURE, 0x1A1 << 16 | 0xD1)
    scan.set(VPICTURE, 352 << 16 | FIRST[scan.name])
    shown = scan.settled()
    rgb = [color & 0xFF, color >> 8 & 0xFF, color >> 16 & 0xFF]
    height = 352 - FIRST[scan.name]
    assert (shown[:, 208:] == rgb).all() and (shown[height:] == rgb).all()
    assert np.array_equal(shown[:height, :208], scan.rows(0, height)[:, :208])


# -- counters --------------------------------------------------------------------------------------------------------


@pytest.mark.row("ext2.pdc.0x50", "ext2.pdc.0x54")
@SCREENS
def test_counters_follow_the_beam_and_cannot_be_written(screen: Any) -> None:
    """They count from the first clock of a line and the first line of a frame, not from the picture's."""
    scan = Scan(screen)
    for h, v in ((0, 0), (209, 2), (440, 413), (100, 200)):
        scan.go_to(h, v)
        assert abs(scan.look(HCOUNT) - h) <= 2  # reading takes time as well
        scan.go_to(h, v)
        assert scan.look(VCOUNT) == v
    scan.set(HCOUNT, 0)
    scan.set(VCOUNT, 0)
    assert scan.look(HCOUNT) > 90 and scan.look(VCOUNT) == 200
    counts = []
    for _ in range(1000):
        counts.append(scan.look(HCOUNT))
    assert max(counts) <= 450 and counts != sorted(counts)


@pytest.mark.row("ext2.pdc.0x54")
def test_a_program_can_wait_for_a_line(scan: Scan) -> None:
    """Time goes on with every read, so a loop that polls the counter ends."""
    for _ in range(200_000):
        if scan.look(VCOUNT) == 123:
            break
    assert scan.position[1] == 123


# -- the range of lines ----------------------------------------------------------------------------------------------


@pytest.mark.row("ext2.pdc.0x64")
@SCREENS
@pytest.mark.parametrize("height", [320, 200, 1])
def test_the_high_half_of_64_is_the_line_after_the_picture(screen: Any, height: int) -> None:
    scan = Scan(screen)
    first = FIRST[scan.name]
    scan.set(VPICTURE, first + height << 16 | first)
    shown = scan.settled()
    assert np.array_equal(shown[:height], scan.rows(0, height)) and is_blue(shown[height:])


@pytest.mark.row("ext2.pdc.0x64")
@SCREENS
@pytest.mark.parametrize("late", [1, 40])
def test_the_low_half_of_64_is_the_first_line_of_the_picture(screen: Any, late: int) -> None:
    """Unknown to the page. It corresponds to the start of 0x60: before it the border is shown."""
    scan = Scan(screen)
    first = FIRST[scan.name] + late
    scan.set(VPICTURE, 402 << 16 | first)
    scan.set(VSTART, first)
    shown = scan.settled()
    assert is_blue(shown[:late]) and np.array_equal(shown[late:], scan.rows(0, scan.width - late))


# -- control ---------------------------------------------------------------------------------------------------------


@pytest.mark.row("ext2.pdc.0x74")
@SCREENS
def test_bit_0_of_control_enables_the_controller(screen: Any) -> None:
    scan = Scan(screen)
    assert scan.look(CONTROL) == 0x10501
    assert np.array_equal(scan.settled(), scan.rows())
    scan.set(CONTROL, 0x10500)
    scan.raised()
    scan.n3ds.advance(2 * 414 * LINE)
    assert scan.raised() == 0 and (scan.look(HCOUNT), scan.look(VCOUNT)) == (0, 0)
    assert not scan.sent().any()
    scan.set(CONTROL, 0x10501)
    assert np.array_equal(scan.settled(), scan.rows()) and scan.raised() > 0


@pytest.mark.row("ext2.pdc.0x74")
@SCREENS
@pytest.mark.parametrize(
    ("control", "expected"), [(0x10501, 1), (0x10701, 0), (0x10601, 414), (0x10401, 415), (0x10400, 0)]
)
def test_bits_8_and_9_of_control_mask_the_interrupts(screen: Any, control: int, expected: int) -> None:
    """A 1 masks: bit 8 the line interrupt, bit 9 the frame interrupt. Both come on the controller's one line."""
    scan = Scan(screen)
    scan.set(0x1C, 110 << 16 | 100)
    scan.set(CONTROL, control)
    if control & 1:
        scan.go_to(0, 100)
    scan.raised()
    scan.n3ds.advance(414 * LINE)
    assert scan.raised() == expected


@pytest.mark.row("ext2.pdc.0x74", "ext2.pdc.0x78")
@pytest.mark.parametrize(("control", "raised"), [(0x10701, 0), (0x10301, 1)])
def test_bit_10_of_control_masks_the_error_interrupt(scan: Scan, control: int, raised: int) -> None:
    """An error is a line that cannot be read. It stays until the FIFO is reset (bit 8 of select)."""
    scan.set(CONTROL, control)
    scan.set(0x68, 0x10000000)
    scan.set(0x6C, 0x10000000)
    scan.settled()
    assert scan.raised() == raised
    assert (scan.look(0x7C) >> 15 & 1, scan.look(SELECT) >> 18 & 1) == (1, raised)
    scan.settled()
    assert scan.raised() == 0  # told once
    scan.set(0x68, scan.address)
    scan.set(0x6C, scan.address)
    scan.settled()
    scan.set(SELECT, 1 << 18 | 1 << 8)
    assert (scan.look(0x7C) >> 15 & 1, scan.look(SELECT) >> 18 & 1) == (0, 0)


@pytest.mark.row("ext2.pdc.0x74")
def test_bit_16_of_control_is_the_output(scan: Scan) -> None:
    scan.set(CONTROL, 0x00501)
    assert not scan.settled().any() and scan.raised() > 0  # black, but it counts and interrupts
    scan.set(CONTROL, 0x10501)
    assert np.array_equal(scan.settled(), scan.rows())


# -- select ----------------------------------------------------------------------------------------------------------


@pytest.mark.row("ext2.pdc.0x78", "ext.lcd.0x78")
@SCREENS
@pytest.mark.parametrize(("latch", "h", "line"), [("position", 0, 0), ("vblank", 0, None)])
def test_the_next_framebuffer_is_taken_over_once_a_frame(screen: Any, latch: str, h: int, line: int | None) -> None:
    """After VBlank, says the page: where the latch register 0x9C names, which is the next frame's start (GBATEK), or at
    VBlank itself (choice display.latch). Until then the picture stays, and bit 4 tells the one that is shown."""
    scan = Scan(screen, display__latch=latch)
    other = 0x20000000 + 0x100000
    scan.put(other, scan.data[::-1])
    scan.set(0x6C, other)
    scan.set(SELECT, 0)
    scan.settled()
    moment = (0, line if line is not None else scan.look(0x40) & 0xFFFF)
    scan.go_to(0, 200)
    scan.set(SELECT, 1)
    assert scan.look(SELECT) & 0x11 == 0x01
    before = (moment[1] - 201) % 414
    scan.n3ds.advance(before * LINE)
    assert scan.look(SELECT) & 0x11 == 0x01
    scan.n3ds.advance(2 * LINE)
    assert scan.look(SELECT) & 0x11 == 0x11
    assert np.array_equal(scan.settled(), scan.data[::-1][: scan.width, :, ::-1])
