"""What atomic operations leave in memory, in plain Python."""

from __future__ import annotations

from support import slow_numbers as num
from support.slow_numbers import HALF, SINGLE

CAS, EXCH = "CAS", "EXCH"


def combined(op: str, kind: str, old: int, v: int, second: int) -> int:
    """What a cell holds afterwards."""
    width = 64 if "64" in kind else 32
    mask = (1 << width) - 1
    if kind.startswith("F32"):
        a, b = (num.decode(num.flushed(x, SINGLE), SINGLE) for x in (old, v))
        return num.flushed(num.encode(num.add(a, b), SINGLE), SINGLE)
    if kind.startswith("F16"):
        halves = []
        for shift in (0, 16):
            a, b = (num.decode(num.flushed(x >> shift & 0xFFFF, HALF), HALF) for x in (old, v))
            halves.append(num.flushed(num.encode(num.add(a, b), HALF), HALF) << shift)
        return halves[0] | halves[1]
    key = (lambda x: x - (x >> (width - 1) << width)) if kind[0] == "S" else int
    found = {
        "ADD": lambda: old + v, "MIN": lambda: min(old, v, key=key), "MAX": lambda: max(old, v, key=key),
        "INC": lambda: 0 if old >= v else old + 1, "DEC": lambda: v if old == 0 or old > v else old - 1,
        "AND": lambda: old & v, "OR": lambda: old | v, "XOR": lambda: old ^ v, EXCH: lambda: v,
        CAS: lambda: second if old == v else old,
    }  # fmt: skip
    return found[op]() & mask
