"""The words of pixels in memory: one vector of i32 for each 32 bits of a pixel, or one for smaller pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pocketgpu.lanes import I32, U8, U16, Lang, Type, Value

Number = int | Value
"""A static value, or the same read at run time."""
Words = tuple[Value, ...]
"""A pixel in each lane: a vector of words, or two, three or four of them."""
UNITS: Final[dict[int, Type]] = {1: U8, 2: U16, 4: I32}
"""The memory type of a word, by the bytes of it that a pixel has."""


def words_of(bytes: int) -> int:
    """Number of words of a pixel of so many bytes."""
    return -(-bytes // 4)


def unit_of(bytes: int) -> Type:
    """The memory type for loads and stores of a pixel of so many bytes."""
    return UNITS[min(bytes, 4)]


def load(k: Lang, bytes: int, offsets: Value, mask: Value | None = None) -> Words:
    """The words of one pixel for each lane, at lane offsets that are multiples of a word; 0 outside the mask.

    bytes: 1, 2, 4, 8, 12 or 16.
    """
    at = lambda n: offsets + 4 * n if n else offsets
    return tuple(k.gather(unit_of(bytes), at(n), mask) for n in range(words_of(bytes)))


def store(k: Lang, bytes: int, offsets: Value, words: Sequence[Value], mask: Value) -> None:
    """Store the words of one pixel for each lane of the mask; words beyond the pixel's bytes are ignored."""
    for n in range(words_of(bytes)):
        k.scatter(unit_of(bytes), offsets + 4 * n if n else offsets, words[n], mask)
