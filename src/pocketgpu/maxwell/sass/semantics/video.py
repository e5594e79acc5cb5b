"""Video instructions: arithmetic on signed or unsigned bytes and halves, then a second operation with a third source.

A result has up to 34 bits. With .SAT it is cut to the range of its type. Then it is put into a part of c, added to it,
or compared with it.
"""

from __future__ import annotations

from collections.abc import Callable

from pocketgpu.lanes import I64, Value
from pocketgpu.maxwell.sass.semantics.known import both, chosen, where_set
from pocketgpu.maxwell.sass.semantics.unit import Unit, combine, i32, operation

_COMMON = {"type_a": 4, "type_b": 4, "sat": 1, "op": 3}


def _part(u: Unit, name: str, v: Value) -> Value:
    """A source as 64 bits. Types: bytes 0 to 3, halves 4 and 5, the word 6; the same plus 8 with sign."""
    k = u.k
    unsigned: list[Callable[[], Value]] = [
        *(lambda n=n: k.to_i64(v.lsr(8 * n) & 0xFF, False) for n in range(4)),
        *(lambda n=n: k.to_i64(v.lsr(16 * n) & 0xFFFF, False) for n in range(2)),
        *[lambda: k.to_i64(v, False)] * 2,
    ]
    signed: list[Callable[[], Value]] = [
        *(lambda n=n: k.to_i64((v << (24 - 8 * n)) >> 24) for n in range(4)),
        *(lambda n=n: k.to_i64((v << (16 - 16 * n)) >> 16) for n in range(2)),
        *[lambda: k.to_i64(v)] * 2,
    ]
    return u.pick(name, [*unsigned, *signed])


def _limits(u: Unit, signed: bool | Value, width: int) -> tuple[Value, Value]:
    low = chosen(signed, u.k.splat(-(1 << (width - 1)), type=I64), u.k.splat(0, type=I64))
    high = chosen(signed, u.k.splat((1 << (width - 1)) - 1, type=I64), u.k.splat((1 << width) - 1, type=I64))
    return low, high


def finish(u: Unit, value: Value, c: Value, signed: bool | Value) -> Value:
    """The second operation: `op` merges into c (0..3), adds (4), takes the smaller (5) or larger (6), nothing (7)."""
    k, sat = u.k, u.flag("sat")

    def cut(width: int) -> Value:
        clipped = k.clamp(value, *_limits(u, signed, width)) if not u.known(sat, False) else value
        return k.low32(chosen(sat, clipped, value))

    def less(a: Value, b: Value) -> Value:
        return chosen(signed, a < b, a.below(b))

    def smaller() -> Value:
        w = cut(32)
        return k.select(less(w, c), w, c)

    def larger() -> Value:
        w = cut(32)
        return k.select(less(c, w), w, c)

    result = u.pick(
        "op",
        [
            lambda: (c & 0xFFFF) | (cut(16) << 16),
            lambda: (c & -0x10000) | (cut(16) & 0xFFFF),
            lambda: (c & ~0xFF) | (cut(8) & 0xFF),
            lambda: (c & ~0xFF0000) | ((cut(8) & 0xFF) << 16),
            lambda: cut(32) + c,
            smaller,
            larger,
            lambda: cut(32),
        ],
    )
    u.result_flags(result)
    return result


@operation("VADD", "i", "iii", **_COMMON, ud=1)
def vadd(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """a + b, either negated; both signs set mean a + b + 1."""
    x, y = _part(u, "type_a", a), _part(u, "type_b", b)
    na, nb = u.negated(0), u.negated(1)
    plus_one = both(na, nb)
    total = chosen(na, -x, x) + chosen(nb, -y, y)
    total = chosen(plus_one, x + y + 1, total)
    return finish(u, total, c, u.flag("ud"))


@operation("VABSDIFF", "i", "iii", **_COMMON, sd=1)
def vabsdiff(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """The distance of a and b."""
    d = _part(u, "type_a", a) - _part(u, "type_b", b)
    return finish(u, u.k.max(d, -d), c, u.flag("sd"))


@operation("VMNMX", "i", "iii", **_COMMON, ud=1, mx=1)
def vmnmx(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """The smaller of a and b, or the larger with .MX."""
    k, x, y = u.k, _part(u, "type_a", a), _part(u, "type_b", b)
    return finish(u, chosen(u.flag("mx"), k.max(x, y), k.min(x, y)), c, u.flag("ud"))


def _amount(u: Unit, v: Value) -> Value:
    """How far to shift: cut at 32, or with .W modulo 32."""
    return u.k.clamp(chosen(u.flag("w"), v & 31, v), 0, 32)


@operation("VSHL", "i", "iii", **_COMMON, ud=1, w=1)
def vshl(u: Unit, a: Value, b: Value, c: Value) -> Value:
    k, amount = u.k, _amount(u, _part(u, "type_b", b))
    x = _part(u, "type_a", a) << k.min(amount, 31)
    # An unsigned word shifted by 32 would need 65 bits. All large numbers saturate alike, so a smaller one does.
    x = k.select(amount == 32, k.clamp(x, -(1 << 40), 1 << 40) << 1, x)
    return finish(u, x, c, u.flag("ud"))


@operation("VSHR", "i", "iii", **_COMMON, ud=1, w=1)
def vshr(u: Unit, a: Value, b: Value, c: Value) -> Value:
    return finish(u, _part(u, "type_a", a) >> _amount(u, _part(u, "type_b", b)), c, u.flag("ud"))


@operation("VMAD", "i", "iii", type_a=4, type_b=4, sat=1, shift=2)
def vmad(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """a * b + c, shifted right by 0, 7 or 15; a negated one negates the product. Both signs set mean + 1."""
    k = u.k
    x, y = _part(u, "type_a", a), _part(u, "type_b", b)
    # The result has a sign if a factor has one, or something is negated.
    kind_a, kind_b = u.code("type_a"), u.code("type_b")
    na, nc = u.negated(0), u.negated(2)
    plus_one, one = both(na, nc), na ^ nc
    signed = (kind_a >= 8) | (kind_b >= 8) | one
    addend = chosen(signed, k.to_i64(c), k.to_i64(c, False))
    product = x * y
    total = chosen(na, -product, product) + chosen(nc, -addend, addend)
    total = chosen(plus_one, product + addend + 1, total)
    move = lambda n: chosen(signed, total >> n, total.lsr(n))
    total = u.pick("shift", [lambda: total, lambda: move(7), lambda: move(15)])
    # Without a sign the total can have all 64 bits.
    most = k.splat(0xFFFFFFFF, type=I64)
    clipped = chosen(signed, k.clamp(total, -(1 << 31), (1 << 31) - 1), k.select(total.below(most), total, most))
    result = k.low32(chosen(u.flag("sat"), clipped, total))
    u.result_flags(result)
    return result


def _compared(u: Unit, a: Value, b: Value) -> Value:
    x, y = _part(u, "type_a", a), _part(u, "type_b", b)
    no = lambda: u.mask(False)
    return u.pick("cmp", [no, lambda: x < y, lambda: x == y, lambda: x <= y, lambda: x > y, lambda: x != y,
                          lambda: x >= y, lambda: u.mask(True)])  # fmt: skip


@operation("VSET", "i", "iii", type_a=4, type_b=4, op=3, cmp=3)
def vset(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """1 where a comparison holds."""
    return finish(u, u.k.to_i64(i32(u, _compared(u, a, b))), c, False)


@operation("VSETP", "pp", "ii", predicates=1, type_a=4, type_b=4, cmp=3, bool=2)
def vsetp(u: Unit, a: Value, b: Value) -> tuple[Value, Value]:
    condition, other = _compared(u, a, b), u.predicates[0]
    return combine(u, condition, other), combine(u, ~condition, other)


_SELECT_A = (
    (0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3), (0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6),
    (1, 0, 2, 3), (2, 1, 0, 3), (3, 1, 2, 0), (0, 2, 1, 3), (0, 3, 2, 1), (0, 1, 3, 2),
)  # fmt: skip
"""Bytes of b:a for lanes 0 to 3, by the number of the selection (NVIDIA writes lane 3 first)."""
_SELECT_B = (
    (4, 4, 4, 4), (5, 5, 5, 5), (6, 6, 6, 6), (7, 7, 7, 7), (4, 5, 6, 7), (3, 4, 5, 6), (2, 3, 4, 5), (1, 2, 3, 4),
    (7, 6, 5, 4), (5, 4, 7, 6), (6, 7, 4, 5),
)  # fmt: skip


@operation("VABSDIFF4", "i", "iii", types=2, sat=1, op=2, lanes=4, select_a=4, select_b=4, sd=1)
def vabsdiff4(u: Unit, a: Value, b: Value, c: Value) -> Value:
    """Distances of four bytes, each into its byte of c; or with .ACC all added to c."""
    k = u.k

    def byte(n: int, signed: bool | Value) -> Value:
        word = a if n < 4 else b
        plain = word.lsr(8 * (n & 3)) & 0xFF
        return chosen(signed, (plain << 24) >> 24, plain)

    types, lanes = u.code("types"), u.code("lanes")
    signed_a, signed_b = (types & 1) != 0, (types & 2) != 0
    total, merged = c, c
    for lane in range(4):
        x = u.pick("select_a", [lambda s=s: byte(s[lane], signed_a) for s in (*_SELECT_A, *_SELECT_A[4:5] * 2)])
        y = u.pick("select_b", [lambda s=s: byte(s[lane], signed_b) for s in (*_SELECT_B, *_SELECT_B[4:5] * 5)])
        d = x - y
        d = k.max(d, -d)
        cut = k.min(d, chosen(u.flag("sd"), k.splat(127), k.splat(255)))
        d = chosen(u.flag("sat"), cut, d)
        # Lanes are named x, y, z, w from the highest bit of the code down.
        wanted = (lanes & (4, 8, 1, 2)[lane]) != 0
        total = total + where_set(wanted, d)
        shift = 8 * lane
        merged = chosen(wanted, (merged & ~(0xFF << shift)) | ((d & 0xFF) << shift), merged)
    result = chosen(u.code("op") == 1, total, merged)
    u.result_flags(result)
    return result
