"""Floats of 32 and 64 bits, and pairs of halves."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from .. import slow_numbers as num
from ..slow_numbers import DOUBLE, HALF, SINGLE, Number
from .one import One, of


@of("FADD", "FADD32I")
def _fadd(x: One) -> None:
    ftz, rounding = bool(x.raw("ftz")), x.raw("rounding")
    x.give_float(num.add(x.float("a", ftz=ftz), x.float("b", ftz=ftz), rounding), rounding, ftz)


@of("FMUL", "FMUL32I")
def _fmul(x: One) -> None:
    mode = x.raw("fmz")
    a, b = x.float("a", ftz=mode != 0), x.float("b", ftz=mode != 0)
    if mode == 2 and (a.is_zero or b.is_zero):
        x.give_float(num.ZERO_VALUE)
        return
    scale = (Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(8), Fraction(4), Fraction(2))
    product = num.multiply(a, b)
    product = replace(product, value=product.value * scale[min(x.raw("scale"), 6)])
    x.give_float(product, x.raw("rounding"), mode != 0)


@of("FFMA", "FFMA32I")
def _ffma(x: One) -> None:
    mode, rounding = x.raw("fmz"), x.raw("rounding")
    a, b, c = (x.float(role, ftz=mode != 0) for role in "abc")
    product = num.ZERO_VALUE if mode == 2 and (a.is_zero or b.is_zero) else num.multiply(a, b)
    x.give_float(num.add(product, c, rounding), rounding, mode != 0)


@of("FMNMX")
def _fmnmx(x: One) -> None:
    ftz = bool(x.raw("ftz"))
    a, b = x.float("a", ftz=ftz), x.float("b", ftz=ftz)
    x.give_float(a if num.lesser(a, b, x.predicate("s")) else b)


@of("FSETP")
def _fsetp(x: One) -> None:
    ftz = bool(x.raw("ftz"))
    x.give_comparison(num.compares(x.float("a", ftz=ftz), x.float("b", ftz=ftz), x.raw("cmp")))


@of("FSET")
def _fset(x: One) -> None:
    ftz = bool(x.raw("ftz"))
    x.give_set(num.compares(x.float("a", ftz=ftz), x.float("b", ftz=ftz), x.raw("cmp")))


@of("FCMP")
def _fcmp(x: One) -> None:
    holds = num.compares(x.float("c", ftz=bool(x.raw("ftz"))), num.ZERO_VALUE, x.raw("cmp"))
    x.give(x.plain("a") if holds else x.plain("b"))


@of("RRO")
def _rro(x: One) -> None:
    x.give(num.encode(x.float("b"), SINGLE))


@of("FSWZADD")
def _fswzadd(x: One) -> None:
    ftz, rounding = bool(x.raw("ftz")), x.raw("rounding")
    a, b = x.float("a", ftz=ftz), x.float("b", ftz=ftz)
    way = x.raw("mask") >> (6 - 2 * (x.thread.lane & 3)) & 3
    if way == 3:
        x.give_float(b, rounding, ftz)
        return
    x.give_float(num.add(-a if way == 1 else a, -b if way == 2 else b, rounding), rounding, ftz)


@of("DADD")
def _dadd(x: One) -> None:
    r = x.raw("rounding")
    x.give_float(num.add(x.float("a", DOUBLE), x.float("b", DOUBLE), r), r, format=DOUBLE)


@of("DMUL")
def _dmul(x: One) -> None:
    x.give_float(num.multiply(x.float("a", DOUBLE), x.float("b", DOUBLE)), x.raw("rounding"), format=DOUBLE)


@of("DFMA")
def _dfma(x: One) -> None:
    a, b, c, r = *(x.float(role, DOUBLE) for role in "abc"), x.raw("rounding")
    x.give_float(num.add(num.multiply(a, b), c, r), r, format=DOUBLE)


@of("DMNMX")
def _dmnmx(x: One) -> None:
    a, b = x.float("a", DOUBLE), x.float("b", DOUBLE)
    x.give_float(a if num.lesser(a, b, x.predicate("s")) else b, format=DOUBLE)


@of("DSETP")
def _dsetp(x: One) -> None:
    x.give_comparison(num.compares(x.float("a", DOUBLE), x.float("b", DOUBLE), x.raw("cmp")))


@of("DSET")
def _dset(x: One) -> None:
    x.give_set(num.compares(x.float("a", DOUBLE), x.float("b", DOUBLE), x.raw("cmp")))


def _halves(x: One, role: str, ftz: bool) -> tuple[Number, Number]:
    """Both numbers of an operand: (lower, upper)."""
    if role == "b" and x.has("bh"):
        pair = [num.decode(num.flushed(v, HALF) if ftz else v, HALF) for v in (x.plain("bl"), x.plain("bh"))]
    else:
        v = x.plain(role)
        way = x.raw(f"{role}.part") if f"{role}.part" in x.form.fields else 1
        if way == 1:
            # A number of 32 bits counts as denormal where its half would be.
            n = num.decode(v, SINGLE)
            tiny = ftz and n.kind == "num" and abs(n.value) < Fraction(1, 1 << 14)
            pair = [Number("num", n.negative) if tiny else n] * 2
        else:
            parts = [v & 0xFFFF, v >> 16] if way == 0 else [v & 0xFFFF] * 2 if way == 2 else [v >> 16] * 2
            pair = [num.decode(num.flushed(part, HALF) if ftz else part, HALF) for part in parts]
    pair = [abs(n) for n in pair] if x.raw(f"{role}.abs") else pair
    low, high = [-n for n in pair] if x.raw(f"{role}.neg") else pair
    return low, high


def _give_halves(x: One, parts: list[Number], ftz: bool) -> None:
    merge = x.raw("merge")
    if merge == 1:
        bits = num.encode(parts[0], SINGLE)
        x.give(num.saturated(bits, SINGLE) if x.raw("sat") else bits)
        return
    done = []
    for n in parts:
        bits = num.encode(n, HALF)
        bits = num.flushed(bits, HALF) if ftz else bits
        done.append(num.saturated(bits, HALF) if x.raw("sat") else bits)
    old = x.register(x.raw("d"))
    x.give(
        (done[0] | done[1] << 16) if merge == 0 else (old & ~0xFFFF | done[0]) if merge == 2
        else (old & 0xFFFF | done[1] << 16)
    )  # fmt: skip


def _half_mode(x: One) -> int:
    return x.raw("fmz", x.raw("ftz"))


@of("HADD2", "HADD2_32I")
def _hadd2(x: One) -> None:
    ftz = bool(x.raw("ftz"))
    a, b = _halves(x, "a", ftz), _halves(x, "b", ftz)
    _give_halves(x, [num.add(p, q) for p, q in zip(a, b, strict=True)], ftz)


def _product(x: One, p: Number, q: Number) -> Number:
    return num.ZERO_VALUE if _half_mode(x) == 2 and (p.is_zero or q.is_zero) else num.multiply(p, q)


@of("HMUL2", "HMUL2_32I")
def _hmul2(x: One) -> None:
    ftz = _half_mode(x) != 0
    a, b = _halves(x, "a", ftz), _halves(x, "b", ftz)
    _give_halves(x, [_product(x, p, q) for p, q in zip(a, b, strict=True)], ftz)


@of("HFMA2", "HFMA2_32I")
def _hfma2(x: One) -> None:
    ftz = _half_mode(x) != 0
    a, b, c = (_halves(x, role, ftz) for role in "abc")
    _give_halves(x, [num.add(_product(x, p, q), r) for p, q, r in zip(a, b, c, strict=True)], ftz)


@of("HSET2")
def _hset2(x: One) -> None:
    ftz, s = bool(x.raw("ftz")), x.predicate("s")
    pairs = zip(_halves(x, "a", ftz), _halves(x, "b", ftz), strict=True)
    ones = 0x3C00 if x.raw("bf") else 0xFFFF
    low, high = (ones * x.joined(num.compares(p, q, x.raw("cmp")), s) for p, q in pairs)
    x.give(low | high << 16)


@of("HSETP2")
def _hsetp2(x: One) -> None:
    ftz, s = bool(x.raw("ftz")), x.predicate("s")
    pairs = zip(_halves(x, "a", ftz), _halves(x, "b", ftz), strict=True)
    low, high = (num.compares(p, q, x.raw("cmp")) for p, q in pairs)
    if x.raw("h_and"):
        low, high = low and high, not (low and high)
    x.give_predicate("p", x.joined(low, s))
    x.give_predicate("q", x.joined(high, s))
