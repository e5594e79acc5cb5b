"""Bilinear filters: four texels and the fractions of a position, in 1/256, become a value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pocketgpu.lanes import Lang, Value

CODE_ONE = 65536.0
"""The sum of a filter's weights for codes."""
_EVEN = 0x00FF00FF


def divided(k: Lang, total: Value, most: float) -> Value:
    """A sum of products of codes and weights divided by the largest one (255 times a power of two), to the nearest
    f32.

    The reciprocal is a sum of two f32. What is lost is far below the distance of a quotient by 255 from the middle
    between two f32, so one rounding at the end is right. A division takes several times as long.
    """
    if not k.fused:
        return total / most
    high = float(np.float32(1 / most))
    low = 1 / most - high
    return k.fma(total, k.f32(high), total * low)


def filtered_codes(k: Lang, words: Sequence[Value], fx: Value, fy: Value) -> list[Value]:
    """Sums of codes of 8 bits times their weights (CODE_ONE in all), of words with four codes each; sums of a row have
    16 bits."""
    right = fx | (fx << 16)
    left = 0x01000100 - right
    below = k.to_f32(fy)
    above = 256.0 - below

    def row(a: Value, b: Value) -> tuple[Value, Value]:
        mixed = lambda a, b: k.mul_halves(a, left) + k.mul_halves(b, right)
        return mixed(a & _EVEN, b & _EVEN), mixed(a.lsr(8) & _EVEN, b.lsr(8) & _EVEN)

    top, bottom = row(*words[:2]), row(*words[2:])
    out = []
    for n in range(4):
        a, b = (k.to_f32((pair[n & 1] & 0xFFFF) if n < 2 else pair[n & 1].lsr(16)) for pair in (top, bottom))
        # Both products and their sum are whole numbers of at most 24 bits.
        out.append(k.fma(a, above, b * below) if k.fused else a * above + b * below)
    return out


def filtered_numbers(k: Lang, texels: Sequence[Sequence[Value]], fx: Value, fy: Value) -> list[Value]:
    """Sums of floats times their weights, in the order of texels."""
    total: list[Value] = []
    for n, values in enumerate(texels):
        weight = k.to_f32((fx if n & 1 else 256 - fx) * (fy if n & 2 else 256 - fy)) * (1.0 / 65536.0)
        # Texels with weight 0 are ignored, even if they are infinite.
        products = [k.select(weight > 0.0, weight * v, 0.0) for v in values]
        total = [a + b for a, b in zip(total, products, strict=True)] if total else products
    return total


__all__ = ["CODE_ONE", "divided", "filtered_codes", "filtered_numbers"]
