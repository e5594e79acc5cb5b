"""Framebuffer set-up of the display controllers: addresses, select, stride, colour table (GPU/External Registers).

Rows of the first revision ("lcd") and of the second ("pdc") that name the same register are proved together.
"""

from __future__ import annotations

import numpy as np
import pytest

from .console import FCRAM, PDC0, PDC1, VRAM, Console

SECOND, THIRD, FOURTH = (VRAM + n * 0x60000 for n in range(1, 4))
STEREO = 0x80321
SELECT, INDEX, ENTRY = 0x78, 0x80, 0x84
CONTROLLERS = pytest.mark.parametrize(("base", "name"), [(PDC0, "top"), (PDC1, "bottom")])


def lcd(at: str) -> pytest.MarkDecorator:
    return pytest.mark.row(f"ext.lcd.{at}", f"ext2.pdc.{at}")


@pytest.fixture
def console() -> Console:
    return Console()


def plain(console: Console, address: int, level: int) -> None:
    """A framebuffer of one grey, for 400 columns."""
    console.put(address, bytes([level]) * (720 * 400))


# -- addresses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("register", "select", "eye"),
    [
        pytest.param(0x68, 0, "top", marks=lcd("0x68"), id="A first"),
        pytest.param(0x6C, 1, "top", marks=lcd("0x6C"), id="A second"),
        pytest.param(0x94, 0, "top-right", marks=lcd("0x94"), id="B first"),
        pytest.param(0x98, 1, "top-right", marks=lcd("0x98"), id="B second"),
    ],
)
def test_each_address_is_one_eye_of_one_picture(console: Console, register: int, select: int, eye: str) -> None:
    """A is the left eye and B the right one; first and second are chosen by the select register."""
    levels = {0x68: 0x10, 0x6C: 0x20, 0x94: 0x30, 0x98: 0x40}
    for n, (at, level) in enumerate(levels.items()):
        plain(console, FCRAM + n * 0x100000, level)
        console.show(PDC0, x70=STEREO, **{f"x{at:X}": FCRAM + n * 0x100000})
    console.write(PDC0 + SELECT, select)
    assert (console.frame(eye) == levels[register]).all()
    plain(console, VRAM + 0x1000, 0x99)
    console.write(PDC0 + register, VRAM + 0x1000)
    assert (console.frame(eye) == 0x99).all()
    console.write(PDC0 + SELECT, 1 - select)
    assert not (console.frame(eye) == 0x99).any()
    other = {"top": "top-right", "top-right": "top"}[eye]
    for chosen in (0, 1):
        console.write(PDC0 + SELECT, chosen)
        assert not (console.frame(other) == 0x99).any()


@pytest.mark.parametrize(
    "register",
    [pytest.param(0x94, marks=lcd("0x94"), id="B first"), pytest.param(0x98, marks=lcd("0x98"), id="second")],
)
def test_the_bottom_screen_does_not_use_the_right_eye(console: Console, register: int) -> None:
    plain(console, FCRAM, 0x10)
    plain(console, FCRAM + 0x100000, 0x99)
    console.show(PDC1, x68=FCRAM, x6C=FCRAM)
    console.write(PDC1 + register, FCRAM + 0x100000)
    for select in (0, 1):
        console.write(PDC1 + SELECT, select)
        assert (console.frame("bottom") == 0x10).all()
    assert set(console.n3ds.screens) == {"top", "bottom"}
    # Nor does the system software write it for programs, whatever they say of a right eye.
    for pair in (0, 1):
        assert console.gsp.set_buffer_swap(1, [pair, 0x30000000, 0x30200000, 720, 0x301, pair, 0]) == 0
    assert console.read(PDC1 + register) == FCRAM + 0x100000


@pytest.mark.row("ext.lcd.0x68", "ext2.pdc.0x68")
@CONTROLLERS
def test_the_first_pixel_is_at_the_bottom_left(console: Console, base: int, name: str) -> None:
    """The screens are mounted turned: a row of memory is a column of the picture as it is held, from the bottom up."""
    console.put(FCRAM, bytes([1, 2, 3]))
    console.put(FCRAM + 239 * 3, bytes([4, 5, 6]))
    console.put(FCRAM + 720, bytes([7, 8, 9]))
    console.show(base, x68=FCRAM)
    console.write(base + SELECT, 0)
    shown = console.frame(name)
    assert shown[239, 0].tolist() == [3, 2, 1]
    assert shown[0, 0].tolist() == [6, 5, 4]
    assert shown[239, 1].tolist() == [9, 8, 7]
    assert shown.any(axis=2).sum() == 3


# -- format register -------------------------------------------------------------------------------------------------


@lcd("0x70")
@CONTROLLERS
def test_the_format_register_keeps_all_32_bits_and_shapes_the_picture(console: Console, base: int, name: str) -> None:
    """Bits 0 to 15 are the format. The first revision knows nothing of the rest, an interval of the controller's
    memory accesses (a driver library), which no pixel depends on. Bits 3, 7 and 10 to 15 have no known meaning."""
    data = np.random.default_rng(3).integers(0, 256, 960 * 400, np.uint8)
    console.put(FCRAM, data)
    console.show(base, x68=FCRAM, x6C=FCRAM)
    pictures = {}
    usual = console.read(base + 0x70)
    for word in (usual, usual & 0xFFFF, usual | 0xFFFF0000, usual & ~7 | 2):
        console.write(base + 0x70, word)
        assert console.read(base + 0x70) == word
        pictures[word] = console.frame(name).copy()
    first = pictures.pop(usual)
    other = pictures.pop(usual & ~7 | 2)
    assert all(np.array_equal(first, shown) for shown in pictures.values()) and not np.array_equal(first, other)


# -- select ----------------------------------------------------------------------------------------------------------


@lcd("0x78")
@CONTROLLERS
def test_bit_0_of_select_chooses_the_first_or_second_picture(console: Console, base: int, name: str) -> None:
    plain(console, FCRAM, 0x10)
    plain(console, FCRAM + 0x100000, 0x20)
    console.show(base, x68=FCRAM, x6C=FCRAM + 0x100000)
    for word, level in ((0, 0x10), (1, 0x20), (0xFE, 0x10), (0xFF, 0x20)):
        console.write(base + SELECT, word & ~0x10)
        assert (console.frame(name) == level).all()


# -- stride ----------------------------------------------------------------------------------------------------------


def rows(console: Console, address: int, count: int, stride: int) -> np.ndarray:
    """Random rows `stride` bytes apart; the picture that they make."""
    data = np.random.default_rng(5).integers(0, 256, (count, 240, 3), np.uint8)
    for n, row in enumerate(data):
        console.put(address + n * stride, row[..., ::-1].tobytes())
    return data.transpose(1, 0, 2)[::-1]


@lcd("0x90")
@CONTROLLERS
@pytest.mark.parametrize("stride", [720, 736, 768, 1024, 4096])
def test_the_stride_is_the_distance_of_rows_in_bytes(console: Console, base: int, name: str, stride: int) -> None:
    width = 400 if name == "top" else 320
    expected = rows(console, FCRAM, width, stride)
    console.show(base, x68=FCRAM, x6C=FCRAM, x90=stride)
    assert console.read(base + 0x90) == stride
    assert np.array_equal(console.frame(name), expected)


@pytest.mark.row("ext2.pdc.0x90")
@CONTROLLERS
def test_a_stride_of_0_repeats_a_row_and_a_negative_one_mirrors(console: Console, base: int, name: str) -> None:
    width = 400 if name == "top" else 320
    expected = rows(console, FCRAM, width, 720)
    console.show(base, x68=FCRAM, x6C=FCRAM, x90=0)
    assert np.array_equal(console.frame(name), np.repeat(expected[:, :1], width, axis=1))
    start = FCRAM + 720 * (width - 1)
    console.show(base, x68=start, x6C=start, x90=-720 & 0xFFFFFFFF)
    assert np.array_equal(console.frame(name), expected[:, ::-1])


@lcd("0x90")
@pytest.mark.parametrize(("unit", "kept"), [("16", 0xFFFFFFF0), ("8", 0xFFFFFFF8)])
def test_low_bits_of_the_stride_are_ignored(unit: str, kept: int) -> None:
    """Three of them after the page, four after GBATEK, which is the default (choice display.stride_unit)."""
    console = Console(display__stride_unit=unit)
    console.write(PDC0 + 0x90, 0xFFFFFFFF)
    assert console.read(PDC0 + 0x90) == kept
    expected = rows(console, FCRAM, 400, 728 & kept)
    console.show(PDC0, x68=FCRAM, x6C=FCRAM, x90=735)
    assert np.array_equal(console.frame(), expected)


# -- colour table ----------------------------------------------------------------------------------------------------


@pytest.mark.row("ext2.pdc.0x80")
@CONTROLLERS
def test_the_index_of_the_colour_table_has_eight_bits(console: Console, base: int, name: str) -> None:
    plain(console, FCRAM, 0x45)
    console.show(base, x68=FCRAM, x6C=FCRAM)
    console.write(base + INDEX, 0xFFFFFF45)
    console.write(base + ENTRY, 0x00332211)
    shown = console.frame(name)
    assert np.unique(shown.reshape(-1, 3), axis=0).tolist() == [[0x11, 0x22, 0x33]]
    console.write(base + INDEX, 0x145)
    assert console.read(base + INDEX) == 0  # it cannot be read
    assert console.read(base + ENTRY) == 0x00332211


@pytest.mark.row("ext.lcd.0x84", "ext2.pdc.0x84")
@CONTROLLERS
def test_each_access_of_an_entry_steps_the_index(console: Console, base: int, name: str) -> None:
    """The first revision saw colours change at random with each write. Each write changes one entry of a table with
    256 of them, red in the low byte, and goes on to the next, so writing the same word again changes another colour."""
    console.put(FCRAM, bytes(value for value in range(240) for _ in range(3)) * 400)
    console.show(base, x68=FCRAM, x6C=FCRAM)
    identity = console.frame(name)[::-1, 0].copy()
    assert identity.tolist() == [[value] * 3 for value in range(240)]
    console.write(base + INDEX, 7)
    for poke in range(3):
        console.write(base + ENTRY, 0xFF0000C0)  # the high byte counts for nothing
        shown = console.frame(name)[::-1, 0]
        changed = (shown != identity).any(axis=1).nonzero()[0].tolist()
        assert changed == list(range(7, 8 + poke))
        assert all(shown[value].tolist() == [0xC0, 0, 0] for value in changed)
    console.write(base + INDEX, 9)
    assert [console.read(base + ENTRY) for _ in range(3)] == [0xC0, 0x0A0A0A, 0x0B0B0B]
    console.write(base + INDEX, 255)
    assert [console.read(base + ENTRY) for _ in range(2)] == [0xFFFFFF, 0]  # from the last to the first


@pytest.mark.row("ext.lcd.0x84", "ext2.pdc.0x84")
def test_each_controller_has_a_table_of_its_own(console: Console) -> None:
    plain(console, FCRAM, 0x45)
    for base in (PDC0, PDC1):
        console.show(base, x68=FCRAM, x6C=FCRAM)
    console.write(PDC1 + INDEX, 0x45)
    console.write(PDC1 + ENTRY, 0)
    console.n3ds.step_vblank()
    assert (console.frame("top") == 0x45).all() and not console.frame("bottom").any()


# -- size ------------------------------------------------------------------------------------------------------------


@lcd("0x5C")
@pytest.mark.parametrize(("base", "name", "size"), [(PDC0, "top", (240, 400)), (PDC1, "bottom", (240, 320))])
def test_the_size_has_the_width_in_its_low_half(console: Console, base: int, name: str, size: tuple[int, int]) -> None:
    """Width is along a row of memory, so it stands upright on the screen. The height is not used (second revision)."""
    assert console.read(base + 0x5C) == size[1] << 16 | size[0]
    expected = rows(console, FCRAM, size[1], 720)
    console.show(base, x68=FCRAM, x6C=FCRAM)
    for height in (size[1], 0, 1, 0xFFFF):
        console.write(base + 0x5C, height << 16 | size[0])
        assert console.read(base + 0x5C) == height << 16 | size[0]
        shown = console.frame(name)
        assert shown.shape == (*size, 3) and np.array_equal(shown, expected)
