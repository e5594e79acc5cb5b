"""Compressed blocks against slow decoders written from the specifications, and by hand; both evaluators."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from support import slow_textures as slow

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell.formats import TEXTURE
from pocketgpu.maxwell.formats.arrays import decode, picture
from pocketgpu.maxwell.formats.srgb import srgb_to_linear
from pocketgpu.maxwell.textures import astc_integers, bc6h, bc7, blocks, bptc, sizes

COMPRESSED = [layout.name for layout in TEXTURE.values() if layout.compressed]
SIGNED = {"DXN1", "DXN2", "EAC", "EACX2"}


def decoded(name: str, raw: Sequence[bytes], types: Sequence[str] = (), srgb: bool = False, **how: str) -> Any:
    """The texels of blocks, (blocks, texels, 4)."""
    layout = TEXTURE.named(name)
    wide, high = layout.block
    rows = np.frombuffer(b"".join(raw), np.uint8).reshape(1, -1, layout.bytes)
    texels = blocks.texels(rows, layout, blocks.codec(layout, types, srgb), **how)
    assert texels.shape == (high, wide * len(raw), 4)
    return texels.reshape(high, len(raw), wide, 4).swapaxes(0, 1).reshape(len(raw), high * wide, 4)


def random_blocks(seed: int, count: int, size: int) -> list[bytes]:
    rng = random.Random(seed)
    return [rng.randbytes(size) for _ in range(count)]


def test_all_compressed_formats_are_there() -> None:
    assert len(COMPRESSED) == 27
    for name in COMPRESSED:
        assert blocks.codec(TEXTURE.named(name)).bytes == TEXTURE.named(name).bytes
    with pytest.raises(UsageError, match="not a compressed format"):
        blocks.codec(TEXTURE.named("A8B8G8R8"))


@pytest.mark.parametrize("name", COMPRESSED)
def test_evaluators_agree_on_any_blocks(name: str) -> None:
    layout = TEXTURE.named(name)
    for types in [(), ("snorm", "snorm")] if name in SIGNED else [()]:
        for srgb in (False, True) if name.startswith("ASTC") else (False,):
            raw = [block.tobytes() for block in slow.lively_blocks(layout, len(name) + srgb, 101)]  # no whole vectors
            found = decoded(name, raw, types, srgb)
            assert found.tobytes() == decoded(name, raw, types, srgb, evaluator="numpy").tobytes()
            assert len(np.unique(found.reshape(-1, 4), axis=0)) > 50


@pytest.mark.parametrize("name", ["DXT1", "ETC2_RGBA", "ASTC_2D_8X5"])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 70), (70, 3), (2, 3000), (0, 4), (4, 0)])
def test_blocks_lie_in_rows(name: str, rows: int, columns: int) -> None:
    layout = TEXTURE.named(name)
    wide, high = layout.block
    rng = np.random.default_rng(rows)
    data = rng.integers(0, 256, (rows, columns, layout.bytes), dtype=np.uint8)
    texels = blocks.texels(data, layout, blocks.codec(layout))
    assert texels.shape == (rows * high, columns * wide, 4)
    alone = decoded(name, [block.tobytes() for block in data.reshape(-1, layout.bytes)]) if data.size else texels
    for number in random.Random(1).sample(range(rows * columns), min(rows * columns, 200)):
        y, x = divmod(number, columns)
        there = texels[y * high : y * high + high, x * wide : x * wide + wide]
        assert np.array_equal(there.reshape(-1, 4), alone[number])


# Slow decoders


def modes_of_bc7(seed: int, count: int) -> list[bytes]:
    """As many blocks of each mode, and reserved ones."""
    return [block.tobytes() for block in slow.lively_blocks(TEXTURE.named("BC7U"), seed, count)]


def test_bc7_follows_the_slow_decoder() -> None:
    raw = modes_of_bc7(7, 1800)
    assert decoded("BC7U", raw).tolist() == [[list(texel) for texel in slow.bc7(block)] for block in raw]


def test_every_partition_and_rotation_of_bc7() -> None:
    rng = random.Random(3)
    raw = []
    for mode in (0, 1, 2, 3, 7):
        for partition in range(1 << bc7.MODES[mode].partition):
            word = rng.getrandbits(128) >> (mode + 1) << (mode + 1) | 1 << mode
            width = bc7.MODES[mode].partition
            word = word & ~(((1 << width) - 1) << (mode + 1)) | partition << (mode + 1)
            raw.append(word.to_bytes(16, "little"))
    for mode in (4, 5):
        for more in range(8):
            word = rng.getrandbits(128) >> (mode + 1) << (mode + 1) | 1 << mode
            raw.append((word & ~(7 << (mode + 1)) | more << (mode + 1)).to_bytes(16, "little"))
    assert decoded("BC7U", raw).tolist() == [[list(texel) for texel in slow.bc7(block)] for block in raw]


def test_anchors_belong_to_their_part() -> None:
    for number in range(64):
        assert bptc.HALVES[number] >> bptc.HALF_ANCHORS[number] & 1 == 1 and not bptc.HALVES[number] & 1
        for part, row in enumerate(bptc.THIRD_ANCHORS, 1):
            assert bptc.THIRDS[number] >> 2 * row[number] & 3 == part
        assert not bptc.THIRDS[number] & 3


@pytest.mark.parametrize("signed", [False, True])
def test_bc6h_follows_the_slow_decoder(signed: bool) -> None:
    name = "BC6H_SF16" if signed else "BC6H_UF16"
    raw = random_blocks(11, 1200, 16)
    raw += [bytes([i]) + bytes([255 * (i & 1)]) * 15 for i in range(32)]
    found, expected = decoded(name, raw), np.array([slow.bc6h(block, signed) for block in raw], np.float32)
    assert found.tobytes() == expected.tobytes()
    numbers = {block[0] & 31 if block[0] & 3 > 1 else block[0] & 3 for block in raw}
    assert numbers >= {mode.number for mode in bc6h.MODES}


def test_layouts_of_bc6h_name_every_bit_once() -> None:
    for mode in bc6h.MODES:
        found = bc6h.runs(mode)
        places = [at + i for _, _, at, count in found for i in range(count)]
        assert len(set(places)) == len(places) == max(places) + 1 - min(places)
        bits: dict[str, list[int]] = {}
        for end, bit, _, count in found:
            bits.setdefault(end, []).extend(range(bit, bit + count))
        for end, which in bits.items():
            delta = mode.deltas["rgb".index(end[0])]
            assert sorted(which) == list(range(mode.width if end[1] == "0" or not delta else delta))


def test_an_end_of_bc6h_below_all_numbers_is_infinite() -> None:
    # Mode 15 has ends of 16 bits; the first red one is -32768, all weights 0.
    layout = {(end, bit): at for end, bit, at, _ in bc6h.runs(next(m for m in bc6h.MODES if m.number == 15))}
    block = (15 | 1 << layout["r0", 15]).to_bytes(16, "little")
    assert decoded("BC6H_SF16", [block])[0, 0].tolist() == [-np.inf, 0, 0, 1]
    assert decoded("BC6H_UF16", [block])[0, 0].tolist() == [1.5, 0, 0, 1]


@pytest.mark.parametrize("punch_through", [False, True])
def test_etc2_follows_the_slow_decoder(punch_through: bool) -> None:
    name = "ETC2_RGB_PTA" if punch_through else "ETC2_RGB"
    raw = random_blocks(21, 2000, 8)
    expected = [[list(texel) for texel in slow.etc2_rgb(block, punch_through)] for block in raw]
    assert decoded(name, raw).tolist() == expected


def test_etc2_with_alpha_follows_the_slow_decoder() -> None:
    raw = random_blocks(22, 500, 16)
    for block, texels in zip(raw, decoded("ETC2_RGBA", raw).tolist(), strict=True):
        assert [texel[3] for texel in texels] == slow.eac(block[:8], "alpha")
        assert [texel[:3] for texel in texels] == [list(texel[:3]) for texel in slow.etc2_rgb(block[8:])]


@pytest.mark.parametrize(
    ("types", "kinds"),
    [
        (("unorm", "unorm"), ("unsigned", "unsigned")),
        (("snorm", "snorm"), ("signed", "signed")),
        (("unorm", "snorm"), ("unsigned", "signed")),
    ],
)
def test_eac_follows_the_slow_decoder(types: tuple[str, str], kinds: tuple[str, str]) -> None:
    raw = random_blocks(23, 600, 16) + [bytes([base, table]) + bytes(range(6)) + bytes(8)
                                        for base in (0, 127, 128, 129, 255) for table in range(16)]  # fmt: skip
    tops = [2047 if kind == "unsigned" else 1023 for kind in kinds]
    texels = decoded("EACX2", raw, types)
    for channel, (kind, top) in enumerate(zip(kinds, tops, strict=True)):
        values = [slow.eac(block[8 * channel : 8 * channel + 8], kind) for block in raw]
        assert np.array_equal(texels[..., channel], np.array(values, np.float32) / np.float32(top))
    assert (texels[..., 2:] == [0, 1]).all()
    alone = decoded("EAC", [block[:8] for block in raw], types[:1])
    assert np.array_equal(alone[..., 0], texels[..., 0]) and (alone[..., 1:] == [0, 0, 1]).all()


# By hand


def test_tables_of_integers_reach_both_ends() -> None:
    """The kernels' formulas against what they stand for, for every number of every range."""

    def value(r: astc_integers.Coding, number: int, top: int) -> int:
        digit, plain = number >> r.bits, number & ((1 << r.bits) - 1)
        spread = ((plain >> 1 if r.kind else plain) * r.spread) >> r.drop
        if not r.kind:
            return spread
        ones = -(plain & 1) & ((4 << top) - 1)
        return (ones & (1 << top)) | (((digit * r.scale + spread) ^ ones) >> 2)

    for ranges, top, full in ((astc_integers.COLOURS, 7, 255), (astc_integers.WEIGHTS, 5, 63)):
        sizes = []
        for r in ranges:
            count = (1, 3, 5)[r.kind] << r.bits
            sizes.append(count)
            values = sorted(value(r, number, top) for number in range(count))
            limit = 64 if full == 63 and not r.bits else full
            assert len(set(values)) == count and values[0] == 0 and values[-1] == limit
            # Spread evenly: no value is off by more than one and a half.
            assert all(abs(v - i * limit / (count - 1)) <= 1.5 for i, v in enumerate(values))
        assert sizes == sorted(sizes)
    assert [(1, 3, 5)[r.kind] << r.bits for r in astc_integers.WEIGHTS] == [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32]


def astc_block(*fields: tuple[int, int, int]) -> bytes:
    """A block of (value, lowest bit, width)."""
    word = 0
    for value, low, width in fields:
        assert 0 <= value < 1 << width
        word |= value << low
    return word.to_bytes(16, "little")


MAGENTA = [1.0, 0.0, 1.0, 1.0]
# 4x4 weights of two bits: R = 4, A = 2, B = 0; the end of the colours is RGB direct (8).
PLAIN_4X4 = 0b000_00_10_0_00_10
CONSTANT = (0b1101_1111_1100, 0, 12)
NOWHERE = ((1 << 52) - 1, 12, 52)


def test_a_block_of_astc_by_hand() -> None:
    # 32 weights bits leave 79 for six colours: 8 bits each, from bit 17 on.
    colours = (0, 255, 16, 128, 255, 255)
    fields = [(PLAIN_4X4, 0, 11), (8, 13, 4), *((c, 17 + 8 * i, 8) for i, c in enumerate(colours))]
    weights = [i % 4 for i in range(16)]
    for i, weight in enumerate(weights):  # from the top, with their bits turned round
        fields += [(weight & 1, 127 - 2 * i, 1), (weight >> 1, 126 - 2 * i, 1)]
    block = astc_block(*fields)
    sixteen = [
        [(a * 257 * (64 - w) + b * 257 * w + 32) >> 6 for a, b in ((0, 255), (16, 128), (255, 255), (255, 255))]
        for w in (0, 21, 43, 64)
    ]

    def half(code: int) -> float:
        if code == 65535:
            return 1.0
        cut = max(0, code.bit_length() - 11)
        return (code >> cut << cut) / 65536

    expected = [[half(code) for code in sixteen[weights[i]]] for i in range(16)]
    assert decoded("ASTC_2D_4X4", [block])[0].tolist() == expected
    eight = [[(a * (64 - w) + b * w + 32) >> 6 for a, b in ((0, 255), (16, 128), (255, 255))] for w in (0, 21, 43, 64)]
    found = decoded("ASTC_2D_4X4", [block], srgb=True)[0]
    assert (found[:, :3] * 255).round().astype(int).tolist() == [eight[weights[i]] for i in range(16)]
    assert found[:, 3].tolist() == [1.0] * 16
    rows = np.frombuffer(block, np.uint8)[None]
    layout = TEXTURE.named("ASTC_2D_4X4")
    assert picture(rows, layout, srgb=True)[0, :, :3].tolist() == eight
    linear = decode(rows, layout, srgb=True)[0]
    assert np.allclose(linear[:, :3], srgb_to_linear(np.array(eight) / 255), rtol=0, atol=2**-24)
    # Larger blocks stretch the grid: the corners are the same.
    large = decoded("ASTC_2D_12X12", [block])[0].reshape(12, 12, 4)
    small = np.array(expected, np.float32).reshape(4, 4, 4)
    assert np.array_equal(large[::11, ::11], small[::3, ::3])


def test_constant_blocks_of_astc() -> None:
    colour = [(code, 64 + 16 * i, 16) for i, code in enumerate((65535, 0, 0x8000, 0x1234))]
    block = astc_block(CONSTANT, NOWHERE, *colour)
    expected = [1.0, 0.0, 0.5, 0x1234 / 65536]
    for name in ("ASTC_2D_4X4", "ASTC_2D_10X6"):
        assert (decoded(name, [block]) == np.float32(expected)).all()
    found = decoded("ASTC_2D_4X4", [block], srgb=True)[0, 0]
    assert (found[:3] * 255).tolist() == [255, 0, 128] and found[3] == np.float32(expected[3])

    def extent(*edges: int) -> list[tuple[int, int, int]]:
        return [(edge, 12 + 13 * i, 13) for i, edge in enumerate(edges)]

    assert decoded("ASTC_2D_4X4", [astc_block(CONSTANT, *extent(1, 2, 5, 8000), *colour)])[0, 0].tolist() == expected
    bad = [
        astc_block(CONSTANT, *extent(2, 2, 5, 8000), *colour),
        astc_block(CONSTANT, *extent(1, 2, 5, 4), *colour),
        astc_block(CONSTANT, *extent(1, 2, 5, 5), *colour),
        astc_block((0b1111_1111_1100, 0, 12), NOWHERE, *colour),  # half floats
        astc_block((0b0101_1111_1100, 0, 12), NOWHERE, *colour),  # a reserved bit
        astc_block((0b1001_1111_1100, 0, 12), NOWHERE, *colour),
    ]
    assert (decoded("ASTC_2D_4X4", bad) == np.float32(MAGENTA)).all()


@pytest.mark.parametrize(
    ("why", "fields"),
    [
        ("a reserved mode", [(0b000_0001_0000, 0, 11)]),
        ("another", [(0b001_1100_1100 | 2 << 5, 0, 11)]),
        ("a grid wider than the block", [(PLAIN_4X4 | 1 << 7, 0, 11), (8, 13, 4)]),
        ("a grid higher than the block", [(PLAIN_4X4 | 1 << 5, 0, 11), (8, 13, 4)]),
        ("fewer than 24 bits of weights", [(0b000_00_00_0_00_01 | 1 << 5, 0, 11), (8, 13, 4)]),
        ("two planes and four parts", [(PLAIN_4X4 | 1 << 10, 0, 11), (3, 11, 2)]),
        ("more than 18 colours", [(PLAIN_4X4, 0, 11), (3, 11, 2), (12, 25, 4)]),
        ("no room for colours", [(PLAIN_4X4 | 1 << 9 | 1 << 4, 0, 11), (1, 11, 2), (12, 25, 4)]),
        ("half floats", [(PLAIN_4X4, 0, 11), (11, 13, 4)]),
    ],
)
@pytest.mark.parametrize("srgb", [False, True])
def test_illegal_blocks_of_astc(why: str, fields: list[tuple[int, int, int]], srgb: bool) -> None:
    assert (decoded("ASTC_2D_4X4", [astc_block(*fields)], srgb=srgb) == np.float32(MAGENTA)).all(), why
    legal = astc_block((PLAIN_4X4, 0, 11), (8, 13, 4))
    assert not (decoded("ASTC_2D_4X4", [legal], srgb=srgb) == np.float32(MAGENTA)).all()


def test_block_sizes_of_astc() -> None:
    named = {TEXTURE.named(name).block for name in COMPRESSED if name.startswith("ASTC")}
    assert named == set(sizes.ASTC_BLOCKS) and len(named) == 14


def test_srgb_of_eight_bits_is_exact() -> None:
    for name, model in (("BC7U", slow.bc7), ("ETC2_RGB", slow.etc2_rgb)):
        check_srgb(name, model)


def check_srgb(name: str, model: Callable[[bytes], list[slow.Rgba]]) -> None:
    layout = TEXTURE.named(name)
    block = modes_of_bc7(5, 7)[6] if name == "BC7U" else random_blocks(5, 1, 8)[0]
    rows = np.frombuffer(block, np.uint8)[None]
    codes = np.array(model(block))
    assert picture(rows, layout).reshape(16, 4).tolist() == codes.tolist()
    plain, linear = decode(rows, layout).reshape(16, 4), decode(rows, layout, srgb=True).reshape(16, 4)
    assert np.array_equal(plain, (codes / 255).astype(np.float32))
    assert np.array_equal(linear[:, :3], srgb_to_linear(codes[:, :3] / 255).astype(np.float32))
    assert np.array_equal(linear[:, 3], plain[:, 3])


def test_formats_without_srgb_ignore_it() -> None:
    for name in ("DXN1", "DXN2", "EAC", "EACX2", "BC6H_UF16"):
        layout = TEXTURE.named(name)
        rows = np.frombuffer(random_blocks(2, 1, layout.bytes)[0], np.uint8)[None]
        assert np.array_equal(decode(rows, layout), decode(rows, layout, srgb=True))


def test_types_that_pass_through_half_floats() -> None:
    rows = np.frombuffer(random_blocks(2, 1, 8)[0], np.uint8)[None]
    layout = TEXTURE.named("DXN1")
    exact = decode(rows, layout)
    assert np.array_equal(decode(rows, layout, ["unorm16"] * 4), exact.astype(np.float16).astype(np.float32))
    signed = decode(rows, layout, ["snorm"] * 4)
    assert np.array_equal(decode(rows, layout, ["snorm16"] * 4), signed.astype(np.float16).astype(np.float32))
    assert not np.array_equal(signed, exact)
