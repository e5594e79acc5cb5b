"""The format register of the display controllers, bit by bit, as both revisions of GPU/External Registers have it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .console import FCRAM, PDC0, PDC1, SIZES, VRAM, Console, decoded, explained
from .gsp_client import Client
from .scanning import BOTTOM, Scan

A, AA, AB, BA = (mode << 4 for mode in range(4))
DOUBLING = 0x40
LEFT, RIGHT = FCRAM, FCRAM + 0x200000
CONTROLLERS = pytest.mark.parametrize(("base", "name"), [(PDC0, "top"), (PDC1, "bottom")])


@pytest.fixture
def console() -> Console:
    """Different random pictures at A and B, long enough for 800 rows of four bytes a pixel."""
    console = Console()
    for n, address in enumerate((LEFT, RIGHT)):
        console.put(address, np.random.default_rng(n).integers(0, 256, 960 * 800, np.uint8))
    for base in (PDC0, PDC1):
        console.show(base, x68=LEFT, x6C=LEFT, x94=RIGHT, x98=RIGHT)
    return console


def columns(console: Console, address: int, count: int) -> np.ndarray:
    """The picture of RGB8 rows at an address."""
    data = np.frombuffer(console.get(address, 720 * count), np.uint8).reshape(count, 240, 3)
    return data[..., ::-1].transpose(1, 0, 2)[::-1]


@pytest.mark.row("ext.lcd-format.2-0", "ext2.pdc-format.2-0")
@CONTROLLERS
@pytest.mark.parametrize("form", range(5))
def test_bits_2_to_0_are_the_colour_format(console: Console, base: int, name: str, form: int) -> None:
    console.show(base, x70=console.read(base + 0x70) & ~7 | form, x90=240 * SIZES[form])
    expected = [pixel[:3] for pixel in decoded(console.get(LEFT, 240 * SIZES[form]), form)]
    assert console.frame(name)[::-1, 0].tolist() == [list(pixel) for pixel in expected]


@pytest.mark.row("ext2.pdc-format.2-0")
@pytest.mark.parametrize("form", [5, 6, 7])
def test_formats_5_to_7_are_kept_from_programs(console: Console, form: int) -> None:
    """The system software refuses them. Beyond it they are RGBA4 (GBATEK), or RGBA8 with each pixel twice, as the page
    has it and the choice display.formats_5_7 can choose."""
    entry = [0, 0x30000000, 0x30000000, 720, 0x340 | form, 0, 0]
    before = console.read(PDC0 + 0x70)
    assert console.gsp.set_buffer_swap(0, entry) != 0 and console.read(PDC0 + 0x70) == before
    assert console.gsp.set_buffer_swap(0, [*entry[:4], 0x344, 0, 0]) == 0
    console.show(PDC0, x70=0x80340 | form, x90=480)
    assert console.frame()[::-1, 0].tolist() == [list(p[:3]) for p in decoded(console.get(LEFT, 480), 4)]
    doubled = Console(display__formats_5_7="doubled")
    doubled.put(LEFT, console.get(LEFT, 480))
    doubled.show(PDC0, x68=LEFT, x6C=LEFT, x70=0x80340 | form, x90=480)
    twice = [list(p[:3]) for p in decoded(console.get(LEFT, 480), 0) for _ in range(2)]
    assert doubled.frame()[::-1, 0].tolist() == twice


UNEXPLAINED = [
    pytest.param(1 << 3, marks=pytest.mark.row("ext.lcd-format.3"), id="3"),
    pytest.param(1 << 7, marks=pytest.mark.row("ext.lcd-format.7", "ext2.pdc-format.7"), id="7"),
    pytest.param(0x3F << 10, marks=pytest.mark.row("ext.lcd-format.15-10"), id="15-10"),
]


@pytest.mark.parametrize("mask", UNEXPLAINED)
@CONTROLLERS
def test_bits_without_a_meaning_are_kept_and_change_nothing(
    console: Console, capsys: Any, base: int, name: str, mask: int
) -> None:
    usual = console.read(base + 0x70)
    before = console.frame(name).copy()
    console.write(base + 0x70, usual | mask)
    assert console.read(base + 0x70) == usual | mask
    assert np.array_equal(console.frame(name), before)
    told = explained(capsys, f"{base + 0x70:#x}", f"{usual | mask:#x}")
    assert told["unexplained_bits"] == mask


# -- one picture or two ----------------------------------------------------------------------------------------------


@pytest.mark.row("ext2.pdc-format.5-4")
@pytest.mark.parametrize(
    ("mode", "left", "right"), [(A, LEFT, None), (AA, LEFT, None), (AB, LEFT, RIGHT), (BA, RIGHT, LEFT)]
)
def test_bits_5_and_4_say_which_framebuffers_take_turns(
    console: Console, mode: int, left: int, right: int | None
) -> None:
    """A, A twice, A and B, B and A. Of 800 lines the even ones reach the left eye: 400 columns for each."""
    console.write(PDC0 + 0x70, 0x80301 | mode)
    console.n3ds.step_vblank()
    screens = console.n3ds.screens
    assert ("top-right" in screens) == (right is not None)
    count = 800 if mode == A else 400
    assert np.array_equal(screens["top"].array, columns(console, left, count))
    if right is not None:
        assert np.array_equal(screens["top-right"].array, columns(console, right, 400))


@pytest.mark.row("ext.lcd-format.4")
def test_bit_4_is_used(console: Console) -> None:
    """The first revision takes it for unused. It is the lower half of the line mode: alone it shows each row twice, and
    with bit 5 it exchanges the eyes."""
    shown = {}
    for mode in (A, AA, AB, BA):
        console.write(PDC0 + 0x70, 0x80301 | mode)
        shown[mode] = console.frame().copy()
    assert shown[A].shape == (240, 800, 3) and shown[AA].shape == (240, 400, 3)
    assert np.array_equal(shown[A][:, :400], shown[AA])
    assert np.array_equal(shown[BA], columns(console, RIGHT, 400)) and np.array_equal(shown[AB], shown[AA])


@pytest.mark.row("ext.lcd-format.5")
def test_bit_5_makes_the_picture_stereoscopic(console: Console) -> None:
    """It does not switch the parallax barrier itself: it lets both framebuffers take turns, and the system software
    allows the barrier with bit 5 set and bit 6 clear only."""
    for bits, stereo in ((0x20, True), (0x40, False), (0x00, False), (0x60, False)):
        console.write(PDC0 + 0x70, 0x80301 | bits)
        assert console.n3ds.display_mode("top").stereo == stereo
    console.write(PDC0 + 0x70, 0x80321)
    console.n3ds.step_vblank()
    assert not np.array_equal(console.n3ds.screens["top"].array, console.n3ds.screens["top-right"].array)
    console.write(PDC0 + 0x70, 0x80341)
    console.n3ds.step_vblank()
    assert "top-right" not in console.n3ds.screens


@pytest.mark.row("ext.lcd-format.6", "ext2.pdc-format.6")
def test_bit_6_doubles_lines_of_the_top_screen(console: Console) -> None:
    """The first revision takes it for "main or sub screen" because only the top screen's value has it: in its flat mode
    each row fills two of 800 lines. The clock is halved instead, so 400 lines are counted."""
    console.write(PDC0 + 0x70, 0x80341)
    assert np.array_equal(console.frame(), columns(console, LEFT, 400))
    flat = console.n3ds.display_mode("top")
    console.write(PDC0 + 0x70, 0x80301)
    assert np.array_equal(console.frame(), columns(console, LEFT, 800))
    wide = console.n3ds.display_mode("top")
    assert wide.pixel_clock == 2 * flat.pixel_clock
    assert (flat.gsp_mode, wide.gsp_mode) == (0, 1)
    assert console.read(PDC1 + 0x70) & 0x40 == 0  # what the system software leaves to the bottom screen


@pytest.mark.row("ext2.pdc-format.6")
def test_bit_6_doubles_pixels_of_the_bottom_screen() -> None:
    """It keeps its lines, and sends each pixel of them twice."""
    scan = Scan(BOTTOM)
    scan.set(0x70, 0x80301 | DOUBLING)
    assert np.array_equal(scan.settled(), np.repeat(scan.rows()[:, :120], 2, axis=1))


@pytest.mark.row("ext2.pdc-format.6")
def test_bit_6_doubles_pixels_of_the_bottom_screen_without_time_too() -> None:
    console = Console()
    pixels = np.random.default_rng(6).integers(0, 256, (320, 240, 3), np.uint8)
    console.memory.write(FCRAM, pixels.tobytes())
    for register, value in ((0x68, FCRAM), (0x70, 0x80301 | DOUBLING), (0x90, 720), (0x74, 0x10501)):
        console.write(PDC1 + register, value)
    twice = np.repeat(pixels[:, :120, ::-1], 2, axis=1)
    assert np.array_equal(console.n3ds.screens["bottom"].array, twice.transpose(1, 0, 2)[::-1])


@pytest.mark.row("ext.lcd-format.6", "ext.lcd-format.5", "ext2.pdc-format.6", "ext2.pdc-format.5-4")
@pytest.mark.parametrize(
    ("bits", "kept", "mode", "lines"), [(0x40, 0x40, 0, 414), (0x00, 0x00, 1, 828), (0x20, 0x20, 2, 828),
                                        (0x60, 0x20, 2, 828)],
)  # fmt: skip
def test_system_software_sets_the_mode_that_the_bits_ask_for(
    console: Console, bits: int, kept: int, mode: int, lines: int
) -> None:
    """Flat, wide or stereo, each with timing of its own; bit 6 is cleared where bit 5 is set, so no program can have
    both, which is no mode of its own."""
    for before in (0x80301, 0x80341, 0x80321):
        console.show(PDC0, x70=before)
        assert console.gsp.set_buffer_swap(0, [0, 0x30000000, 0x30200000, 720, 0x301 | bits, 0, 0]) == 0
        assert console.read(PDC0 + 0x70) == 0x80301 | kept
        if before & 0x60 != kept:
            assert console.read(PDC0 + 0x24) == lines - 1
            refresh = console.n3ds.display_mode("top").refresh
            assert refresh == pytest.approx(59.8312249, abs=1e-6)
        assert console.n3ds.display_mode("top").gsp_mode == mode
        assert console.n3ds.display_mode("top").stereo == (mode == 2)


@pytest.mark.row("ext2.pdc-format.5-4")
@pytest.mark.parametrize("interleave", ["halves", "skip"])
@pytest.mark.parametrize("mode", [A, AA, AB, BA])
def test_which_of_800_lines_comes_from_which_framebuffer(mode: int, interleave: str) -> None:
    """In emulated time, line by line. Of two framebuffers the lines take turns: every line of each (both 240x400), or
    every other one (both 240x800), which the page leaves open: choice display.interleave."""
    scan = Scan(display__interleave=interleave)
    pictures = np.random.default_rng(3).integers(1, 255, (2, 800, 240, 3), np.uint8)
    for base, data in zip((LEFT, RIGHT), pictures, strict=True):
        scan.put(base, data[..., ::-1])
    scan.n3ds.initialise("top-wide" if mode == A else "top-stereo")
    scan.show(scan.base, x68=LEFT, x6C=LEFT, x94=RIGHT, x98=RIGHT, x70=0x80301 | mode)
    left = scan.settled()
    screens = scan.n3ds.screens
    halves = interleave == "halves"
    eyes = {
        A: (pictures[0], None),
        AA: (pictures[0][:400], None),
        AB: (pictures[0][:400] if halves else pictures[0][0::2], pictures[1][:400] if halves else pictures[1][1::2]),
        BA: (pictures[1][:400] if halves else pictures[1][0::2], pictures[0][:400] if halves else pictures[0][1::2]),
    }[mode]
    assert np.array_equal(left, eyes[0])
    assert ("top-right" in screens) == (eyes[1] is not None)
    if eyes[1] is not None:
        assert np.array_equal(screens["top-right"].array[::-1].transpose(1, 0, 2), eyes[1])


# -- memory accesses -------------------------------------------------------------------------------------------------


@pytest.mark.row("ext.lcd-format.9-8", "ext2.pdc-format.9-8")
@pytest.mark.parametrize("size", range(4))
def test_bits_9_and_8_are_the_size_of_memory_accesses(console: Console, capsys: Any, size: int) -> None:
    """The first revision names what it saw of two values, the second one 32, 64 and 128 bytes. No pixel depends on it
    here; system software itself sets 3, which both revisions say leaves the screen black (see the next test)."""
    expected = columns(console, LEFT, 400)
    console.write(PDC0 + 0x70, 0x80041 | size << 8)
    assert np.array_equal(console.frame(), expected)
    told = explained(capsys, "0x1EF00470", f"{0x80041 | size << 8:#x}")
    texts = {field["name"]: field["text"] for field in told["fields"]}
    assert texts["dma_size"].startswith(f"{size} (")
    assert size == 3 or f"{32 << size} bytes" in texts["dma_size"]


@pytest.mark.row("ext.lcd-format.9-8", "ext2.pdc-format.9-8")
@pytest.mark.parametrize(("value", "black"), [("show", False), ("black", True)])
def test_size_3_can_be_what_main_memory_cannot_do(value: str, black: bool) -> None:
    """As the pages have it, with choice display.dma_size_3: black from main memory, a picture from video memory."""
    console = Console({"timing": "emulated"}, display__dma_size_3=value)
    for address, dark in ((FCRAM, black), (VRAM, False)):
        console.put(address, b"\x77" * 720 * 400)
        for size in (2, 3):
            console.show(PDC0, x68=address, x6C=address, x70=0x80041 | size << 8)
            console.n3ds.step_vblank()
            console.n3ds.step_vblank()
            assert (console.frame() == (0 if dark and size == 3 else 0x77)).all()


@pytest.mark.row("ext2.pdc-format.31-16")
@pytest.mark.parametrize("upper", [0x0000, 0x0008, 0x1234, 0xFFFF])
@CONTROLLERS
def test_the_upper_half_changes_no_picture(console: Console, base: int, name: str, upper: int) -> None:
    """Unknown to the page; a driver library has it as the interval of memory accesses, 8 as a rule. Framebuffers that
    programs hand in get that from the system software."""
    usual = console.read(base + 0x70)
    before = console.frame(name).copy()
    console.write(base + 0x70, usual & 0xFFFF | upper << 16)
    assert console.read(base + 0x70) == usual & 0xFFFF | upper << 16
    assert np.array_equal(console.frame(name), before)
    Client(console)
    assert console.gsp.set_buffer_swap(int(base == PDC1), [0, 0x30000000, 0x30000000, 720, usual & 0xFFFF, 0, 0]) == 0
    assert console.read(base + 0x70) == usual & 0xFFFF | 8 << 16
