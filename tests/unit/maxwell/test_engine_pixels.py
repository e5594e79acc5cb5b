"""Pixel formats in lanes against NumPy's own arithmetic, the same on both evaluators."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pocketgpu.facts.maxwell.formats import TWOD
from pocketgpu.lanes import F32, I32, I64, Engine, Lang, Value, kernel
from pocketgpu.maxwell.formats import pixels
from pocketgpu.maxwell.formats.pixels import Layout, shape

TABLES, INPUT, OUTPUT, COUNT = 4096, 1 << 14, 1 << 20, 4096
COLOURS = [code for code, layout in TWOD.items() if layout.bytes]


@kernel(count=I32, tables=I64)
def unpack_all(k: Lang, count: Value, tables: Value, *, bytes: int, layout: Layout) -> None:
    """`count` pixels at INPUT to four floats each at OUTPUT."""
    for start in k.range(0, count, k.lanes):
        index = k.to_i64(k.iota() + start)
        words = pixels.load(k, bytes, index * bytes + INPUT)
        colour = pixels.unpack(k, words, layout, tables)
        for i, channel in enumerate("rgba"):
            k.scatter(F32, index * 16 + (OUTPUT + 4 * i), colour[channel])


@kernel(count=I32, tables=I64)
def pack_all(k: Lang, count: Value, tables: Value, *, bytes: int, layout: Layout) -> None:
    """The reverse: four floats each at INPUT to pixels at OUTPUT."""
    for start in k.range(0, count, k.lanes):
        index = k.to_i64(k.iota() + start)
        colour = {c: k.gather(F32, index * 16 + (INPUT + 4 * i)) for i, c in enumerate("rgba")}
        words = pixels.pack(k, colour, bytes, layout, tables)
        pixels.store(k, bytes, index * bytes + OUTPUT, words, index >= 0)


def run(what: object, data: bytes, bytes_out: int, evaluator: str, code: int) -> NDArray[np.uint8]:
    arena = np.zeros(2 << 20, np.uint8)
    tables = np.frombuffer(pixels.srgb_tables(), np.uint8)
    arena[TABLES : TABLES + len(tables)] = tables
    arena[INPUT : INPUT + len(data)] = np.frombuffer(data, np.uint8)
    size, layout = shape(TWOD[code])
    Engine(arena, evaluator).get(what, bytes=size, layout=layout)(COUNT, TABLES)  # type: ignore[arg-type]
    return arena[OUTPUT : OUTPUT + COUNT * bytes_out].copy()


def expected(data: bytes, code: int) -> NDArray[np.float64]:
    """Pixels to colours in double precision, from the table of formats."""
    layout = TWOD[code]
    raw = np.frombuffer(data, np.uint8).reshape(COUNT, layout.bytes)
    padded = np.zeros((COUNT, 16), np.uint8)
    padded[:, : layout.bytes] = raw
    words = padded.view("<u4")
    out = np.zeros((COUNT, 4))
    out[:, 3] = 1
    for c in layout.components:
        if c.name == "X":
            continue
        bits = (words[:, c.lo >> 5].astype(np.int64) >> (c.lo & 31)) & ((1 << c.width) - 1)
        top = (1 << c.width) - 1
        if c.type == "float":
            if c.width == 32:
                value = bits.astype(np.uint32).view(np.float32).astype(np.float64)
            else:
                value = (bits << {16: 0, 11: 4, 10: 5}[c.width]).astype(np.uint16).view(np.float16).astype(np.float64)
        elif c.type == "snorm":
            value = np.maximum(((bits ^ (top + 1) // 2) - (top + 1) // 2) / (top >> 1), -1.0)
        else:
            value = bits / top
            if c.type == "srgb":
                value = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
        for channel in (0, 1, 2) if c.name == "Y" else ("RGBA".index(c.name),):
            out[:, channel] = value
    return out


@pytest.mark.parametrize("code", COLOURS, ids=[TWOD[code].name for code in COLOURS])
def test_formats(code: int) -> None:
    """Random pixels unpack to what the format means, and pack to themselves again, bit for bit on both evaluators."""
    layout = TWOD[code]
    data = np.random.default_rng(code).integers(0, 256, COUNT * layout.bytes, np.uint8).tobytes()
    colours = run(unpack_all, data, 16, "llvm", code)
    slow = run(unpack_all, data, 16, "numpy", code).view(np.float32)
    assert np.array_equal(colours.view(np.float32), slow, equal_nan=True)  # which NaN is left open
    with np.errstate(invalid="ignore"):  # of signalling ones
        got = colours.view(np.float32).reshape(COUNT, 4).astype(np.float64)
        wanted = expected(data, code)
        assert np.isclose(got, wanted, rtol=1e-6, atol=1e-9, equal_nan=True).all()

    packed = run(pack_all, colours.tobytes(), layout.bytes, "llvm", code)
    assert np.array_equal(packed, run(pack_all, colours.tobytes(), layout.bytes, "numpy", code))
    again = run(unpack_all, packed.tobytes(), 16, "llvm", code).view(np.float32).reshape(COUNT, 4)
    if layout.name == "Y32":  # an f32 does not hold 32 bits
        assert np.allclose(again, got, rtol=1e-6)
    else:
        assert np.array_equal(again, colours.view(np.float32).reshape(COUNT, 4), equal_nan=True)


def test_srgb_codes_come_back() -> None:
    """Codes survive the way to linear light and back, and values between are the nearest in the encoded range."""
    code = TWOD.named("A8BL8GL8RL8").code
    values = np.linspace(-0.5, 1.5, 4 * COUNT).astype(np.float32)
    values[:4] = [np.nan, np.inf, -np.inf, 0.0]
    for evaluator in ("llvm", "numpy"):
        got = run(pack_all, values.tobytes(), 4, evaluator, code).reshape(COUNT, 4)
        v = np.clip(np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=1.0, neginf=0.0), 0, 1).reshape(COUNT, 4)
        curve = np.where(v <= 0.0031308, v * 12.92, 1.055 * v ** (1 / 2.4) - 0.055) * 255
        assert (np.abs(got[:, :3] - curve[:, :3]) <= 0.5001).all()
        assert np.array_equal(got[:, 3], (v[:, 3] * 255 + 0.5).astype(np.uint8))


def test_small_floats_round_to_even() -> None:
    """f16 as NumPy makes it; 11 and 10 bits to the even neighbour, with denormals and overflow to infinity."""
    random = np.random.default_rng(3)
    values = (random.standard_normal(4 * COUNT) * 10.0 ** random.integers(-9, 6, 4 * COUNT)).astype(np.float32)
    values[:8] = [np.inf, -np.inf, 65519.0, 65520.0, 2.0**-24, 2.0**-25, 1.0009765625, -0.0]
    code = TWOD.named("RF16_GF16_BF16_AF16").code
    with np.errstate(over="ignore"):
        wanted = values.astype(np.float16)
    for evaluator in ("llvm", "numpy"):
        assert np.array_equal(run(pack_all, values.tobytes(), 8, evaluator, code).view(np.float16), wanted)
    code = TWOD.named("BF10GF11RF11").code
    packed = run(pack_all, values.tobytes(), 4, "llvm", code).view(np.uint32)
    colours = values.reshape(COUNT, 4)
    for channel, (lo, width) in enumerate(((0, 11), (11, 11), (22, 10))):
        mantissa = width - 5
        v = np.maximum(colours[:, channel].astype(np.float64), 0)
        exponent = np.clip(np.floor(np.log2(np.maximum(v, 1e-30))), -14, 15)
        step = 2.0 ** (exponent - mantissa)
        finite = np.isfinite(v)
        nearest = np.where(finite, np.rint(np.where(finite, v, 0) / step) * step, np.inf)
        nearest[nearest >= 65536] = np.inf
        bits = (packed >> np.uint32(lo) & np.uint32((1 << width) - 1)).astype(np.uint16) << (15 - width)
        assert np.array_equal(bits.view(np.float16).astype(np.float64), nearest), width
