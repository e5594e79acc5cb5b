"""Every operation on the values where it is easy to get wrong, against references in plain Python.

Each table of operations is one kernel that runs over all pairs of edge values, on scalars and on lanes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from pocketgpu.lanes import BOOL, F32, I32, I64, U8, Lang, Type, Value, kernel

IN_A, IN_B, OUT = 0x2000, 0xA000, 0x12000
LANES = [1, 4, 8, 16, 32]  # 1 stands for scalar code
NAN = 0x7FC00000

I32_EDGES = [0, 1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 255, 256, 0x7FFF, 0x10000, 0x55555555, 0x7FFFFFFE, 0x7FFFFFFF,
             -1, -2, -3, -31, -32, -33, -64, -128, -0x8000, -0x7FFFFFFF, -0x80000000]  # fmt: skip
I64_EDGES = [*I32_EDGES, 1 << 31, 1 << 32, (1 << 32) - 1, 1 << 62, (1 << 63) - 1, -(1 << 63), -(1 << 32), 0x123456789A]
F32_BITS = [
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x3F800000, 0xBF800000,
    0x3F7FFFFF, 0x3F000000, 0xBF000000, 0x3FC00000, 0xBFC00000, 0x40200000, 0x3DCCCCCD, 0x4B000000, 0x4B000001,
    0x4EFFFFFF, 0x4F000000, 0xCF000000, 0xCF000001, 0x5F000000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F000000, 0x7F800000,
    0xFF800000, 0x7FC00000, 0xFFC00000, 0x7FC12345, 0x3F9E3779, 0xBFB504F3, 0x3EAAAAAB, 0xBF8CCCCD,
]  # fmt: skip


def wrap(x: int, bits: int) -> int:
    x &= (1 << bits) - 1
    return x - ((x >> (bits - 1)) << bits)


def pairs(values: Sequence[int], dtype: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """All pairs, padded with the first value to a multiple of 32 elements."""
    every = list(itertools.product(values, repeat=2))
    every += [(values[0], values[0])] * (-len(every) % 32)
    left, right = zip(*every, strict=True)
    return np.array(left, dtype), np.array(right, dtype)


Operations = dict[str, Callable[[Lang, Value, Value], Value]]

INTEGER: Operations = {
    "add": lambda k, a, b: a + b,
    "sub": lambda k, a, b: a - b,
    "mul": lambda k, a, b: a * b,
    "and": lambda k, a, b: a & b,
    "or": lambda k, a, b: a | b,
    "xor": lambda k, a, b: a ^ b,
    "shl": lambda k, a, b: a << b,
    "ashr": lambda k, a, b: a >> b,
    "lshr": lambda k, a, b: a.lsr(b),
    "udiv": lambda k, a, b: k.udiv(a, b),
    "min": lambda k, a, b: k.min(a, b),
    "max": lambda k, a, b: k.max(a, b),
    "neg": lambda k, a, b: -a,
    "abs": lambda k, a, b: k.abs(a),
    "not": lambda k, a, b: ~a,
    "eq": lambda k, a, b: k.select(a == b, a ^ a ^ 1, a ^ a),
    "ne": lambda k, a, b: k.select(a != b, a ^ a ^ 1, a ^ a),
    "lt": lambda k, a, b: k.select(a < b, a ^ a ^ 1, a ^ a),
    "le": lambda k, a, b: k.select(a <= b, a ^ a ^ 1, a ^ a),
    "gt": lambda k, a, b: k.select(a > b, a ^ a ^ 1, a ^ a),
    "ge": lambda k, a, b: k.select(a >= b, a ^ a ^ 1, a ^ a),
    "below": lambda k, a, b: k.select(a.below(b), a ^ a ^ 1, a ^ a),
}


def integer_reference(word: str, a: int, b: int, bits: int) -> int:
    mask = (1 << bits) - 1
    results: dict[str, Callable[[], int]] = {
        "add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: a * b,
        "and": lambda: a & b, "or": lambda: a | b, "xor": lambda: a ^ b,
        "shl": lambda: a << (b % bits), "ashr": lambda: a >> (b % bits), "lshr": lambda: (a & mask) >> (b % bits),
        "udiv": lambda: (a & mask) // (b & mask) if b else 0,
        "min": lambda: min(a, b), "max": lambda: max(a, b), "neg": lambda: -a, "abs": lambda: abs(a), "not": lambda: ~a,
        "eq": lambda: a == b, "ne": lambda: a != b, "lt": lambda: a < b, "le": lambda: a <= b,
        "gt": lambda: a > b, "ge": lambda: a >= b, "below": lambda: (a & mask) < (b & mask),
    }  # fmt: skip
    return wrap(int(results[word]()), bits)


def over_table(type: Type, out: Type, operations: Operations, lanes: int) -> Any:
    """A kernel that applies every operation to `count` pairs; operation number j writes its column at OUT."""

    @kernel(lanes=max(lanes, 4), count=I32)
    def table(k: Lang, count: Value) -> None:
        for i in k.range(0, count, lanes):
            at = i * type.bytes
            a, b = k.load(type, at + IN_A, lanes), k.load(type, at + IN_B, lanes)
            for j, operation in enumerate(operations.values()):
                k.store(out, OUT + j * out.bytes * count + i * out.bytes, operation(k, a, b))

    return table


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize(("type", "edges"), [(I32, I32_EDGES), (I64, I64_EDGES)], ids=["i32", "i64"])
def test_integer_operations(both: Any, type: Type, edges: list[int], lanes: int) -> None:
    dtype = np.int32 if type is I32 else np.int64
    a, b = pairs(edges, dtype)
    both.fill(a, IN_A)
    both.fill(b, IN_B)
    both.run(over_table(type, type, INTEGER, lanes), len(a))
    got = both.read(dtype, OUT, len(a) * len(INTEGER)).reshape(len(INTEGER), len(a))
    for row, word in zip(got, INTEGER, strict=True):
        expected = [integer_reference(word, x, y, type.bits) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        wrong = [(x, y, g, e) for x, y, g, e in zip(a, b, row.tolist(), expected, strict=True) if g != e]
        assert not wrong, f"{word}: (a, b, got, expected) {wrong[:4]}"


@pytest.mark.parametrize("lanes", LANES)
def test_products_of_halves(both: Any, lanes: int) -> None:
    a, b = pairs(I32_EDGES, np.int32)
    both.fill(a, IN_A)
    both.fill(b, IN_B)
    both.run(over_table(I32, I32, {"mul_halves": lambda k, a, b: k.mul_halves(a, b)}, lanes), len(a))
    got = both.read(np.uint32, OUT, len(a)).tolist()
    for x, y, product in zip(a.view(np.uint32).tolist(), b.view(np.uint32).tolist(), got, strict=True):
        low, high = (x & 0xFFFF) * (y & 0xFFFF) & 0xFFFF, (x >> 16) * (y >> 16) & 0xFFFF
        assert product == high << 16 | low, f"{x:#x}, {y:#x}"


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("type", [I32, I64], ids=str)
def test_integer_constants_on_either_side(both: Any, type: Type, lanes: int) -> None:
    """Python numbers as operands: they wrap into the type, and a constant shift count is reduced like any other."""
    constants = [0, 1, -1, 31, 32, 33, -32, 64, 65, -64, 0x80000000, 0xFFFFFFFF, 1 << 40, -(1 << 63), (1 << 64) - 1]
    words = ("add", "sub", "mul", "and", "or", "xor", "shl", "ashr", "lshr", "udiv", "min", "lt", "below")
    operators: dict[str, Callable[[Any, Any, Any], Value]] = {w: INTEGER[w] for w in words}  # type: ignore[dict-item]
    operators["lt"] = lambda k, a, b: k.select(a < b, k.const(1, type), k.const(0, type))
    right_only = ("lshr", "below")

    def both_ways(word: str, c: int, k: Lang, a: Value) -> list[Value]:
        if word == "below":
            return [k.select(a.below(c), k.const(1, type), k.const(0, type))]
        results = [operators[word](k, a, c)]
        return results if word in right_only else [*results, operators[word](k, c, a)]

    @kernel(lanes=8)
    def constant(k: Lang) -> None:
        a = k.load(type, IN_A, lanes)
        results = [v for word in words for c in constants for v in both_ways(word, c, k, a)]
        for j, v in enumerate(results):
            k.store(type, OUT + j * lanes * type.bytes, v)

    values = [0x12345678, -1, 3, wrap(1 << (type.bits - 1), type.bits), 0, 1, 1000, -1000][:lanes]
    dtype = np.int32 if type is I32 else np.int64
    both.fill(np.array(values, dtype), IN_A)
    both.run(constant)
    expected = []
    for word in words:
        for c in constants:
            c = wrap(c, type.bits)
            expected += [integer_reference(word, x, c, type.bits) for x in values]
            if word not in right_only:
                expected += [integer_reference(word, c, x, type.bits) for x in values]
    assert both.read(dtype, OUT, len(expected)).tolist() == expected


def test_shift_counts_from_constant_vectors(both: Any) -> None:
    """A pattern is a constant too: counts at and beyond the width must not reach the machine's shift as they are."""
    counts = [0, 1, 31, 32, 33, -1, -32, 1 << 30]

    @kernel(lanes=8)
    def shifts(k: Lang) -> None:
        x, c = k.load(I32, IN_A, 8), k.pattern(counts)
        for j, v in enumerate((x << c, x >> c, x.lsr(c), k.i32(-5) << c, k.i32(-5) >> c, k.i32(-5).lsr(c))):
            k.store(I32, OUT + 32 * j, v)
        k.store(I32, OUT + 192, x << k.splat(40))
        k.store(I32, OUT + 224, k.i32(1) << k.i32(33))

    values = [-1, 0x40000001, -0x80000000, 7, 7, 7, 7, 7]
    both.fill(np.array(values, np.int32), IN_A)
    both.run(shifts)
    for j, (word, left) in enumerate(itertools.product(("shl", "ashr", "lshr"), (values, [-5] * 8))):
        at = OUT + 32 * (j // 2 + 3 * (j % 2))
        expected = [integer_reference(word, x, c, 32) for x, c in zip(left, counts, strict=True)]
        assert both.read(np.int32, at, 8).tolist() == expected, word
    assert both.read(np.int32, OUT + 192, 8).tolist() == [wrap(x << 8, 32) for x in values]
    assert both.read(np.int32, OUT + 224, 1)[0] == 2


FLOAT: Operations = {
    "add": lambda k, a, b: a + b,
    "sub": lambda k, a, b: a - b,
    "mul": lambda k, a, b: a * b,
    "div": lambda k, a, b: a / b,
    "min": lambda k, a, b: k.min(a, b),
    "max": lambda k, a, b: k.max(a, b),
    "clamp": lambda k, a, b: k.clamp(a, b, 1.5),
    "neg": lambda k, a, b: -a,
    "abs": lambda k, a, b: k.abs(a),
    "floor": lambda k, a, b: k.floor(a),
    "sqrt": lambda k, a, b: k.sqrt(a),
    "muladd": lambda k, a, b: a * a + b,  # rounded twice; the product serves nothing else, so it invites fusing
    "less from zero": lambda k, a, b: 0.0 - a,  # not a negation: 0.0 - 0.0 is +0.0
    "by a constant": lambda k, a, b: a / 3.0 + b * -0.0,
}


def float_reference(word: str, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """In f64 with one rounding to f32 for each step, which is exact enough for all of these."""
    x, y, single = a.astype(np.float64), b.astype(np.float64), np.float32

    def larger(p: Any, q: Any) -> Any:
        return np.where(p > q, p, q)

    def smaller(p: Any, q: Any) -> Any:
        return np.where(p < q, p, q)

    results: dict[str, Callable[[], Any]] = {
        "add": lambda: x + y, "sub": lambda: x - y, "mul": lambda: x * y, "div": lambda: x / y,
        "min": lambda: smaller(x, y), "max": lambda: larger(x, y), "clamp": lambda: smaller(larger(x, y), 1.5),
        "neg": lambda: np.copysign(x, np.where(np.signbit(x), 1.0, -1.0)), "abs": lambda: np.copysign(x, 1.0),
        "floor": lambda: np.array([math.floor(v) if math.isfinite(v) and v else v for v in x]),
        "sqrt": lambda: np.sqrt(x), "muladd": lambda: (x * x).astype(single).astype(np.float64) + y,
        "less from zero": lambda: 0.0 - x,
        "by a constant": lambda: (x / 3.0).astype(single).astype(np.float64) + y * -0.0,
    }  # fmt: skip
    with np.errstate(all="ignore"):
        return np.asarray(results[word](), np.float64).astype(single)


def same_floats(got: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Equal bits, or both NaN."""
    bits = [np.ascontiguousarray(v, np.float32).view(np.uint32) for v in (got, expected)]
    return (bits[0] == bits[1]) | (np.isnan(got) & np.isnan(expected))


@pytest.mark.parametrize("lanes", LANES)
def test_float_operations(both: Any, lanes: int) -> None:
    a, b = (v.view(np.float32) for v in pairs(F32_BITS, np.uint32))
    both.fill(a, IN_A)
    both.fill(b, IN_B)
    end = OUT + 4 * len(a) * len(FLOAT)
    both.run(over_table(F32, F32, FLOAT, lanes), len(a), floats=(OUT, end))
    got = both.read(np.float32, OUT, len(a) * len(FLOAT)).reshape(len(FLOAT), len(a))
    for row, word in zip(got, FLOAT, strict=True):
        expected = float_reference(word, a, b)
        bad = np.flatnonzero(~same_floats(row, expected))
        assert not len(bad), f"{word}: (a, b, got, expected) {[(a[i], b[i], row[i], expected[i]) for i in bad[:4]]}"


@pytest.mark.parametrize("lanes", [1, 8, 32])
def test_min_and_max_go_by_operand_order(both: Any, lanes: int) -> None:
    """Of two operands that compare neither less nor greater the second is taken, sign of zero and NaN included."""
    a, b = (v.view(np.float32) for v in pairs([0x00000000, 0x80000000, NAN, 0x3F800000, 0x7FC12345], np.uint32))
    both.fill(a, IN_A)
    both.fill(b, IN_B)
    both.run(over_table(F32, F32, {w: FLOAT[w] for w in ("min", "max")}, lanes), len(a))  # exact: nothing is computed
    rows = both.read(np.uint32, OUT, 2 * len(a)).reshape(2, len(a))
    for row, less in zip(rows, (True, False), strict=True):
        first = a < b if less else a > b
        assert row.tolist() == np.where(first, a.view(np.uint32), b.view(np.uint32)).tolist()


COMPARISONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "eq": (lambda a, b: a == b, np.equal),
    "ne": (lambda a, b: a != b, np.not_equal),
    "lt": (lambda a, b: a < b, np.less),
    "le": (lambda a, b: a <= b, np.less_equal),
    "gt": (lambda a, b: a > b, np.greater),
    "ge": (lambda a, b: a >= b, np.greater_equal),
    "not lt": (lambda a, b: ~(a < b), lambda a, b: ~(a < b)),
    "eq itself": (lambda a, b: a == a, lambda a, b: ~np.isnan(a)),
}


@pytest.mark.parametrize("lanes", [1, 8])
def test_float_comparisons(both: Any, lanes: int) -> None:
    a, b = (v.view(np.float32) for v in pairs(F32_BITS, np.uint32))
    both.fill(a, IN_A)
    both.fill(b, IN_B)
    table: Operations = {w: lambda k, x, y, f=f: k.select(f(x, y), 1, 0) for w, (f, _) in COMPARISONS.items()}  # type: ignore[misc]
    both.run(over_table(F32, I32, table, lanes), len(a))
    got = both.read(np.int32, OUT, len(a) * len(table)).reshape(len(table), len(a))
    for row, (word, (_, reference)) in zip(got, COMPARISONS.items(), strict=True):
        assert row.tolist() == reference(a, b).astype(int).tolist(), word


BOUNDS = [(-2147483648, 2147483520), (0, 255), (-128, 127), (0, 0), (0.5, 1.75), (-1, 2147483520), (-2147483648, -5)]


@pytest.mark.parametrize("lanes", LANES)
def test_float_to_integer(both: Any, lanes: int) -> None:
    a = pairs(F32_BITS, np.uint32)[0].view(np.float32)
    both.fill(a, IN_A)
    table: Operations = {str(bound): lambda k, x, y, bound=bound: k.to_i32(x, *bound) for bound in BOUNDS}  # type: ignore[misc]
    both.run(over_table(F32, I32, table, lanes), len(a))
    got = both.read(np.int32, OUT, len(a) * len(table)).reshape(len(table), len(a))
    for row, (lo, hi) in zip(got, BOUNDS, strict=True):
        expected = [int(lo) if math.isnan(x) else int(min(max(x, lo), hi)) for x in a.tolist()]
        assert row.tolist() == expected, (lo, hi)


@pytest.mark.parametrize("lanes", [1, 8, 16])
def test_integer_conversions(both: Any, lanes: int) -> None:
    values = [*I32_EDGES, 16777217, 16777219, -16777217, 0x7FFFFFBF, 0x7FFFFFC0, 123456789]
    values += [0] * (-len(values) % 32)
    n = len(values)

    @kernel(lanes=16)
    def convert(k: Lang) -> None:
        for i in k.range(0, n, lanes):
            x, out = k.load(I32, IN_A + i * 4, lanes), OUT + i * 8
            k.store(F32, out, k.to_f32(x))
            k.store(I64, out + 8 * n, k.to_i64(x))
            k.store(I64, out + 16 * n, k.to_i64(x, signed=False))
            k.store(I32, out + 24 * n, k.low32(k.to_i64(x) * 0x100000001 + 0x7000000000000000))
            k.store(F32, out + 32 * n, k.to_f32(x > 5))

    both.fill(np.array(values, np.int32), IN_A)
    both.run(convert)

    def rows(dtype: Any, block: int) -> list[Any]:
        """Each step stored `lanes` elements at twice their distance (8 bytes for each number)."""
        flat = both.read(np.uint8, OUT + 8 * n * block, 8 * n).reshape(-1, 8 * lanes)
        width = np.dtype(dtype).itemsize * lanes
        return np.ascontiguousarray(flat[:, :width]).view(dtype).ravel().tolist()

    assert rows(np.float32, 0) == [float(np.float32(x)) for x in values]
    assert rows(np.int64, 1) == values
    assert rows(np.int64, 2) == [x & 0xFFFFFFFF for x in values]
    assert rows(np.int32, 3) == values
    assert rows(np.float32, 4) == [float(x > 5) for x in values]


@pytest.mark.parametrize("lanes", [1, 8])
def test_moved_floats_keep_their_bits(both: Any, lanes: int) -> None:
    """Loads, stores, selects, variables, arrays, lanes and reinterpretation carry NaN payloads unchanged."""
    bits = [0x7F800001, 0xFFBFFFFF, 0x7FC00001, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0xFF800000, 1][:lanes]

    @kernel(lanes=8)
    def move(k: Lang) -> None:
        x, words = k.load(F32, IN_A, lanes), k.load(I32, IN_A, lanes)
        v, array = k.var(x), k.array(3, F32, lanes)
        array[1] = k.bits_f32(words)
        moved = [x, k.bits_f32(words), v.value, array[1], k.select(words == words, x, 0.0)]
        for j, y in enumerate(moved):
            k.store(F32, OUT + 64 * j, y)
        k.store(I32, OUT + 64 * 5, k.bits_i32(x))
        k.store(I32, OUT + 64 * 6, k.bits_i32(-x))
        k.store(I32, OUT + 64 * 7, k.bits_i32(k.abs(x)))
        k.store(F32, OUT + 64 * 8, k.lane(x, 0))

    both.fill(np.array(bits, np.uint32), IN_A)
    both.run(move)
    for j in range(6):
        assert both.read(np.uint32, OUT + 64 * j, lanes).tolist() == bits
    assert both.read(np.uint32, OUT + 64 * 6, lanes).tolist() == [b ^ 0x80000000 for b in bits]
    assert both.read(np.uint32, OUT + 64 * 7, lanes).tolist() == [b & 0x7FFFFFFF for b in bits]
    assert both.read(np.uint32, OUT + 64 * 8, 1)[0] == bits[0]


def test_float_constants(both: Any) -> None:
    """Constants round to the nearest f32; beyond its range they are infinite."""
    tiny = 1.401298464324817e-45
    constants: list[tuple[Any, int]] = [
        (0.0, 0), (-0.0, 0x80000000), (1, 0x3F800000), (True, 0x3F800000), (float("inf"), 0x7F800000),
        (float("-inf"), 0xFF800000), (float("nan"), NAN), (tiny, 1), (-tiny, 0x80000001), (tiny / 2, 0),
        (tiny * 0.50001, 1), (0.1, 0x3DCCCCCD), (16777217, 0x4B800000), (16777219.0, 0x4B800002),
        (3.4028234663852886e38, 0x7F7FFFFF), (3.4028235677973366e38, 0x7F800000), (1e39, 0x7F800000),
        (-1e300, 0xFF800000), (10**400, 0x7F800000), (np.float32(0.1), 0x3DCCCCCD), (np.float64(-1.5), 0xBFC00000),
    ]  # fmt: skip

    @kernel(lanes=8)
    def literals(k: Lang) -> None:
        for j, (x, _) in enumerate(constants):
            k.store(F32, OUT + 4 * j, x)
            k.store(F32, OUT + 0x1000 + 32 * j, k.splat(x, 8, F32))
            k.store(F32, OUT + 0x2000 + 32 * j, k.pattern([x, 1.0], F32))

    both.run(literals)
    expected = [bits for _, bits in constants]
    assert both.read(np.uint32, OUT, len(constants)).tolist() == expected
    vectors = both.read(np.uint32, OUT + 0x1000, 8 * len(constants)).reshape(-1, 8)
    assert vectors.tolist() == [[bits] * 8 for bits in expected]
    patterns = both.read(np.uint32, OUT + 0x2000, 8 * len(constants)).reshape(-1, 8)
    assert patterns.tolist() == [[bits, 0x3F800000] * 4 for bits in expected]


def test_integer_and_bool_constants(both: Any) -> None:
    @kernel(lanes=4)
    def literals(k: Lang) -> None:
        k.store(I32, OUT, k.pattern([0xFFFFFFFF, 1 << 31, 1 << 32, -1]))
        k.store(I32, OUT + 16, k.pattern([np.int64(7), np.uint8(200)]))
        k.store(I64, OUT + 32, k.pattern([(1 << 64) - 1, 1 << 63, 1 << 64, 5], I64))
        k.store(I32, OUT + 64, k.select(k.pattern([True, False, 0, 1], BOOL), 1, -1))
        k.store(I32, OUT + 80, k.i32(0xFFFFFFFE))
        k.store(I64, OUT + 88, k.i64((1 << 64) - 2))
        k.store(I32, OUT + 96, k.select(k.const(1, BOOL) ^ True, 3, 4))

    both.run(literals)
    assert both.read(np.int32, OUT, 8).tolist() == [-1, -(1 << 31), 0, -1, 7, 200, 7, 200]
    assert both.read(np.int64, OUT + 32, 4).tolist() == [-1, -(1 << 63), 0, 5]
    assert both.read(np.int32, OUT + 64, 5).tolist() == [1, -1, -1, 1, -2]
    assert both.read(np.int64, OUT + 88, 1)[0] == -2
    assert both.read(np.int32, OUT + 96, 1)[0] == 4


@pytest.mark.parametrize("lanes", [1, 8])
def test_bit_fields(both: Any, lanes: int) -> None:
    fields = [(0, 1), (0, 32), (31, 1), (1, 31), (4, 8), (15, 16), (16, 16), (30, 2)]
    values = [0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0x12345678, 0xA5A5A5A5, 1, 0, 0xF0F00F0F][:lanes]

    @kernel(lanes=8)
    def cut(k: Lang) -> None:
        x = k.load(I32, IN_A, lanes)
        for j, (lo, width) in enumerate(fields):
            k.store(I32, OUT + 64 * j, x.bits(lo, width))
            k.store(I32, OUT + 64 * j + 32, x.bits(lo, width, signed=True))

    both.fill(np.array(values, np.uint32), IN_A)
    both.run(cut)
    for j, (lo, width) in enumerate(fields):
        plain = [(v >> lo) & ((1 << width) - 1) for v in values]
        assert both.read(np.int32, OUT + 64 * j, lanes).tolist() == [wrap(v, 32) for v in plain]
        assert both.read(np.int32, OUT + 64 * j + 32, lanes).tolist() == [wrap(v, width) for v in plain]


@pytest.mark.parametrize("lanes", [4, 8, 16, 32])
def test_across_lanes(both: Any, lanes: int) -> None:
    """Reductions of vectors, of splats (which NumPy keeps as single numbers) and of scalars."""
    values = [wrap(0x9E3779B9 * (i + 1), 32) for i in range(lanes)]

    @kernel(lanes=lanes)
    def across(k: Lang) -> None:
        out: list[Value] = []
        x = k.load(I32, IN_A, lanes)
        one = k.load(I32, IN_A)
        for v in (x, k.splat(one), k.var(one, lanes=lanes).value, one):
            out += [k.reduce(word, v) for word in ("min", "max", "add")]
            mask = v == one
            out += [k.select(m, 1, 0) for m in (k.any(mask), k.all(mask), k.any(~mask), k.all(~mask))]
            out += [k.lane(v, 0), k.lane(v, lanes - 1), k.bits_i32(k.lane(k.bits_f32(v), lanes // 2))]
        out += [k.lane(k.iota(), lanes - 1), k.lane(k.pattern([3, 4, 5]), 3)]
        for j, v in enumerate(out):
            k.store(I32, OUT + 4 * j, v)

    both.fill(np.array(values, np.int32), IN_A)
    both.run(across)
    first, middle, last = values[0], values[lanes // 2], values[-1]

    def row(v: list[int]) -> list[int]:
        flags = [any(x == first for x in v), all(x == first for x in v)]
        flags += [any(x != first for x in v), all(x != first for x in v)]
        return [min(v), max(v), wrap(sum(v), 32), *map(int, flags)]

    expected = [*row(values), first, last, middle]
    expected += 2 * [*row([first] * lanes), first, first, first]
    expected += [*row([first]), first, first, first]
    expected += [lanes - 1, 3]
    assert both.read(np.int32, OUT, len(expected)).tolist() == expected


@pytest.mark.parametrize("lanes", [4, 8, 32])
def test_shuffles(both: Any, lanes: int) -> None:
    """Of one vector, of two, of splats and constants; to fewer, more, or a single lane; of every type."""
    orders = [[lanes - 1 - i for i in range(lanes)], [0, lanes], [2 * lanes - 1], [1], list(range(2 * lanes)), [3] * 5]

    @kernel(lanes=lanes, n=I32)
    def deal(k: Lang, n: Value) -> None:
        a, b = k.load(I32, IN_A, lanes), k.load(I32, IN_B, lanes)
        for j, order in enumerate(orders):
            for i, (x, y) in enumerate(((a, b), (a, None), (k.splat(n), b), (k.iota(), k.pattern([0xFFFFFFFF])))):
                out = k.shuffle(x, order, y)
                assert out.lanes == len(order)
                at = OUT + 0x4000 * i + 0x200 * j
                k.store(I32, at, out)
                k.store(F32, at + 0x1000, k.shuffle(k.bits_f32(x), order, y if y is None else k.bits_f32(y)))
                k.store(I64, at + 0x2000, k.shuffle(k.to_i64(x), order, y if y is None else k.to_i64(y)))
                flags = k.shuffle((x & 1) == 1, order, y if y is None else (y & 1) == 1)
                k.store(I32, at + 0x3000, k.select(flags, 1, 0))

    a = np.arange(100, 100 + lanes, dtype=np.int32)
    b = -np.arange(1, 1 + lanes, dtype=np.int32)
    both.fill(a, IN_A)
    both.fill(b, IN_B)
    both.run(deal, 77)
    sources = [(a, b), (a, a), (a * 0 + 77, b), (np.arange(lanes), b * 0 - 1)]
    for j, order in enumerate(orders):
        for i, pair in enumerate(sources):
            expected, at = np.concatenate(pair)[order], OUT + 0x4000 * i + 0x200 * j
            assert both.read(np.int32, at, len(order)).tolist() == expected.tolist()
            assert both.read(np.int32, at + 0x1000, len(order)).tolist() == expected.tolist()
            assert both.read(np.int64, at + 0x2000, len(order)).tolist() == expected.tolist()
            assert both.read(np.int32, at + 0x3000, len(order)).tolist() == (expected & 1).tolist()


def test_patterns_of_any_length(both: Any) -> None:
    @kernel(lanes=8)
    def write(k: Lang) -> None:
        k.store(I32, OUT, k.pattern_of([0xFFFFFFFF, 1 << 31, 3]))
        k.store(F32, OUT + 16, k.pattern_of([1e39, 1, 0.1, -0.0], F32))
        for _ in k.range(0, k.pattern_of([4])):  # one number is a scalar
            k.store(I32, OUT + 32, k.load(I32, OUT + 32) + 1)

    both.fill(np.zeros(16, np.int32), OUT)
    both.run(write)
    assert both.read(np.int32, OUT, 4).tolist() == [-1, -(1 << 31), 3, 0]
    assert both.read(np.uint32, OUT + 16, 4).tolist() == [0x7F800000, 0x3F800000, 0x3DCCCCCD, 0x80000000]
    assert both.read(np.int32, OUT + 32, 1)[0] == 4


def test_select_of_scalars_and_lanes(both: Any) -> None:
    """Each of mask, first and second may be a scalar, a splat or lanes."""

    @kernel(lanes=8, flag=I32)
    def choose(k: Lang, flag: Value) -> None:
        lane, one = k.iota(), flag + 100
        on = flag == 1
        masks = [on, k.splat(on), (lane & 1) == 0, on & ((lane & 1) == 0), k.const(True, BOOL)]
        sources = [lane, one, k.splat(one), 7]
        j = 0
        for mask in masks:
            for a, b in itertools.product(sources, repeat=2):
                k.store(I32, OUT + 32 * j, k.splat(k.select(mask, a, b), 8))
                j += 1
        bools = k.select(masks[2], on, lane < 5)
        k.store(I32, OUT + 32 * j, k.select(bools, 1, 0))
        k.store(F32, OUT + 32 * j + 32, k.splat(k.select(on, 1, 2.5), 8))

    for flag in (0, 1):
        both.run(choose, flag)
        lane = np.arange(8)
        sources = [lane, lane * 0 + flag + 100, lane * 0 + flag + 100, lane * 0 + 7]
        on, even = np.full(8, flag == 1), lane % 2 == 0
        j = 0
        for mask in (on, on, even, on & even, np.full(8, True)):
            for a, b in itertools.product(sources, repeat=2):
                assert both.read(np.int32, OUT + 32 * j, 8).tolist() == np.where(mask, a, b).tolist()
                j += 1
        assert both.read(np.int32, OUT + 32 * j, 8).tolist() == np.where(even, on, lane < 5).astype(int).tolist()
        assert both.read(np.float32, OUT + 32 * j + 32, 8).tolist() == [1.0 if flag else 2.5] * 8


def test_splats_stay_splats(both: Any) -> None:
    """NumPy keeps a splat as one number; every use of it must still behave as lanes."""

    @kernel(lanes=8, x=I32, f=F32)
    def use(k: Lang, x: Value, f: Value) -> None:
        s, v, array = k.splat(x), k.var(x, lanes=8), k.array(4)
        array[1] = x
        array[k.i32(2)] = v.value
        out = [s, v.value, array[1], array[2], array[0], s.bits(4, 8), s.bits(28, 4, signed=True)]
        out += [k.bits_i32(k.splat(f)), k.low32(k.to_i64(s, signed=False).lsr(16)), k.udiv(s, v.value), s.lsr(v.value)]
        out += [k.select(s.below(v.value + 1), s, 0), k.to_i32(k.splat(f), -100, 100), k.bits_i32(k.floor(k.splat(f)))]
        for j, y in enumerate(out):
            assert y.lanes == 8
            k.store(I32, OUT + 32 * j, y)
        k.store(U8, OUT + 0x800, s)
        k.store(U8, OUT + 0x808, s, k.splat(x == 0))
        k.scatter(I32, k.splat(k.i32(OUT + 0x810)), s, k.splat(x != 0))
        v.value = k.iota()
        v.value = v.value + s
        k.store(I32, OUT + 0x820, v.value)

    x, f = wrap(0xF2345678, 32), -2.5
    both.run(use, x, f)
    bits = int(np.float32(f).view(np.int32))
    expected = [x, x, x, x, 0, 0x67, -1, bits, 0xF234, 1, (x & 0xFFFFFFFF) >> (x & 31), x, -2]
    expected.append(int(np.float32(-3).view(np.int32)))
    assert both.read(np.int32, OUT, 8 * len(expected)).reshape(-1, 8).tolist() == [[e] * 8 for e in expected]
    assert both.read(np.uint8, OUT + 0x800, 8).tolist() == [0x78] * 8
    assert both.read(np.int32, OUT + 0x810, 1)[0] == x
    assert both.read(np.int32, OUT + 0x820, 8).tolist() == [x + i for i in range(8)]


def test_arguments_wrap_and_round(both: Any) -> None:
    @kernel(a=I32, b=I64, f=F32)
    def take(k: Lang, a: Value, b: Value, f: Value) -> None:
        k.store(I32, OUT, a)
        k.store(I64, OUT + 8, b)
        k.store(F32, OUT + 16, f)

    for a, b, f in (
        (0xFFFFFFFF, 1 << 63, 0.1),
        (-(1 << 31), -1, float("inf")),
        (np.int64(5), np.int32(-5), np.float32(-0.0)),
        (1 << 32, (1 << 64) + 3, 7),
        (True, False, 1e39),
    ):
        both.run(take, a, b, f)
        assert both.read(np.int32, OUT, 1)[0] == wrap(int(a), 32)
        assert both.read(np.int64, OUT + 8, 1)[0] == wrap(int(b), 64)
        with np.errstate(over="ignore"):
            assert both.read(np.uint32, OUT + 16, 1)[0] == np.float32(f).view(np.uint32)


def test_a_kernel_of_one_lane(both: Any) -> None:
    """With a single lane, lane vectors are scalars: they may index, count and decide."""

    @kernel(lanes=1, n=I32)
    def single(k: Lang, n: Value) -> None:
        total, table = k.var(k.iota()), k.array(3)
        table[2] = k.pattern([9])
        for i in k.range(k.iota(), n):
            total.value = total.value + i + table[k.iota() + 2]
        for _ in k.when(k.any(total.value > 0)):
            k.store(I32, OUT, k.reduce("add", total.value))

    both.run(single, 4)
    assert both.read(np.int32, OUT, 1)[0] == 0 + 1 + 2 + 3 + 4 * 9
