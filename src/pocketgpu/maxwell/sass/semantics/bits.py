"""Logic, shifts, bit fields, bytes; predicates as values."""

from __future__ import annotations

from pocketgpu.lanes import Value
from pocketgpu.maxwell.sass.semantics.integer import pack_flags, set_word
from pocketgpu.maxwell.sass.semantics.known import chosen, opposite
from pocketgpu.maxwell.sass.semantics.unit import Flags, Unit, combine, i32, operation


def _test(u: Unit, result: Value) -> Value:
    """The predicate that logic instructions give: `test` none or false, true, zero, not zero."""
    return u.pick(
        "test", [lambda: u.mask(False), lambda: u.mask(True), lambda: result == 0, lambda: result != 0]
    )  # fmt: skip


@operation("LOP", "ip", "ii", op=2, x=1, test=2)
def lop(u: Unit, a: Value, b: Value) -> tuple[Value, Value]:
    """and, or, xor of a and b, or b alone; both can be inverted."""
    a, b = chosen(u.negated(0), ~a, a), chosen(u.negated(1), ~b, b)
    result = u.pick("op", [lambda: a & b, lambda: a | b, lambda: a ^ b, lambda: b])
    u.result_flags(result)
    return result, _test(u, result)


def _lookup(u: Unit, table: int, a: Value, b: Value, c: Value) -> Value:
    """LOP3 with a table that is known while tracing, in few operations."""
    shapes = {
        0x00: lambda: u.zeros(), 0xFF: lambda: u.k.splat(-1), 0xF0: lambda: a, 0xCC: lambda: b, 0xAA: lambda: c,
        0xC0: lambda: a & b, 0xFC: lambda: a | b, 0x3C: lambda: a ^ b, 0xA0: lambda: a & c, 0xFA: lambda: a | c,
        0x5A: lambda: a ^ c, 0x88: lambda: b & c, 0xEE: lambda: b | c, 0x66: lambda: b ^ c, 0x80: lambda: a & b & c,
        0xFE: lambda: a | b | c, 0x96: lambda: a ^ b ^ c, 0xE8: lambda: (a & b) | (c & (a | b)),
        0xCA: lambda: (a & b) | (~a & c), 0xD8: lambda: (b & c) | (a & ~c), 0xF8: lambda: a | (b & c),
        0xEA: lambda: c | (a & b), 0x6A: lambda: c ^ (a & b), 0x78: lambda: a ^ (b & c),
    }  # fmt: skip
    if table in shapes:
        return shapes[table]()
    inverted = table.bit_count() > 4
    if inverted:
        if table ^ 0xFF in shapes:
            return ~shapes[table ^ 0xFF]()
        table ^= 0xFF
    # Choose by a between two functions of b and c.
    low, high = table & 15, table >> 4
    pairs = [
        lambda: u.zeros(), lambda: ~(b | c), lambda: ~b & c, lambda: ~b, lambda: b & ~c, lambda: ~c, lambda: b ^ c,
        lambda: ~(b & c), lambda: b & c, lambda: ~(b ^ c), lambda: c, lambda: ~b | c, lambda: b, lambda: b | ~c,
        lambda: b | c, lambda: u.k.splat(-1),
    ]  # fmt: skip
    result = (a & pairs[high]()) | (~a & pairs[low]())
    return ~result if inverted else result


@operation("LOP3", "ip", "iii", table=8, x=1, test=2)
def lop3(u: Unit, a: Value, b: Value, c: Value) -> tuple[Value, Value]:
    """Any function of three bits: its value for a, b, c is bit 4a + 2b + c of the table."""
    k, table = u.k, u.code("table")
    if isinstance(table, int):
        result = _lookup(u, table, a, b, c)
    else:
        result = u.zeros()
        for n in range(8):
            term = k.splat(-(table.lsr(n) & 1))
            for bit, v in ((4, a), (2, b), (1, c)):
                term = term & (v if n & bit else ~v)
            result = result | term
    u.result_flags(result)
    return result, _test(u, result)


@operation("SHL", "i", "ii", w=1, x=1)
def shl(u: Unit, a: Value, b: Value) -> Value:
    """a << b; counts from 32 on give 0, or with .W count modulo 32."""
    k = u.k
    beyond = ~b.below(32) & _not_mask(u, "w")
    result = k.select(beyond, 0, a << b)
    u.result_flags(result)
    return result


def _not_mask(u: Unit, name: str) -> Value:
    return u.mask(opposite(u.flag(name)))


def reverse_bits(v: Value) -> Value:
    for shift, keep in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF)):
        v = (v.lsr(shift) & keep) | ((v & keep) << shift)
    return v.lsr(16) | (v << 16)


@operation("SHR", "i", "ii", signed=1, w=1, x=1, brev=1)
def shr(u: Unit, a: Value, b: Value) -> Value:
    """a >> b; counts from 32 on give 0 or the sign, or with .W count modulo 32. BREV reverses the bits of a first."""
    k = u.k
    a = u.choose(u.flag("brev"), lambda: reverse_bits(a), lambda: a)
    beyond = ~b.below(32) & _not_mask(u, "w")
    signed = u.choose(u.flag("signed"), lambda: a >> k.select(beyond, 31, b), lambda: k.select(beyond, 0, a.lsr(b)))
    u.result_flags(signed)
    return signed


@operation("SHF", "i", "iii", right=1, w=1, type=2, hi=1)
def shf(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """A shift of the 64 bits c:a. Left: the upper word; right: the lower one, or with .HI the upper one.

    Counts are cut at 32, for the types U64 and S64 at 64; with .W they are taken modulo 32 or 64.
    """
    k = u.k
    kind = u.code("type")
    long = kind != 0
    signed = kind == 3
    top = chosen(long, k.splat(63), k.splat(31))
    most = chosen(long, k.splat(64), k.splat(32))
    cut = k.select(b.below(most), b, most)
    count = chosen(u.flag("w"), b & top, cut)
    gone = count == 64
    count = k.to_i64(k.min(count, 63), False)
    pair = (k.to_i64(c, False) << 32) | k.to_i64(a, False)

    def right() -> Value:
        moved = chosen(signed, pair >> count, k.select(gone, 0, pair.lsr(count)))
        return chosen(u.flag("hi"), k.low32(moved.lsr(32)), k.low32(moved))

    result = u.choose(u.flag("right"), right, lambda: k.low32(k.select(gone, 0, pair << count).lsr(32)))
    u.result_flags(result)
    return result


@operation("BFE", "i", "ii", signed=1, brev=1)
def bfe(u: Unit, a: Value, b: Value) -> Value:
    """The field of a that begins at bit b[7:0] and is b[15:8] bits long. Past bit 31 it has zeros, or the sign."""
    k = u.k
    a = u.choose(u.flag("brev"), lambda: reverse_bits(a), lambda: a)
    first, length = b & 0xFF, b.lsr(8) & 0xFF
    # In 64 bits, with the sign or zeros above the word, a field takes two shifts.
    wide = k.select(u.mask(u.flag("signed")), k.to_i64(a), k.to_i64(a, False))
    moved = wide >> k.to_i64(k.min(first, 63), False)
    up = k.to_i64(64 - k.min(length, 32), False) & 63
    field = k.select(u.mask(u.flag("signed")), (moved << up) >> up, (moved << up).lsr(up))
    result = k.select(length == 0, 0, k.low32(field))
    u.result_flags(result)
    return result


@operation("BFI", "i", "iii")
def bfi(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """c with `length` low bits of a from bit `first` on, both of b as for BFE."""
    k = u.k
    first, length = b & 0xFF, b.lsr(8) & 0xFF
    one = k.to_i64(u.zeros() + 1)
    ones = (one << k.to_i64(k.min(length, 32), False)) - 1
    keep = k.select(first >= 32, 0, k.low32(ones) << first)
    result = (c & ~keep) | ((a << first) & keep)
    u.result_flags(result)
    return result


@operation("FLO", "i", "i", signed=1, sh=1)
def flo(u: Unit, a: Value) -> Value:
    """The number of the highest set bit (of signed values: the highest that is not the sign); -1 if there is none."""
    k = u.k
    a = chosen(u.negated(0), ~a, a)
    a = k.select(u.mask(u.flag("signed")) & (a < 0), ~a, a)
    zeros = k.leading_zeros(a)
    result = k.select(a == 0, -1, chosen(u.flag("sh"), zeros, 31 - zeros))
    u.result_flags(result)
    return result


@operation("POPC", "i", "i")
def popc(u: Unit, a: Value) -> Value:
    return u.k.popcount(chosen(u.negated(0), ~a, a))


def _byte_of(u: Unit, c: Value, a: Value, number: Value) -> Value:
    """Byte `number` (0..7) of c:a."""
    word = u.k.select((number & 4) != 0, c, a)
    return word.lsr((number & 3) << 3) & 0xFF


@operation("PRMT", "i", "iii", mode=4)
def prmt(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """Four bytes out of the eight of c:a: by the nibbles of b (bit 3: only the sign), or one of the fixed forms."""
    k = u.k

    def gathered(numbers: list[Value]) -> Value:
        result = u.zeros()
        for i, number in enumerate(numbers):
            result = result | (_byte_of(u, c, a, number) << (8 * i))
        return result

    def general() -> Value:
        result = u.zeros()
        for i in range(4):
            nibble = b.lsr(4 * i) & 15
            byte = _byte_of(u, c, a, nibble & 7)
            sign = -(byte.lsr(7)) & 0xFF
            result = result | (k.select((nibble & 8) != 0, sign, byte) << (8 * i))
        return result

    n = b & 3
    lower, upper = (n & 1) << 1, u.zeros()
    clip_low = lambda i: k.max(n, i)
    clip_high = lambda i: k.min(n, i)
    return u.pick(
        "mode",
        [
            general,
            lambda: gathered([n + i for i in range(4)]),
            lambda: gathered([(8 + n - i) & 7 for i in range(4)]),
            lambda: gathered([n] * 4),
            lambda: gathered([clip_low(i) for i in range(4)]),
            lambda: gathered([clip_high(i) for i in range(4)]),
            lambda: gathered([lower + upper, lower + 1, lower + upper, lower + 1]),
        ],
    )


@operation("MOV", "i", "i", mask=4)
def mov(u: Unit, a: Value) -> Value:
    return a


@operation("PSETP", "pp", "", predicates=3, op=2, bool=2)
def psetp(u: Unit) -> tuple[Value, Value]:
    """Two predicates joined, and a third one; the second result begins with the opposite of the first."""
    p, q, r = u.predicates
    first = u.pick("op", [lambda: p & q, lambda: p | q, lambda: p ^ q])
    return combine(u, first, r), combine(u, ~first, r)


@operation("PSET", "i", "", predicates=3, op=2, bool=2, bf=1)
def pset(u: Unit) -> Value:
    return set_word(u, psetp(u)[0])


def test_flags(u: Unit, name: str = "test") -> Value:
    """One of the 32 tests of the condition code. The clip tests of the graphics stages are false."""
    f = u.flags
    less = (f.sign ^ f.overflow) & ~f.zero
    equal = f.zero & ~f.sign
    unordered = f.zero & f.sign
    no = lambda: u.mask(False)
    return u.pick(
        name,
        [
            no, lambda: less & ~unordered, lambda: equal, lambda: less | equal,
            lambda: ~(less | equal | unordered), lambda: ~f.zero, lambda: ~less & ~unordered, lambda: ~unordered,
            lambda: unordered, lambda: less | unordered, lambda: f.zero, lambda: less | f.zero,
            lambda: ~(less | equal), lambda: ~equal, lambda: ~less, lambda: u.mask(True),
            lambda: ~f.overflow, lambda: ~f.carry, lambda: ~f.sign, lambda: f.zero | ~f.carry,
            lambda: f.carry & ~f.zero, lambda: f.sign, lambda: f.carry, lambda: f.overflow,
            no, no, no, no, no, no, lambda: f.sign | f.zero, lambda: ~f.sign & ~f.zero,
        ],
    )  # fmt: skip


@operation("CSETP", "pp", "", predicates=1, test=5, bool=2)
def csetp(u: Unit) -> tuple[Value, Value]:
    """A test of the condition code, as ISETP does with a comparison."""
    condition, other = test_flags(u), u.predicates[0]
    return combine(u, condition, other), combine(u, ~condition, other)


@operation("CSET", "i", "", predicates=1, test=5, bool=2, bf=1)
def cset(u: Unit) -> Value:
    return set_word(u, combine(u, test_flags(u), u.predicates[0]))


@operation("P2R", "i", "ii", predicates=7, cc=1, byte=2)
def p2r(u: Unit, a: Value, b: Value) -> Value:
    """a with one byte replaced by the predicates (or the condition code), as far as bits of b are set."""
    predicates = u.zeros()
    for n, p in enumerate(u.predicates):
        predicates = predicates | (i32(u, p) << n)
    bits = u.choose(u.flag("cc"), lambda: pack_flags(u, u.flags), lambda: predicates)
    shift = u.pick("byte", [lambda n=n: u.zeros() + 8 * n for n in range(4)])
    keep = (b & 0xFF) << shift
    return (a & ~keep) | ((bits << shift) & keep)


@operation("R2P", "ppppppp", "ii", predicates=7, cc=1, byte=2)
def r2p(u: Unit, a: Value, b: Value) -> tuple[Value, ...]:
    """Predicates (or the condition code) from one byte of a, as far as bits of b are set."""
    byte = u.pick("byte", [lambda n=n: a.lsr(8 * n) for n in range(4)])
    bit = lambda n: ((byte >> n) & 1) != 0
    wanted = lambda n: ((b >> n) & 1) != 0
    cc = u.flag("cc")
    if not u.known(cc, False):
        f, k = u.flags, u.k
        zero, sign, carry, overflow = (
            k.select(wanted(n) & u.mask(cc), bit(n), old) for n, old in enumerate((f.zero, f.sign, f.carry, f.overflow))
        )
        u.flags_out = Flags(carry, overflow, sign, zero)
    return tuple(chosen(opposite(cc), u.k.select(wanted(n), bit(n), p), p) for n, p in enumerate(u.predicates))
