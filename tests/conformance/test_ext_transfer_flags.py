"""The flags of the transfer engine, bit by bit (GPU/External Registers, register 0x1EF00C10)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .console import (
    FCRAM,
    PPF,
    RGBA8,
    SIZES,
    VRAM,
    Console,
    both,
    decoded,
    encoded,
    explained,
    picture,
    tiled,
    untiled,
)

FLIP, TO_TILES, CROP, COPY, KEEP_TILES, BLOCKS = 1, 2, 4, 8, 1 << 5, 1 << 16
FLAGS = PPF + 0x10
DONE = {"PPF": 1}


@pytest.fixture
def console() -> Console:
    return Console()


def words(console: Console, width: int, height: int) -> np.ndarray:
    """The output as 32-bit words (height, width), as they lie in memory."""
    return np.frombuffer(console.get(FCRAM, 4 * width * height), np.uint32).reshape(height, width)


@both("transfer-flags.0")
@pytest.mark.parametrize("layout", ["to rows", "to tiles", "tiles to tiles"])
def test_bit_0_turns_the_picture_upside_down(console: Console, layout: str) -> None:
    image = picture(24, 16)
    flag = {"to rows": 0, "to tiles": TO_TILES, "tiles to tiles": KEEP_TILES}[layout]
    console.put(VRAM, image if layout == "to tiles" else tiled(image))
    for flip in (0, FLIP):
        assert console.transfer(VRAM, FCRAM, (24, 16), (24, 16), flag | flip) == DONE
        shown = image[::-1] if flip else image
        expected = shown if layout == "to rows" else tiled(shown).reshape(16, 24)
        assert np.array_equal(words(console, 24, 16), expected)


@both("transfer-flags.0")
def test_turning_a_cropped_picture_shifts_it(console: Console) -> None:
    """Unknown to the page (Azahar, after a console test): with crop the output begins later, by as many pixels as
    were cut off from all rows but one. The choice transfer.flip_crop takes it away."""
    image = picture(32, 16)
    for value, start in (("skew", (32 - 24) * 15), ("plain", 0)):
        console = Console(transfer__flip_crop=value)
        console.put(VRAM, tiled(image))
        console.transfer(VRAM, FCRAM, (32, 16), (24, 16), FLIP | CROP)
        flipped = np.ascontiguousarray(image[::-1, :24]).tobytes()
        assert console.get(FCRAM, 4 * start + len(flipped) + 64) == bytes(4 * start) + flipped + bytes(64)


@both("transfer-flags.1")
def test_bit_1_makes_tiles_of_rows_and_without_it_rows_of_tiles(console: Console) -> None:
    image = picture(40, 24)
    console.put(VRAM, image)
    console.transfer(VRAM, FCRAM, (40, 24), (40, 24), TO_TILES)
    assert np.array_equal(untiled(words(console, 40, 24).ravel(), 40, 24), image)
    console.transfer(FCRAM, VRAM + 0x10000, (40, 24), (40, 24), 0)
    assert console.get(VRAM + 0x10000, 40 * 24 * 4) == image.tobytes()


@both("transfer-flags.2")
@pytest.mark.parametrize("layout", [0, TO_TILES, KEEP_TILES])
def test_bit_2_crops_rows_that_are_too_long(console: Console, layout: int) -> None:
    image = picture(48, 16)
    console.put(VRAM, image if layout == TO_TILES else tiled(image))
    console.transfer(VRAM, FCRAM, (48, 16), (24, 16), layout | CROP)
    out = words(console, 24, 16)
    assert np.array_equal(untiled(out.ravel(), 24, 16) if layout else out, image[:, :24])


@both("transfer-flags.2")
def test_without_bit_2_a_narrower_output_is_misaligned(console: Console) -> None:
    """Input rows are then taken to be as long as the output's (GBATEK): each begins where the last one ended."""
    image = picture(48, 16)
    console.put(VRAM, image)
    console.transfer(VRAM, FCRAM, (48, 16), (24, 16), TO_TILES)
    assert np.array_equal(untiled(words(console, 24, 16).ravel(), 24, 16), image.ravel()[: 24 * 16].reshape(16, 24))
    # Where both are as wide the bit has nothing to do.
    results = []
    for crop in (0, CROP):
        console.transfer(VRAM, FCRAM, (48, 16), (48, 16), TO_TILES | crop)
        results.append(words(console, 48, 16).copy())
    assert np.array_equal(results[0], results[1]) and np.array_equal(results[0].ravel(), tiled(image))


@both("transfer-flags.3")
def test_bit_3_copies_and_no_other_flag_matters(console: Console) -> None:
    image = picture(16, 16)
    console.put(VRAM, image)
    for other in (0, CROP, 0x0301_7727):
        console.put(FCRAM, bytes(2048))
        assert console.copy(VRAM, FCRAM, 1024, flags=COPY | other) == DONE
        assert console.get(FCRAM, 1040) == image.tobytes() + bytes(16)
    console.transfer(VRAM, FCRAM, (16, 16), (16, 16), 0)
    assert not np.array_equal(words(console, 16, 16), image)


UNWRITABLE = {"4": 1 << 4, "7-6": 3 << 6, "11": 1 << 11, "15": 1 << 15, "17-23": 0x7F << 17, "31-26": 0x3F << 26}


@pytest.mark.parametrize("bits", [pytest.param(b, marks=both(f"transfer-flags.{b}"), id=b) for b in UNWRITABLE])
def test_bits_that_are_not_writable(console: Console, capsys: Any, bits: str) -> None:
    mask = UNWRITABLE[bits]
    console.write(FLAGS, 0xFFFFFFFF)
    assert console.read(FLAGS) == 0xFFFFFFFF & ~sum(UNWRITABLE.values())
    console.write(FLAGS, mask)
    assert console.read(FLAGS) == 0
    image = picture(16, 8)
    console.put(VRAM, tiled(image))
    assert console.transfer(VRAM, FCRAM, (16, 8), (16, 8), mask | FLIP) == DONE
    assert np.array_equal(words(console, 16, 8), image[::-1])
    told = explained(capsys, "0x1EF00C10", f"{mask:#x}")
    assert told["unexplained_bits"] == mask and not told["writable"] & mask


@both("transfer-flags.5")
def test_bit_5_keeps_tiles(console: Console) -> None:
    image = picture(32, 16)
    console.put(VRAM, tiled(image))
    console.transfer(VRAM, FCRAM, (32, 16), (32, 16), KEEP_TILES)
    assert console.get(FCRAM, 32 * 16 * 4) == tiled(image).tobytes()
    console.transfer(VRAM, FCRAM, (32, 16), (16, 8), KEEP_TILES | CROP)
    assert np.array_equal(untiled(words(console, 16, 8).ravel(), 16, 8), image[:8, :16])


@both("transfer-flags.5", "transfer-flags.1")
def test_bits_1_and_5_do_not_go_together(console: Console) -> None:
    """The page excludes rows to rows. One simulator does just that, which is the default; the choice
    transfer.both_tiling_flags makes it the hang that an invalid transfer would be."""
    image = picture(16, 8)
    console.put(VRAM, image)
    assert console.transfer(VRAM, FCRAM, (16, 8), (16, 8), TO_TILES | KEEP_TILES) == DONE
    assert np.array_equal(words(console, 16, 8), image)
    strict = Console(transfer__both_tiling_flags="hang")
    strict.put(VRAM, image)
    assert strict.transfer(VRAM, FCRAM, (16, 8), (16, 8), TO_TILES | KEEP_TILES) == {}
    assert [event.kind for event in strict.n3ds.events] == ["hang"]
    assert not words(strict, 16, 8).any()


def random_pixels(form: int) -> bytes:
    return np.random.default_rng(form).integers(0, 256, 64 * SIZES[form], np.uint8).tobytes()


@both("transfer-flags.10-8")
@pytest.mark.parametrize("code", range(8))
def test_bits_10_to_8_are_the_input_format(code: int) -> None:
    """0 to 4 as for the display; nothing is said of 5 to 7, which are read as 4, nor of pairs that hang a console."""
    console = Console(transfer__odd_formats="convert")
    form = min(code, 4)
    data = random_pixels(form)
    console.put(VRAM, data)
    assert console.transfer(VRAM, FCRAM, (8, 8), (8, 8), code << 8) == DONE
    expected = untiled(np.array(decoded(data, form)), 8, 8).reshape(-1, 4)
    assert console.get(FCRAM, 256) == encoded(expected.tolist(), RGBA8)


@both("transfer-flags.14-12")
@pytest.mark.parametrize("code", range(8))
def test_bits_14_to_12_are_the_output_format(console: Console, code: int) -> None:
    form = min(code, 4)
    data = random_pixels(RGBA8)
    console.put(VRAM, data)
    assert console.transfer(VRAM, FCRAM, (8, 8), (8, 8), code << 12) == DONE
    expected = encoded(untiled(np.array(decoded(data, RGBA8)), 8, 8).reshape(-1, 4).tolist(), form)
    assert console.get(FCRAM, 272) == expected.ljust(272, b"\0")


def blocks_of_tiles(image: np.ndarray) -> np.ndarray:
    """32x32 blocks in rows, in each of them tiles of 8x8 in rows: the other guess."""
    blocks = [image[y : y + 32, x : x + 32] for y in range(0, image.shape[0], 32) for x in range(0, image.shape[1], 32)]
    return np.concatenate([tiled(block) for block in blocks])


@both("transfer-flags.16")
@pytest.mark.parametrize("value", ["morton", "tiles"])
@pytest.mark.parametrize("layout", [0, TO_TILES, KEEP_TILES])
def test_bit_16_makes_blocks_of_32_by_32(value: str, layout: int) -> None:
    """How pixels lie inside a block nobody has measured: both guesses can be chosen, and each use is reported."""
    console = Console(transfer__block32=value)
    image = picture(96, 32)
    in_blocks = lambda rows: tiled(rows, 32) if value == "morton" else blocks_of_tiles(rows)  # noqa: E731
    console.put(VRAM, image if layout == TO_TILES else in_blocks(image))
    shown = image[:, :64]
    expected = in_blocks(shown) if layout else shown.ravel()
    assert console.transfer(VRAM, FCRAM, (96, 32), (64, 32), BLOCKS | CROP | layout) == DONE
    assert np.array_equal(words(console, 64, 32).ravel(), expected)
    assert console.events == {"pica.block32"}
    # It is not the usual order.
    assert console.transfer(VRAM, FCRAM, (96, 32), (64, 32), CROP | layout) == DONE
    assert not np.array_equal(words(console, 64, 32).ravel(), expected)


@both("transfer-flags.16")
@pytest.mark.parametrize("size", [(40, 32), (32, 8), (24, 24)])
def test_outputs_of_blocks_are_multiples_of_32_also_when_cropped(console: Console, size: tuple[int, int]) -> None:
    image = picture(96, 32)
    console.put(VRAM, tiled(image, 32))
    assert console.transfer(VRAM, FCRAM, (96, 32), (64, 32), BLOCKS | CROP) == DONE
    assert np.array_equal(words(console, 64, 32), image[:, :64])
    assert console.events == {"pica.block32"}
    console.transfer(VRAM, FCRAM, (96, 32), size, BLOCKS | CROP)
    assert console.events == {"pica.block32", "transfer.block32-size"}


SHRINK = pytest.mark.parametrize(("code", "wide", "high"), [(0, 1, 1), (1, 2, 1), (2, 2, 2)])


@both("transfer-flags.24-25")
@SHRINK
@pytest.mark.parametrize("layout", [0, KEEP_TILES])
def test_bits_25_and_24_scale_down_by_a_box(console: Console, code: int, wide: int, high: int, layout: int) -> None:
    """Each channel is the mean of its box, with the fraction cut off."""
    image = picture(32, 16)
    console.put(VRAM, tiled(image))
    assert console.transfer(VRAM, FCRAM, (32, 16), (32, 16), code << 24 | layout) == DONE
    width, height = 32 // wide, 16 // high
    channels = image[..., None] >> np.arange(0, 32, 8, dtype=np.uint32) & 0xFF
    boxes = channels.reshape(height, high, width, wide, 4).astype(int)
    mean = (boxes.sum(axis=(1, 3)) // (wide * high)).astype(np.uint8)
    out = np.frombuffer(console.get(FCRAM, 4 * width * height), np.uint8).reshape(-1, 4)
    assert np.array_equal(untiled(out, width, height) if layout else out.reshape(height, width, 4), mean)
    assert not any(console.get(FCRAM + 4 * width * height, 64)) and not console.events


@both("transfer-flags.24-25")
def test_the_mean_is_taken_of_eight_bits() -> None:
    """Of 5-bit channels 31 and 30: (255 + 247) / 2, not 30.5 of 31. The choice transfer.average_bits has the other."""
    console = Console(transfer__odd_formats="convert")
    console.put(VRAM, np.array([31 << 11, 30 << 11] * 32, "<u2"))
    console.transfer(VRAM, FCRAM, (8, 8), (8, 8), 1 << 24 | 2 << 8)
    assert console.get(FCRAM, 4) == bytes([255, 0, 0, 251])


@both("transfer-flags.24-25")
def test_scale_code_3_is_invalid(console: Console) -> None:
    """Nobody says what it does; here it is the same as 2, and reported."""
    image = picture(16, 16)
    console.put(VRAM, tiled(image))
    results = []
    for code in (2, 3):
        console.put(FCRAM, bytes(1024))
        assert console.events == set()
        console.transfer(VRAM, FCRAM, (16, 16), (16, 16), code << 24)
        results.append(console.get(FCRAM, 1024))
    assert results[0] == results[1] and console.events == {"transfer.scale"}
