"""Conversions between integers and floats of all sizes."""

from __future__ import annotations

from .. import slow_numbers as num
from ..slow_numbers import DOUBLE, HALF, SINGLE, Format, Number
from .one import One, of, signed


def _member(x: One, name: str) -> str:
    modifier = x.form.modifier(name)
    assert modifier is not None and modifier.enum is not None
    found = modifier.enum.member(x.raw(name))
    assert found is not None
    return found.name


def _integer(x: One, kind: str) -> int:
    """The source of a conversion from an integer, its part taken and its signs applied."""
    width = int(kind[1:])
    v = x.plain("b", 2 if width == 64 else 1)
    if width < 32:
        v = v >> 8 * x.raw("b.part") & (1 << width) - 1
    v = signed(v, width) if kind[0] == "S" else v & (1 << width) - 1
    v = abs(v) if x.raw("b.abs") else v
    return -v if x.raw("b.neg") else v


def _clipped(v: int, kind: str) -> int:
    width = int(kind[1:])
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if kind[0] == "S" else (0, (1 << width) - 1)
    return max(low, min(high, v))


def _wrapped(v: int, kind: str) -> int:
    width = int(kind[1:])
    return signed(v, width) if kind[0] == "S" else v & (1 << width) - 1


@of("I2I")
def _i2i(x: One) -> None:
    v, to = _integer(x, _member(x, "from")), _member(x, "to")
    x.give_integer(_clipped(v, to) if x.raw("sat") else _wrapped(v, to))


FORMATS = {"F16": HALF, "F32": SINGLE, "F64": DOUBLE}


@of("I2F")
def _i2f(x: One) -> None:
    format = FORMATS[_member(x, "to")]
    x.give_bits(num.encode(num.number(_integer(x, _member(x, "from"))), format, x.raw("rounding")), format)


def _source_number(x: One) -> tuple[Number, Format]:
    format = FORMATS[_member(x, "from")]
    bits = x.plain("b", 2 if format is DOUBLE else 1)
    kind = next(o.kind for o in x.form.operands if o.role == "b")
    if format is HALF and kind != "H":
        bits = bits >> 16 if x.raw("b.part") else bits & 0xFFFF
    if format is SINGLE and x.raw("ftz"):
        bits = num.flushed(bits, SINGLE)
    n = num.decode(bits, format)
    n = abs(n) if x.raw("b.abs") else n
    return (-n if x.raw("b.neg") else n), format


@of("F2I")
def _f2i(x: One) -> None:
    n, format = _source_number(x)
    to = _member(x, "to")
    if n.is_nan:
        indefinite = to in ("S64", "U64") or format is DOUBLE
        v = (1 << 63 if to in ("S64", "U64") else 1 << 31) if indefinite else 0
    elif n.kind == "inf":
        v = _clipped(-(1 << 70) if n.negative else 1 << 70, to)
    else:
        v = _clipped(num.whole(n.value, x.raw("rounding")), to)
    if to in ("S64", "U64"):
        x.give_pair(v)
        x.give_code(s=bool(v >> 63 & 1), z=v == 0)
    else:
        x.give_integer(v)


@of("F2F")
def _f2f(x: One) -> None:
    n, source = _source_number(x)
    format = FORMATS[_member(x, "to")]
    code = x.raw("rounding")
    if source is format:
        if code >= 4 and n.kind == "num":
            v = num.whole(n.value, code - 4)
            n = num.number(v) if v else Number("num", n.negative)
        code = 0
    bits = num.encode(n, format, code)
    if format is SINGLE and x.raw("ftz"):
        bits = num.flushed(bits, SINGLE)
    bits = num.saturated(bits, format) if x.raw("sat") else bits
    x.give_bits(bits, format)
