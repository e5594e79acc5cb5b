"""Floats as NVIDIA's disassembler writes them, exact in both directions except for NaNs.

It writes 20 significant digits without trailing zeros. From 10^9 on it writes an exponent and 20 digits after the
point. A space follows infinities, NaNs and the negative zero.
"""

from __future__ import annotations

import math
import struct

PATTERN = r"[+-](?:INF|QNAN|SNAN) ?|-0\.0 ?|-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"

_FORMATS = {16: "<e", 32: "<f", 64: "<d"}
_MANTISSA = {16: 10, 32: 23, 64: 52}
_LARGE = 1e9


def value(bits: int, width: int) -> float:
    """The number that the bits of a float of 16, 32 or 64 bits mean."""
    return float(struct.unpack(_FORMATS[width], bits.to_bytes(width // 8, "little"))[0])


def text(bits: int, width: int) -> str:
    """The text of a float given as its bits."""
    sign = "-" if bits >> (width - 1) else "+"
    mantissa = bits & (1 << _MANTISSA[width]) - 1
    number = value(bits, width)
    if math.isinf(number):
        return f"{sign}INF "
    if math.isnan(number):
        # Only doubles keep their signalling NaNs; narrower floats become doubles first, which quiets them.
        quiet = width != 64 or mantissa >> (_MANTISSA[width] - 1)
        return f"{sign}{'QNAN' if quiet else 'SNAN'} "
    if number == 0 and sign == "-":
        return "-0.0 "
    return f"{number:.20e}" if abs(number) >= _LARGE else f"{number:.20g}"


def parse(written: str, width: int) -> int | None:
    """Bits of a number; None if it is too large. NaNs get the usual bits of their kind."""
    written = written.strip()
    top = (1 << width - 1 - _MANTISSA[width]) - 1
    special = written[1:]
    if special in ("INF", "QNAN", "SNAN"):
        low = {"INF": 0, "QNAN": 1 << _MANTISSA[width] - 1, "SNAN": 1 << _MANTISSA[width] - 2}[special]
        return int(written[0] == "-") << width - 1 | top << _MANTISSA[width] | low
    try:
        packed = struct.pack(_FORMATS[width], float(written))
    except OverflowError:
        return None
    bits = int.from_bytes(packed, "little")
    return None if math.isinf(value(bits, width)) else bits
