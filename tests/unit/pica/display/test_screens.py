"""Scan-out: where each pixel of a framebuffer appears, and which framebuffer is shown."""

from __future__ import annotations

import lzma
import random
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pocketgpu.events import EventLog
from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.formats import EXTERNAL_FORMATS
from pocketgpu.pica.display.screens import ColorTable, scan_out
from pocketgpu.pica.memory import surface
from pocketgpu.pica.memory.guest import MIB, GuestMemory
from pocketgpu.pictures import Screen

VRAM = 0x18000000
FCRAM = 0x20000000
FLAT, STEREO, REVERSED, DOUBLED_ROWS, WIDE = 0x40, 0x20, 0x30, 0x10, 0x00


class Console:
    """A memory and registers that hold what is written."""

    def __init__(self) -> None:
        self.memory = GuestMemory(work_size=MIB)
        self.words = {register.address: register.reset for block in (EXTERNAL, LCD) for register in block}
        self.events = EventLog()
        self.luts = ColorTable(), ColorTable()

    def set(self, **values: int) -> None:
        for name, value in values.items():
            self.words[(LCD if name in LCD else EXTERNAL)[name].address] = value

    def show(self, address: int, form: int = 1, mode: int = FLAT, stride: int | None = None) -> None:
        bpp = EXTERNAL_FORMATS.get(form, EXTERNAL_FORMATS[4]).bits // 8
        self.set(PDC0_ADDRESS_A0=address, PDC0_FORMAT=mode | form, PDC0_SELECT=0)
        self.set(PDC0_STRIDE=(240 * bpp if stride is None else stride) & 0xFFFFFFFF)

    def screens(self, **choices: str) -> dict[str, Screen]:
        named = {f"display.{name}": value for name, value in choices.items()}
        return scan_out(self.memory, lambda pa: self.words.get(pa, 0), self.luts, self.events, "f0/e1", named)

    def top(self, **choices: str) -> np.ndarray:
        screen = self.screens(**choices)["top"]
        assert screen.array.dtype == np.uint8
        assert screen.array.shape == (screen.height, screen.width, 3)
        return screen.array


@pytest.fixture
def console() -> Console:
    return Console()


def test_after_power_on_both_screens_are_dark_and_nobody_complains(console: Console) -> None:
    screens = console.screens()
    assert {name: (s.width, s.height) for name, s in screens.items()} == {"top": (400, 240), "bottom": (320, 240)}
    assert not any(screen.array.any() for screen in screens.values())
    assert len(console.events) == 0


def test_byte_zero_is_the_bottom_left_pixel(console: Console) -> None:
    console.show(FCRAM)
    console.memory.write(FCRAM, bytes([1, 2, 3]))
    top = console.top()
    assert top[239, 0].tolist() == [3, 2, 1]
    assert int(top.sum()) == 6


@pytest.mark.parametrize("form", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("pad", [0, 64, -16])
def test_every_pixel_of_every_format(console: Console, form: int, pad: int) -> None:
    format = EXTERNAL_FORMATS[form]
    bpp = format.bits // 8
    stride = 240 * bpp + pad
    data = random.Random(form).randbytes(399 * stride + 240 * bpp)
    console.memory.write(VRAM + 512, data)
    console.show(VRAM + 512, form, stride=stride)
    console.set(PDC1_ADDRESS_A0=VRAM + 512, PDC1_FORMAT=form, PDC1_STRIDE=stride)
    screens = console.screens()
    for name, width in (("top", 400), ("bottom", 320)):
        rows = [data[x * stride :][: 240 * bpp] for x in range(width)]
        expected = np.stack([surface.decode(row, format, 240, 1)[0, ::-1, :3] for row in rows], axis=1)
        assert np.array_equal(screens[name].array, expected)
    assert len(console.events) == 0


def test_a_negative_stride_mirrors_and_zero_repeats_a_row(console: Console) -> None:
    console.memory.write(FCRAM, random.Random(1).randbytes(400 * 720))
    console.show(FCRAM)
    plain = console.top()
    console.show(FCRAM + 399 * 720, stride=-720)
    assert np.array_equal(console.top(), plain[:, ::-1])
    console.show(FCRAM + 7 * 720, stride=0)
    assert np.array_equal(console.top(), np.repeat(plain[:, 7:8], 400, axis=1))
    assert len(console.events) == 0


@pytest.mark.parametrize("form", [5, 6, 7])
def test_formats_past_the_table(console: Console, form: int) -> None:
    console.memory.write(FCRAM, random.Random(form).randbytes(400 * 480))
    console.show(FCRAM, 4)
    as_rgba4 = console.top()
    console.show(FCRAM, form)
    assert np.array_equal(console.top(), as_rgba4)
    # The other reading: 120 pixels of four bytes, each shown twice.
    console.show(FCRAM, 0, stride=480)
    wide = console.top()
    console.show(FCRAM, form)
    assert np.array_equal(console.top(formats_5_7="doubled"), np.repeat(wide[120:], 2, axis=0))


@pytest.mark.parametrize("form", [0, 1, 2, 3, 4])
def test_the_other_way_to_widen_channels(console: Console, form: int) -> None:
    format = EXTERNAL_FORMATS[form]
    data = random.Random(form).randbytes(400 * 240 * format.bits // 8)
    console.memory.write(FCRAM, data)
    console.show(FCRAM, form)
    words = [int.from_bytes(data[n : n + format.bits // 8], "little") for n in range(0, 900, format.bits // 8)]
    expected = []
    for word in words[:200]:
        channels = {
            name: (word >> lo & (1 << bits) - 1) * 255 // ((1 << bits) - 1) for name, lo, bits in format.channels
        }
        expected.append([channels[name] for name in "rgb"])
    assert console.top(expand="scale")[::-1, 0].tolist()[:200] == expected


def test_the_select_bit_chooses_the_second_addresses(console: Console) -> None:
    for n in range(4):
        console.memory.write(FCRAM + n * MIB, bytes([n + 1]) * 400 * 720)
    console.show(FCRAM, mode=STEREO)
    console.set(PDC0_ADDRESS_A1=FCRAM + MIB, PDC0_ADDRESS_B0=FCRAM + 2 * MIB, PDC0_ADDRESS_B1=FCRAM + 3 * MIB)
    for select, left, right in ((0, 1, 3), (1, 2, 4), (0x10000, 1, 3), (0x70011, 2, 4)):
        console.set(PDC0_SELECT=select)
        screens = console.screens()
        assert (screens["top"].array == left).all()
        assert (screens["top-right"].array == right).all()


def test_line_modes_of_the_top_screen(console: Console) -> None:
    console.memory.write(FCRAM, b"\x11" * 400 * 720)
    console.memory.write(FCRAM + MIB, b"\x22" * 400 * 720)
    shown = {}
    for mode in (FLAT, DOUBLED_ROWS, STEREO, REVERSED, STEREO | FLAT, FLAT | DOUBLED_ROWS):
        console.show(FCRAM, mode=mode)
        console.set(PDC0_ADDRESS_B0=FCRAM + MIB)
        screens = console.screens()
        assert all(screens[name].width == 400 for name in screens if name != "bottom")
        shown[mode] = {name: int(screen.array[0, 0, 0]) for name, screen in screens.items() if name != "bottom"}
    assert shown[FLAT] == shown[DOUBLED_ROWS] == shown[FLAT | DOUBLED_ROWS] == {"top": 0x11}
    assert shown[STEREO] == shown[STEREO | FLAT] == {"top": 0x11, "top-right": 0x22}
    assert shown[REVERSED] == {"top": 0x22, "top-right": 0x11}


@pytest.mark.parametrize("mode", [STEREO, REVERSED])
def test_one_address_for_both_eyes_is_one_picture(console: Console, mode: int) -> None:
    console.show(FCRAM, mode=mode)
    console.set(PDC0_ADDRESS_B0=FCRAM)
    assert set(console.screens()) == {"top", "bottom"}


def test_wide_mode_shows_eight_hundred_columns(console: Console) -> None:
    data = random.Random(2).randbytes(800 * 720)
    console.memory.write(FCRAM, data)
    console.show(FCRAM, mode=WIDE)
    wide = console.screens()["top"]
    assert (wide.width, wide.height) == (800, 240)
    console.show(FCRAM + 400 * 720)
    assert np.array_equal(wide.array[:, 400:], console.top())


def test_line_modes_on_the_bottom_screen_are_named(console: Console) -> None:
    console.memory.write(FCRAM, b"\x11" * 320 * 720)
    console.set(PDC1_ADDRESS_A0=FCRAM, PDC1_FORMAT=FLAT | STEREO | 1)
    screens = console.screens()
    assert set(screens) == {"top", "bottom"}
    assert (screens["bottom"].array == 0x11).all()
    assert [event.id for event in console.events] == ["display.mode"]


def test_scan_doubling_of_the_bottom_screen_shows_each_pixel_twice(console: Console) -> None:
    rows = np.random.default_rng(5).integers(0, 256, (320, 240, 3), np.uint8)
    console.memory.write(FCRAM, rows.tobytes())
    console.set(PDC1_ADDRESS_A0=FCRAM, PDC1_FORMAT=FLAT | 1)
    shown = console.screens()["bottom"].array
    expected = np.repeat(rows[:, :120, ::-1], 2, axis=1)  # blue comes first in memory
    assert np.array_equal(shown, expected.transpose(1, 0, 2)[::-1])
    assert len(console.events) == 0


def test_a_controller_that_is_off_is_black(console: Console) -> None:
    console.memory.write(FCRAM, b"\xff" * 800 * 720)
    console.show(FCRAM, mode=STEREO)
    console.set(PDC0_ADDRESS_B0=VRAM, PDC0_CONTROL=0x10500, PDC1_CONTROL=0)
    screens = console.screens()
    assert set(screens) == {"top", "bottom"}
    assert not screens["top"].array.any()
    assert len(console.events) == 0


def test_the_fill_colour_covers_everything(console: Console) -> None:
    console.memory.write(FCRAM, b"\xff" * 400 * 720)
    console.show(FCRAM, mode=STEREO)
    console.set(PDC0_ADDRESS_B0=VRAM, TOP_FILL=0x00_332211, BOTTOM_FILL=0x01_00FF80, PDC1_CONTROL=0)
    screens = console.screens()
    assert (screens["top"].array == 255).all()
    assert np.unique(screens["bottom"].array.reshape(-1, 3), axis=0).tolist() == [[0x80, 0xFF, 0]]
    console.set(TOP_FILL=0x01_332211)
    screens = console.screens()
    assert set(screens) == {"top", "bottom"}
    assert np.unique(screens["top"].array.reshape(-1, 3), axis=0).tolist() == [[0x11, 0x22, 0x33]]


def test_the_colour_table_changes_one_screen(console: Console) -> None:
    console.memory.write(FCRAM, bytes([5, 6, 7]) * 240 * 400)
    console.show(FCRAM)
    console.set(PDC1_ADDRESS_A0=FCRAM, PDC1_FORMAT=1)
    table = console.luts[0]
    table.select(5)
    for word in (0x300000, 0x002000, 0x000010):
        table.store(word)
    assert table.index == 8
    screens = console.screens()
    assert screens["top"].array[0, 0].tolist() == [0x10, 0x20, 0x30]
    assert screens["bottom"].array[0, 0].tolist() == [7, 6, 5]
    table.select(0x1FE)
    assert [table.load(), table.load(), table.load()] == [0xFEFEFE, 0xFFFFFF, 0]
    for n in range(256):
        table.select(n)
        table.store(0x010101 * n)
    assert table.is_identity
    assert console.top()[0, 0].tolist() == [7, 6, 5]


def test_what_is_not_memory_is_black_and_reported(console: Console) -> None:
    console.show(0x10400000)
    assert not console.top().any()
    (event,) = console.events
    assert (event.kind, event.id, event.at) == ("fault", "display.unmapped", "f0/e1")
    assert "400 of 400" in event.message


def test_the_mapped_part_is_shown(console: Console) -> None:
    end = FCRAM + 128 * MIB
    console.memory.write(end - 10 * 720 - 30, b"\x55" * (10 * 720 + 30))
    console.show(end - 10 * 720 - 30)
    top = console.top()
    assert (top[:, :10] == 0x55).all()
    assert (top[230:, 10] == 0x55).all()
    assert not top[:230, 10].any()
    assert not top[:, 11:].any()
    assert "390 of 400" in next(iter(console.events)).message


def test_regions_that_lie_side_by_side_make_one_picture(console: Console) -> None:
    data = random.Random(3).randbytes(400 * 720)
    base = FCRAM - 5000
    console.memory.write(base, data[:5000])
    console.memory.write(FCRAM, data[5000:])
    console.show(base)
    split = console.top()
    console.memory.write(VRAM, data)
    console.show(VRAM)
    assert np.array_equal(split, console.top())
    assert len(console.events) == 0


@pytest.mark.parametrize("stride", [0x7FFFFFF0, -0x80000000, 0x10000000, -720, 12345])
@pytest.mark.parametrize("base", [VRAM + 1, FCRAM, 0xFFFFFFF0, 8])
@pytest.mark.parametrize("form", [0, 1, 4])
def test_wild_settings_never_fail(console: Console, base: int, stride: int, form: int) -> None:
    console.memory.write(FCRAM, b"\x77" * 960)
    console.show(base, form, stride=stride)
    top = console.top()
    assert top.shape == (240, 400, 3)
    if base == FCRAM:
        assert top[:, 0].all()


def test_random_registers_never_fail(console: Console) -> None:
    rng = random.Random(4)
    names = [register.name for register in EXTERNAL if register.name.startswith("PDC")]
    for _ in range(60):
        console.set(**{name: rng.getrandbits(32) for name in rng.sample(names, 20)})
        for screen in console.screens().values():
            assert screen.array.shape == (240, screen.width, 3)


def test_the_image_of_a_screen(console: Console) -> None:
    console.show(FCRAM)
    screen = console.screens()["top"]
    assert (screen.image.mode, screen.image.size) == ("RGB", (400, 240))


# Recordings of real programs whose pictures the CPU drew: no GPU is needed to show them.


def frames(path: Path, console: Console) -> Iterator[int]:
    """Load memory and registers from a recording; yields the number of each frame when it is shown."""
    data = lzma.decompress(path.read_bytes())
    external, external_words, lcd, lcd_words = struct.unpack_from("<4I", data, 12)
    for base, start, count in ((0x10400000, external, external_words), (0x10202000, lcd, lcd_words)):
        for n, word in enumerate(struct.unpack_from(f"<{count}I", data, start)):
            console.words[base + 4 * n] = word
    stream, count = struct.unpack_from("<2I", data, 92)
    frame = 0
    for n in range(count):
        kind, one, two, three = struct.unpack_from("<4I", data, stream + 20 * n)
        if kind == 0xE1:
            yield frame
            frame += 1
        elif kind == 0xE2:
            console.memory.write(three, data[one : one + two])
        elif kind == 0xE3:
            console.words[one] = two


@pytest.mark.parametrize(
    ("name", "screen"), [("hwtest_texcopy", "top"), ("2d_shapes", "bottom"), ("proctex", "bottom")]
)
def test_recorded_text_screens(shared_dir: Path, console: Console, name: str, screen: str) -> None:
    folder = shared_dir / "captures" / "3ds"
    compared = 0
    for frame in frames(folder / f"{name}.ctf.xz", console):
        picture = folder / "reference" / name / f"f{frame}.{screen}.png"
        if picture.exists():
            with Image.open(picture) as image:
                assert np.array_equal(console.screens()[screen].array, np.asarray(image.convert("RGB"))), frame
            compared += bool(console.screens()[screen].array.any())
    assert compared > 0
    assert len(console.events) == 0
