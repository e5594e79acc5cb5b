"""Copies of texels: the same as arrays make, for any header; only what was written is decoded again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pocketgpu.errors import PocketGPUError
from pocketgpu.facts.choices import DEFAULTS
from pocketgpu.facts.maxwell.formats import TEXTURE, PixelLayout
from pocketgpu.facts.maxwell.headers import TIC
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.formats.srgb import linear_words
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.sampling.texel_copies import TexelCopies
from pocketgpu.maxwell.sampling.texture_copies import canonical

AT, SIZE = 0x30_0000_0000, 1 << 21
TYPES = {"snorm": 1, "unorm": 2, "sint": 3, "uint": 4, "snorm16": 5, "unorm16": 6, "float": 7}
KINDS = {"ONE_D": 0, "TWO_D": 1, "THREE_D": 2, "CUBEMAP": 3, "TWO_D_ARRAY": 5, "CUBEMAP_ARRAY": 8}
DESCRIBED = [layout for layout in TEXTURE.values() if layout.bytes]
IN_ORDER = (2, 3, 4, 5)


class Guest:
    """Memory with random bytes, and copies of its textures. scattered: pages lie in another order, and one in 8 is
    missing."""

    def __init__(self, scattered: bool = False, size: int = SIZE) -> None:
        self.memory = GpuMemory(8 * MIB, 64 * MIB)
        if scattered:
            backing = self.memory.allocate(size)
            for page in range(size >> 12):
                if page % 8 != 5:
                    self.memory.map(AT + (page << 12), 4096, backing, (page ^ 3) << 12)
        else:
            self.memory.map(AT, size)
        self.rng, self.generation = np.random.default_rng(7), 0
        self.memory.try_write(AT, self.rng.integers(0, 256, size, dtype=np.uint8).tobytes())
        self.engine = Engine(self.memory.arena)
        linear = self.memory.work_offset + 64
        self.memory.words(linear, 256)[:] = linear_words()
        area = (linear + 4096, self.memory.work_size - 8192)
        self.copies = TexelCopies(self.memory, self.engine, area, DEFAULTS, linear)

    def check(self, header: TextureHeader) -> int:
        """Compare a header's copy with what arrays make; returns how many bytes of elements were decoded for it."""
        before = self.copies.decoded
        self.memory.open_version()
        self.generation += 1
        copy = self.copies.get(repr(header).encode(), header, self.generation)
        kind, levels = canonical(header, self.memory, self.engine, DEFAULTS)
        assert copy.kind == kind and len(copy.levels) == len(levels)
        for at, level in zip(copy.levels, levels, strict=True):
            found = self.memory.arena[at : at + level.nbytes].view(level.dtype).reshape(level.shape)
            if level.dtype.kind == "f":
                np.testing.assert_array_equal(found, level)
            else:
                assert np.array_equal(found, level)
        return self.copies.decoded - before


def header(layout: PixelLayout, types: Any = ("unorm",) * 4, **more: Any) -> TextureHeader:
    values = {
        "HEADER_VERSION": 3, "COMPONENTS": layout.code, "ADDRESS_BITS31TO9": AT >> 9 & 0x7FFFFF,
        "ADDRESS_BITS47TO32": AT >> 32, "TEXTURE_TYPE": 1, "WIDTH_MINUS_ONE": 36, "HEIGHT_MINUS_ONE": 20,
        **{f"{c}_DATA_TYPE": TYPES[t] for c, t in zip("RGBA", types, strict=True)},
        **{f"{c}_SOURCE": n for c, n in zip("XYZW", IN_ORDER, strict=True)}, "GOBS_PER_BLOCK_HEIGHT": 1, **more,
    }  # fmt: skip
    return TextureHeader.parse(np.array(TIC["BL"].pack(values), "<u4").tobytes())


def pitch_header(layout: PixelLayout, width: int, height: int, pitch: int, **more: Any) -> TextureHeader:
    values = {
        "HEADER_VERSION": 2, "COMPONENTS": layout.code, "ADDRESS_BITS31TO5": AT >> 5 & 0x7FFFFFF,
        "ADDRESS_BITS47TO32": AT >> 32, "PITCH_BITS20TO5": pitch >> 5, "WIDTH_MINUS_ONE": width - 1,
        "HEIGHT_MINUS_ONE": height - 1, "TEXTURE_TYPE": 1, **{f"{c}_DATA_TYPE": 2 for c in "RGBA"},
        **{f"{c}_SOURCE": n for c, n in zip("XYZW", IN_ORDER, strict=True)}, **more,
    }  # fmt: skip
    return TextureHeader.parse(np.array(TIC["PITCH"].pack(values), "<u4").tobytes())


def exists(one: TextureHeader, guest: Guest) -> bool:
    """Whether there is a decoder for a header; if not, copies tell the same as arrays."""
    try:
        canonical(one, guest.memory, guest.engine, DEFAULTS)
    except PocketGPUError as error:
        with pytest.raises(PocketGPUError) as told:
            guest.copies.get(repr(one).encode(), one, guest.generation)
        assert told.value.message == error.message
        return False
    return True


@pytest.fixture(scope="module")
def guest() -> Guest:
    return Guest()


@pytest.fixture(scope="module")
def scattered() -> Guest:
    return Guest(scattered=True)


@pytest.mark.parametrize("layout", DESCRIBED, ids=lambda layout: str(layout.name))
def test_every_format(layout: PixelLayout, guest: Guest, scattered: Guest) -> None:
    rng = np.random.default_rng(layout.code)
    choices = [(name,) * 4 for name in TYPES] + [tuple(rng.choice(list(TYPES), 4)) for _ in range(3)]
    compared = 0
    for types in choices[:: 3 if layout.compressed else 1]:
        swizzle = {f"{c}_SOURCE": int(n) for c, n in zip("XYZW", rng.integers(0, 8, 4), strict=True)}
        for more in ({}, {"S_R_G_B_CONVERSION": 1}, swizzle, {"S_R_G_B_CONVERSION": 1, **swizzle}):
            one = header(layout, types, GOBS_PER_BLOCK_HEIGHT=int(rng.integers(0, 4)), **more)
            for place in (guest, scattered)[: 2 if compared % 3 == 0 else 1]:
                if exists(one, place):
                    place.check(one)
                    compared += 1
    assert compared > 3


@pytest.mark.parametrize("seed", range(12))
def test_every_layout(seed: int, guest: Guest, scattered: Guest) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(4):
        kind = str(rng.choice(list(KINDS)))
        levels = int(rng.integers(0, 4))
        more = {
            "TEXTURE_TYPE": KINDS[kind], "WIDTH_MINUS_ONE": int(rng.integers(0, 90)), "MAX_MIP_LEVEL": levels,
            "HEIGHT_MINUS_ONE": int(rng.integers(0, 70)), "DEPTH_MINUS_ONE": int(rng.integers(0, 5)),
            "RES_VIEW_MIN_MIP_LEVEL": int(rng.integers(0, levels + 1)), "RES_VIEW_MAX_MIP_LEVEL": levels,
            "GOBS_PER_BLOCK_HEIGHT": int(rng.integers(0, 4)), "GOBS_PER_BLOCK_DEPTH": int(rng.integers(0, 3)),
            "MULTI_SAMPLE_COUNT": int(rng.choice([0, 0, 2])),
        }  # fmt: skip
        layout = DESCRIBED[int(rng.integers(len(DESCRIBED)))]
        one = header(layout, **more)
        for place in (guest, scattered):
            if exists(one, place):
                place.check(one)


def test_plain_rows(guest: Guest, scattered: Guest) -> None:
    for name in ("A8B8G8R8", "R8", "R16_G16_B16_A16", "R32_G32_B32", "B5G6R5", "DXT1", "G8B8G8R8"):
        for width, height, pitch in ((37, 21, 1024), (64, 8, 0), (9, 40, 32)):
            for place in (guest, scattered):
                place.check(pitch_header(TEXTURE.named(name), width, height, pitch))
    for name in ("A8B8G8R8", "R32", "R16_G16_B16_A16"):
        values = {
            "HEADER_VERSION": 0, "COMPONENTS": TEXTURE.named(name).code, "ADDRESS_BITS31TO0": (AT + 4) & 0xFFFFFFFF,
            "ADDRESS_BITS47TO32": AT >> 32, "WIDTH_MINUS_ONE_BITS15TO0": 0x2345,
            **{f"{c}_DATA_TYPE": 2 for c in "RGBA"},
            **{f"{c}_SOURCE": n for c, n in zip("XYZW", IN_ORDER, strict=True)},
        }  # fmt: skip
        for place in (guest, scattered):
            place.check(TextureHeader.parse(np.array(TIC["1D"].pack(values), "<u4").tobytes()))


PARTS = {
    "block-linear": header(TEXTURE.named("R16_G16_B16_A16"), ("float",) * 4, WIDTH_MINUS_ONE=299,
                           HEIGHT_MINUS_ONE=299, GOBS_PER_BLOCK_HEIGHT=2),
    "levels": header(TEXTURE.named("A2B10G10R10"), WIDTH_MINUS_ONE=260, HEIGHT_MINUS_ONE=199, MAX_MIP_LEVEL=4,
                     RES_VIEW_MAX_MIP_LEVEL=4, GOBS_PER_BLOCK_HEIGHT=3),
    "volume": header(TEXTURE.named("A8B8G8R8"), TEXTURE_TYPE=2, DEPTH_MINUS_ONE=12, WIDTH_MINUS_ONE=99,
                     HEIGHT_MINUS_ONE=99, GOBS_PER_BLOCK_HEIGHT=1, GOBS_PER_BLOCK_DEPTH=2),
    "array": header(TEXTURE.named("R32_G32_B32"), TEXTURE_TYPE=5, DEPTH_MINUS_ONE=3, WIDTH_MINUS_ONE=77,
                    HEIGHT_MINUS_ONE=99),
    "blocks": header(TEXTURE.named("DXT45"), WIDTH_MINUS_ONE=501, HEIGHT_MINUS_ONE=502, GOBS_PER_BLOCK_HEIGHT=2),
    "wide blocks": header(TEXTURE.named("ASTC_2D_10X6"), WIDTH_MINUS_ONE=1501, HEIGHT_MINUS_ONE=302),
    "pairs": header(TEXTURE.named("G8B8G8R8"), WIDTH_MINUS_ONE=400, HEIGHT_MINUS_ONE=200),
    "rows": pitch_header(TEXTURE.named("A8B8G8R8"), 300, 300, 1280),
    "overlapping rows": pitch_header(TEXTURE.named("R16_G16"), 300, 300, 96),
}  # fmt: skip


@pytest.mark.parametrize("scatter", [False, True], ids=["whole", "scattered"])
@pytest.mark.parametrize("name", PARTS)
def test_what_was_written_is_decoded_again(name: str, scatter: bool) -> None:
    guest, one = Guest(scatter), PARTS[name]
    whole = guest.check(one)
    assert whole > 0 and guest.check(one) == 0
    used = one.mips.size if one.layout == "block-linear" else one.pitch * one.height
    least = whole
    for _ in range(8):
        for _ in range(int(guest.rng.integers(1, 4))):
            at, size = int(guest.rng.integers(used)), int(guest.rng.choice([1, 60, 3000, 9000]))
            guest.memory.try_write(AT + at, guest.rng.integers(0, 256, size, dtype=np.uint8).tobytes())
        again = guest.check(one)
        least = min(least, again or whole)
        assert guest.check(one) == 0
    assert least < whole or name == "overlapping rows"


def test_one_page_of_a_large_target_costs_its_blocks() -> None:
    guest = Guest(size=1 << 23)
    one = header(TEXTURE.named("R16_G16_B16_A16"), ("float",) * 4, WIDTH_MINUS_ONE=1023, HEIGHT_MINUS_ONE=511,
                 GOBS_PER_BLOCK_HEIGHT=4)  # fmt: skip
    assert guest.check(one) == 1024 * 512 * 8
    guest.memory.write(AT + (1 << 20) + 100, b"other bytes")
    assert guest.check(one) == 64 * 128  # a column of GOBs of a block


def test_pages_that_kernels_write_now_are_looked_at_again() -> None:
    guest = Guest()
    one = PARTS["rows"]
    guest.check(one)
    guest.memory.write(AT + 5000, b"abc")
    copy = guest.copies.get(repr(one).encode(), one, guest.generation)  # the version of that write is still the newest
    assert not copy.sure
    place = guest.memory.offset_of(AT, 1)
    assert place is not None
    guest.memory.arena[place + 5000] = 7  # written again, with the same stamp
    assert 0 < guest.check(one) < 300 * 300 * 4
    assert guest.check(one) == 0


def test_other_memory_at_the_same_address_is_decoded() -> None:
    guest, one = Guest(), PARTS["rows"]
    whole = guest.check(one)
    covering = guest.memory.map(AT + 8192, 4096)
    assert guest.check(one) == whole
    guest.memory.unmap(covering)
    assert guest.check(one) == whole


def test_blocks_with_the_same_bytes_are_kept() -> None:
    guest, one = Guest(), PARTS["blocks"]
    guest.check(one)
    place = guest.memory.offset_of(AT, 1)
    assert place is not None
    guest.memory.touch(place, 1 << 16)
    assert guest.check(one) == 0


def test_alpha_of_more_than_8_bits_makes_floats() -> None:
    guest = Guest()
    layout = TEXTURE.named("ASTC_2D_8X8")
    one = header(layout, S_R_G_B_CONVERSION=1, WIDTH_MINUS_ONE=63, HEIGHT_MINUS_ONE=63)

    # A block of one colour, with alpha of 16 bits.
    def block(alpha: int) -> bytes:
        return bytes.fromhex("fcfdffffffffffff") + np.array([1000, 2000, 3000, alpha], "<u2").tobytes()

    guest.memory.write(AT, block(0xFFFF) * (SIZE // 16))
    guest.check(one)
    assert guest.copies.get(repr(one).encode(), one, guest.generation).kind == 1
    guest.memory.write(AT + 64, block(0x1234))
    guest.check(one)
    assert guest.copies.get(repr(one).encode(), one, guest.generation).kind == 2
