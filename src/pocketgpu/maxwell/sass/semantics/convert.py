"""Conversions between integers, halves, singles and doubles, in all roundings, with integer operations alone.

Numbers go through the bits of an f64, which holds any half and single, or through a 64-bit magnitude with a sign.
"""

from __future__ import annotations

from collections.abc import Callable

from pocketgpu.lanes import I64, Value
from pocketgpu.maxwell.sass.semantics.float32 import directed, flush, saturate
from pocketgpu.maxwell.sass.semantics.known import Flag, chosen, where_set
from pocketgpu.maxwell.sass.semantics.unit import Flags, Unit, i32, operation

_SIGN64 = -(1 << 63)
_INFINITY64 = 0x7FF << 52
NEAREST, DOWN, UP, ZERO = range(4)
CANONICAL16 = 0x7FFF


def q(u: Unit, v: int) -> Value:
    """A 64-bit constant in all lanes."""
    return u.k.splat(v, type=I64)


def half_to_f32(u: Unit, h: Value) -> Value:
    """The number of the f16 in the lower 16 bits. Denormal ones are exact."""
    k = u.k
    sign = (h & 0x8000) << 16
    size = h & 0x7FFF
    normal = k.bits_f32((size << 13) + 0x38000000)
    # A denormal's fraction with 2**-14 added, and subtracted again.
    small = k.bits_f32((size << 13) + 0x38800000) - 6.103515625e-05
    special = k.bits_f32((size << 13) | 0x7F800000)
    value = k.select(size < 0x400, small, k.select(size >= 0x7C00, special, normal))
    return k.bits_f32(k.bits_i32(value) | sign)


def round_away(
    u: Unit, rounding: int | Value, negative: Value, whole: Value, rest: Value, half: Value
) -> Value:  # fmt: skip
    """Whether rounding adds one to `whole`. Roundings: nearest even 0, down 1, up 2, towards zero 3."""
    some = rest != 0
    return u.k.switch(
        rounding,
        [
            lambda: some & ((half.below(rest)) | ((rest == half) & ((whole & 1) != 0))),
            lambda: negative & some,
            lambda: ~negative & some,
            lambda: u.mask(False),
        ],
    )


def pack16(u: Unit, bits: Value, rounding: int | Value) -> Value:
    """The f64 with these bits as an f16, in the lower 16 bits of a word."""
    k = u.k
    negative = bits < 0
    size = bits & ~_SIGN64
    field = k.low32(size.lsr(52))
    exponent = field - 1023 + 15
    fraction = (size & ((1 << 52) - 1)) | _if_q(u, field != 0)
    # 11 bits of significand stay, fewer below the smallest exponent. Past 63 it only matters for rounding.
    cut = k.to_i64(42 + k.clamp(1 - exponent, 0, 21))
    whole = fraction.lsr(cut)
    one = q(u, 1)
    rest = fraction & ((one << cut) - 1)
    up = round_away(u, rounding, negative, whole, rest, one << (cut - 1))
    whole = k.low32(whole) + i32(u, up)
    result = k.select(exponent >= 1, whole + ((k.clamp(exponent, 1, 40) - 1) << 10), whole)
    largest = k.switch(
        rounding,
        [
            lambda: k.splat(0x7C00),
            lambda: k.select(negative, k.splat(0x7C00), 0x7BFF),
            lambda: k.select(negative, k.splat(0x7BFF), 0x7C00),
            lambda: k.splat(0x7BFF),
        ],
    )
    result = k.select(result >= 0x7C00, largest, result)
    result = k.select(size >= _INFINITY64, k.splat(0x7C00), result)
    result = result | k.select(negative, k.splat(0x8000), 0)
    return k.select(size > _INFINITY64, CANONICAL16, result)


def _if_q(u: Unit, mask: Value) -> Value:
    """The hidden bit of an f64 where the mask is set."""
    return u.k.select(mask, q(u, 1 << 52), 0)


def to_magnitude(u: Unit, bits: Value, rounding: int | Value) -> tuple[Value, Value, Value]:
    """The f64 with these bits as an integer: (magnitude of 64 bits, whether it is larger, whether it is negative).

    rounding: to nearest even 0, floor 1, ceiling 2, towards zero 3.
    """
    k = u.k
    negative = bits < 0
    size = bits & ~_SIGN64
    field = k.low32(size.lsr(52))
    fraction = (size & ((1 << 52) - 1)) | _if_q(u, field != 0)
    right = k.to_i64(k.clamp(1075 - field, 0, 63))
    left = k.to_i64(k.clamp(field - 1075, 0, 11))
    one = q(u, 1)
    whole = fraction.lsr(right)
    rest = fraction & ((one << right) - 1)
    up = round_away(u, rounding, negative, whole, rest, one << ((right - 1) & 63))
    whole = (whole + k.select(up, one, 0)) << left
    return whole, field > 1075 + 11, negative


def to_wide(u: Unit, x: Value) -> Value:
    """The bits of an f32 as those of an f64."""
    return u.k.bits_i64(u.k.to_f64(x))


def integer_of(u: Unit, bits: Value, rounding: int | Value, kind: str) -> tuple[Value, Value]:
    """The f64 with these bits as an integer of `kind` ("S32", ...), cut to its range. The caller deals with NaN.

    Gives (lower word, upper word); types below 64 bits have their sign in all of the lower word.
    """
    k = u.k
    magnitude, beyond, negative = to_magnitude(u, bits, rounding)
    width, signed = int(kind[1:]), kind[0] == "S"
    if signed:
        top = (1 << (width - 1)) - 1
        above = beyond | q(u, top).below(magnitude)
        positive = k.select(above, top, magnitude)
        below = beyond | q(u, top + 1).below(magnitude)
        minus = k.select(below, -(top + 1), -magnitude)
        value = k.select(negative, minus, positive)
    else:
        top = (1 << width) - 1
        above = beyond if width == 64 else beyond | q(u, top).below(magnitude)
        value = k.select(above, -1 if width == 64 else top, magnitude)
        value = k.select(negative, 0, value)
    return k.low32(value), k.low32(value.lsr(32))


KINDS = ("U8", "U16", "U32", "U64", "S8", "S16", "S32", "S64")


def _is_nan(bits: Value) -> Value:
    return (bits & ~_SIGN64) > _INFINITY64


def float_source(u: Unit, low: Value, high: Value, half: bool | Value = False) -> Value:
    """The bits of an f64 from a source of type `from` (1 f16, 2 f32, 3 f64), signs applied.

    half: whether the upper half of the register is meant.
    """
    k = u.k

    def wide() -> Value:
        return (k.to_i64(high) << 32) | k.to_i64(low, False)

    def half_number() -> Value:
        return to_wide(u, half_to_f32(u, chosen(half, low.lsr(16), low)))

    single = lambda: to_wide(u, flush(u, k.bits_f32(low), u.flag("ftz")))
    bits = u.pick("from", [single, half_number, single, wide])
    bits = k.select(u.mask(u.absolute(0)), bits & ~_SIGN64, bits)
    return k.select(u.mask(u.negated(0)), bits ^ _SIGN64, bits)


@operation("F2I", "w", "w", **{"from": 2, "to": 3, "rounding": 2, "ftz": 1, "half": 2})
def f2i(u: Unit, low: Value, high: Value) -> tuple[Value, Value, Flag]:
    """A number as an integer, cut to its range.

    NaN becomes 0; from or to 64 bits it becomes the smallest signed integer. From f32 or f16 to up to 32 bits a
    register chooses what it becomes (SET_SHADER_CONTROL).

    rounding: to nearest even 0, floor 1, ceiling 2, towards zero 3.
    """
    k = u.k
    bits = float_source(u, low, high, (u.code("half") != 0))
    results = u.pick("to", [lambda kind=kind: integer_of(u, bits, u.code("rounding"), kind) for kind in KINDS])
    nan, to, source = _is_nan(bits), u.code("to"), u.code("from")
    wide = ((to == 3) | (to == 7)) if isinstance(to, Value) else to in (3, 7)
    double = source == 3
    narrow = chosen(double, u.k.splat(-0x80000000), u.nan_integer())
    word = chosen(wide, u.zeros(), narrow)
    low, high = k.select(nan, word, results[0]), k.select(nan, -0x80000000, results[1])
    upper = chosen(wide, high, low >> 31)
    if u.wants_flags:
        no = u.mask(False)
        u.flags_out = Flags(no, no, upper < 0, (low | where_set(wide, high)) == 0)
    return low, high, wide


def number_of(u: Unit, magnitude: Value, negative: Value, rounding: int | Value, kind: str) -> tuple[Value, Value]:
    """A 64-bit magnitude with a sign as a number: kind "F16", "F32" or "F64"; (lower word, upper word)."""
    k = u.k
    width, bias = {"F16": (11, 15), "F32": (24, 127), "F64": (53, 1023)}[kind]
    zeros = k.leading_zeros(magnitude)
    shifted = magnitude << k.min(zeros, 63)
    cut = 64 - width
    whole, rest = shifted.lsr(cut), shifted & ((1 << cut) - 1)
    up = round_away(u, rounding, negative, whole, rest, q(u, 1 << (cut - 1)))
    whole = whole + k.select(up, q(u, 1), 0)
    exponent = bias + 63 - zeros
    bits = whole + ((exponent - 1) << (width - 1))
    if kind == "F16":
        top, infinity = q(u, 0x7BFF), q(u, 0x7C00)
        inward = k.switch(rounding, [
            lambda: infinity, lambda: k.select(negative, infinity, top),
            lambda: k.select(negative, top, infinity), lambda: top,
        ])  # fmt: skip
        bits = k.select(bits >= 0x7C00, inward, bits)
    bits = k.select(magnitude == 0, 0, bits)
    sign = {"F16": 0x8000, "F32": 1 << 31, "F64": _SIGN64}[kind]
    bits = bits | k.select(negative, q(u, sign), 0)
    return k.low32(bits), k.low32(bits.lsr(32))


def _integer_source(u: Unit, low: Value, high: Value, kind: Value | int) -> tuple[Value, Value]:
    """A source of an integer type as (magnitude, whether it is negative), its part and signs applied."""
    k = u.k
    part = u.code("part")
    moved = u.pick("part", [lambda: low, lambda: low.lsr(8), lambda: low.lsr(16), lambda: low.lsr(24)])
    del part

    def wide(signed: bool) -> Value:
        return (k.to_i64(high) << 32) | k.to_i64(low, False)

    cases = [
        lambda: k.to_i64(moved & 0xFF, False), lambda: k.to_i64(moved & 0xFFFF, False),
        lambda: k.to_i64(low, False), lambda: wide(False), lambda: k.to_i64((moved << 24) >> 24),
        lambda: k.to_i64((moved << 16) >> 16), lambda: k.to_i64(low), lambda: wide(True),
    ]  # fmt: skip
    value = k.switch(kind, cases)
    signed = kind >= 4
    minus = u.mask(signed) & (value < 0)
    magnitude = k.select(minus, -value, value)
    minus = minus & ~u.mask(u.absolute(0))
    # The negation of an unsigned number is a negative number as well.
    minus = (minus ^ u.mask(u.negated(0))) & (magnitude != 0)
    return magnitude, minus


@operation("I2F", "w", "w", **{"from": 3, "to": 2, "rounding": 2, "part": 2})
def i2f(u: Unit, low: Value, high: Value) -> tuple[Value, Value, Flag]:
    """An integer as a number. rounding: to nearest even 0, down 1, up 2, towards zero 3."""
    k, source, to, rounding = u.k, u.code("from"), u.code("to"), u.code("rounding")
    plain = all(isinstance(v, int) for v in (source, to, rounding)) and to == 2 and rounding == 0 and not u.wants_flags
    if plain and source not in (3, 7) and u.known(u.negated(0), False) and u.known(u.absolute(0), False):
        magnitude, minus = _short_source(u, low, source)
        number = k.bits_i32(k.to_f32(magnitude) if minus is None else k.to_f32(k.to_f64(minus)))
        return number, u.zeros(), False
    magnitude, minus = _integer_source(u, low, high, source)
    names = ("F16", "F16", "F32", "F64")
    result = u.pick("to", [lambda n=n: number_of(u, magnitude, minus, rounding, n) for n in names])
    u.number_flags(result[0], result[1], to)
    return result[0], result[1], to == 3


def _short_source(u: Unit, low: Value, source: int | Value) -> tuple[Value, Value | None]:
    """(a signed word, None), or for U32 (the word, the number in 64 bits)."""
    k = u.k
    moved = u.pick("part", [lambda: low, lambda: low.lsr(8), lambda: low.lsr(16), lambda: low.lsr(24)])
    cases: list[Callable[[], Value]] = [
        lambda: moved & 0xFF, lambda: moved & 0xFFFF, lambda: low, lambda: low, lambda: (moved << 24) >> 24,
        lambda: (moved << 16) >> 16, lambda: low, lambda: low,
    ]  # fmt: skip
    value = k.switch(source, cases)
    return value, (k.to_i64(value, False) if source == 2 else None)


@operation("I2I", "i", "i", **{"from": 3, "to": 3, "sat": 1, "part": 2})
def i2i(u: Unit, a: Value) -> Value:
    """An integer cut to another type: to its range with .SAT, else to its bits."""
    k = u.k
    magnitude, minus = _integer_source(u, a, u.zeros(), u.code("from"))
    value = k.select(minus, -magnitude, magnitude)

    def to(kind: str) -> Value:
        width, signed = int(kind[1:]), kind[0] == "S"
        lo, hi = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
        word = k.low32(value)
        if width < 32:
            word = (word << (32 - width)) >> (32 - width) if signed else word & hi
        return chosen(u.flag("sat"), k.low32(k.clamp(value, lo, hi)), word)

    result = u.pick("to", [lambda kind=kind: to(kind) for kind in KINDS])
    u.result_flags(result)
    return result


def whole_number(u: Unit, bits: Value, rounding: int | Value) -> Value:
    """The f64 with these bits rounded to an integer, as the bits of an f64: nearest even 0, floor, ceiling, trunc."""
    k = u.k
    magnitude, beyond, negative = to_magnitude(u, bits, rounding)
    number = k.bits_i64(k.to_f64(magnitude)) | k.select(negative, q(u, _SIGN64), 0)
    large = (bits & ~_SIGN64) >= (1075 << 52)
    return k.select(large | beyond, bits, number)


@operation("F2F", "w", "w", **{"from": 2, "to": 2, "rounding": 3, "ftz": 1, "sat": 1, "half": 1})
def f2f(u: Unit, low: Value, high: Value) -> tuple[Value, Value, Flag]:
    """A number in another format. rounding: 0 to nearest even, 1 down, 2 up, 3 towards zero; between equal formats
    3 is none, and 4 to 7 round to an integer: nearest even, floor, ceiling, towards zero."""
    k = u.k
    code, source, to = u.code("rounding"), u.code("from"), u.code("to")
    bits = float_source(u, low, high, u.flag("half"))
    if isinstance(code, int):
        whole = whole_number(u, bits, code - 4) if code >= 4 else bits
        rounding: int | Value = code if code < 4 and source != to else 0
    else:
        whole = k.branch(code >= 4, lambda: whole_number(u, bits, code - 4), lambda: bits)
        rounding = k.select((code < 4) & (k.fit(source, code.type, 1) != k.fit(to, code.type, 1)), code, 0)
    bits = whole

    def single() -> tuple[Value, Value]:
        exact = k.bits_f64(bits)
        cases = [lambda: k.to_f32(exact), *(lambda n=n: directed(u, exact, n) for n in (1, 2, 3))]
        x = saturate(u, flush(u, k.switch(rounding, cases), u.flag("ftz")))
        return k.select(x == x, k.bits_i32(x), 0x7FFFFFFF), u.zeros()

    def half() -> tuple[Value, Value]:
        x = pack16(u, bits, rounding)
        one = k.select((x & 0x8000) != 0, 0, k.select(x > 0x7C00, 0, k.min(x, 0x3C00)))
        return k.select(u.mask(u.flag("sat")), one, x), u.zeros()

    def double() -> tuple[Value, Value]:
        number = k.bits_f64(bits)
        clipped = k.min(k.max(number, 0.0), 1.0)
        kept = k.select(u.mask(u.flag("sat")), k.bits_i64(clipped), bits)
        kept = k.select(_is_nan(kept), 0x7FFFFFFF_FFFFFFFF, kept)
        return k.low32(kept), k.low32(kept.lsr(32))

    result = u.pick("to", [single, half, single, double])
    u.number_flags(result[0], result[1], to)
    return result[0], result[1], to == 3
