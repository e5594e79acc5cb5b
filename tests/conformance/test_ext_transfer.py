"""The registers of the transfer engine, for display transfers and texture copies (GPU/External Registers)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .console import FCRAM, HEAP_VA, PPF, VRAM, VRAM_VA, Console, both, explained, picture, tiled, untiled
from .gsp_client import Client

INPUT, OUTPUT, OUTPUT_SIZE, INPUT_SIZE, FLAGS, PREPARE, START, POSITION, COPY_SIZE, LINE_IN, LINE_OUT = (
    PPF + at for at in (0x00, 0x04, 0x08, 0x0C, 0x10, 0x14, 0x18, 0x1C, 0x20, 0x24, 0x28)
)
TO_ROWS, TO_TILES, CROP, COPY = 0, 2, 4, 8
DONE = {"PPF": 1}


@pytest.fixture
def console() -> Console:
    return Console()


def units(count: int) -> bytes:
    """Lines of 16 bytes, 1 1 1 ..., 2 2 2 ..."""
    return b"".join(bytes([n + 1]) * 16 for n in range(count))


# -- addresses -------------------------------------------------------------------------------------------------------


@both("transfer.0x1EF00C00")
@pytest.mark.parametrize("flags", [TO_ROWS, COPY])
@pytest.mark.parametrize("source", [VRAM, VRAM + 0x1230, FCRAM + 0x7FFF0])
def test_the_input_address(console: Console, source: int, flags: int) -> None:
    """In units of 8 bytes, of which the lowest bit is not kept (GBATEK): multiples of 16 bytes."""
    image = picture(8, 8)
    target = FCRAM + 0x100000
    for given in (source, source + 8):
        console.put(source, tiled(image))
        console.put(target, bytes(256))
        run = console.copy(given, target, 256) if flags else console.transfer(given, target, (8, 8), (8, 8), flags)
        assert (run, console.read(INPUT)) == (DONE, source >> 3)
        assert console.get(target, 256) == (tiled(image) if flags else image).tobytes()


@both("transfer.0x1EF00C04")
@pytest.mark.parametrize("flags", [TO_ROWS, COPY])
@pytest.mark.parametrize("target", [VRAM, VRAM + 0x1230, FCRAM + 0x7FFF0])
def test_the_output_address(console: Console, target: int, flags: int) -> None:
    image = picture(8, 8)
    source = FCRAM + 0x100000
    console.put(source, tiled(image))
    for given in (target, target + 8):
        console.put(target, b"\x5a" * 272)
        run = console.copy(source, given, 256) if flags else console.transfer(source, given, (8, 8), (8, 8), flags)
        assert (run, console.read(OUTPUT)) == (DONE, target >> 3)
        assert console.get(target, 272) == (tiled(image) if flags else image).tobytes() + b"\x5a" * 16


# -- sizes -----------------------------------------------------------------------------------------------------------


@both("transfer.0x1EF00C08")
@pytest.mark.parametrize(("width", "height"), [(8, 8), (16, 8), (8, 24), (40, 16)])
def test_the_output_has_its_width_in_the_low_half_and_its_height_in_the_high_half(
    console: Console, width: int, height: int
) -> None:
    image = picture(48, 32)
    console.put(VRAM, tiled(image))
    console.put(FCRAM, b"\x5a" * 48 * 32 * 4)
    console.transfer(VRAM, FCRAM, (48, 32), (width, height), CROP)
    size = width * height * 4
    assert console.get(FCRAM, size + 64) == image[:height, :width].tobytes() + b"\x5a" * 64
    assert console.read(OUTPUT_SIZE) == height << 16 | width


@both("transfer.0x1EF00C08")
def test_the_output_size_is_that_before_scaling_down_and_in_eights(console: Console) -> None:
    console.put(VRAM, b"\xff" * 32 * 48 * 4)
    console.transfer(VRAM, FCRAM, (32, 48), (32, 48), 2 << 24)
    assert console.get(FCRAM, 16 * 24 * 4 + 64) == b"\xff" * 16 * 24 * 4 + bytes(64)
    console.transfer(VRAM, FCRAM + 0x10000, (32, 48), (32 + 7, 8 + 5), CROP)
    assert console.get(FCRAM + 0x10000, 32 * 8 * 4 + 64) == b"\xff" * 32 * 8 * 4 + bytes(64)


@both("transfer.0x1EF00C0C")
@pytest.mark.parametrize("width", [16, 24, 64])
def test_the_input_width_is_the_length_of_its_rows(console: Console, width: int) -> None:
    image = picture(width, 16)
    console.put(VRAM, tiled(image))
    console.transfer(VRAM, FCRAM, (width, 16), (16, 16), CROP)
    assert console.get(FCRAM, 16 * 16 * 4) == image[:, :16].tobytes()
    assert console.read(INPUT_SIZE) == 16 << 16 | width


@both("transfer.0x1EF00C0C")
@pytest.mark.parametrize("height", [0, 8, 16, 0xFFF8])
def test_the_input_height_has_no_effect(console: Console, height: int) -> None:
    """The page names a height; rows are read as many as the output needs."""
    image = picture(16, 16)
    console.put(VRAM, tiled(image))
    assert console.transfer(VRAM, FCRAM, (16, height), (16, 16), TO_ROWS) == DONE
    assert console.get(FCRAM, 16 * 16 * 4) == image.tobytes()


# -- flags and start -------------------------------------------------------------------------------------------------


@both("transfer.0x1EF00C10")
def test_the_flags_choose_what_the_engine_does(console: Console) -> None:
    """The same registers: tiles to rows, rows to tiles, plain copy."""
    image = picture(16, 8)
    console.put(VRAM, tiled(image))
    pixels = np.frombuffer(console.get(VRAM, 512), np.uint32)
    expected = {
        TO_ROWS: image, TO_TILES: tiled(pixels.reshape(8, 16)), COPY: pixels, 1: image[::-1], 0x20: pixels,
    }  # fmt: skip
    for flags, out in expected.items():
        console.write(COPY_SIZE, 512)
        assert console.transfer(VRAM, FCRAM, (16, 8), (16, 8), flags) == DONE
        assert (console.get(FCRAM, 512), console.read(FLAGS)) == (out.tobytes(), flags)


@both("transfer.0x1EF00C14")
def test_gsp_clears_c14_before_a_display_transfer_only(console: Console) -> None:
    """What the 21 bits are for nobody knows; they change no byte of a transfer."""
    client = Client(console)
    image = picture(8, 8)
    console.put(VRAM, tiled(image))
    console.write(PREPARE, 0xFFFFFFFF)
    assert console.read(PREPARE) == 0x001FFFFF
    assert console.transfer(VRAM, FCRAM, (8, 8), (8, 8), TO_ROWS) == DONE
    assert (console.read(PREPARE), console.get(FCRAM, 256)) == (0x001FFFFF, image.tobytes())
    assert client.run(4, VRAM_VA, HEAP_VA, 64, 0, 0, 8) == 0
    assert console.read(PREPARE) == 0x001FFFFF
    assert client.run(3, VRAM_VA, HEAP_VA, 8 << 16 | 8, 8 << 16 | 8, 0) == 0
    assert console.read(PREPARE) == 0


@both("transfer.0x1EF00C18")
def test_bit_0_starts_a_transfer_and_bit_8_tells_its_end(console: Console) -> None:
    console.put(VRAM, b"\xff" * 256)
    console.transfer(VRAM, FCRAM, (8, 8), (8, 8), TO_ROWS)
    assert console.read(START) == 0x100
    console.put(FCRAM, bytes(256))
    for word, kept in ((0x100, 0x100), (0xFFFFFFFE, 0x100), (0, 0), (0x100, 0)):
        console.write(START, word)
        assert (console.read(START), console.fired(), console.get(FCRAM, 4)) == (kept, {}, bytes(4))
    console.write(START, 1)
    assert (console.read(START), console.fired(), console.get(FCRAM, 256)) == (0x100, DONE, b"\xff" * 256)


@both("transfer.0x1EF00C18")
@pytest.mark.parametrize(("command", "kept"), [(3, 0x001), (4, 0x101)])
def test_command_3_writes_1_and_command_4_only_sets_bit_0(command: int, kept: int) -> None:
    """Seen on transfers that never end, so that what was written stays."""
    console = Console(transfer__both_tiling_flags="hang")
    client = Client(console)
    console.transfer(VRAM, FCRAM, (8, 8), (8, 8), TO_ROWS)
    assert (console.read(START), client.entries()) == (0x100, [4])
    words = (8 << 16 | 8, 8 << 16 | 8, 0x22) if command == 3 else (0, 0, 0, 8)
    assert client.run(command, VRAM_VA, HEAP_VA, *words) == 0
    assert (console.read(START), client.entries()) == (kept, [])


@pytest.mark.row("ext2.transfer.0x1EF00C1C")
def test_c1c_is_a_register_that_changes_no_transfer(console: Console, capsys: Any) -> None:
    """The newer revision lists it without a meaning. GBATEK: how far a transfer is when its interrupt comes (the reset
    value says at the end), and how much of it remains, which is read only."""
    assert console.read(POSITION) == 0x3FFF
    console.write(POSITION, 0xFFFFFFFF)
    assert console.read(POSITION) == 0x3FFF
    console.write(POSITION, 0x1234)
    assert console.read(POSITION) == 0x1234
    image = picture(8, 8)
    console.put(VRAM, tiled(image))
    assert console.transfer(VRAM, FCRAM, (8, 8), (8, 8), TO_ROWS) == DONE
    assert console.get(FCRAM, 256) == image.tobytes()
    told = explained(capsys, "0x1EF00C1C", "0xC0000000")
    assert (told["certainty"], told["source"], told["unexplained_bits"]) == ("gbatek", "GBATEK", 0xC0000000)


# -- texture copy ----------------------------------------------------------------------------------------------------


@both("transfer.0x1EF00C20")
@pytest.mark.parametrize("size", [16, 32, 1008, 1024, 1039, 0x10000])
def test_the_size_of_a_copy_in_bytes(console: Console, size: int) -> None:
    """The low four bits are not kept."""
    console.put(VRAM, b"\xff" * 0x10010)
    assert console.copy(VRAM, FCRAM, size) == DONE
    whole = size & ~15
    assert console.get(FCRAM, 0x10020) == (b"\xff" * whole).ljust(0x10020, b"\0")
    assert console.read(COPY_SIZE) == whole


@pytest.mark.row("ext.transfer.0x1EF00C24", "ext2.transfer.0x1EF00C24")
def test_input_lines_of_a_copy_are_in_units_of_sixteen_bytes(console: Console) -> None:
    """The first revision says bytes. Three units, two left out, until all is copied; the last line may be a part."""
    console.put(VRAM, units(16))
    assert console.copy(VRAM, FCRAM, 7 * 16, (3, 2), flags=0xC) == DONE
    expected = b"".join(units(16)[16 * n :][:16] for n in (0, 1, 2, 5, 6, 7, 10))
    assert console.get(FCRAM, 128) == expected + bytes(16)
    assert console.read(LINE_IN) == 2 << 16 | 3


@pytest.mark.row("ext.transfer.0x1EF00C28", "ext2.transfer.0x1EF00C28")
def test_output_lines_of_a_copy_are_in_units_of_sixteen_bytes(console: Console) -> None:
    console.put(VRAM, units(16))
    console.put(FCRAM, b"\x5a" * 256)
    assert console.copy(VRAM, FCRAM, 7 * 16, (0, 0), (3, 2), flags=0xC) == DONE
    gap, read = b"\x5a" * 32, units(7)
    assert console.get(FCRAM, 192) == read[:48] + gap + read[48:96] + gap + read[96:] + b"\x5a" * 16
    assert console.read(LINE_OUT) == 2 << 16 | 3


@pytest.mark.row("ext.transfer.0x1EF00C24", "ext.transfer.0x1EF00C28")
def test_lines_of_a_copy_in_bytes_as_the_first_revision_has_them() -> None:
    """What it says can be chosen: the choice texture_copy.units."""
    console = Console(texture_copy__units="byte")
    console.put(VRAM, units(16))
    assert console.copy(VRAM, FCRAM, 64, (32, 16), (16, 48), flags=0xC) == DONE
    lines = [units(16)[16 * n :][:16] for n in (0, 1, 3, 4)]
    assert console.get(FCRAM, 4 * 64) == b"".join(line + bytes(48) for line in lines)


@both("transfer.0x1EF00C24", "transfer.0x1EF00C28")
def test_a_rectangle_between_textures_of_different_size(console: Console) -> None:
    """16 x 8 pixels of tiles out of the middle of 64 x 16 into one of 32 x 16, in tiles of 8 x 8 x 4 bytes."""
    source, old = picture(64, 16, 1), picture(32, 16, 2)
    console.put(VRAM, tiled(source))
    console.put(FCRAM, tiled(old))
    tile = 256 // 16
    start, place = VRAM + 8 * 256 + 3 * 256, FCRAM + 4 * 256 + 256
    assert console.copy(start, place, 2 * 256, (2 * tile, 6 * tile), (2 * tile, 2 * tile), flags=0xC) == DONE
    old[8:, 8:24] = source[8:, 24:40]
    assert np.array_equal(untiled(np.frombuffer(console.get(FCRAM, 2048), np.uint32), 32, 16), old)


JUNK = (0xFFFFFFF0, 0x12345678, 0x9ABC0007)


@both("transfer.0x1EF00C20", "transfer.0x1EF00C24", "transfer.0x1EF00C28")
def test_a_display_transfer_does_not_look_at_the_copy_registers(console: Console) -> None:
    image = picture(8, 8)
    console.put(VRAM, tiled(image))
    for register, word in zip((COPY_SIZE, LINE_IN, LINE_OUT), JUNK, strict=True):
        console.write(register, word)
    assert console.transfer(VRAM, FCRAM, (8, 8), (8, 8), TO_ROWS) == DONE
    assert console.get(FCRAM, 272) == image.tobytes() + bytes(16)


@both("transfer.0x1EF00C08", "transfer.0x1EF00C0C")
@pytest.mark.parametrize("word", [0, 0xFFFFFFFF, 0x00080008])
def test_a_copy_does_not_look_at_the_sizes_of_display_transfers(console: Console, word: int) -> None:
    console.put(VRAM, units(16))
    console.write(OUTPUT_SIZE, word)
    console.write(INPUT_SIZE, word)
    assert console.copy(VRAM, FCRAM, 256) == DONE
    assert console.get(FCRAM, 272) == units(16) + bytes(16)


@both("transfer.0x1EF00C20", "transfer.0x1EF00C24")
@pytest.mark.parametrize(("size", "line"), [(0, (0, 0)), (64, (0, 3))])
def test_junk_in_the_copy_registers_hangs_the_engine(console: Console, size: int, line: tuple[int, int]) -> None:
    """The page warns of it: no bytes at all, or a gap after lines of no width."""
    console.put(VRAM, units(16))
    assert console.copy(VRAM, FCRAM, size, line) == {}
    assert (console.read(START) & 0x101, console.get(FCRAM, 64)) == (1, bytes(64))
    assert [event.kind for event in console.n3ds.events] == ["hang"]
