"""Multiply-add with one rounding: exact on every host, and equal to what rational numbers say."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest

from pocketgpu.lanes import F32, I32, I64, Engine, Lang, fused, kernel

COUNT = 32 * 64
IN, OUT = 4096, 4096 + 3 * 8 * COUNT


@kernel(lanes=32)
def add_products64(k: Lang, *, rounding: int) -> None:
    for i in k.range(0, COUNT // 32):
        a, b, c = (k.bits_f64(k.load(I64, IN + n * 8 * COUNT + (i << 8), 32)) for n in range(3))
        r = k.fma(a, b, c) if rounding < 0 else fused.fma64(k, a, b, c, rounding)
        k.store(I64, OUT + (i << 8), k.bits_i64(r))


@kernel(lanes=32)
def add_products32(k: Lang) -> None:
    for i in k.range(0, COUNT // 32):
        a, b, c = (k.load(F32, IN + n * 8 * COUNT + (i << 7), 32) for n in range(3))
        k.store(I32, OUT + (i << 7), k.bits_i32(fused.fma32(k, a, b, c)))
        k.store(I32, OUT + 4 * COUNT + (i << 7), k.bits_i32(k.fma(a, b, c)))


def numbers(seed: int) -> list[np.ndarray]:
    """Three arrays of doubles: close exponents, cancellation, denormal and huge numbers."""
    r = np.random.default_rng(seed)
    found = []
    for _ in range(3):
        bits = r.integers(0, 1 << 64, COUNT, np.uint64, endpoint=False)
        close = (bits & np.uint64(0x800FFFFFFFFFFFFF)) | (
            r.integers(1000, 1050, COUNT).astype(np.uint64) << np.uint64(52)
        )
        tiny = bits & np.uint64(0x801FFFFFFFFFFFFF)
        found.append(np.choose(r.integers(0, 3, COUNT), [bits, close, tiny]).view(np.float64))
    with np.errstate(all="ignore"):
        found[2] = np.where(r.random(COUNT) < 0.3, -(found[0] * found[1]), found[2])
    return found


def rounded(exact: Fraction, rounding: int) -> int:
    """The bits of a double."""
    negative, size = exact < 0, abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > size
    unit = Fraction(2) ** max(exponent - 52, -1074)
    whole, rest = divmod(size, unit)
    rest /= unit
    nearest = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1)
    whole += bool((nearest, negative and rest, not negative and rest, False)[rounding])
    if whole * unit >= Fraction(2) ** 1024:
        infinite = (True, negative, not negative, False)[rounding]
        bits = 0x7FF0 << 48 if infinite else 0x7FEFFFFFFFFFFFFF
    else:
        power = unit.numerator.bit_length() - unit.denominator.bit_length()
        bits = struct.unpack("<Q", struct.pack("<d", math.ldexp(whole, power)))[0]
    return bits | negative << 63


def run(evaluator: str, values: list[np.ndarray], which: object, **static: int) -> np.ndarray:
    arena = np.zeros(OUT + 8 * COUNT + 4096, np.uint8)
    for n, v in enumerate(values):
        data = v.view(np.uint8)
        arena[IN + n * 8 * COUNT :][: len(data)] = data
    Engine(arena, evaluator).get(which, **static)()  # type: ignore[arg-type]
    return arena[OUT:][: 8 * COUNT]


@pytest.mark.parametrize("rounding", [-1, 0, 1, 2, 3])
@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_doubles(evaluator: str, rounding: int) -> None:
    assert compare_doubles(evaluator, rounding) > COUNT // 2


@pytest.mark.parametrize("rounding", range(4))
def test_some_doubles(rounding: int) -> None:
    """The same for a part of them, which is quick."""
    assert compare_doubles("llvm", rounding, step=31) > COUNT // 62


def compare_doubles(evaluator: str, rounding: int, step: int = 1) -> int:
    """Hold every so many results to the rational number; how many were compared."""
    values = numbers(rounding + 5)
    found = run(evaluator, values, add_products64, rounding=rounding).view(np.uint64)
    compared = 0
    for a, b, c, bits in zip(*(v[::step].tolist() for v in values), found[::step].tolist(), strict=True):
        if all(map(math.isfinite, (a, b, c))):
            exact = Fraction(a) * Fraction(b) + Fraction(c)
            if exact:
                compared += 1
                assert bits == rounded(exact, max(rounding, 0)), (a, b, c)
    return compared


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_singles_by_way_of_doubles(evaluator: str) -> None:
    r = np.random.default_rng(3)
    bits = [r.integers(0, 1 << 32, COUNT, np.uint32, endpoint=False) for _ in range(3)]
    near = [(b & 0x807FFFFF) | (r.integers(110, 140, COUNT).astype(np.uint32) << 23) for b in bits]
    pairs = zip(bits, near, strict=True)
    values = [np.where(r.random(COUNT) < 0.5, b, n).astype(np.uint32).view(np.float32) for b, n in pairs]
    both = run(evaluator, values, add_products32).view(np.float32).reshape(2, COUNT)
    same = (both[0].view(np.uint32) == both[1].view(np.uint32)) | (np.isnan(both[0]) & np.isnan(both[1]))
    assert same.all()
    for a, b, c, got in zip(*(v.tolist() for v in values), both[0], strict=True):
        if all(map(math.isfinite, (a, b, c))) and np.isfinite(got) and got:
            exact = Fraction(a) * Fraction(b) + Fraction(c)
            # No neighbour is closer.
            miss = abs(Fraction(float(got)) - exact)
            for other in (np.nextafter(got, np.float32(np.inf)), np.nextafter(got, np.float32(-np.inf))):
                if np.isfinite(other):
                    assert miss <= abs(Fraction(float(other)) - exact), (a, b, c)
