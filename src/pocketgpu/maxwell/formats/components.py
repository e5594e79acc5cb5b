"""One channel of a pixel: decoding its bits to a value in lanes, and encoding a value as bits.

A channel has a *type*, a number below, which is known while tracing or read at run time. Values are f32 lanes. For
integer types the value is the integer's 32 bits, as in a shader's register.

Where units of the chip differ, there is a parameter: how they divide by the largest code (`Quotient`), and how they
round to a code (`Rounding`). Source: OpenGL and Direct3D 11 for the meaning of the types.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from functools import cached_property, partial
from typing import Final

from pocketgpu.errors import UsageError
from pocketgpu.lanes import F64, Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.formats.small_floats import float_of, float_to
from pocketgpu.maxwell.formats.srgb import decode_srgb, encode_srgb
from pocketgpu.maxwell.formats.words import Number

(
    ABSENT, UNORM, SNORM, UINT, SINT, FLOAT32, FLOAT16, FLOAT11, FLOAT10, SRGB, UNORM32, SNORM32, USCALED, SSCALED,
    USCALED32, ZERO,
) = range(16)  # fmt: skip
"""Types of channels. UNORM, SNORM and USCALED have at most 24 bits, which f32 represents exactly; those with 32 bits
have their own types. USCALED and SSCALED are integers that are converted to floats. ZERO reads as 0 and is stored as 0.
"""
INTEGERS: Final = frozenset({UINT, SINT})
OF_TARGETS: Final = range(UNORM32 + 1)
"""The types of colour targets."""
OF_TEXTURES: Final = frozenset({*range(SRGB), UNORM32, SNORM32})
"""The types of texels that texture headers can name; sRGB is a separate bit there."""
OF_VERTICES: Final = frozenset({*range(ZERO + 1)} - {SRGB})
"""The types of vertex components."""
_BY_NAME = {
    "unorm": UNORM, "snorm": SNORM, "uint": UINT, "sint": SINT, "srgb": SRGB, "uscaled": USCALED, "sscaled": SSCALED,
    "mantissa": USCALED, "zero": ZERO,
}  # fmt: skip
_WIDE = {UNORM: UNORM32, SNORM: SNORM32, USCALED: USCALED32}
_FLOATS = {32: FLOAT32, 16: FLOAT16, 11: FLOAT11, 10: FLOAT10}
_WIDEST = 24  # bits of an integer that f32 represents exactly
_LARGEST = (1 << _WIDEST) - 1
_TWO_16, _TWO_52 = 65536.0, 2.0**52


class Quotient(Enum):
    """How the code of a normalised channel is divided by the largest one."""

    STEPS = "unorm is left in steps of its format, for filters, which divide once after mixing"
    RECIPROCAL = "multiplied by the reciprocal, rounded to f32, as targets do"
    NEAREST = "the f32 nearest to the quotient, as textures, surfaces and vertices have it"
    DOUBLE = "the f64 nearest to the quotient, for arrays"


class Rounding(Enum):
    """How a value between two codes of a normalised channel is rounded. Halves are always rounded away from zero."""

    SINGLE = "the product with the largest code, and its sum with a half, are rounded to f32: targets, blits, surfaces"
    EXACT = "as if the product were exact; f32 and unorm of at most 24 bits: depth"
    DOUBLE = "product and sum are f64, as the value may be: clears, arrays"


def type_of(name: str, width: int) -> int:
    """The type of a channel by its name in the table of facts and its bits; "uscaled" and "sscaled" are valid as well.

    :raises UsageError: there is no such type, or no float of so many bits.
    """
    if name == "float":
        if width not in _FLOATS:
            raise UsageError(f"there are no floats of {width} bits")
        return _FLOATS[width]
    if name not in _BY_NAME:
        raise UsageError(f"there is no component type {name!r}")
    found = _BY_NAME[name]
    return _WIDE.get(found, found) if width > _WIDEST else found


@dataclass(frozen=True)
class Channel:
    """One channel: its type, its word, its lowest bit in the word and its width in bits."""

    type: Number
    word: Number
    low: Number
    width: Number

    def mask(self, k: Lang) -> Number:
        """A mask with as many bits as the channel."""
        if isinstance(self.width, int):
            return (1 << self.width) - 1
        return k.i32(-1).lsr(32 - self.width)

    def code(self, k: Lang, word: Value) -> Value:
        """The channel's bits of a word."""
        return word.lsr(self.low) & self.mask(k)

    def signed(self, word: Value) -> Value:
        """The same, sign-extended."""
        return (word << (32 - self.low - self.width)) >> (32 - self.width)

    def largest(self, k: Lang, signed: bool = False) -> Value:
        """The largest code, or the largest signed one, as f32. A signed channel of one bit is 0 or -1, so its step is
        1."""
        mask = self.mask(k)
        return k.f32(max(mask >> signed, 1)) if isinstance(mask, int) else k.to_f32(mask.lsr(int(signed)))


def decode(
    k: Lang, channel: Channel, word: Value, tables: Value | None, quotient: Quotient,
    absent: Callable[[], Value] | None = None, types: Collection[int] = OF_TARGETS,
) -> Value:  # fmt: skip
    """The value of a channel of a word.

    :param tables: offset of `srgb_tables` (of the first 256 words at least) where SRGB may occur.
    :param absent: returns the value of a channel that the format does not have; 0 without it.
    :param types: those that may occur where the type is read at run time.
    """
    zero = lambda: k.splat(k.f32(0.0), word.lanes)
    bits = _ChannelBits(k, channel, word, tables)

    def case(type: int) -> Value:
        if type in (ABSENT, ZERO):
            return absent() if absent is not None and type == ABSENT else zero()
        return _DECODE[type](k, bits, channel, quotient)

    if isinstance(channel.type, int):
        return case(channel.type)
    _ = bits.code, bits.signed  # all cases share these
    found: Value = k.switch(channel.type, _possible(case, types, zero))
    return found


def encode(
    k: Lang, channel: Channel, value: Value, tables: Value | None, rounding: Rounding,
    types: Collection[int] = OF_TARGETS,
) -> Value:  # fmt: skip
    """The code for a value, in the lowest bits of i32. Values outside the type's range become the nearest code; NaN
    becomes 0 except in floats. tables, types: as for `decode`, but with all of the tables."""
    zero = lambda: k.splat(0, value.lanes)

    def case(type: int) -> Value:
        if type in (ABSENT, ZERO):
            return zero()
        if type == SRGB:
            assert tables is not None, "sRGB needs its tables"
            return encode_srgb(k, tables, value)
        return _ENCODE[type](k, value, channel, rounding)

    if isinstance(channel.type, int):
        return case(channel.type)
    found: Value = k.switch(channel.type, _possible(case, types, zero))
    return found


def _possible(
    case: Callable[[int], Value], types: Collection[int], zero: Callable[[], Value]
) -> Sequence[Callable[[], Value]]:  # fmt: skip
    """The cases of a `switch` over types of which only some occur; the others produce no code."""
    return [partial(case, type) if type in types else zero for type in range(max(types) + 1)]


def divided(k: Lang, steps: Value, channel: Channel, quotient: Quotient, signed: bool = False) -> Value:
    """Steps of a normalised channel (f32) divided by the largest code, without f64."""
    largest = channel.largest(k, signed)
    return steps * (k.f32(1.0) / largest) if quotient is Quotient.RECIPROCAL else steps / largest


class _ChannelBits:
    """The bits of a channel in its word, extracted at first use; and the tables of sRGB."""

    def __init__(self, k: Lang, channel: Channel, word: Value, tables: Value | None) -> None:
        self._k, self._channel, self.word, self.tables = k, channel, word, tables

    @cached_property
    def code(self) -> Value:
        return self._channel.code(self._k, self.word)

    @cached_property
    def signed(self) -> Value:
        return self._channel.signed(self.word)


# Decoders. Each takes (k, bits, channel, quotient) and returns a value.


def _from_unorm(k: Lang, bits: _ChannelBits, c: Channel, quotient: Quotient) -> Value:
    if quotient is Quotient.DOUBLE:
        return _quotient64(k, bits, c, False)
    steps = k.to_f32(bits.code)
    return steps if quotient is Quotient.STEPS else divided(k, steps, c, quotient)


def _from_snorm(k: Lang, bits: _ChannelBits, c: Channel, quotient: Quotient) -> Value:
    if quotient is Quotient.DOUBLE:
        return k.max(_quotient64(k, bits, c, True), -1.0)
    return k.max(divided(k, k.to_f32(bits.signed), c, quotient, signed=True), -1.0)


def _quotient64(k: Lang, bits: _ChannelBits, c: Channel, signed: bool) -> Value:
    number = k.to_f64(bits.signed) if signed else k.to_f64(k.to_i64(bits.code, False))
    mask = c.mask(k)
    if isinstance(mask, int):
        return number / float(max(mask >> signed, 1))
    return number / k.to_f64(k.to_i64(mask.lsr(int(signed)), False))


def _from_unorm32(k: Lang, bits: _ChannelBits, c: Channel, quotient: Quotient) -> Value:
    if quotient is Quotient.DOUBLE:
        return _quotient64(k, bits, c, False)
    if quotient is Quotient.NEAREST:
        return k.to_f32(_quotient64(k, bits, c, False))
    # to_f32 takes signed numbers; both halves are positive.
    steps = k.to_f32(bits.word.lsr(16)) * _TWO_16 + k.to_f32(bits.word & 0xFFFF)
    return steps if quotient is Quotient.STEPS else steps / float((1 << 32) - 1)


def _from_snorm32(k: Lang, bits: _ChannelBits, c: Channel, quotient: Quotient) -> Value:
    value = k.max(_quotient64(k, bits, c, True), -1.0)
    return value if quotient is Quotient.DOUBLE else k.to_f32(value)


def _from_uint(k: Lang, bits: _ChannelBits, c: Channel, quotient: Quotient) -> Value:
    return k.bits_f32(bits.code)


def _from_sint(k: Lang, bits: _ChannelBits, c: Channel, quotient: Quotient) -> Value:
    return k.bits_f32(bits.signed)


def _from_float32(k: Lang, bits: _ChannelBits, c: Channel, quotient: Quotient) -> Value:
    return k.bits_f32(bits.word)


def _from_float(width: int, k: Lang, bits: _ChannelBits, c: Channel, quotient: Quotient) -> Value:
    return float_of(k, bits.code, width)


def _from_srgb(k: Lang, bits: _ChannelBits, c: Channel, quotient: Quotient) -> Value:
    assert bits.tables is not None, "sRGB needs its tables"
    return decode_srgb(k, bits.tables, bits.code)


def _from_uscaled(k: Lang, bits: _ChannelBits, c: Channel, quotient: Quotient) -> Value:
    return k.to_f32(bits.code)


def _from_sscaled(k: Lang, bits: _ChannelBits, c: Channel, quotient: Quotient) -> Value:
    return k.to_f32(bits.signed)


def _from_uscaled32(k: Lang, bits: _ChannelBits, c: Channel, quotient: Quotient) -> Value:
    value = k.to_f64(k.to_i64(bits.code, False))
    return value if quotient is Quotient.DOUBLE else k.to_f32(value)


_DECODE: Mapping[int, Callable[..., Value]] = {
    UNORM: _from_unorm, SNORM: _from_snorm, UINT: _from_uint, SINT: _from_sint, FLOAT32: _from_float32,
    FLOAT16: partial(_from_float, 16), FLOAT11: partial(_from_float, 11), FLOAT10: partial(_from_float, 10),
    SRGB: _from_srgb, UNORM32: _from_unorm32, SNORM32: _from_snorm32, USCALED: _from_uscaled, SSCALED: _from_sscaled,
    USCALED32: _from_uscaled32,
}  # fmt: skip


# Encoders. Each takes (k, value, channel, rounding) and returns a code.


def _to_unorm(k: Lang, v: Value, c: Channel, rounding: Rounding) -> Value:
    if rounding is Rounding.DOUBLE:
        return _whole(k, k.clamp(_double(k, v), 0.0, 1.0) * _double(k, c.largest(k)) + 0.5)
    if rounding is Rounding.EXACT:
        return nearest_step(k, v, c.largest(k))
    # Conversions with constant bounds clamp as well, with the same result.
    if isinstance(c.width, int):
        return k.to_i32(v * c.largest(k) + 0.5, 0, (1 << c.width) - 1)
    return k.to_i32(k.clamp(v, 0.0, 1.0) * c.largest(k) + 0.5, 0, _LARGEST)


def nearest_step(k: Lang, value: Value, largest: Value) -> Value:
    """The nearest step (i32) of unorm f32 values, as if the product with the largest code (f32) were exact, halves up.

    For up to 24 bits. It needs no f64.
    """
    value = k.clamp(value, 0.0, 1.0)
    scaled = value * largest
    lost = k.fma(value, largest, -scaled)  # where only rounding made the product a half, it is rounded down
    whole = k.to_i32(scaled, 0, _LARGEST)
    rest = scaled - k.to_f32(whole)
    return whole + k.select((rest > 0.5) | ((rest == 0.5) & (lost >= 0.0)), 1, 0)


def _double(k: Lang, v: Value) -> Value:
    return v if v.type is F64 else k.to_f64(v)


def _whole(k: Lang, v: Value) -> Value:
    """The integer part of f64 values from 0 to 2^32, as the bits of i32."""
    return k.low32(k.bits_i64(k.floor(v) + _TWO_52))


def _away(k: Lang, v: Value, low: float, high: float, scale: float, rest: float) -> Value:
    """f64 values from low to high times `scale`, with `rest` added away from zero and truncated, as the bits of i32."""
    scaled = k.clamp(v, low, high) * scale
    size = _whole(k, k.abs(scaled) + rest)
    return k.select(v == v, k.select(scaled < 0.0, -size, size), 0)


def _to_snorm(k: Lang, v: Value, c: Channel, rounding: Rounding) -> Value:
    if rounding is Rounding.DOUBLE:
        assert isinstance(c.width, int)
        return _away(k, _double(k, v), -1.0, 1.0, float((1 << (c.width - 1)) - 1), 0.5) & c.mask(k)
    scaled = k.clamp(v, -1.0, 1.0) * c.largest(k, signed=True)
    code = k.to_i32(scaled + k.select(scaled < 0.0, -0.5, 0.5), -_LARGEST >> 1, _LARGEST >> 1)
    return k.select(v != v, 0, code) & c.mask(k)


def _to_unorm32(k: Lang, v: Value, c: Channel, rounding: Rounding) -> Value:
    if rounding is Rounding.DOUBLE:
        return _whole(k, k.clamp(_double(k, v), 0.0, 1.0) * float((1 << 32) - 1) + 0.5)
    x = k.clamp(v, 0.0, 1.0) * _TWO_16
    high = k.to_i32(x, 0, 65536)
    low = k.to_i32((x - k.to_f32(high)) * _TWO_16, 0, 65535)
    return k.select(x >= _TWO_16, -1, (high << 16) + low)


def _to_snorm32(k: Lang, v: Value, c: Channel, rounding: Rounding) -> Value:
    return _away(k, _double(k, v), -1.0, 1.0, float((1 << 31) - 1), 0.5)


def _to_uint(k: Lang, v: Value, c: Channel, rounding: Rounding) -> Value:
    word, top = k.bits_i32(v), c.mask(k)
    return k.select(word.below(top), word, top)


def _to_sint(k: Lang, v: Value, c: Channel, rounding: Rounding) -> Value:
    word, mask = k.bits_i32(v), c.mask(k)
    top = mask >> 1 if isinstance(mask, int) else mask.lsr(1)
    return k.clamp(word, -top - 1, top) & mask


def _to_float32(k: Lang, v: Value, c: Channel, rounding: Rounding) -> Value:
    return k.bits_i32(v)


def _to_float(width: int, k: Lang, v: Value, c: Channel, rounding: Rounding) -> Value:
    return float_to(k, v, width)


def _to_uscaled(k: Lang, v: Value, c: Channel, rounding: Rounding) -> Value:
    assert isinstance(c.width, int)
    return _whole(k, k.clamp(_double(k, v), 0.0, float((1 << c.width) - 1)))


def _to_sscaled(k: Lang, v: Value, c: Channel, rounding: Rounding) -> Value:
    assert isinstance(c.width, int)
    top = float(1 << (c.width - 1))
    return _away(k, _double(k, v), -top, top - 1.0, 1.0, 0.0) & c.mask(k)


_ENCODE: Mapping[int, Callable[..., Value]] = {
    UNORM: _to_unorm, SNORM: _to_snorm, UINT: _to_uint, SINT: _to_sint, FLOAT32: _to_float32,
    FLOAT16: partial(_to_float, 16), FLOAT11: partial(_to_float, 11), FLOAT10: partial(_to_float, 10),
    UNORM32: _to_unorm32, SNORM32: _to_snorm32, USCALED: _to_uscaled, SSCALED: _to_sscaled, USCALED32: _to_uscaled,
}  # fmt: skip
