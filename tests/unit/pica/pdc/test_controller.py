"""Display controllers in emulated time: what the screens show, when settings count, and which interrupts come.

Source: 3dbrew GPU/External Registers (LCD source framebuffer setup); GBATEK for the latch and the status word.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.formats import EXTERNAL_FORMATS
from pocketgpu.pica.n3ds import N3DS

VRAM, FCRAM = 0x18000000, 0x20000000
LINE = 24 * 451
FRAME = LINE * 414
ROW = 720
FLAT, TWICE, STEREO, SWAPPED, WIDE = 0x40, 0x10, 0x20, 0x30, 0x00
MODE_TABLE = {FLAT: "top-flat", TWICE: "top-wide", STEREO: "top-stereo", SWAPPED: "top-stereo", WIDE: "top-wide"}


class Console:
    """A machine in emulated time (or not), with names for registers. Both screens read RGB8 from FCRAM."""

    def __init__(self, timing: str = "emulated", choices: dict[str, str] | None = None) -> None:
        self.gpu = N3DS(timing=timing, switches=choices)
        self.memory = self.gpu.memory
        for unit in range(2):
            pdc = {"ADDRESS_A0": FCRAM, "ADDRESS_B0": FCRAM, "STRIDE": ROW, "SELECT": 0}
            self.set(**{f"PDC{unit}_{name}": value for name, value in pdc.items()})
        self.set(PDC0_FORMAT=0x80341, PDC1_FORMAT=0x80301)

    def set(self, **values: int) -> None:
        for name, value in values.items():
            block = LCD if name in LCD else EXTERNAL
            self.gpu.write_register(block[name].address, value & 0xFFFFFFFF)

    def get(self, name: str) -> int:
        return self.gpu.read_register(EXTERNAL[name].address)

    def frames(self, count: int = 2) -> None:
        for _ in range(count):
            self.gpu.step_vblank()

    def top(self) -> np.ndarray:
        return self.gpu.screens["top"].array

    @property
    def events(self) -> list[str]:
        return [event.id for event in self.gpu.events]


@pytest.fixture
def noise() -> np.ndarray:
    return np.random.default_rng(7).integers(0, 256, (1200, ROW), np.uint8)


@pytest.fixture
def console(noise: np.ndarray) -> Console:
    """With noise in FCRAM and the settings taken over."""
    console = Console()
    console.memory.write(FCRAM, noise)
    console.frames()
    console.gpu.take_interrupts()
    return console


def column(noise: np.ndarray, row: int) -> np.ndarray:
    """A row of the framebuffer (RGB8) as a column of the screen."""
    return noise[row].reshape(240, 3)[::-1, ::-1]


# -- pictures as without time ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", range(8))
@pytest.mark.parametrize("mode", MODE_TABLE)
def test_a_frame_shows_what_registers_describe(noise: np.ndarray, mode: int, form: int) -> None:
    """The same picture as at once, for every mode that system software has a timing for, and every format."""
    bits = EXTERNAL_FORMATS.get(form, EXTERNAL_FORMATS[4]).bits
    shown = []
    for timing in ("instant", "emulated"):
        console = Console(timing)
        console.memory.write(FCRAM, noise)
        console.gpu.initialise(MODE_TABLE[mode])
        stride = 30 * bits
        console.set(PDC0_FORMAT=0x80300 | mode | form, PDC0_STRIDE=stride, PDC0_ADDRESS_B0=FCRAM + 100 * stride)
        console.set(PDC1_FORMAT=0x80300 | form, PDC1_STRIDE=stride)
        console.frames()
        shown.append(console.gpu.screens)
        assert console.events == []
    at_once, scanned = shown
    assert list(scanned) == list(at_once)
    for name, screen in at_once.items():
        assert np.array_equal(scanned[name].array, screen.array), name
        assert screen.array.any()


@pytest.mark.parametrize("stride", [-ROW, 0, 1024, ROW + 16])
def test_strides(noise: np.ndarray, stride: int) -> None:
    console = Console()
    console.memory.write(FCRAM, noise)
    console.set(PDC0_STRIDE=stride, PDC0_ADDRESS_A0=FCRAM + 500 * ROW)
    console.frames()
    flat = noise.reshape(-1)
    for x in (0, 1, 399):
        row = flat[500 * ROW + x * stride :][:ROW]
        assert np.array_equal(console.top()[:, x], row.reshape(240, 3)[::-1, ::-1])


@pytest.mark.parametrize("choices", [{"display.formats_5_7": "doubled"}, {"display.expand": "scale"}])
def test_switches_of_formats(noise: np.ndarray, choices: dict[str, str]) -> None:
    shown = []
    for timing in ("instant", "emulated"):
        console = Console(timing, choices)
        console.memory.write(FCRAM, noise)
        console.set(PDC0_FORMAT=0x80346, PDC0_STRIDE=480, PDC1_FORMAT=0x80302, PDC1_STRIDE=480)
        console.frames()
        shown.append(console.gpu.screens)
    for name in shown[0]:
        assert np.array_equal(shown[0][name].array, shown[1][name].array)


def test_fill_colours_and_colour_tables_count_at_once(console: Console) -> None:
    before = console.top().copy()
    console.set(PDC0_LUT_INDEX=0)
    for value in range(256):
        console.set(PDC0_LUT_DATA=0x010101 * (255 - value))
    assert np.array_equal(console.top(), 255 - before)
    console.set(TOP_FILL=0x01030201)
    assert (console.top() == [1, 2, 3]).all()


# -- when -------------------------------------------------------------------------------------------------------------


def test_settings_count_from_the_next_frame_on(console: Console, noise: np.ndarray) -> None:
    gpu = console.gpu
    console.set(PDC0_ADDRESS_A1=FCRAM + 100 * ROW, PDC0_SELECT=1)
    gpu.run_until("PDC0")
    assert np.array_equal(console.top()[:, 0], column(noise, 100)), "written in VBlank, taken at the frame's start"
    console.set(PDC0_SELECT=0)
    gpu.advance(FRAME - 402 * LINE)  # the first lines of the next frame
    gpu.advance(50 * LINE)
    console.set(PDC0_SELECT=1)
    assert gpu.run_until("PDC0")
    assert np.array_equal(console.top()[:, 399], column(noise, 399)), "written in the frame: not yet"
    gpu.run_until("PDC0")
    assert np.array_equal(console.top()[:, 399], column(noise, 499))


def test_the_select_register_tells_what_is_shown(console: Console) -> None:

    def current() -> int:
        return console.get("PDC0_SELECT") >> 4 & 1

    console.gpu.run_until("PDC0")
    console.gpu.advance(FRAME // 2)
    assert (current(), console.get("PDC0_SELECT") & 1) == (0, 0)
    console.set(PDC0_SELECT=0x10)
    assert current() == 0, "it cannot be written"
    console.set(PDC0_SELECT=1)
    assert (current(), console.get("PDC0_SELECT") & 1) == (0, 1)
    console.gpu.run_until("PDC0")
    assert current() == 0
    console.gpu.advance(13 * LINE)
    assert current() == 1


def test_the_latch_may_be_elsewhere(console: Console, noise: np.ndarray) -> None:
    """New settings in line 102 of the frame: the picture is torn there."""
    console.set(PDC0_LATCH=102 << 16)
    console.frames(1)
    console.set(PDC0_ADDRESS_A0=FCRAM + 300 * ROW)
    console.gpu.run_until("PDC0")
    top = console.top()
    assert np.array_equal(top[:, 99], column(noise, 99))
    assert np.array_equal(top[:, 101], column(noise, 401))


def test_the_latch_at_vblank(noise: np.ndarray) -> None:
    console = Console(choices={"display.latch": "vblank"})
    console.memory.write(FCRAM, noise)
    console.gpu.run_until("PDC0")
    console.set(PDC0_ADDRESS_A0=FCRAM + 300 * ROW)  # too late by a moment
    console.gpu.run_until("PDC0")
    assert np.array_equal(console.top()[:, 0], column(noise, 0))
    console.gpu.run_until("PDC0")
    assert np.array_equal(console.top()[:, 0], column(noise, 300))


def test_memory_is_read_line_by_line(console: Console, noise: np.ndarray) -> None:
    gpu = console.gpu
    gpu.run_until("PDC0")
    gpu.advance(FRAME - 400 * LINE + 10)  # line 2, the first one shown, has begun
    assert gpu.position("top") == (0, 2)
    gpu.advance(199 * LINE)
    console.memory.write(FCRAM, b"\xff" * 400 * ROW)
    gpu.run_until("PDC0")
    top = console.top()
    assert np.array_equal(top[:, 199], column(noise, 199))
    assert (top[:, 200:] == 255).all()


def test_a_line_is_read_once_when_the_timing_changes(console: Console, noise: np.ndarray) -> None:
    gpu = console.gpu
    gpu.run_until("PDC0")
    gpu.advance(FRAME - 300 * LINE)
    assert gpu.position("top") == (0, 102)
    console.set(PDC0_VTOTAL=494)
    console.memory.write(FCRAM, b"\xff" * 400 * ROW)
    gpu.run_until("PDC0")
    assert np.array_equal(console.top()[:, 100], column(noise, 100))
    assert (console.top()[:, 101:] == 255).all()


def test_racing_the_beam_with_stride_0(console: Console) -> None:
    """One line of memory, rewritten in each line's interrupt, makes a whole picture."""
    gpu = console.gpu
    gpu.run_until("PDC0")
    console.set(PDC0_STRIDE=0, PDC0_HIRQ=440 << 16 | 430, PDC0_CONTROL=0x10401)
    lines: list[int] = []

    def line(name: str, count: int) -> None:
        if name == "PDC0":
            assert count == 1
            next_line = (gpu.position("top")[1] + 1) % 414
            lines.append(next_line)
            console.memory.write(FCRAM, bytes([next_line & 0xFF]) * ROW)

    gpu.on_interrupt(line)
    gpu.advance(2 * FRAME)
    expected = np.arange(2, 402, dtype=np.uint8)
    assert (console.top() == expected[None, :, None]).all()
    assert len(lines) == 2 * 414 + 2, "a line's interrupt each, and two frames'"


# -- interrupts -------------------------------------------------------------------------------------------------------


def test_vblank_of_both_screens_in_their_lines(console: Console) -> None:
    gpu = console.gpu
    start = gpu.time
    assert gpu.run_until("PDC0")
    assert gpu.position("top") == (0, 402)
    assert gpu.time % FRAME == 402 * LINE
    assert gpu.run_until("PDC1")
    assert gpu.position("bottom") == (0, 404)
    assert gpu.time - start == FRAME
    assert gpu.take_interrupts() == {"PDC0": 1, "PDC1": 1}


@pytest.mark.parametrize("vclock", [0, 1, 2, 100, 450])
def test_vblank_where_the_line_count_steps_inside_of_a_line(noise: np.ndarray, vclock: int) -> None:
    """The interrupt comes in its line, and lines of memory are read when the count says so."""
    console = Console()
    console.memory.write(FCRAM, noise)
    console.set(PDC0_VCLOCK=vclock)
    console.frames()
    gpu = console.gpu
    for _ in range(3):
        assert gpu.run_until("PDC0")
        assert gpu.position("top") == (0, 402)
    # Line 2 is the first one shown: at HCount 0 of the count 201, row 199 was read and row 200 was not.
    gpu.advance(FRAME - 201 * LINE + 10)
    assert gpu.position("top") == (0, 201)
    console.memory.write(FCRAM, b"\xff" * 400 * ROW)
    gpu.run_until("PDC0")
    assert np.array_equal(console.top()[:, 199], column(noise, 199))
    assert (console.top()[:, 200:] == 255).all()


def test_a_second_has_59_or_60_frames(console: Console) -> None:
    console.gpu.advance(268111856)
    assert console.gpu.take_interrupts()["PDC0"] in (59, 60)
    console.set(PDC0_VTOTAL=494)
    console.gpu.advance(FRAME)
    console.gpu.take_interrupts()
    console.gpu.advance(268111856)
    counts = console.gpu.take_interrupts()
    assert counts["PDC0"] in (50, 51) and counts["PDC1"] in (59, 60)


def test_masks_and_acknowledgement(console: Console) -> None:
    gpu = console.gpu
    console.set(PDC0_SELECT=0x70000)
    assert console.get("PDC0_SELECT") >> 16 == 0
    gpu.run_until("PDC0")
    assert console.get("PDC0_SELECT") >> 16 == 2
    assert console.get("STATUS") >> 28 & 1
    console.set(PDC0_SELECT=0x50000)
    assert console.get("PDC0_SELECT") >> 16 == 2, "only its own bit acknowledges it"
    console.set(PDC0_SELECT=0x20000)
    assert console.get("PDC0_SELECT") >> 16 == 0
    assert not console.get("STATUS") >> 28 & 1
    console.set(PDC0_CONTROL=0x10701)
    gpu.take_interrupts()
    gpu.advance(3 * FRAME)
    assert gpu.take_interrupts() == {"PDC1": 3}
    assert console.get("PDC0_SELECT") >> 16 == 0
    console.set(PDC0_CONTROL=0x10400, PDC1_CONTROL=0)
    gpu.advance(3 * FRAME)
    assert gpu.take_interrupts() == {}, "controllers that are off"
    assert console.get("PDC0_VCOUNT") == 0


def test_line_interrupts(console: Console) -> None:
    gpu = console.gpu
    console.set(PDC1_HIRQ=301 << 16 | 300, PDC1_CONTROL=0x10601, PDC1_SELECT=0x20000)
    gpu.take_interrupts()
    gpu.advance(FRAME)
    assert gpu.take_interrupts() == {"PDC0": 1, "PDC1": 414}
    gpu.run_until("PDC1")
    assert gpu.position("bottom")[0] == 300
    assert console.get("PDC1_SELECT") >> 16 == 1


def test_counters_and_status_as_registers(console: Console) -> None:
    gpu = console.gpu
    gpu.run_until("PDC0")
    gpu.advance(FRAME - 300 * LINE)
    assert console.get("PDC0_VCOUNT") == 102
    assert console.get("PDC0_HCOUNT") in range(2, 5), "reading takes a little time"
    assert console.get("PDC0_STATUS") & 0x700 == 0x400
    gpu.run_until("PDC0")
    assert console.get("PDC0_STATUS") & 0x701 == 0x301
    before = console.get("PDC0_VCOUNT")
    console.set(PDC0_VCOUNT=7, PDC0_HCOUNT=7, PDC0_STATUS=0xFFFF)
    assert console.get("PDC0_VCOUNT") == before


def test_polling_the_line_counter_ends(console: Console) -> None:
    reads = 0
    while console.get("PDC1_VCOUNT") != 200:
        reads += 1
        assert reads < FRAME // 16
    assert console.gpu.position("bottom")[1] == 200


def test_the_scan_goes_on_from_where_it_is_when_the_timing_changes(console: Console) -> None:
    console.gpu.run_until("PDC0")
    console.gpu.advance(FRAME // 2)
    before = console.gpu.position("top")
    console.set(PDC0_VTOTAL=494)
    assert console.gpu.position("top") == before
    console.set(PDC0_CONTROL=0x10500)
    assert console.gpu.position("top") == (0, 0)
    console.gpu.advance(5 * LINE)
    console.set(PDC0_CONTROL=0x10501)
    assert console.gpu.position("top") == (0, 0)
    console.gpu.advance(5 * LINE)
    assert console.gpu.position("top") == (0, 5)


def test_odd_timings_cost_little(console: Console) -> None:
    """A frame of a single clock: interrupts come in heaps, and none is lost."""
    gpu = console.gpu
    console.set(PDC0_HTOTAL=3, PDC0_VTOTAL=3, PDC0_HIRQ=2 << 16 | 1, PDC0_VIRQ=2 << 16 | 1, PDC0_CONTROL=0x10401)
    gpu.advance(1)
    gpu.take_interrupts()
    calls: list[str] = []
    gpu.on_interrupt(lambda name, count: calls.append(name))
    gpu.advance(96_000)
    assert len(calls) <= 2 * 96_000 // 1024 + 2
    told = gpu.take_interrupts()["PDC0"]
    assert abs(told - (1000 + 250)) <= 64


# -- the timing's registers --------------------------------------------------------------------------------------------


def shown(noise: np.ndarray, choices: dict[str, str] | None = None, **registers: int) -> np.ndarray:
    """The top screen after registers of PDC0 were set; untouched lines are white, the border is (1, 2, 3)."""
    console = Console(choices=choices)
    console.memory.write(FCRAM, b"\xff" * noise.size)
    console.frames()
    console.memory.write(FCRAM, noise)
    console.set(PDC0_BORDER_COLOR=0x030201, **{f"PDC0_{name}": value for name, value in registers.items()})
    console.frames()
    return console.top()


BORDER = [1, 2, 3]


def test_a_smaller_picture_has_a_border(noise: np.ndarray) -> None:
    top = shown(noise, HPICTURE=400 << 16 | 219, HSTART=219, VPICTURE=302 << 16 | 12, VSTART=12)
    inside = top[:, 10:300]
    assert (top[:, :10] == BORDER).all() and (top[:, 300:] == BORDER).all()
    assert (inside[-10:] == BORDER).all() and (inside[: 240 - 10 - 181] == BORDER).all()
    assert np.array_equal(inside[::-1, 5][10 : 10 + 181], column(noise, 5)[::-1][:181])


def test_a_picture_may_be_narrower_than_its_window(noise: np.ndarray) -> None:
    top = shown(noise, SIZE=400 << 16 | 200)
    assert (top[:40] == BORDER).all()
    assert np.array_equal(top[40:, 5], column(noise, 5)[40:])


def test_more_lines_than_the_screen_has_are_left_out(noise: np.ndarray) -> None:
    top = shown(noise, VPICTURE=412 << 16 | 2, VBORDER=412, VBLANK=412, VSYNC=413)
    assert np.array_equal(top[:, 399], column(noise, 399))


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_pairs_of_pixels_may_be_cut(noise: np.ndarray, cut: int) -> None:
    """Formats that show a pixel twice, with a picture that starts in front of its window."""
    choices = {"display.formats_5_7": "doubled"}
    whole = shown(noise, choices, FORMAT=0x80345, STRIDE=480, SIZE=400 << 16 | 242)[::-1]
    top = shown(noise, choices, FORMAT=0x80345, STRIDE=480, SIZE=400 << 16 | 242, HSTART=209 - cut)[::-1]
    assert np.array_equal(top[: 240 - cut], whole[cut:])


def test_hstart_moves_the_picture_in_its_window(noise: np.ndarray) -> None:
    top = shown(noise, HSTART=214)
    assert (top[-5:] == BORDER).all()
    assert np.array_equal(top[::-1][5:, 3], column(noise, 3)[::-1][:235])


def test_vstart_cuts_or_pushes(noise: np.ndarray) -> None:
    top = shown(noise, VSTART=12)
    assert (top[:, :10] == BORDER).all()
    assert np.array_equal(top[:, 10], column(noise, 0))
    top = shown(noise, VSTART=0)
    assert np.array_equal(top[:, 0], column(noise, 2))
    top = shown(noise, {"display.vstart": "wiki"})
    assert np.array_equal(top[:, 0], column(noise, 9)), "VTOTAL - VSYNC is 11, VSTART 2"
    top = shown(noise, VSTART=460)
    assert np.array_equal(top[:, 0], column(noise, 10)), "past HTOTAL: ten lines are skipped"
    assert np.array_equal(top[:, 399], column(noise, 409)), "and the picture goes on past its end"


def test_vblank_inside_of_the_picture_repeats_two_lines(noise: np.ndarray) -> None:
    top = shown(noise, VBLANK=302)
    assert np.array_equal(top[:, 6], column(noise, 6))
    assert np.array_equal(top[:, 299], column(noise, 299))
    for x in (300, 302, 398):
        assert np.array_equal(top[:, x], column(noise, 298))
        assert np.array_equal(top[:, x + 1], column(noise, 299))


def test_lines_behind_an_early_vsync_are_not_renewed(noise: np.ndarray) -> None:
    top = shown(noise, VSYNC=302)
    assert np.array_equal(top[:, 299], column(noise, 299))
    assert (top[:, 300:] == 255).all()


def test_a_late_back_porch_moves_the_screen_up(noise: np.ndarray) -> None:
    top = shown(noise, VBP=12)
    assert np.array_equal(top[:, 0], column(noise, 10))
    assert (top[:, 390:] == 255).all()


def test_no_line_sync_no_new_lines(noise: np.ndarray) -> None:
    assert (shown(noise, HBP=0) == 255).all()
    assert (shown(noise, {"display.sync_bits": "disable"}, POLARITY=1) == 255).all()
    assert not (shown(noise, POLARITY=1) == 255).all()


def test_a_border_behind_the_picture_sends_nothing(noise: np.ndarray) -> None:
    assert not shown(noise, HBL=210).any()


def test_the_front_porch_ends_a_line(noise: np.ndarray) -> None:
    top = shown(noise, HPICTURE=309 << 16 | 209, HFP=309, HBR=309)
    assert not top[:139].any()
    assert (top[139] == [255, 0, 0]).all(), "a red dot ends the line"
    assert np.array_equal(top[140:, 7], column(noise, 7)[140:])


def test_output_and_controller_off_are_black(noise: np.ndarray) -> None:
    assert not shown(noise, CONTROL=0x501).any()
    assert not shown(noise, CONTROL=0x10500).any()


def test_interleaved_framebuffers(noise: np.ndarray) -> None:
    """Lines of A and B by turns; halves: 400 lines of each, skip: every other line of 800."""
    for reading, left, right in (("halves", 1, 301), ("skip", 2, 303)):
        console = Console(choices={"display.interleave": reading})
        console.memory.write(FCRAM, noise)
        console.gpu.initialise("top-stereo")
        console.set(PDC0_FORMAT=0x80321, PDC0_ADDRESS_B0=FCRAM + 300 * ROW)
        console.frames()
        screens = console.gpu.screens
        assert np.array_equal(screens["top"].array[:, 1], column(noise, left))
        assert np.array_equal(screens["top-right"].array[:, 1], column(noise, right))


def test_scan_doubling_of_the_bottom_screen_doubles_pixels(noise: np.ndarray) -> None:
    console = Console()
    console.memory.write(FCRAM, noise)
    console.set(PDC1_FORMAT=0x80341)
    console.frames()
    bottom = console.gpu.screens["bottom"].array[::-1]
    assert bottom.shape == (240, 320, 3)
    assert np.array_equal(bottom[:, 9], np.repeat(column(noise, 9)[::-1][:120], 2, axis=0))


def test_a_change_of_mode_keeps_what_was_shown_until_new_lines_come(console: Console) -> None:
    before = console.top().copy()
    console.gpu.initialise("top-wide")
    console.set(PDC0_FORMAT=0x80301)
    wide = console.top()
    assert wide.shape == (240, 800, 3)
    assert np.array_equal(wide[:, ::2], before) and np.array_equal(wide[:, 1::2], before)


# -- errors -----------------------------------------------------------------------------------------------------------


def test_lines_outside_of_memory_are_an_error(console: Console) -> None:
    gpu = console.gpu
    console.set(PDC0_ADDRESS_A0=0x08000000, PDC0_CONTROL=0x10101)
    console.frames()
    assert not console.top().any()
    assert "display.unmapped" in console.events
    assert console.get("PDC0_SELECT") >> 18 & 1
    assert console.get("PDC0_STATUS") >> 15 & 1
    assert gpu.take_interrupts()["PDC0"] == 3, "two frames and one error"
    console.set(PDC0_ADDRESS_A0=FCRAM)
    console.frames()
    console.set(PDC0_SELECT=0x40100)
    assert not console.get("PDC0_STATUS") >> 15 & 1
    assert not console.get("PDC0_SELECT") >> 18 & 1


def test_burst_size_3_and_main_memory(noise: np.ndarray) -> None:
    for reading, address, dark in (
        ("show", FCRAM, False),
        ("black", FCRAM, True),
        ("always-black", VRAM, True),
        ("black", VRAM, False),
    ):
        console = Console(choices={"display.dma_size_3": reading})
        console.memory.write(address, noise)
        console.set(PDC0_ADDRESS_A0=address, PDC1_FORMAT=0x80201)
        console.frames()
        assert console.top().any() != dark
        assert ("display.dma-size" in console.events) == dark
    console.set(PDC0_FORMAT=0x80241, PDC0_ADDRESS_A0=FCRAM)
    console.memory.write(FCRAM, noise)
    console.frames()
    assert np.array_equal(console.top()[:, 0], column(noise, 0)), "a smaller burst size does it"


def test_what_the_documents_warn_of_is_told_once(console: Console) -> None:
    console.set(PDC0_HBL=300)
    console.frames()
    console.set(PDC0_HBL=209)
    console.frames(1)
    console.set(PDC0_HBL=300)
    console.frames(1)
    (event,) = console.gpu.events
    assert (event.kind, event.id, event.count) == ("warning", "display.no-pixels", 1)
    assert event.message.startswith("top screen: HBL 300")


def test_displays_count_what_they_read(console: Console) -> None:
    counts = [console.get(f"TRAFFIC_PDC{unit}_READ") for unit in range(2)]
    console.gpu.advance(FRAME)
    now = [console.get(f"TRAFFIC_PDC{unit}_READ") for unit in range(2)]
    assert [b - a for a, b in zip(counts, now, strict=True)] == [400 * ROW, 320 * ROW]


def test_random_registers_never_stop_the_machine(rng: np.random.Generator) -> None:
    """Any words in any of the registers, and time goes on."""
    console: Any = Console()
    names = [r.name for r in EXTERNAL if r.name.startswith("PDC") and not r.name.endswith(("LUT_INDEX", "LUT_DATA"))]
    for _ in range(60):
        for name in rng.choice(names, 6):
            word = int(rng.integers(0, 1 << 32)) & int(rng.choice([0x1FF, 0x1FF01FF, 0xFFFFFFFF]))
            console.set(**{str(name): word})
        start = console.gpu.time
        console.gpu.advance(int(rng.integers(1, FRAME)))
        assert console.gpu.time > start
        assert set(console.gpu.screens) >= {"top", "bottom"}
