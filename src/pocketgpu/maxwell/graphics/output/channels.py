"""The channels of a colour in the bits of a sample, for formats known while tracing and for those read at run time.

A colour is four f32 vectors, red to alpha; where a format holds integers these are the bits of the registers. Rounding
is that of `engines.pixels`; integers too large for a format become its largest, as in clears.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

from pocketgpu.facts.maxwell.formats import Component, PixelLayout
from pocketgpu.lanes import Lang, Value
from pocketgpu.maxwell.formats.pixels import decode_srgb, encode_srgb, float_of, float_to
from pocketgpu.maxwell.graphics.output.pixel_access import Number, Words

ABSENT, UNORM, SNORM, UINT, SINT, FLOAT32, FLOAT16, FLOAT11, FLOAT10, SRGB, UNORM32 = range(11)
"""Types of channels."""
NUMBER_UNORM, NUMBER_SNORM, NUMBER_FLOAT, NUMBER_INTEGER = range(4)
"""What the colours of a format are: clamped to 0..1, to -1..1, not at all; integers, which are never blended."""
_FLOATS = {32: FLOAT32, 16: FLOAT16, 11: FLOAT11, 10: FLOAT10}
_MANTISSA = {FLOAT16: 10, FLOAT11: 6, FLOAT10: 5}
_PLAIN = {"unorm": UNORM, "snorm": SNORM, "uint": UINT, "sint": SINT}

Colour = list[Value]


@dataclass(frozen=True)
class Channel:
    """One channel: its type, the word that it is in, its lowest bit there and its width."""

    type: Number
    word: Number
    low: Number
    width: Number

    def mask(self, k: Lang) -> Number:
        """As many ones as the channel has bits."""
        if isinstance(self.width, int):
            return (1 << self.width) - 1
        return k.i32(-1).lsr(32 - self.width)


def _type(component: Component, srgb: bool) -> int:
    if component.type == "float":
        return _FLOATS[component.width]
    if component.type == "srgb":
        return SRGB if srgb else UNORM
    return UNORM32 if (component.type, component.width) == ("unorm", 32) else _PLAIN[component.type]


_NONE = Channel(ABSENT, 0, 0, 1)


@dataclass(frozen=True)
class Channels:
    """Red, green, blue and alpha of a format; fixed: bits that are always written as ones; numbers: NUMBER_*."""

    bytes: Number
    channels: tuple[Channel, ...]
    fixed: Number
    numbers: Number

    @classmethod
    @cache
    def of(cls, layout: PixelLayout, srgb: bool) -> Channels:
        """The channels of a format. srgb: colours are encoded (SET_SRGB_WRITE), where the format says so."""
        found = [layout.component(name) for name in "RGBA"]
        channels = tuple(
            Channel(_type(c, srgb), c.lo >> 5, c.lo & 31, c.width) if c is not None else _NONE for c in found
        )
        fixed = sum(((1 << c.width) - 1) << c.lo for c in layout.components if c.type == "one")
        types = {c.type for c in channels} - {ABSENT}
        numbers = NUMBER_FLOAT
        if types <= {UINT, SINT}:
            numbers = NUMBER_INTEGER
        elif types <= {UNORM, UNORM32, SRGB}:
            numbers = NUMBER_UNORM
        elif types <= {SNORM}:
            numbers = NUMBER_SNORM
        return cls(layout.bytes, channels, fixed, numbers)

    @property
    def words(self) -> int:
        """Words of a sample; as many as there can be, if the format is read at run time."""
        return max(1, self.bytes // 4) if isinstance(self.bytes, int) else 4

    def clamp(self, k: Lang, colour: Colour) -> Colour:
        """A colour as blending sees it."""
        unorm: Callable[[], tuple[Value, ...]] = lambda: tuple(k.clamp(v, 0.0, 1.0) for v in colour)
        snorm: Callable[[], tuple[Value, ...]] = lambda: tuple(k.clamp(v, -1.0, 1.0) for v in colour)
        return list(k.switch(self.numbers, [unorm, snorm, lambda: tuple(colour)]))

    def unpack(self, k: Lang, words: Words, srgb_tables: Value) -> Colour:
        """The colour of a sample. Channels that a format has not are 0, alpha 1."""
        colour = []
        for i, channel in enumerate(self.channels):
            word = _select_word(k, words, channel.word)
            missing = 1.0 if i == 3 else 0.0
            decode = [partial(f, k, word, channel, srgb_tables) for f in _DECODE]
            absent: Callable[[float], Value] = lambda v: k.splat(k.f32(v))
            value: Value = k.switch(channel.type, [partial(absent, missing), *decode])
            colour.append(value)
        return colour

    def pack(self, k: Lang, colour: Colour, srgb_tables: Value) -> Words:
        """The words of a sample of that colour."""
        words: list[Value | None] = [None] * self.words
        for value, channel in zip(colour, self.channels, strict=True):
            if isinstance(channel.type, int) and channel.type == ABSENT:
                continue
            encode = [partial(f, k, value, channel, srgb_tables) for f in _ENCODE]
            code: Value = k.switch(channel.type, [lambda: k.splat(0), *encode])
            part = code if isinstance(channel.low, int) and not channel.low else code << channel.low
            for i in range(len(words)) if isinstance(channel.word, Value) else [channel.word]:
                here = k.select(channel.word == i, part, 0) if isinstance(channel.word, Value) else part
                before = words[i]
                words[i] = here if before is None else before | here
        out = [k.splat(0) if word is None else word for word in words]
        if isinstance(self.fixed, Value) or self.fixed:
            out[0] = out[0] | self.fixed
        return tuple(out)

    def written(self, layout: PixelLayout, mask: int) -> tuple[int, ...]:
        """Bits of each of four words that are written under a mask of channels (red is bit 0)."""
        names = {name for i, name in enumerate("RGBA") if mask >> i & 1}
        bits = sum(((1 << c.width) - 1) << c.lo for c in layout.components if c.name in names)
        if all(c.name in names or c.name not in "RGBA" for c in layout.components):
            bits = (1 << 8 * layout.bytes) - 1  # what nobody looks at goes with the whole
        return tuple(bits >> 32 * i & 0xFFFFFFFF for i in range(4))


def _select_word(k: Lang, words: Words, number: Number) -> Value:
    if isinstance(number, int):
        return words[number]
    word = words[0]
    for i in range(1, len(words)):
        word = k.select(number == i, words[i], word)
    return word


# Each takes (k, word, channel, srgb_tables) to f32, in the order of the types.


def _bits(k: Lang, word: Value, c: Channel) -> Value:
    return word.lsr(c.low) & c.mask(k)


def _signed(k: Lang, word: Value, c: Channel) -> Value:
    return (word << (32 - c.low - c.width)) >> (32 - c.width)


def _largest(k: Lang, c: Channel, shift: int = 0) -> Value:
    """The largest code (half of it, for signed ones), as f32."""
    mask = c.mask(k)
    return k.f32(mask >> shift) if isinstance(mask, int) else k.to_f32(mask.lsr(shift))


def _step(k: Lang, c: Channel, shift: int = 0) -> Value:
    """1 by the largest code. Codes times this are exact for the largest, and come back as the same codes."""
    return k.f32(1.0) / _largest(k, c, shift)


def _from_unorm(k: Lang, word: Value, c: Channel, tables: Value) -> Value:
    return k.to_f32(_bits(k, word, c)) * _step(k, c)


def _from_snorm(k: Lang, word: Value, c: Channel, tables: Value) -> Value:
    return k.max(k.to_f32(_signed(k, word, c)) * _step(k, c, 1), -1.0)


def _from_bits(k: Lang, word: Value, c: Channel, tables: Value) -> Value:
    return k.bits_f32(word)


def _from_float(type: int, k: Lang, word: Value, c: Channel, tables: Value) -> Value:
    return float_of(k, _bits(k, word, c), _MANTISSA[type], type == FLOAT16)


def _from_srgb(k: Lang, word: Value, c: Channel, tables: Value) -> Value:
    return decode_srgb(k, tables, word.lsr(c.low) & 0xFF)


def _from_unorm32(k: Lang, word: Value, c: Channel, tables: Value) -> Value:
    return (k.to_f32(word.lsr(16)) * 65536.0 + k.to_f32(word & 0xFFFF)) / 4294967295.0


_DECODE: Sequence[Callable[..., Value]] = (
    _from_unorm, _from_snorm, _from_bits, _from_bits, _from_bits, *(partial(_from_float, t) for t in _MANTISSA),
    _from_srgb, _from_unorm32,
)  # fmt: skip


def _to_unorm(k: Lang, v: Value, c: Channel, tables: Value) -> Value:
    # The widest has 16 bits. Where the bounds of the conversion are known they clamp as well, with the same outcome.
    if isinstance(c.width, int):
        return k.to_i32(v * _largest(k, c) + 0.5, 0, (1 << c.width) - 1)
    return k.to_i32(k.clamp(v, 0.0, 1.0) * _largest(k, c) + 0.5, 0, 65535)


def _to_snorm(k: Lang, v: Value, c: Channel, tables: Value) -> Value:
    scaled = k.clamp(v, -1.0, 1.0) * _largest(k, c, 1)
    code = k.to_i32(scaled + k.select(scaled < 0.0, -0.5, 0.5), -32767, 32767)
    return k.select(v != v, 0, code) & c.mask(k)


def _to_uint(k: Lang, v: Value, c: Channel, tables: Value) -> Value:
    word, top = k.bits_i32(v), c.mask(k)
    return k.select(word.below(top), word, top)


def _to_sint(k: Lang, v: Value, c: Channel, tables: Value) -> Value:
    word, mask = k.bits_i32(v), c.mask(k)
    top = mask >> 1 if isinstance(mask, int) else mask.lsr(1)
    return k.clamp(word, -top - 1, top) & mask


def _to_bits(k: Lang, v: Value, c: Channel, tables: Value) -> Value:
    return k.bits_i32(v)


def _to_float(type: int, k: Lang, v: Value, c: Channel, tables: Value) -> Value:
    return float_to(k, v, _MANTISSA[type], type == FLOAT16)


def _to_srgb(k: Lang, v: Value, c: Channel, tables: Value) -> Value:
    return encode_srgb(k, tables, v)


def _to_unorm32(k: Lang, v: Value, c: Channel, tables: Value) -> Value:
    x = k.clamp(v, 0.0, 1.0) * 65536.0
    high = k.to_i32(x, 0, 65536)
    low = k.to_i32((x - k.to_f32(high)) * 65536.0, 0, 65535)
    return k.select(x >= 65536.0, -1, (high << 16) + low)


_ENCODE: Sequence[Callable[..., Value]] = (
    _to_unorm, _to_snorm, _to_uint, _to_sint, _to_bits, *(partial(_to_float, t) for t in _MANTISSA), _to_srgb,
    _to_unorm32,
)  # fmt: skip
