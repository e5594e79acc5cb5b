"""The codec of pixel formats against a slow model in plain Python: every type of channel in each unit's arithmetic, and
every format, known and unknown while tracing; the same bits on both evaluators."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.slow_formats import code_of, f32, integer_code, linear, value_of, word_of

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell.formats import COLOR_TARGET, DEPTH, TEXTURE, TWOD, VERTEX, PixelLayout
from pocketgpu.lanes import F32, F64, I32, I64, ArrayLang, Engine, Lang, Value, kernel
from pocketgpu.maxwell.engines.threed.vertices import types_of
from pocketgpu.maxwell.formats.channels import UNORM_TYPES, Channels, vertex_types, written_bits
from pocketgpu.maxwell.formats.components import (
    ABSENT,
    OF_TARGETS,
    OF_TEXTURES,
    OF_VERTICES,
    SRGB,
    ZERO,
    Channel,
    Quotient,
    Rounding,
    decode,
    encode,
    type_of,
)
from pocketgpu.maxwell.formats.srgb import srgb_tables
from pocketgpu.maxwell.formats.words import load, store

TABLES, FORMAT, INPUT, OUTPUT, COUNT = 4096, 1 << 14, 1 << 15, 1 << 17, 192
EVALUATORS = ("llvm", "numpy")
EVERY_TYPE = tuple(range(ZERO + 1))


def arena_of(data: bytes, numbers: Sequence[int] = ()) -> NDArray[np.uint8]:
    """Memory with the sRGB tables, the words of a format, and input."""
    arena = np.zeros(1 << 18, np.uint8)
    words = np.array(numbers, np.int64).astype(np.uint32).tobytes()
    for at, part in ((TABLES, srgb_tables()), (FORMAT, words), (INPUT, data)):
        arena[at : at + len(part)] = np.frombuffer(part, np.uint8)
    return arena


def same_bits(a: NDArray[np.uint32], b: NDArray[np.uint32]) -> bool:
    """Whether words are equal; which NaN a float is stays open."""
    both = np.isnan(a.view(np.float32)) & np.isnan(b.view(np.float32))
    return bool(((a == b) | both).all())


# Channels

WIDTHS = sorted(
    {
        (type, c.width)
        for table in (COLOR_TARGET, DEPTH, TEXTURE, TWOD, VERTEX)
        for layout in table.values()
        for c in layout.components
        for type in ([c.type] if c.type else ["unorm", "snorm", "uint", "sint", "uscaled", "sscaled", "float"])
        if type not in ("ignored", "one", "zero", "exponent", "mantissa")
        and (type != "float" or c.width in (10, 11, 16, 32))
    }
)


def read_channel(k: Lang) -> Channel:
    """A channel that is read at run time, four words at FORMAT."""
    type, word, low, width = (k.load(I32, k.i64(FORMAT + 4 * n)) for n in range(4))
    return Channel(type, word, low, width)


@kernel(tables=I64)
def decode_all(
    k: Lang, tables: Value, *, channel: Channel | None, quotients: Sequence[Quotient], types: Sequence[int]
) -> None:  # fmt: skip
    """COUNT words at INPUT to the words of their values, and to f64 for Quotient.DOUBLE."""
    k.hurry()  # each type and width has code of its own, which runs once
    one = channel or read_channel(k)
    for start in k.range(0, COUNT, k.lanes):
        at = k.to_i64(k.iota() + start) << 3
        word = k.gather(I32, at + INPUT)
        for n, quotient in enumerate(quotients):
            value = decode(k, one, word, tables if SRGB in types else None, quotient, types=types)
            if value.type is F64:
                bits = k.bits_i64(value)
                k.scatter(I32, at + (OUTPUT + 8 * n * COUNT + 4), k.low32(bits.lsr(32)))
                k.scatter(I32, at + (OUTPUT + 8 * n * COUNT), k.low32(bits))
            else:
                k.scatter(I32, at + (OUTPUT + 8 * n * COUNT), k.bits_i32(value))


@kernel(tables=I64)
def encode_all(
    k: Lang, tables: Value, *, channel: Channel | None, roundings: Sequence[Rounding], types: Sequence[int]
) -> None:  # fmt: skip
    """COUNT words at INPUT, which are values, to codes."""
    k.hurry()
    one = channel or read_channel(k)
    for start in k.range(0, COUNT, k.lanes):
        at = k.to_i64(k.iota() + start) << 3
        value = k.gather(F32, at + INPUT)
        for n, rounding in enumerate(roundings):
            code = encode(k, one, value, tables if SRGB in types else None, rounding, types)
            k.scatter(I32, at + (OUTPUT + 8 * n * COUNT), code)


def codes(type: str, width: int) -> list[int]:
    """Words with a component in their lowest bits, and noise above it: ends, middles, and random ones."""
    rng, top = random.Random(f"{type}{width}"), (1 << width) - 1
    found = [0, 1, top, top - 1, top >> 1, (top >> 1) + 1, (top >> 1) - 1, *(1 << n for n in range(width))]
    found += list(range(min(top + 1, 64))) + [rng.randint(0, top) for _ in range(COUNT)]
    return [(code & top) | (rng.getrandbits(32) >> width << width) & 0xFFFFFFFF for code in found[:COUNT]]


def value_word(type: str, code: int, width: int, quotient: Quotient) -> int | float:
    """The bits of a value, by the arithmetic of a unit of the chip; an f64 for Quotient.DOUBLE."""
    single, top = np.float32, (1 << width) - 1
    if type in ("uint", "sint"):
        return int(value_of(type, code, width)) & 0xFFFFFFFF
    wide = width > 24 and type in ("unorm", "snorm", "uscaled")
    if quotient is Quotient.DOUBLE and (wide or type in ("unorm", "snorm")):
        return float(value_of(type, code, width))
    if type == "unorm" and quotient in (Quotient.STEPS, Quotient.RECIPROCAL):
        steps = single(code >> 16) * single(65536) + single(code & 0xFFFF) if width == 32 else single(code)
        if quotient is Quotient.RECIPROCAL:
            steps = steps / single(top) if width == 32 else steps * (single(1) / single(top))
        return int(steps.view(np.uint32))
    if type == "snorm" and quotient is Quotient.RECIPROCAL and 1 < width < 32:
        steps = single(value_of("sint", code, width)) * (single(1) / single(top >> 1))
        return word_of(max(float(steps), -1.0))
    return word_of(linear(code / 255) if type == "srgb" else float(value_of(type, code, width)))


@pytest.mark.parametrize(("type", "width"), WIDTHS)
def test_codes_to_values(type: str, width: int) -> None:
    """Every type and width, in each unit's arithmetic."""
    words = codes(type, width)
    channel = Channel(type_of(type, width), 0, 0, width)
    results = []
    for evaluator in EVALUATORS:
        arena = arena_of(np.array(words, np.uint64).tobytes())
        run = Engine(arena, evaluator).get(decode_all, channel=channel, quotients=tuple(Quotient), types=EVERY_TYPE)
        run(TABLES)
        results.append(arena[OUTPUT : OUTPUT + 8 * COUNT * len(Quotient)].view(np.uint64).reshape(len(Quotient), COUNT))
    for quotient, rows in zip(Quotient, np.stack(results, 1), strict=True):
        for word, fast, slow in zip(words, *rows.tolist(), strict=True):
            wanted = value_word(type, word & ((1 << width) - 1), width, quotient)
            for found in (fast, slow):
                if isinstance(wanted, float):
                    assert np.array([found], np.uint64).view(np.float64)[0] == wanted, (quotient, word)
                elif math.isnan(f32(wanted)) and type == "float":
                    assert math.isnan(f32(found))
                elif type == "srgb":  # powers of Python and of NumPy may differ in the last place
                    assert abs(found - wanted) <= 1 and fast == slow
                else:
                    assert found == wanted, (quotient, hex(word))


def values(type: str, width: int) -> list[float]:
    """Values of a type: codes, halves between codes and their neighbours, and what is beyond."""
    rng = random.Random(f"{type}{width} values")
    top = (1 << (width - (type == "snorm"))) - 1
    found = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, math.inf, -math.inf, math.nan, 65519.0, 65520.0]
    found += [1e9, -1e9, 1e-40]
    found += [2.0**-n for n in range(10, 27)]
    for _ in range((COUNT - len(found)) // 4):
        half = np.float32((rng.randrange(max(top, 1)) + 0.5) / max(top, 1))
        found += [float(half), float(np.nextafter(half, np.float32(0)))]
        found += [rng.uniform(-1.2, 1.2), math.ldexp(rng.random() - 0.3, rng.randint(-24, 17))]
    return [f32(word_of(value)) for value in found[:COUNT]] + [0.0] * (COUNT - len(found))


def single_code(type: str, value: float, width: int) -> int:
    """The code of a normalised value as blending and blits round: product and sum are f32."""
    single = np.float32
    if math.isnan(value):
        return 0
    if type == "unorm" and width == 32:
        x = single(min(max(value, 0.0), 1.0)) * single(65536)
        high = int(x)
        return 0xFFFFFFFF if x >= 65536 else (high << 16) + int((x - single(high)) * single(65536))
    if type == "unorm":
        top = (1 << width) - 1
        return min(int(single(min(max(value, 0.0), 1.0)) * single(top) + single(0.5)), top)
    scaled = single(min(max(value, -1.0), 1.0)) * single((1 << (width - 1)) - 1)
    return int(scaled + single(-0.5 if scaled < 0 else 0.5)) & ((1 << width) - 1)


def code_word(type: str, value: float, width: int, rounding: Rounding) -> int:
    """The code for a value by the arithmetic of a unit of the chip."""
    if type in ("uint", "sint"):
        return integer_code(type, word_of(value), width)
    if type in ("unorm", "snorm") and width == 32 and rounding is not Rounding.SINGLE:
        # The product with so many codes is not exact in f64.
        low, top = (0.0, (1 << 32) - 1) if type == "unorm" else (-1.0, (1 << 31) - 1)
        scaled = 0.0 if math.isnan(value) else min(max(value, low), 1.0) * top
        return int(math.copysign(math.floor(abs(scaled) + 0.5), scaled)) & 0xFFFFFFFF
    if type in ("uscaled", "sscaled"):
        low, high = (0, (1 << width) - 1) if type == "uscaled" else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
        finite = 0.0 if math.isnan(value) else min(max(value, float(low)), float(high))
        return int(finite) & ((1 << width) - 1)
    if rounding is Rounding.SINGLE and type in ("unorm", "snorm"):
        return single_code(type, value, width)
    return code_of(type, value, width)


@pytest.mark.parametrize(("type", "width"), [one for one in WIDTHS if one != ("snorm", 1)])
def test_values_to_codes(type: str, width: int) -> None:
    """Every type and width, in each way to round. `Rounding.EXACT` is for unorm up to 24 bits and floats."""
    given_values = values(type, width)
    if type in ("uint", "sint"):
        rng = random.Random(width)
        given_values = [f32(rng.getrandbits(rng.choice((4, width, 32)))) for _ in range(COUNT)]
    words = [int(np.array([v], np.float32).view(np.uint32)[0]) for v in given_values]
    roundings = [Rounding.SINGLE, Rounding.DOUBLE, *([Rounding.EXACT] if type == "unorm" and width <= 24 else [])]
    if type == "snorm" and width == 32:
        roundings = [Rounding.DOUBLE]  # no unit rounds it in f32
    channel = Channel(type_of(type, width), 0, 0, width)
    results = []
    for evaluator in EVALUATORS:
        arena = arena_of(np.array(words, np.uint64).tobytes())
        run = Engine(arena, evaluator).get(encode_all, channel=channel, roundings=tuple(roundings), types=EVERY_TYPE)
        run(TABLES)
        found = arena[OUTPUT : OUTPUT + 8 * COUNT * len(roundings)].view(np.uint64)
        results.append(found.reshape(len(roundings), COUNT))
    for rounding, rows in zip(roundings, np.stack(results, 1).tolist(), strict=True):
        for value, fast, slow in zip(given_values, *rows, strict=True):
            wanted = code_word(type, value, width, rounding)
            if type == "float" and math.isnan(value):
                assert fast == slow and math.isnan(float(value_of("float", fast, width)))
                continue
            assert (fast, slow) == (wanted, wanted), (rounding, value)


@given(st.floats(width=32), st.integers(1, 24))
def test_the_nearest_step_is_the_nearest(value: float, width: int) -> None:
    """Rounding.EXACT in f32 is what fractions say, and what Rounding.DOUBLE says with f64."""
    k = ArrayLang(1)
    channel, number = Channel(type_of("unorm", width), 0, 0, width), k.from_array(np.array([value], np.float32))
    found = [k.to_array(encode(k, channel, number, None, how))[0] for how in (Rounding.EXACT, Rounding.DOUBLE)]
    assert found == [code_of("unorm", value, width)] * 2


def test_types_that_do_not_exist() -> None:
    with pytest.raises(UsageError, match="no floats of 24 bits"):
        type_of("float", 24)
    with pytest.raises(UsageError, match="no component type 'velvet'"):
        type_of("velvet", 8)
    with pytest.raises(UsageError, match="no channels"):
        Channels.of(TEXTURE.named("DXT1"))
    with pytest.raises(UsageError, match="neither depth nor stencil"):
        Channels.of_depth(COLOR_TARGET.named("R8"))


# Formats


def read_format(k: Lang, bytes: int) -> Channels:
    """A format that is read at run time, the words of four channels at FORMAT."""
    words = [k.load(I32, k.i64(FORMAT + 4 * n)) for n in range(18)]
    return Channels(bytes, tuple(Channel(*words[n : n + 4]) for n in range(0, 16, 4)), words[16], words[17])


@kernel(tables=I64)
def there_and_back(
    k: Lang, tables: Value, *, bytes: int, channels: Channels | None, types: Sequence[int], packs: bool = True
) -> None:  # fmt: skip
    """COUNT elements at INPUT to four words each at OUTPUT, and packed again after these."""
    if channels:
        k.hurry()  # there are hundreds of formats; code that reads them gets all passes
    found = channels or read_format(k, bytes)
    srgb = tables if SRGB in types else None
    for start in k.range(0, COUNT, k.lanes):
        index = k.to_i64(k.iota() + start)
        colour = found.unpack(k, load(k, bytes, index * bytes + INPUT), srgb, Quotient.NEAREST, types=types)
        for i, value in enumerate(colour):
            k.scatter(I32, index * 16 + (OUTPUT + 4 * i), k.bits_i32(value))
        if packs:
            words = found.pack(k, colour, srgb, Rounding.SINGLE, types=types)
            store(k, bytes, index * bytes + (OUTPUT + 16 * COUNT), words, index >= 0)


def choices(table: object, layout: PixelLayout) -> Iterator[tuple[str, ...]]:
    """What the types of a format can be, where it leaves them open."""
    if table is VERTEX:
        yield from (types_of(layout, type) for type in vertex_types().values())
        return
    yield UNORM_TYPES
    if table is TEXTURE and not all(c.type for c in layout.components):
        floats = all(c.width in (10, 11, 16, 32) for c in layout.components if not c.type)
        yield from ((type,) * 4 for type in ("snorm", "uint", "sint", *["float"] * floats))
        yield "uint", "snorm", "unorm", "sint"


def every_format() -> Iterator[tuple[str, PixelLayout, tuple[str, ...], int]]:
    """(name, layout, types, pixel of those that share an element) of all formats in words of 1, 2 or 4 bytes."""
    for table in (COLOR_TARGET, TWOD, TEXTURE, VERTEX):
        for layout in table.values():
            if layout.components and (layout.bytes in (1, 2) or layout.bytes % 4 == 0):
                for types in choices(table, layout):
                    for pixel in range(layout.block[0]):
                        name = f"{table.use} {layout.name} {'-'.join(dict.fromkeys(types))} {pixel}"
                        yield name, layout, types, pixel


FORMATS = {Channels.of(one[1], one[2], pixel=one[3]): one for one in every_format()}
"""By what code sees of them: formats that are alike in that are tested once."""


def raw_pixels(layout: PixelLayout) -> bytes:
    """COUNT elements: the ends of each component's range, and random ones."""
    rng = random.Random(layout.name)
    edges = [bytes(layout.bytes), b"\xff" * layout.bytes, b"\x80" * layout.bytes, b"\x7f" * layout.bytes]
    edges += [(1 << (c.lo + c.width - 1)).to_bytes(layout.bytes, "little") for c in layout.components]
    edges += [(((1 << c.width) - 1) << c.lo).to_bytes(layout.bytes, "little") for c in layout.components]
    return b"".join(edges + [rng.randbytes(layout.bytes) for _ in range(COUNT - len(edges))])


def model_of(layout: PixelLayout, types: Sequence[str], pixel: int) -> list[tuple[str, int, int]]:
    """(type, lowest bit, width) of red, green, blue and alpha by the table of facts; "" where there is none."""
    found = []
    for i, name in enumerate("RGBA"):
        wanted = (name, f"{name}{pixel}", "Y" if i < 3 else name)
        of = next((c for c in layout.components if c.name in wanted and c.type != "ignored"), None)
        found.append(("", 0, 1) if of is None else (of.type or types[0 if of.name == "Y" else i], of.lo, of.width))
    if len({type for type, _, _ in found if type}) > 1:  # beside numbers, integers count as such
        found = [({"uint": "uscaled", "sint": "sscaled"}.get(type, type), lo, width) for type, lo, width in found]
    return found


@cache
def known_format(channels: Channels, evaluator: str) -> NDArray[np.uint8]:
    """Values and packed pixels of a format that is known while tracing: run once, read by several tests."""
    _, layout, _, _ = FORMATS[channels]
    arena, size = arena_of(raw_pixels(layout)), layout.bytes
    Engine(arena, evaluator).get(there_and_back, bytes=size, channels=channels, types=EVERY_TYPE)(TABLES)
    found = arena[OUTPUT : OUTPUT + (16 + size) * COUNT].copy()
    found.setflags(write=False)
    return found


@pytest.mark.parametrize("channels", FORMATS, ids=[name for name, *_ in FORMATS.values()])
def test_formats(channels: Channels) -> None:
    """Pixels of every format become the model's values, and are the same pixels when packed again."""
    _, layout, types, pixel = FORMATS[channels]
    data, size = raw_pixels(layout), layout.bytes
    results = [known_format(channels, evaluator) for evaluator in EVALUATORS]
    fast, slow = (found[: 16 * COUNT].view(np.uint32) for found in results)
    assert same_bits(fast, slow)
    again = results[0][16 * COUNT :].tobytes()
    assert again == results[1][16 * COUNT :].tobytes()
    shared = layout.component("E")
    for n, row in enumerate(fast.reshape(COUNT, 4).tolist()):
        before, after = (int.from_bytes(raw[n * size : (n + 1) * size], "little") for raw in (data, again))
        kept = sum(((1 << c.width) - 1) << c.lo for c in layout.components if c.type == "one")
        for i, (found, (type, lo, width)) in enumerate(zip(row, model_of(layout, types, pixel), strict=True)):
            code = before >> lo & ((1 << width) - 1)
            kept |= ((1 << width) - 1) << lo if type else 0
            if type in ("", "zero"):
                assert found == (word_of(1.0) if i == 3 and not type else 0)
                continue
            wanted = value_word("uscaled" if type == "mantissa" else type, code, width, Quotient.NEAREST)
            if shared is not None and i < 3:
                wanted = word_of(f32(int(wanted)) * 2.0 ** ((before >> shared.lo & 31) - 24))
            nan = type == "float" and math.isnan(f32(int(wanted)))
            assert nan == (type == "float" and math.isnan(f32(found))), (n, i)
            assert nan or found == wanted or (type == "srgb" and abs(found - int(wanted)) <= 1), (n, i)
            # What codes lose on the way to a value and back: NaN, the second code of -1, bits that f32 rounds.
            exact = not nan and shared is None and (width <= 16 or type in ("uint", "sint", "float"))
            if exact and not (type in ("snorm", "sscaled") and code == 1 << (width - 1)):
                assert after >> lo & ((1 << width) - 1) == code, (n, i)
        assert after & ~kept == 0


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("types", [tuple(OF_TARGETS), tuple(OF_TEXTURES), tuple(OF_VERTICES)], ids=str)
def test_formats_read_at_run_time(types: tuple[int, ...], evaluator: str) -> None:
    """Code that reads the format gives the bits of code that knows it, for all formats that it may see."""
    seen, packs = 0, ZERO not in types  # vertices are only read
    for channels, (_, layout, _, pixel) in FORMATS.items():
        kinds = {c.type for c in channels.channels}
        signed_bit = any(c.width == 1 and c.type == type_of("snorm", 1) for c in channels.channels)
        if not kinds <= set(types) or pixel or channels.exponent or signed_bit or layout.bytes == 12:
            continue  # no such code has pixels that share anything, nor signed bits, nor three words
        if any(a is b for i, a in enumerate(channels.channels) for b in channels.channels[:i] if a.type != ABSENT):
            continue  # luminance is for blits, which know their formats
        data, size = raw_pixels(layout), layout.bytes
        words = [n for c in channels.channels for n in astuple(c)] + [channels.fixed, channels.numbers]
        arena = arena_of(data, words)
        run = Engine(arena, evaluator).get(there_and_back, bytes=size, channels=None, types=types, packs=packs)
        run(TABLES)
        found = [arena[OUTPUT : OUTPUT + (16 + size) * COUNT], known_format(channels, "llvm")]
        assert same_bits(*(one[: 16 * COUNT].view(np.uint32) for one in found)), layout.name
        assert not packs or np.array_equal(*(one[16 * COUNT :] for one in found)), layout.name
        seen += 1
    assert seen > 30


@pytest.mark.parametrize("layout", list(COLOR_TARGET.values()), ids=lambda layout: layout.name)
def test_bits_that_are_written(layout: PixelLayout) -> None:
    """A mask of channels changes their bits; all channels together change everything."""
    names = {c.name for c in layout.components if c.name in "RGBA"}
    assert written_bits(layout, "RGBA") == (1 << 8 * layout.bytes) - 1
    for c in layout.components:
        if c.name in names and len(names) > 1:
            assert written_bits(layout, {c.name}) == ((1 << c.width) - 1) << c.lo
    assert Fraction(sum(c.width for c in layout.components), 8) == layout.bytes


@pytest.mark.parametrize(
    ("table", "types"), [(COLOR_TARGET, OF_TARGETS), (VERTEX, OF_VERTICES)], ids=["target", "vertex"]
)
def test_types_that_code_expects_are_those_that_occur(table: Mapping[int, PixelLayout], types: Collection[int]) -> None:
    """Each type costs code in every kernel that reads the format at run time, so there is none too many."""
    found = [Channels.of(layout, t) for layout in table.values() if layout.components for t in choices(table, layout)]
    assert {channel.type for channels in found for channel in channels.channels} == set(types)
