"""Multiplying and adding with one rounding, on hosts that have no instruction for it.

f32 goes through f64: the product is exact there, and the sum is rounded to odd, which makes the second rounding right
(Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd"). f64 is
done with integers, which also gives the directed roundings that no host offers without touching a control register.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.lanes.values import Value

if TYPE_CHECKING:
    from pocketgpu.lanes.language import Lang

NEAREST, DOWN, UP, ZERO = range(4)
"""Roundings: to nearest even, towards minus infinity, towards plus infinity, towards zero."""

_SIGN = -(1 << 63)
_INFINITY = 0x7FF << 52
_HIDDEN = 1 << 52
_NAN = 0x7FF8 << 48


def sum_to_odd(k: Lang, a: Value, b: Value) -> Value:
    """a + b of f64, rounded to odd: cut off, with the last bit set where anything was lost."""
    s = a + b
    part = s - a
    error = (a - (s - part)) + (b - part)
    lost = (error < 0.0) | (error > 0.0)
    bits = k.bits_i64(s)
    beyond = (error < 0.0) ^ (bits < 0)  # the nearest one is farther from zero than the sum
    cut = bits - k.select(beyond, k.const(1, bits.type), k.const(0, bits.type))
    return k.bits_f64(k.select(lost, cut | 1, bits))


def fma32(k: Lang, a: Value, b: Value, c: Value) -> Value:
    """a * b + c of f32."""
    return k.to_f32(sum_to_odd(k, k.to_f64(a) * k.to_f64(b), k.to_f64(c)))


def _scaled(k: Lang, bits: Value) -> tuple[Value, Value]:
    """Significand and exponent of a finite f64: the value is significand * 2**(exponent - 1075)."""
    field = bits.lsr(52) & 0x7FF
    fraction = bits & (_HIDDEN - 1)
    normal = field != 0
    return k.select(normal, fraction | _HIDDEN, fraction), k.select(normal, field, 1)


def _product(x: Value, y: Value) -> tuple[Value, Value]:
    """The 128 bits of a product of two unsigned numbers below 2**54, as (high, low)."""
    low32 = 0xFFFFFFFF
    x0, x1, y0, y1 = x & low32, x.lsr(32), y & low32, y.lsr(32)
    middle = x0 * y1 + (x0 * y0).lsr(32)
    other = x1 * y0 + (middle & low32)
    return x1 * y1 + middle.lsr(32) + other.lsr(32), x * y


def _shift_left(k: Lang, high: Value, low: Value, by: Value) -> tuple[Value, Value]:
    """128 bits shifted left by 0..127."""
    far = by >= 64
    near = by & 63
    carried = k.select(near == 0, 0, low.lsr(64 - near))
    return k.select(far, low << near, (high << near) | carried), k.select(far, 0, low << near)


def _shift_right(k: Lang, high: Value, low: Value, by: Value) -> tuple[Value, Value]:
    """128 bits shifted right by 0 or more; the last bit is set where anything was lost."""
    count = k.min(by, 127)
    far = count >= 64
    near = count & 63
    keep = (k.fit(k.const(1, near.type), near.type, near.lanes) << near) - 1
    carried = k.select(near == 0, 0, high << (64 - near))
    lost = k.select(far, (low != 0) | ((high & keep) != 0), (low & keep) != 0) | (by > 127) & ((high | low) != 0)
    out_low = k.select(far, high.lsr(near), low.lsr(near) | carried)
    return k.select(far, 0, high.lsr(near)), out_low | k.select(lost, 1, 0 * near)


def _add(k: Lang, a: tuple[Value, Value], b: tuple[Value, Value]) -> tuple[Value, Value]:
    low = a[1] + b[1]
    return a[0] + b[0] + k.select(low.below(a[1]), 1, 0 * low), low


def _negated(k: Lang, a: tuple[Value, Value]) -> tuple[Value, Value]:
    low = -a[1]
    return ~a[0] + k.select(low == 0, 1, 0 * low), low


def _like(k: Lang, v: int, value: Value) -> Value:
    """A constant in the lanes of a value."""
    return k.fit(k.const(v, value.type), value.type, value.lanes)


def _aligned_sum(k: Lang, a: Value, b: Value, c: Value, flip: Value) -> tuple[tuple[Value, Value], Value]:
    """The sum of a * b and c, finite numbers as bits, in 128 bits with a sign; and the exponent of its lowest bit.

    flip: whether the product and c have different signs; the sum is negative where c is the larger one then.
    """
    (ma, ea), (mb, eb), (mc, ec) = (_scaled(k, v) for v in (a, b, c))
    # The product has up to 106 bits, shifted left by 2; the addend gets the same exponent.
    high, low = _shift_left(k, *_product(ma, mb), _like(k, 2, a))
    ep = ea + eb - 1077  # exponent of the lowest bit, in the same count as ec
    top_c, low_c = _shift_left(k, 0 * mc, mc, _like(k, 64, a))
    e_c = ec - 64
    p_zero, c_zero = (high | low) == 0, mc == 0
    # The lower one must move right to meet the higher one. To lose less, the higher one moves left first as far as
    # there is room (two bits stay free for the sum and its sign).
    gap = ep - e_c
    room_p = k.leading_zeros(k.select(high == 0, low, high)) + k.select(high == 0, 64, 0 * high) - 3
    room_c = k.leading_zeros(k.select(top_c == 0, low_c, top_c)) + k.select(top_c == 0, 64, 0 * high) - 3
    move_p = k.select(p_zero, 0, k.clamp(gap, 0, k.max(room_p, 0)))
    move_c = k.select(c_zero, 0, k.clamp(-gap, 0, k.max(room_c, 0)))
    high, low = _shift_left(k, high, low, move_p)
    top_c, low_c = _shift_left(k, top_c, low_c, move_c)
    ep, e_c = k.select(p_zero, e_c, ep - move_p), k.select(c_zero, ep, e_c - move_c)
    ep = k.select(p_zero, e_c, ep)
    e_c = k.select(c_zero, ep, e_c)
    base = k.max(ep, e_c)
    high, low = _shift_right(k, high, low, base - ep)
    top_c, low_c = _shift_right(k, top_c, low_c, base - e_c)
    minus_high, minus_low = _negated(k, (top_c, low_c))
    return _add(k, (high, low), (k.select(flip, minus_high, top_c), k.select(flip, minus_low, low_c))), base


def _rounded(k: Lang, high: Value, low: Value, base: Value, negative: Value, rounding: int | Value) -> Value:
    """The bits of a number of 128 bits above 0 as an f64, without its sign, which decides about some roundings."""
    # Bring the highest bit to bit 62 of the upper word, then cut to 53 bits, or fewer below the smallest exponent.
    zeros = k.select(high == 0, k.leading_zeros(low) + 64, k.leading_zeros(high))
    high, low = _shift_left(k, high, low, k.max(zeros - 1, 0))
    exponent = base - k.max(zeros - 1, 0) + 64 + 10  # of bit 10 of the upper word, the last of 53
    high = high | k.select(low != 0, 1, 0 * low)
    cut = 10 + k.max(1 - exponent, 0)
    high = k.select(cut > 63, 1, high)  # so small that it only matters for rounding
    cut = k.min(cut, 63)
    one = _like(k, 1, high)
    rest = high & ((one << cut) - 1)
    whole = high.lsr(cut)
    half = one << (cut - 1)
    up = k.switch(
        rounding,
        [
            lambda: (rest > half) | ((rest == half) & ((whole & 1) != 0)),
            lambda: negative & (rest != 0),
            lambda: ~negative & (rest != 0),
            lambda: rest < 0,
        ],
    )
    whole = whole + k.select(up, 1, 0 * whole)
    # The hidden bit adds one to the exponent field; a carry out of the significand does as well.
    field = k.clamp(exponent, 1, 0x7FF)
    magnitude = k.select(exponent >= 1, whole + ((field - 1) << 52), whole)
    overflow = magnitude >= _INFINITY
    largest = k.switch(
        rounding,
        [
            lambda: _like(k, _INFINITY, high),
            lambda: k.select(negative, _like(k, _INFINITY, high), _INFINITY - 1),
            lambda: k.select(negative, _like(k, _INFINITY - 1, high), _INFINITY),
            lambda: _like(k, _INFINITY - 1, high),
        ],
    )
    return k.select(overflow, largest, magnitude)


def fma64(k: Lang, x: Value, y: Value, z: Value, rounding: int | Value = NEAREST) -> Value:
    """x * y + z of f64 in one of four roundings. A result that is NaN is the quiet NaN without payload."""
    a, b, c = k.bits_i64(x), k.bits_i64(y), k.bits_i64(z)
    sign = (a ^ b) & _SIGN
    negative_c = c < 0
    flip = (sign != 0) ^ negative_c
    total, base = _aligned_sum(k, a, b, c, flip)
    turned = total[0] < 0
    back = _negated(k, total)
    high, low = k.select(turned, back[0], total[0]), k.select(turned, back[1], total[1])
    negative = (sign != 0) ^ turned
    zero = (high | low) == 0
    magnitude = _rounded(k, high, low, base, negative, rounding)
    result = k.select(negative, magnitude | _SIGN, magnitude)
    # An exact zero has the sign of both parts. Where these differ it is negative only when rounding down.
    plus, minus = (lambda: _like(k, 0, a)), (lambda: _like(k, _SIGN, a))
    of_zero = k.switch(rounding, [plus, minus, plus, plus])
    both = (sign != 0) & negative_c
    result = k.select(zero, k.select(flip, of_zero, k.select(both, minus(), 0)), result)
    # Infinities and NaN.
    size_a, size_b, size_c = (v & ~_SIGN for v in (a, b, c))
    infinite_p = (size_a == _INFINITY) | (size_b == _INFINITY)
    invalid = infinite_p & ((size_a == 0) | (size_b == 0))
    infinite_c = size_c == _INFINITY
    result = k.select(infinite_c, c, result)
    result = k.select(infinite_p, sign | _INFINITY, result)
    invalid = invalid | (infinite_p & infinite_c & flip)
    for size in (size_a, size_b, size_c):
        invalid = invalid | (size > _INFINITY)
    return k.bits_f64(k.select(invalid, _like(k, _NAN, a), result))
