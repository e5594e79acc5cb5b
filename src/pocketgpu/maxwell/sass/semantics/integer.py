"""Integer arithmetic: additions with carry, the 16-bit multiply-add, comparisons, minimum and maximum."""

from __future__ import annotations

from pocketgpu.lanes import Value
from pocketgpu.maxwell.sass.semantics.known import Flag, both, chosen, either, opposite, where_set
from pocketgpu.maxwell.sass.semantics.unit import Code, Flags, Unit, combine, i32, operation

_MIN, _MAX = -0x80000000, 0x7FFFFFFF


def _wide(u: Unit, x: Value, signed: Flag = False) -> Value:
    """A word as 64 bits."""
    k = u.k
    if isinstance(signed, bool):
        return k.to_i64(x, signed)
    return k.select(signed, k.to_i64(x), k.to_i64(x, False))


def _add_with_flags(u: Unit, a: Value, b: Value, invert_a: Flag, invert_b: Flag, carry_in: Value) -> Value:
    """The sum of two words, each inverted or not, and a carry of 0 or 1; sets the condition code."""
    x = chosen(invert_a, ~a, a)
    y = chosen(invert_b, ~b, b)
    result = x + y + carry_in
    if u.wants_flags:
        k = u.k
        total = k.to_i64(x, False) + k.to_i64(y, False) + k.to_i64(carry_in, False)
        carry = total.lsr(32) != 0
        overflow = ((x ^ result) & (y ^ result)) < 0
        u.result_flags(result, carry, overflow)
    return result


def _saturated(u: Unit, a: Value, b: Value, invert_a: Flag, invert_b: Flag, carry_in: Value) -> Value:
    k = u.k
    x, y = chosen(invert_a, ~a, a), chosen(invert_b, ~b, b)
    return k.low32(k.clamp(k.to_i64(x) + k.to_i64(y) + k.to_i64(carry_in), _MIN, _MAX))


def _count(u: Unit, flag: Flag) -> Value:
    """1 or 0 in all lanes."""
    return i32(u, u.mask(flag))


@operation("IADD", "i", "ii", x=1, sat=1)
def iadd(u: Unit, a: Value, b: Value) -> Value:
    """a + b. Both signs set mean a + b + 1; with .X a negated operand is inverted and the carry added."""
    na, nb, x = u.negated(0), u.negated(1), u.flag("x")
    plus_one = both(na, nb)
    invert_a, invert_b = both(na, opposite(plus_one)), both(nb, opposite(plus_one))
    ones = either(na, nb)
    carry = _count(u, both(ones, opposite(x)))
    if not u.known(x, False):
        carry = carry + where_set(x, i32(u, u.flags.carry))
    result = _add_with_flags(u, a, b, invert_a, invert_b, carry)
    if u.known(u.flag("sat"), False):
        return result
    return chosen(u.flag("sat"), _saturated(u, a, b, invert_a, invert_b, carry), result)


def _part(u: Unit, name: str, v: Value) -> Value:
    return u.pick(name, [lambda: v, lambda: v & 0xFFFF, lambda: v.lsr(16)])


@operation("IADD3", "i", "iii", x=1, shift=2, part_a=2, part_b=2, part_c=2)
def iadd3(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """a + b + c; RS and LS shift the 33 bits of a + b by 16 before c is added."""
    k = u.k
    parts = [_part(u, name, v) for name, v in zip(("part_a", "part_b", "part_c"), (a, b, c), strict=True)]
    x = u.flag("x")
    simple = isinstance(u.code("shift"), int) and u.code("shift") == 0 and not u.wants_flags
    if simple and u.known(x, False):
        a, b, c = (chosen(u.negated(i), -v, v) for i, v in enumerate(parts))
        return a + b + c
    values = []
    for i, v in enumerate(parts):
        # As the complement plus one, so that the carry is right. With .X the one is the carry of the word below.
        minus = k.to_i64(~v, False) + k.to_i64(i32(u, u.mask(opposite(x))), False)
        values.append(chosen(u.negated(i), minus, k.to_i64(v, False)))
    first = values[0] + values[1]
    if not u.known(x, False):
        first = first + k.to_i64(where_set(x, i32(u, u.flags.carry)), False)
    first = u.pick("shift", [lambda: first, lambda: first.lsr(16), lambda: (first << 16) & 0xFFFFFFFF])
    total = first + values[2]
    result = k.low32(total)
    u.result_flags(result, total.lsr(32) != 0)
    return result


@operation("ISCADD", "i", "iii")
def iscadd(u: Unit, a: Value, b: Value, shift: Value) -> Value:
    """(a << shift) + b, either negated."""
    na, nb = u.negated(0), u.negated(1)
    plus_one = both(na, nb)
    invert_a, invert_b = both(na, opposite(plus_one)), both(nb, opposite(plus_one))
    return _add_with_flags(u, a << shift, b, invert_a, invert_b, _count(u, either(na, nb)))


@operation("LEA", "ip", "iiii", hi=1, x=1)
def lea(u: Unit, a: Value, b: Value, c: Value, shift: Value) -> tuple[Value, Value]:
    """(a << shift) + b; .HI takes the upper word of c:a shifted. The predicate: the result is not zero.

    Compilers use it to test whether a generic address is outside of the windows below 4 GiB.
    """
    k, hi, x = u.k, u.flag("hi"), u.flag("x")

    def upper() -> Value:
        pair = (k.to_i64(c) << 32) | k.to_i64(a, False)
        pair = chosen(u.negated(0), -pair, pair)
        return k.low32((pair << k.to_i64(shift & 31, False)).lsr(32))

    def lower() -> Value:
        return chosen(u.negated(0), -a, a) << shift

    first = u.choose(hi, upper, lower)
    carry = u.zeros() if u.known(x, False) else where_set(x, i32(u, u.flags.carry))
    result = _add_with_flags(u, first, b, False, False, carry)
    return result, result != 0


def _half(u: Unit, v: Value, upper: Flag, signed: Flag) -> Value:
    part = chosen(upper, v.lsr(16), v)
    low = part & 0xFFFF
    return chosen(signed, (part << 16) >> 16, low) if not u.known(signed, False) else low


@operation("XMAD", "i", "iii", signed_a=1, signed_b=1, half_a=1, half_b=1, psl=1, mrg=1, x=1, mode=3)
def xmad(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """A product of two halves, and c in one of five ways.

    The fix-up for signs (CSFU) leaves a term out where the other factor's lower half is zero. Only then the upper words
    of products are right that compilers compute with it.
    """
    k = u.k
    p = _half(u, a, u.flag("half_a"), u.flag("signed_a"))
    q = _half(u, b, u.flag("half_b"), u.flag("signed_b"))
    product = p * q
    product = chosen(u.flag("psl"), product << 16, product)

    def fix_up() -> Value:
        first = (p < 0) & ((b & 0xFFFF) != 0)
        second = (q < 0) & ((a & 0xFFFF) != 0)
        return c - k.select(first, k.splat(0x10000), 0) - k.select(second, k.splat(0x10000), 0)

    cases = [lambda: c, lambda: c & 0xFFFF, lambda: c.lsr(16), fix_up, lambda: c + (b << 16)]
    addend = u.pick("mode", cases)
    carry = u.zeros() if u.known(u.flag("x"), False) else where_set(u.flag("x"), i32(u, u.flags.carry))
    total = _add_with_flags(u, product, addend, False, False, carry)
    return chosen(u.flag("mrg"), (total & 0xFFFF) | (b << 16), total)


@operation("IMAD", "i", "iii", signed_a=1, signed_b=1, hi=1, sat=1, x=1)
def imad(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """a * b + c, with the lower or the upper word of the product.

    A negated factor negates the product. If c is negated as well, the result is a * b + c + 1 instead.
    """
    k = u.k
    nc, hi, x = u.negated(2), u.flag("hi"), u.flag("x")
    either = u.negated(0) if u.known(u.negated(1), False) else _exclusive(u.negated(0), u.negated(1))
    plus_one = both(either, nc)
    negate_product, negate_c = both(either, opposite(plus_one)), both(nc, opposite(plus_one))
    if u.known(hi, False):
        product = a * b
        product = chosen(negate_product, -product, product)
    else:
        wide = _wide(u, a, u.flag("signed_a")) * _wide(u, b, u.flag("signed_b"))
        wide = chosen(negate_product, -wide, wide)
        product = chosen(hi, k.low32(wide.lsr(32)), k.low32(wide))
    carry = _count(u, both(nc, opposite(x)))
    if not u.known(x, False):
        carry = carry + where_set(x, i32(u, u.flags.carry))
    result = _add_with_flags(u, product, c, False, negate_c, carry)
    if u.known(u.flag("sat"), False):
        return result
    return chosen(u.flag("sat"), _saturated(u, product, c, False, negate_c, carry), result)


def _exclusive(a: Flag, b: Flag) -> Flag:
    return a ^ b


@operation("IMUL", "i", "ii", signed_a=1, signed_b=1, hi=1)
def imul(u: Unit, a: Value, b: Value) -> Value:
    """The lower or the upper word of a * b."""
    k = u.k
    if u.known(u.flag("hi"), False):
        result = a * b
    else:
        wide = _wide(u, a, u.flag("signed_a")) * _wide(u, b, u.flag("signed_b"))
        result = chosen(u.flag("hi"), k.low32(wide.lsr(32)), k.low32(wide))
    u.result_flags(result)
    return result


@operation("IMADSP", "i", "iii", kind_a=3, kind_b=2, kind_c=3)
def imadsp(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """a * b + c with parts of the sources: 24 bits, a half, with sign or without."""
    word = [lambda v: v, lambda v: v]
    tail = [
        lambda v: v & 0xFFFFFF, lambda v: (v << 8) >> 8, lambda v: v & 0xFFFF, lambda v: (v << 16) >> 16,
    ]  # fmt: skip
    upper = [lambda v: v.lsr(16), lambda v: v >> 16]
    a = u.pick("kind_a", [lambda f=f: f(a) for f in word + tail + upper])
    b = u.pick("kind_b", [lambda f=f: f(b) for f in tail])
    c = u.pick("kind_c", [lambda f=f: f(c) for f in word + tail])
    return _add_with_flags(u, a * b, c, False, False, u.zeros())


def compare_words(u: Unit, a: Value, b: Value) -> Value:
    """`cmp` of a and b by `signed`; .X: the upper words of a comparison whose lower words set the condition code."""
    k = u.k
    flip = where_set(opposite(u.flag("signed")), k.splat(_MIN))
    if u.known(u.flag("signed"), True):
        x, y = a, b
    else:
        x, y = a ^ flip, b ^ flip
    less, equal = x < y, a == b
    chained = u.flag("x")
    if not u.known(chained, False):
        borrow = ~u.flags.carry
        less = chosen(chained, less | (equal & borrow), less)
        equal = chosen(chained, equal & u.flags.zero & ~borrow, equal)
    cases = [
        lambda: u.mask(False), lambda: less, lambda: equal, lambda: less | equal,
        lambda: ~(less | equal), lambda: ~equal, lambda: ~less, lambda: u.mask(True),
    ]  # fmt: skip
    return u.pick("cmp", cases)


@operation("ISETP", "pp", "ii", predicates=1, cmp=3, signed=1, x=1, bool=2)
def isetp(u: Unit, a: Value, b: Value) -> tuple[Value, Value]:
    """A comparison and its opposite, each joined with a predicate."""
    condition, other = compare_words(u, a, b), u.predicates[0]
    return combine(u, condition, other), combine(u, ~condition, other)


def set_word(u: Unit, condition: Value) -> Value:
    """What SET instructions write: all ones, or 1.0 with .BF."""
    k = u.k
    ones = chosen(u.flag("bf"), k.splat(0x3F800000), k.splat(-1))
    result = k.select(condition, ones, 0)
    if u.wants_flags:
        no = u.mask(False)
        u.flags_out = Flags(no, no, condition & ~u.mask(u.flag("bf")), ~condition)
    return result


@operation("ISET", "i", "ii", predicates=1, cmp=3, signed=1, x=1, bool=2, bf=1)
def iset(u: Unit, a: Value, b: Value) -> Value:
    return set_word(u, combine(u, compare_words(u, a, b), u.predicates[0]))


@operation("ICMP", "i", "iii", cmp=3, signed=1)
def icmp(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """a where c compares with zero, else b."""
    return u.k.select(compare_words(u, c, u.zeros()), a, b)


@operation("IMNMX", "i", "ii", predicates=1, signed=1, part=2)
def imnmx(u: Unit, a: Value, b: Value) -> Value:
    """Minimum where the predicate is true, else maximum.

    Parts of a 64-bit one: XHI chooses by the upper words and leaves what it chose in the condition code (carry: the
    second; zero: they are equal), XLO follows it, comparing only where they were equal.
    """
    k = u.k
    flip = where_set(opposite(u.flag("signed")), k.splat(_MIN))
    x, y = a ^ flip, b ^ flip
    least = u.predicates[0]
    second = k.select(least, i32(u, y < x), i32(u, x < y)) != 0
    equal = a == b
    follow = isinstance(u.code("part"), Value) or u.code("part") in (1, 2)
    if follow:
        low: Code = u.code("part")
        chained = ((low == 1) | (low == 2)) if isinstance(low, Value) else True
        before = u.flags
        decided = k.select(before.zero, second, before.carry)
        second = chosen(chained, decided, second)
        equal = chosen(chained, equal & before.zero, equal)
    result = k.select(second, b, a)
    if u.wants_flags:
        u.flags_out = Flags(second, u.mask(False), result < 0, equal)
    return result


@operation("SEL", "i", "ii", predicates=1)
def sel(u: Unit, a: Value, b: Value) -> Value:
    return u.k.select(u.predicates[0], a, b)


def pack_flags(u: Unit, flags: Flags) -> Value:
    """The condition code as bits: zero 0, sign 1, carry 2, overflow 3."""
    bits = u.zeros()
    for n, flag in enumerate((flags.zero, flags.sign, flags.carry, flags.overflow)):
        bits = bits | (i32(u, flag) << n)
    return bits
