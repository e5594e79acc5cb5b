"""Additions, products, shifts, bit fields, bytes, comparisons of integers; predicates and the condition code."""

from __future__ import annotations

from .one import M32, One, of, signed


def _sum(x: One, a: int, b: int, carry: int) -> None:
    """Two words, inverted already, and a carry."""
    a, b = a & M32, b & M32
    total = a + b + carry
    exact = signed(a) + signed(b) + carry
    result = total & M32
    code = {"c": total >> 32 != 0, "overflow": not -(1 << 31) <= exact < 1 << 31, "chained": bool(x.raw("x"))}
    x.give_integer(result, **code)
    if x.raw("sat"):
        x.give(max(-(1 << 31), min((1 << 31) - 1, exact)))


def _minus(v: int, negated: int) -> int:
    return ~v & M32 if negated else v


@of("IADD", "IADD32I")
def _iadd(x: One) -> None:
    a, b, chained = x.plain("a"), x.plain("b"), x.raw("x")
    na, nb = x.raw("a.neg"), x.raw("b.neg")
    if x.always("PO") or (na and nb):
        _sum(x, a, b, x.carry() if chained else 1)
        return
    _sum(x, _minus(a, na), _minus(b, nb), x.carry() if chained else na | nb)


@of("IADD3")
def _iadd3(x: One) -> None:
    chained = bool(x.raw("x"))
    values = []
    for role in "abc":
        v = x.plain(role)
        part = x.raw(f"{role}.part")
        v = v & 0xFFFF if part == 1 else v >> 16 if part >= 2 else v
        # As hardware subtracts: the complement and one, which a chain has from its carry.
        values.append((~v & M32) + (not chained) if x.raw(f"{role}.neg") else v)
    first = values[0] + values[1] + (x.carry() if chained else 0)
    shift = x.raw("shift")
    first = first >> 16 if shift == 1 else first << 16 & M32 if shift >= 2 else first
    total = first + values[2]
    x.give_integer(total, total >> 32 != 0, chained=chained)


@of("ISCADD", "ISCADD32I")
def _iscadd(x: One) -> None:
    a, b = x.plain("a") << x.plain("shift") & M32, x.plain("b")
    na, nb = x.raw("a.neg"), x.raw("b.neg")
    if x.always("PO") or (na and nb):
        _sum(x, a, b, 1)
    else:
        _sum(x, _minus(a, na), _minus(b, nb), na | nb)


@of("LEA")
def _lea(x: One) -> None:
    a, b, shift = x.plain("a"), x.plain("b"), x.plain("shift")
    if x.always("HI"):
        both = x.plain("c") << 32 | a
        first = (-both if x.raw("a.neg") else both) << shift >> 32
    else:
        first = (-a if x.raw("a.neg") else a) << shift
    _sum(x, first, b, x.carry() if x.raw("x") else 0)
    result = (first + b + (x.carry() if x.raw("x") else 0)) & M32
    x.give_predicate("p", result != 0)


def _half16(v: int, high: int, has_sign: int) -> int:
    part = v >> 16 if high else v & 0xFFFF
    return signed(part, 16) if has_sign else part


@of("XMAD")
def _xmad(x: One) -> None:
    a, b, c = (x.plain(role) for role in "abc")
    types = x.raw("types")
    p, q = _half16(a, x.raw("a.part"), types & 1), _half16(b, x.raw("b.part"), types >> 1)
    product = p * q << (16 if x.raw("psl") else 0)
    mode = x.raw("mode")
    if mode == 1:
        c &= 0xFFFF
    elif mode == 2:
        c >>= 16
    elif mode == 3:
        c -= 0x10000 * (p < 0 and b & 0xFFFF != 0) + 0x10000 * (q < 0 and a & 0xFFFF != 0)
    elif mode >= 4:
        c += b << 16
    _sum(x, product, c, x.carry() if x.raw("x") else 0)
    if x.raw("mrg"):
        x.give((product + c + (x.carry() if x.raw("x") else 0)) & 0xFFFF | b << 16)


@of("IMAD", "IMAD32I")
def _imad(x: One) -> None:
    a, b, c, types = x.plain("a"), x.plain("b"), x.plain("c"), x.raw("types")
    po = x.always("PO") or (x.raw("a.neg") and x.raw("c.neg"))
    wide = (signed(a) if types & 1 else a) * (signed(b) if types >> 1 else b)
    wide = -wide if x.raw("a.neg") and not po else wide
    product = wide >> 32 if x.raw("hi") else wide
    negate = x.raw("c.neg") and not po
    carry = x.carry() if x.raw("x") else int(bool(negate or po))
    _sum(x, product, _minus(c, negate), carry)


@of("IMUL", "IMUL32I")
def _imul(x: One) -> None:
    a, b, types = x.plain("a"), x.plain("b"), x.raw("types")
    wide = (signed(a) if types & 1 else a) * (signed(b) if types >> 1 else b)
    x.give_integer(wide >> 32 if x.raw("hi") else wide)


@of("IMADSP")
def _imadsp(x: One) -> None:
    def part(v: int, name: str) -> int:
        kind = {"U32": lambda: v, "S32": lambda: v, "U24": lambda: v & 0xFFFFFF, "S24": lambda: signed(v, 24),
                "U16H0": lambda: v & 0xFFFF, "S16H0": lambda: signed(v, 16), "U16H1": lambda: v >> 16,
                "S16H1": lambda: signed(v >> 16, 16)}  # fmt: skip
        return kind[name]()

    parts = []
    for role in "abc":
        modifier = x.form.modifier(f"type_{role}")
        assert modifier is not None and modifier.enum is not None
        member = modifier.enum.member(x.raw(f"type_{role}"))
        assert member is not None
        parts.append(part(x.plain(role), member.name))
    _sum(x, parts[0] * parts[1], parts[2], 0)


@of("LOP", "LOP32I")
def _lop(x: One) -> None:
    a, b = _minus(x.plain("a"), x.raw("a.inv")), _minus(x.plain("b"), x.raw("b.inv"))
    result = (a & b, a | b, a ^ b, b)[x.raw("op")]
    _logic(x, result)


def _logic(x: One, result: int) -> None:
    x.give_integer(result, chained=bool(x.raw("x")))
    x.give_predicate("p", (False, True, result == 0, result != 0)[x.raw("test")])


@of("LOP3")
def _lop3(x: One) -> None:
    a, b, c, table = x.plain("a"), x.plain("b"), x.plain("c"), x.plain("lut")
    result = sum((table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1) << i for i in range(32))
    _logic(x, result)


@of("SHL")
def _shl(x: One) -> None:
    a, b = x.plain("a"), x.plain("b")
    b = b & 31 if x.raw("w") else min(b, 32)
    x.give_integer(a << b, chained=bool(x.raw("x")))


def _reversed(v: int) -> int:
    return int(f"{v:032b}"[::-1], 2)


@of("SHR")
def _shr(x: One) -> None:
    a, b = x.plain("a"), x.plain("b")
    a = _reversed(a) if x.raw("brev") else a
    b = b & 31 if x.raw("w") else min(b, 32)
    x.give_integer((signed(a) if x.raw("type") else a) >> b, chained=x.raw("x") >= 2)


@of("SHF")
def _shf(x: One) -> None:
    a, b, c = x.plain("a"), x.plain("b"), x.plain("c")
    kind = x.raw("type")
    width = 64 if kind else 32
    count = b & (width - 1) if x.raw("w") else min(b, width)
    both = c << 32 | a
    if x.always("R"):
        moved = (signed(both, 64) if kind == 3 else both) >> count
        result = moved >> 32 if x.raw("x") & 1 else moved
    else:
        result = both << count >> 32
    x.give_integer(result)


@of("BFE")
def _bfe(x: One) -> None:
    a, b = x.plain("a"), x.plain("b")
    a = _reversed(a) if x.raw("brev") else a
    first, length = b & 0xFF, b >> 8 & 0xFF
    has_sign = x.raw("type")
    sign = a >> min(first + length - 1, 31) & 1 if has_sign and length else 0
    bits = [a >> (first + i) & 1 if i < length and first + i < 32 else sign for i in range(32)]
    x.give_integer(sum(bit << i for i, bit in enumerate(bits)))


@of("BFI")
def _bfi(x: One) -> None:
    a, b, c = x.plain("a"), x.plain("b"), x.plain("c")
    first, length = b & 0xFF, b >> 8 & 0xFF
    for i in range(length):
        if first + i < 32:
            c = c & ~(1 << (first + i)) | (a >> i & 1 if i < 32 else 0) << (first + i)
    x.give_integer(c)


@of("FLO")
def _flo(x: One) -> None:
    b = _minus(x.plain("b"), x.raw("b.inv"))
    if x.raw("type") and b >> 31:
        b = ~b & M32
    place = b.bit_length() - 1
    x.give_integer(place if place < 0 or not x.raw("sh") else 31 - place)


@of("POPC")
def _popc(x: One) -> None:
    x.give(_minus(x.plain("b"), x.raw("b.inv")).bit_count())


_ORDERS = {
    1: lambda n: [n, n + 1, n + 2, n + 3], 2: lambda n: [n, (n + 7) % 8, (n + 6) % 8, (n + 5) % 8],
    3: lambda n: [n] * 4, 4: lambda n: [max(n, i) for i in range(4)], 5: lambda n: [min(n, i) for i in range(4)],
    6: lambda n: [(n & 1) * 2, (n & 1) * 2 + 1] * 2,
}  # fmt: skip


@of("PRMT")
def _prmt(x: One) -> None:
    a, b, c = x.plain("a"), x.plain("b"), x.plain("c")
    both, mode = c << 32 | a, x.raw("mode")
    numbers = _ORDERS[min(mode, 6)](b & 3) if mode else [b >> 4 * i & 15 for i in range(4)]
    result = 0
    for i, n in enumerate(numbers):
        byte = both >> 8 * (n & 7) & 0xFF
        byte = (0xFF if byte >> 7 else 0) if n & 8 else byte
        result |= byte << 8 * i
    x.give(result)


def integer_test(test: int, less: bool, equal: bool) -> bool:
    """One of the eight comparisons of integers."""
    return (False, less, equal, less or equal, not (less or equal), not equal, not less, True)[test]


def _compares(x: One, a: int, b: int, chained: bool = False) -> bool:
    p, q = (signed(a), signed(b)) if x.raw("type") else (a, b)
    if chained:
        # What the words below left: no carry means that they are less, a set zero flag that they are equal.
        below = (not x.thread.code["c"], x.thread.code["z"] and x.thread.code["c"])
        less, equal = p < q or (p == q and below[0]), p == q and below[1]
    else:
        less, equal = p < q, p == q
    return integer_test(x.raw("cmp"), less, equal)


@of("ISETP")
def _isetp(x: One) -> None:
    x.give_comparison(_compares(x, x.plain("a"), x.plain("b"), bool(x.raw("x"))))


@of("ISET")
def _iset(x: One) -> None:
    x.give_set(_compares(x, x.plain("a"), x.plain("b"), bool(x.raw("x"))))


@of("ICMP")
def _icmp(x: One) -> None:
    x.give(x.plain("a") if _compares(x, x.plain("c"), 0) else x.plain("b"))


@of("IMNMX")
def _imnmx(x: One) -> None:
    a, b = x.plain("a"), x.plain("b")
    key = signed if x.raw("type") else int
    second = key(b) < key(a) if x.predicate("s") else key(a) < key(b)
    equal = a == b
    if x.raw("part") in (1, 2):
        # The lower words of a pair: what the upper ones chose stands, unless they were equal.
        second = second if x.thread.code["z"] else x.thread.code["c"]
        equal = equal and x.thread.code["z"]
    result = b if second else a
    x.give(result)
    x.give_code(c=second, s=bool(result >> 31), z=equal)


@of("SEL")
def _sel(x: One) -> None:
    x.give(x.plain("a") if x.predicate("s") else x.plain("b"))


@of("MOV", "MOV32I")
def _mov(x: One) -> None:
    if x.plain("mask") >> (x.thread.lane & 3) & 1:
        x.give(x.plain("b"))


def _two(x: One) -> bool:
    a, b, how = x.predicate("a"), x.predicate("b"), x.raw("op")
    return (a and b) if how == 0 else (a or b) if how == 1 else a != b


@of("PSETP")
def _psetp(x: One) -> None:
    x.give_comparison(_two(x))


@of("PSET")
def _pset(x: One) -> None:
    x.give_set(_two(x))


def code_test(code: dict[str, bool], test: int) -> bool:
    """One of the 32 tests of the condition code."""
    c, v, s, z = (code[letter] for letter in "cvsz")
    if test < 16:
        unordered = s and z
        less, equal = s != v and not z, z and not s
        if test in (0, 15):
            return test == 15
        if test in (7, 8):
            return unordered == (test == 8)
        if unordered:
            return test > 8
        return bool((test & 1 and less) or (test & 2 and equal) or (test & 4 and not less and not equal))
    rest = {16: not v, 17: not c, 18: not s, 19: z or not c, 20: c and not z, 21: s, 22: c, 23: v, 30: s or z,
            31: not s and not z}  # fmt: skip
    return rest.get(test, False)


@of("CSETP")
def _csetp(x: One) -> None:
    x.give_comparison(code_test(x.thread.code, x.raw("cc_test")))


@of("CSET")
def _cset(x: One) -> None:
    x.give_set(code_test(x.thread.code, x.raw("cc_test")))


@of("P2R")
def _p2r(x: One) -> None:
    bits = sum(p << i for i, p in enumerate(x.thread.predicates[:7]))
    if x.raw("from"):
        bits = sum(x.thread.code[letter] << i for i, letter in enumerate("zscv"))
    shift, mask = 8 * x.raw("byte"), (x.plain("b") & 0xFF) << 8 * x.raw("byte")
    x.give(x.plain("a") & ~mask | bits << shift & mask)


@of("R2P")
def _r2p(x: One) -> None:
    byte, mask = x.plain("a") >> 8 * x.raw("a.part"), x.plain("b")
    if x.raw("to"):
        code = dict(x.thread.code)
        code |= {letter: bool(byte >> i & 1) for i, letter in enumerate("zscv") if mask >> i & 1}
        x.change.code = code
    else:
        x.change.predicates |= {i: bool(byte >> i & 1) for i in range(7) if mask >> i & 1}
