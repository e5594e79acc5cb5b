"""Vectors of three components in lanes: products, lengths, and turning by a quaternion."""

from __future__ import annotations

from collections.abc import Sequence

from pocketgpu.lanes import Lang, Value

Vector = list[Value]


def dot(a: Sequence[Value], b: Sequence[Value]) -> Value:
    """a·b, summed from the first component on."""
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total


def length(k: Lang, a: Sequence[Value]) -> tuple[Value, Value]:
    """(length, divisor): the divisor is the length, or 1 where it is zero."""
    square = dot(a, a)
    size = k.sqrt(square)
    return size, k.select(square > 0.0, size, 1.0)


def unit(k: Lang, a: Sequence[Value]) -> Vector:
    """The vector with length 1; a zero vector stays zero."""
    _, divisor = length(k, a)
    return [x / divisor for x in a]


def rotate(k: Lang, q: Sequence[Value], v: Sequence[Value | None]) -> Vector:
    """A vector rotated by a quaternion x, y, z, w of any length. None: the component is zero.

    2 (q·v) q + (w² - q·q) v + 2 w (q x v), divided by the squared length of the quaternion.
    """
    *xyz, w = q
    square = dot(xyz, xyz)
    size = square + w * w
    size = k.select(size > 0.0, size, 1.0)
    inner: Value | None = None
    for a, b in zip(xyz, v, strict=True):
        if b is not None:
            inner = a * b if inner is None else inner + a * b
    assert inner is not None
    along, own = inner * 2.0, w * w - square
    out = []
    for i in range(3):
        j, m = (i + 1) % 3, (i + 2) % 3
        total = along * xyz[i]
        same, left, right = v[i], v[m], v[j]
        if same is not None:
            total = total + own * same
        across: Value | None = None
        if left is not None:
            across = xyz[j] * left
        if right is not None:
            across = -(xyz[m] * right) if across is None else across - xyz[m] * right
        if across is not None:
            total = total + across * (w * 2.0)
        out.append(total / size)
    return out


__all__ = ["Vector", "dot", "length", "rotate", "unit"]
