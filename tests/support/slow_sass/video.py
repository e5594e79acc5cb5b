"""Video instructions: bytes, halves and words with sign or without, and a second operation with a third source."""

from __future__ import annotations

from .integers import integer_test
from .one import M32, One, of, signed


def _type(x: One, role: str) -> int:
    """The type of a source: part 0 to 3 bytes, 4 and 5 halves, 6 and 7 all; from 8 on with sign."""
    operand = x.form.operand(role)
    if operand.kind in "UI":
        return 12 if x.raw(f"type_{role}") and x.form.op not in ("VSHL", "VSHR") else 4
    return x.raw(f"type_{role}")


def _source(x: One, role: str) -> int:
    """A source as a number, its sign applied; those with two signs that mean one more are for the caller."""
    kind, v = _type(x, role), x.plain(role)
    part = kind & 7
    if part < 4:
        v, width = v >> 8 * part & 0xFF, 8
    elif part < 6:
        v, width = v >> 16 * (part & 1) & 0xFFFF, 16
    else:
        v, width = v & M32, 32
    return signed(v, width) if kind >= 8 else v


def _finish(x: One, v: int, has_sign: bool) -> None:
    """Cut to the range of the type with .SAT, then joined with c."""
    c, op = x.plain("c"), x.raw("op")
    width = 16 if op < 2 else 8 if op < 4 else 32
    if x.raw("sat"):
        low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if has_sign else (0, (1 << width) - 1)
        v = max(low, min(high, v))
    if op < 4:
        shift, mask = ((16, 0xFFFF), (0, 0xFFFF), (0, 0xFF), (16, 0xFF))[op]
        result = c & ~(mask << shift) | (v & mask) << shift
    elif op == 4:
        result = v + c
    elif op < 7:
        key = signed if has_sign else int
        result = (min, max)[op - 5](v & M32, c, key=key)
    else:
        result = v
    x.give_integer(result)


@of("VADD")
def _vadd(x: One) -> None:
    a, b = _source(x, "a"), _source(x, "b")
    na, nb = x.raw("a.neg"), x.raw("b.neg") | x.raw("b.minus")
    plus_one = x.always("PO") or (na and nb)
    total = a + b + 1 if plus_one else (-a if na else a) + (-b if nb else b)
    _finish(x, total, bool(x.raw("ud")))


@of("VABSDIFF")
def _vabsdiff(x: One) -> None:
    _finish(x, abs(_source(x, "a") - _source(x, "b")), bool(x.raw("sd")))


@of("VMNMX")
def _vmnmx(x: One) -> None:
    a, b = _source(x, "a"), _source(x, "b")
    _finish(x, max(a, b) if x.raw("mx") else min(a, b), bool(x.raw("ud")))


def _amount(x: One) -> int:
    v = _source(x, "b")
    return v & 31 if x.raw("w") else max(0, min(v, 32))


@of("VSHL")
def _vshl(x: One) -> None:
    _finish(x, _source(x, "a") << _amount(x), bool(x.raw("ud")))


@of("VSHR")
def _vshr(x: One) -> None:
    _finish(x, _source(x, "a") >> _amount(x), bool(x.raw("ud")))


@of("VMAD")
def _vmad(x: One) -> None:
    po = x.always("PO") or (x.raw("a.neg") and x.raw("c.neg"))
    na, nc = x.raw("a.neg") and not po, x.raw("c.neg") and not po
    has_sign = bool(_type(x, "a") >= 8 or _type(x, "b") >= 8 or na or nc)
    c = signed(x.plain("c")) if has_sign else x.plain("c")
    product = _source(x, "a") * _source(x, "b")
    total = (-product if na else product) + (-c if nc else c) + int(bool(po))
    total >>= (0, 7, 15, 15)[x.raw("shift")]
    if x.raw("sat"):
        low, high = (-(1 << 31), (1 << 31) - 1) if has_sign else (0, M32)
        total = max(low, min(high, total))
    x.give_integer(total)


def _holds(x: One) -> bool:
    a, b = _source(x, "a"), _source(x, "b")
    return integer_test(x.raw("cmp"), a < b, a == b)


@of("VSET")
def _vset(x: One) -> None:
    _finish(x, int(_holds(x)), False)


@of("VSETP")
def _vsetp(x: One) -> None:
    x.give_comparison(_holds(x))


# Bytes of the pair b:a, for the four lanes from the highest to the lowest, as NVIDIA's text names the selections.
_SELECT_A = [
    "0000",
    "1111",
    "2222",
    "3333",
    "3210",
    "4321",
    "5432",
    "6543",
    "3201",
    "3012",
    "0213",
    "3120",
    "1230",
    "2310",
]
_SELECT_B = ["4444", "5555", "6666", "7777", "7654", "6543", "5432", "4321", "4567", "6745", "5476"]
_LANES = {"X": 4, "Y": 8, "Z": 1, "W": 2}


@of("VABSDIFF4")
def _vabsdiff4(x: One) -> None:
    a, b, c = x.plain("a"), x.plain("b"), x.plain("c")
    if x.form.operand("b").kind in "UI":
        b = (b & 0xFF) * 0x01010101
        select_b = "7654"
    else:
        select_b = _SELECT_B[min(x.raw("b.part"), 10)] if x.raw("b.part") < 11 else "7654"
    select_a = _SELECT_A[x.raw("a.part")] if x.raw("a.part") < 14 else "3210"
    both, types = b << 32 | a, x.raw("types")
    total, merged = c, c
    for lane, name in enumerate("XYZW"):
        if not x.raw("lanes") & _LANES[name]:
            continue
        p, q = (both >> 8 * int(text[3 - lane]) & 0xFF for text in (select_a, select_b))
        p, q = signed(p, 8) if types & 1 else p, signed(q, 8) if types & 2 else q
        distance = abs(p - q)
        distance = min(distance, 127 if x.raw("sd") else 255) if x.raw("sat") else distance
        total += distance
        merged = merged & ~(0xFF << 8 * lane) | (distance & 0xFF) << 8 * lane
    x.give_integer(total if x.raw("op") == 1 else merged)
