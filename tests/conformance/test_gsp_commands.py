"""GX commands 0 to 5 word by word, as a program writes them into its queue (GSP Shared Memory)."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from .console import (
    FCRAM,
    FINALIZE,
    HEAP_VA,
    PPF,
    PSC0,
    VRAM,
    VRAM_VA,
    Console,
    decoded,
    encoded,
    picture,
    tiled,
    untiled,
)
from .gsp_client import Client, outcome

I_PSC0, I_PSC1, I_PPF, I_P3D, I_DMA = 0, 1, 4, 5, 6
CLOBBER = 0xDEADBEEF
START, END, VALUE, CONTROL = range(4)


@pytest.fixture
def console() -> Console:
    return Console()


@pytest.fixture
def client(console: Console) -> Client:
    return Client(console)


def fields(console: Console, first: int, count: int) -> list[int]:
    return [console.read(first + 4 * n) for n in range(count)]


COMMANDS = {
    0: (VRAM_VA, HEAP_VA + 3, 21),
    1: (HEAP_VA + 0x2000, 16),
    2: (VRAM_VA, 0x11223344, VRAM_VA + 64, HEAP_VA, 0x55667788, HEAP_VA + 32, 0x01010201),
    3: (VRAM_VA, HEAP_VA, 16 << 16 | 16, 16 << 16 | 16, 0x1000),
    4: (VRAM_VA, HEAP_VA, 256, 0, 0, 8),
    5: (HEAP_VA, 100, VRAM_VA, 7, VRAM_VA + 99, 1),
}
"""One good command of each kind: words 1 and up."""
IDS = {0: [I_DMA], 1: [I_P3D], 2: [I_PSC0, I_PSC1], 3: [I_PPF], 4: [I_PPF], 5: []}


def prepared() -> tuple[Console, Client]:
    console = Console()
    console.put(VRAM, np.random.default_rng(1).integers(0, 256, 0x2000, np.uint8))
    console.put(FCRAM + 0x2000, struct.pack("<4I", 0x0BADCAFE, 0x000F00C3, *FINALIZE))
    return console, Client(console)


@pytest.mark.parametrize("number", [pytest.param(n, marks=pytest.mark.row(f"gsp.gx{n}.0")) for n in range(6)])
def test_word_0_has_the_id_and_each_command_its_interrupt(number: int) -> None:
    _, client = prepared()
    assert client.run(number, *COMMANDS[number]) == 0
    assert client.entries() == IDS[number]
    # The high bytes of the word are other things: with an id alone, and with it beside all that drivers set.
    assert client.run(0x01000100 | number, *COMMANDS[number]) == 0
    assert client.entries() == IDS[number]


@pytest.mark.parametrize(
    ("number", "word"),
    [
        pytest.param(number, word, marks=pytest.mark.row(row), id=f"gx{number}-{word}")
        for row, number, words in (
            ("gsp.gx0.7-4", 0, range(4, 7)), ("gsp.gx1.6-4", 1, range(4, 7)), ("gsp.gx3.7-6", 3, (6, 7)),
            ("gsp.gx4.7", 4, (7,)), ("gsp.gx5.7", 5, (7,)),
        )
        for word in words
    ],
)  # fmt: skip
def test_unused_words_change_nothing(number: int, word: int) -> None:
    results = []
    for value in (0, CLOBBER):
        console, client = prepared()
        words = [number, *COMMANDS[number], *[0] * 7][:8]
        words[word] = value
        results.append((outcome(console, client, *words), client.gsp.flushed))
    assert results[0] == results[1]
    # The result is not one of a machine that does nothing: another word of the command changes it.
    console, client = prepared()
    words = [number, *COMMANDS[number], *[0] * 7][:8]
    words[2 if number != 4 else 3] += 16
    assert (outcome(console, client, *words), client.gsp.flushed) != results[0]


@pytest.mark.row("gsp.gx0.7-4")
def test_word_7_of_a_dma_asks_for_a_flush_of_the_source(console: Console, client: Client) -> None:
    """The page calls words 4 to 7 unused; by now the last is known as the flag that flushes the source before."""
    for flag, flushed in ((0, ()), (1, ((VRAM_VA, 24),)), (CLOBBER, ((VRAM_VA, 24),))):
        assert client.run(0, VRAM_VA, HEAP_VA, 24, 0, 0, 0, flag) == 0
        assert client.gsp.flushed == flushed


# -- command 0: DMA --------------------------------------------------------------------------------------------------


@pytest.mark.row("gsp.gx0.1", "gsp.gx0.2", "gsp.gx0.3")
@pytest.mark.parametrize("size", [0, 1, 7, 8, 4096, 4099])
@pytest.mark.parametrize(("source", "target"), [(0, 0), (5, 0), (0, 3), (6, 9)])
def test_dma_copies_size_bytes_from_source_to_destination(
    console: Console, client: Client, source: int, target: int, size: int
) -> None:
    """From the heap to video memory; neither addresses nor size need be multiples of 8."""
    data = np.random.default_rng(2).integers(1, 256, 5000, np.uint8).tobytes()
    console.put(FCRAM, data)
    assert client.run(0, HEAP_VA + source, VRAM_VA + target, size) == 0
    assert console.get(VRAM, 5000) == (bytes(target) + data[source : source + size]).ljust(5000, b"\0")
    assert client.entries() == [I_DMA]


@pytest.mark.parametrize(
    ("words", "row"),
    [
        pytest.param((0x00100000, VRAM_VA, 16), 1, marks=pytest.mark.row("gsp.gx0.1"), id="source"),
        pytest.param((HEAP_VA, 0x00100000, 16), 2, marks=pytest.mark.row("gsp.gx0.2"), id="destination"),
        pytest.param((HEAP_VA, VRAM_VA, 0x600001), 3, marks=pytest.mark.row("gsp.gx0.3"), id="size"),
    ],
)
def test_dma_stays_in_heap_and_video_memory(console: Console, client: Client, words: tuple[int, ...], row: int) -> None:
    console.put(FCRAM, b"\xff" * 16)
    assert client.run(0, *words) != 0
    assert (console.get(VRAM, 16), client.entries()) == (bytes(16), [])
    words = (*words[: row - 1], (HEAP_VA, VRAM_VA, 16)[row - 1], *words[row:])
    assert client.run(0, *words) == 0
    assert console.get(VRAM, 16) == b"\xff" * 16


# -- command 1: command list -----------------------------------------------------------------------------------------


def put_list(console: Console, at: int, color: int) -> None:
    """A list that writes TEXENV0_COLOR."""
    console.put(at, struct.pack("<4I", color, 0x000F00C3, *FINALIZE))


COLOR = 0x1EF01000 + 4 * 0xC3


@pytest.mark.row("gsp.gx1.1")
def test_a_list_runs_from_its_buffer(console: Console, client: Client) -> None:
    for place, color in ((0x100, 0x11111111), (0x5550, 0x22222222), (0x7FFFF0, 0x33333333)):
        put_list(console, VRAM - 0 + place if place < 0x5000 else FCRAM + place, color)
        assert client.run(1, (VRAM_VA if place < 0x5000 else HEAP_VA) + place, 16) == 0
        physical = (VRAM if place < 0x5000 else FCRAM) + place
        assert (console.read(COLOR), console.read(0x1EF018E8)) == (color, physical >> 3)
        assert client.entries() == [I_P3D]
    assert client.run(1, 0x00100000, 16) != 0 and client.entries() == []


@pytest.mark.row("gsp.gx1.2")
def test_a_list_ends_after_its_size(console: Console, client: Client) -> None:
    """The words after the size are not run; the size goes to its register in units of 8 bytes."""
    console.put(FCRAM, struct.pack("<8I", 1, 0x000F00C3, 2, 0x000F00C3, 3, 0x000F00C3, *FINALIZE))
    for size, color, interrupts in ((16, 2, []), (32, 3, [I_P3D])):
        assert client.run(1, HEAP_VA, size) == 0
        assert (console.read(COLOR), console.read(0x1EF018E0)) == (color, size >> 3)
        assert client.entries() == interrupts


GAS_LIMIT, GAS_REACHED = (0x1EF01000 + 4 * number for number in (0x0E5, 0x125))


@pytest.mark.row("gsp.gx1.3")
@pytest.mark.parametrize("flag", [0, 1, 2, 3, 0xFFFFFFFE])
def test_bit_0_of_the_flag_updates_the_gas_density(console: Console, client: Client, flag: int) -> None:
    """The page only says that gsp keeps the bit; it is known now what for: before the list, the density that gas
    rendering has reached becomes the new scale."""
    put_list(console, FCRAM, 0)
    console.write(GAS_LIMIT, 0x1234)
    console.write(GAS_REACHED, 8)
    assert client.run(1, HEAP_VA, 16, flag) == 0
    assert console.read(GAS_LIMIT) == (0x3000 if flag & 1 else 0x1234)  # 1/8 as a 16-bit float
    assert client.entries() == [I_P3D]


@pytest.mark.row("gsp.gx1.7")
@pytest.mark.parametrize("flag", [0, 1, 0x80000000])
def test_word_7_flushes_the_list(console: Console, client: Client, flag: int) -> None:
    put_list(console, FCRAM + 0x100, 0x12345678)
    assert client.run(1, HEAP_VA + 0x100, 16, 0, 0, 0, 0, flag) == 0
    assert client.gsp.flushed == (((HEAP_VA + 0x100, 16),) if flag else ())
    assert console.read(COLOR) == 0x12345678


# -- command 2: memory fill ------------------------------------------------------------------------------------------


def buffer(unit: int, start: int, value: int, end: int, control: int) -> tuple[int, ...]:
    """A fill command that uses one buffer."""
    words = (start, value, end)
    return (2, *words, 0, 0, 0, control) if unit == 0 else (2, 0, 0, 0, *words, control << 16)


@pytest.mark.parametrize(
    "unit", [pytest.param(n, marks=pytest.mark.row(f"gsp.gx2.{(1, 4)[n]}"), id=f"buf{n}") for n in (0, 1)]
)
def test_a_fill_starts_at_its_address_and_0_skips_it(console: Console, client: Client, unit: int) -> None:
    other = 1 - unit
    for virtual, physical in ((VRAM_VA + 0x40, VRAM + 0x40), (HEAP_VA + 0x1000, FCRAM + 0x1000)):
        assert client.run(*buffer(unit, virtual, 0x0A0B0C0D, virtual + 32, 0x201)) == 0
        assert console.get(physical - 16, 64) == bytes(16) + bytes.fromhex("0d0c0b0a") * 8 + bytes(16)
        assert console.read(PSC0 + 0x10 * unit) == physical >> 3
        assert client.entries() == [(I_PSC0, I_PSC1)[unit]]
    # Address 0: nothing of this buffer is looked at, the other one works.
    before = fields(console, PSC0 + 0x10 * unit, 4)
    words = list(buffer(other, VRAM_VA + 0x100, 0x77777777, VRAM_VA + 0x110, 0x201))
    words[2 + 3 * unit], words[3 + 3 * unit] = CLOBBER, 7
    words[7] |= 0x201 << 16 * unit
    assert client.run(*words) == 0
    assert console.get(VRAM + 0x100, 16) == b"\x77" * 16
    assert client.entries() == [(I_PSC0, I_PSC1)[other]]
    assert fields(console, PSC0 + 0x10 * unit, 4) == before


@pytest.mark.parametrize(
    "unit", [pytest.param(n, marks=pytest.mark.row(f"gsp.gx2.{(2, 5)[n]}"), id=f"buf{n}") for n in (0, 1)]
)
def test_word_2_of_a_buffer_is_the_value(console: Console, client: Client, unit: int) -> None:
    """The page says "size"; it is the value to fill with, and the size follows from the addresses."""
    for value in (0x00000020, 0x11223344, 0xFFFFFFFF):
        assert client.run(*buffer(unit, VRAM_VA, value, VRAM_VA + 64, 0x201)) == 0
        assert console.get(VRAM, 68) == struct.pack("<I", value) * 16 + bytes(4)
        assert console.read(PSC0 + 0x10 * unit + 8) == value


@pytest.mark.parametrize(
    "unit", [pytest.param(n, marks=pytest.mark.row(f"gsp.gx2.{(3, 6)[n]}"), id=f"buf{n}") for n in (0, 1)]
)
def test_word_3_of_a_buffer_is_its_end(console: Console, client: Client, unit: int) -> None:
    """The page's "associated address" is the first byte after the buffer; it must be above the start, so never 0."""
    for size in (16, 48, 0x1000):
        console.put(VRAM, bytes(0x1010))
        assert client.run(*buffer(unit, VRAM_VA, 0xFFFFFFFF, VRAM_VA + size, 0x201)) == 0
        assert console.get(VRAM, size + 16) == b"\xff" * size + bytes(16)
        assert console.read(PSC0 + 0x10 * unit + 4) == VRAM + size >> 3
    client.entries()
    for end in (0, VRAM_VA, VRAM_VA + 0x1FF8, VRAM_VA + 0x2000):
        assert client.run(*buffer(unit, VRAM_VA + 0x2000, 0xFFFFFFFF, end, 0x201)) != 0
    assert (console.get(VRAM + 0x1FF0, 48), client.entries()) == (bytes(48), [])


@pytest.mark.row("gsp.gx2.7")
@pytest.mark.parametrize("codes", [(0, 1), (1, 2), (2, 0), (2, 1)])
def test_word_7_has_the_control_word_of_each_buffer(console: Console, client: Client, codes: tuple[int, int]) -> None:
    control = [code << 8 | 1 for code in codes]
    words = (2, VRAM_VA, 0x44332211, VRAM_VA + 48, VRAM_VA + 48, 0x44332211, VRAM_VA + 96)
    assert client.run(*words, control[1] << 16 | control[0]) == 0
    expected = [(b"\x11\x22\x33\x44"[: (2, 3, 4)[code]] * 24)[:48] for code in codes]
    assert console.get(VRAM, 97) == expected[0] + expected[1] + b"\0"
    assert fields(console, PSC0 + 0xC, 1) + fields(console, PSC0 + 0x1C, 1) == [code << 8 | 2 for code in codes]
    assert client.entries() == [I_PSC0, I_PSC1]
    # Without its start bit a buffer is set up but not filled.
    console.put(VRAM, bytes(96))
    assert client.run(*words, control[1] << 16 | control[0] & ~1) == 0
    assert console.get(VRAM, 96) == bytes(48) + expected[1]


# -- command 3: display transfer -------------------------------------------------------------------------------------


@pytest.mark.row("gsp.gx3.1", "gsp.gx3.2")
@pytest.mark.parametrize(("source", "target"), [(0, 0), (0x3000, 0x10), (0x5FE0F0, 0x123450)])
def test_a_transfer_goes_from_input_to_output(console: Console, client: Client, source: int, target: int) -> None:
    """From tiles in video memory to rows on the heap; both addresses are written to the engine as physical ones."""
    image = picture(16, 8)
    console.put(VRAM + source, tiled(image))
    assert client.run(3, VRAM_VA + source, HEAP_VA + target, 8 << 16 | 16, 8 << 16 | 16, 0) == 0
    assert console.get(FCRAM + target, 512) == image.tobytes()
    assert fields(console, PPF, 2) == [VRAM + source >> 3, FCRAM + target >> 3]
    assert client.entries() == [I_PPF]


@pytest.mark.row("gsp.gx3.3", "gsp.gx3.4")
@pytest.mark.parametrize(("wide", "narrow", "height"), [(32, 16, 8), (64, 40, 24)])
def test_a_transfer_has_input_dimensions_first(
    console: Console, client: Client, wide: int, narrow: int, height: int
) -> None:
    """Width in the low half. The order of the registers is the other one: output at C08, input at C0C."""
    image = picture(wide, height)
    console.put(VRAM, tiled(image))
    assert client.run(3, VRAM_VA, HEAP_VA, height << 16 | wide, height << 16 | narrow, 4) == 0
    assert console.get(FCRAM, narrow * height * 4 + 4) == image[:, :narrow].tobytes() + bytes(4)
    assert fields(console, PPF + 8, 2) == [height << 16 | narrow, height << 16 | wide]


@pytest.mark.row("gsp.gx3.5")
def test_word_5_of_a_transfer_are_the_flags(console: Console, client: Client) -> None:
    """Unknown to the page: the word goes to register C10, here RGBA8 to RGB565 and upside down, then to tiles."""
    image = picture(8, 8)
    pixels = decoded(image.tobytes(), 0)
    console.put(VRAM, tiled(image))
    assert client.run(3, VRAM_VA, HEAP_VA, 8 << 16 | 8, 8 << 16 | 8, 0x2001) == 0
    assert console.read(PPF + 0x10) == 0x2001
    rows = [pixels[8 * y : 8 * y + 8] for y in range(8)]
    assert console.get(FCRAM, 128) == b"".join(encoded(row, 2) for row in reversed(rows))
    console.put(VRAM, image)
    assert client.run(3, VRAM_VA, HEAP_VA, 8 << 16 | 8, 8 << 16 | 8, 0x0002) == 0
    out = np.frombuffer(console.get(FCRAM, 256), np.uint32)
    assert np.array_equal(untiled(out, 8, 8), image)


# -- command 4: texture copy -----------------------------------------------------------------------------------------


def rows_of(count: int) -> bytes:
    return b"".join(bytes([n + 1]) * 16 for n in range(count))


@pytest.mark.row("gsp.gx4.1", "gsp.gx4.2")
@pytest.mark.parametrize(("source", "target"), [(0, 0), (0x3000, 0x10), (0x5FFFC0, 0x123450)])
def test_a_copy_goes_from_buffer_0_to_buffer_1(console: Console, client: Client, source: int, target: int) -> None:
    console.put(VRAM + source, rows_of(4))
    assert client.run(4, VRAM_VA + source, HEAP_VA + target, 64, 0, 0, 8) == 0
    assert console.get(FCRAM + target, 80) == rows_of(4) + bytes(16)
    assert fields(console, PPF, 2) == [VRAM + source >> 3, FCRAM + target >> 3]
    assert client.entries() == [I_PPF]


@pytest.mark.row("gsp.gx4.3")
@pytest.mark.parametrize("size", [16, 48, 4096])
def test_word_3_of_a_copy_is_the_number_of_bytes(console: Console, client: Client, size: int) -> None:
    """Unknown to the page."""
    console.put(VRAM, b"\xff" * 8192)
    assert client.run(4, VRAM_VA, HEAP_VA, size, 0, 0, 8) == 0
    assert console.get(FCRAM, 8192) == (b"\xff" * size).ljust(8192, b"\0")
    assert console.read(PPF + 0x20) == size


@pytest.mark.parametrize(
    "word",
    [
        pytest.param(4, marks=pytest.mark.row("gsp.gx4.4"), id="input"),
        pytest.param(5, marks=pytest.mark.row("gsp.gx4.5"), id="output"),
    ],
)
def test_words_4_and_5_of_a_copy_are_its_lines(console: Console, client: Client, word: int) -> None:
    """Unknown to the page: line width in the low half and gap in the high half, in units of 16 bytes."""
    console.put(VRAM, rows_of(16))
    line = 3 << 16 | 2  # two units, then three are left out
    words = [4, VRAM_VA, HEAP_VA, 96, 0, 0, 0xC]
    words[word] = line
    assert client.run(*words) == 0
    units = [1, 2, 6, 7, 11, 12] if word == 4 else [1, 2, 0, 0, 0, 3, 4, 0, 0, 0, 5, 6]
    assert console.get(FCRAM, 256) == b"".join(bytes([n]) * 16 for n in units).ljust(256, b"\0")
    assert fields(console, PPF + 0x24, 2) == [line if word == 4 else 0, line if word == 5 else 0]


@pytest.mark.row("gsp.gx4.6")
def test_word_6_of_a_copy_are_the_flags(console: Console, client: Client) -> None:
    """Unknown to the page: the word goes to register C10, where bit 3 is what makes the engine copy."""
    console.put(VRAM, rows_of(4))
    for flags in (0x8, 0xC):
        console.put(FCRAM, bytes(64))
        assert client.run(4, VRAM_VA, HEAP_VA, 64, 0, 0, flags) == 0
        assert (console.read(PPF + 0x10), console.get(FCRAM, 64)) == (flags, rows_of(4))
    # Without it the engine does a display transfer by the sizes of the last one, here of 8 x 8 pixels.
    image = picture(8, 8)
    console.put(VRAM, tiled(image))
    console.write(PPF + 0x08, 8 << 16 | 8)
    console.write(PPF + 0x0C, 8 << 16 | 8)
    assert client.run(4, VRAM_VA, HEAP_VA, 64, 0, 0, 0) == 0
    assert console.get(FCRAM, 256) == image.tobytes()


# -- command 5: flush ------------------------------------------------------------------------------------------------


RANGES = ((HEAP_VA + 0x205, 0x103), (VRAM_VA + 3, 5), (HEAP_VA + 0x1001, 1))


@pytest.mark.row("gsp.gx5.1", "gsp.gx5.2", "gsp.gx5.3", "gsp.gx5.4", "gsp.gx5.5", "gsp.gx5.6")
def test_three_buffers_are_flushed(console: Console, client: Client) -> None:
    """Addresses in words 1, 3 and 5, sizes in 2, 4 and 6, none of them aligned. No interrupt, no byte changes."""
    console.put(VRAM, rows_of(8))
    words = [word for pair in RANGES for word in pair]
    assert client.run(5, *words) == 0
    assert client.gsp.flushed == RANGES
    assert (client.entries(), console.get(VRAM, 128)) == ([], rows_of(8))


@pytest.mark.row("gsp.gx5.2")
def test_the_first_size_must_not_be_0(client: Client) -> None:
    assert client.run(5, HEAP_VA, 0, HEAP_VA, 16, HEAP_VA, 16) != 0
    assert client.gsp.flushed == () and client.byte(2) == 0x80


@pytest.mark.row("gsp.gx5.4")
def test_a_second_size_of_0_skips_the_second_and_third_buffer(client: Client) -> None:
    assert client.run(5, HEAP_VA, 16, VRAM_VA, 0, HEAP_VA + 32, 8) == 0
    assert client.gsp.flushed == ((HEAP_VA, 16),)


@pytest.mark.row("gsp.gx5.6")
def test_a_third_size_of_0_skips_the_third_buffer(client: Client) -> None:
    assert client.run(5, HEAP_VA, 16, VRAM_VA, 8, HEAP_VA + 32, 0) == 0
    assert client.gsp.flushed == ((HEAP_VA, 16), (VRAM_VA, 8))


# -- alignment -------------------------------------------------------------------------------------------------------


ALIGNED = {1: (1, 2), 2: (1, 3, 4, 6), 3: (1, 2), 4: (1, 2, 3)}
"""Words with an address or size by command."""


@pytest.mark.parametrize(
    ("number", "word"),
    [
        pytest.param(number, word, marks=pytest.mark.row(f"gsp.gx{number}.{word}"), id=f"gx{number}-{word}")
        for number, words in ALIGNED.items()
        for word in words
    ],
)
def test_addresses_and_sizes_are_multiples_of_eight(number: int, word: int) -> None:
    """Of all commands but 0 and 5, whose tests above use odd ones."""
    for shift, refused in ((4, True), (1, True), (8, False)):
        console, client = prepared()
        words = [number, *COMMANDS[number], *[0] * 7][:8]
        words[word] += shift
        error, entries, _, memory = outcome(console, client, *words)
        assert (error != 0) == refused
        if refused:
            assert entries == [] and memory == outcome(*prepared(), 5, HEAP_VA, 1)[3]
