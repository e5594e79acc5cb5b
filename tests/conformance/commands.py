"""Command lists as the page of 2013 writes them: a parameter, a "command id" that is the whole header, further words.

Ids, bits and layouts in the tests beside this file are written down from the page and from what is known today, not
taken from the package's tables, so that the two readings are compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from support.pica_gpu import COLOR, DEPTH, Gpu, f24

from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.registers import describe

VRAM, FCRAM = 0x18000000, 0x20000000
END = (0x12345678, 0x000F0010)
BLACK, WHITE = [0, 0, 0, 0], [255, 255, 255, 255]


def command(gpu: Gpu, header: int, *words: int) -> None:
    """One entry: the first word stands before the header, the others after it, and a word fills up to eight bytes.

    The page's ids have the number of further words in them, so that a wrong count here would be a wrong test.
    """
    assert header >> 20 & 0xFF == len(words) - 1, f"{header:#010x} is followed by {header >> 20 & 0xFF} words"
    gpu.list += [words[0], header, *words[1:]]
    gpu.list += [0] * (len(gpu.list) % 2)


def core(gpu: Gpu, number: int) -> int:
    """What an internal register holds."""
    return gpu.peek(0x10401000 + 4 * number)


def decoded(number: int, word: int) -> dict[str, str]:
    """What the tools say of a word in a register: field name to text."""
    return {row.name: row.text for row in describe.explain(PICA[number], word).bits if row.field is not None}


def unexplained(number: int, word: int) -> int:
    """The bits of a word that the tools report as set without anybody knowing what for."""
    rows = describe.explain(PICA[number], word).bits
    told = [row for row in rows if row.field is None and "no source says what for" in row.note]
    return sum(row.raw << row.lo for row in told if row.raw is not None)


def wipe(gpu: Gpu, word: int = 0) -> None:
    """Fill the colour buffer."""
    gpu.put_color(np.full((gpu.height, gpu.width), word, np.uint32))


def drawn(gpu: Gpu) -> np.ndarray:
    """Run the list on a clean buffer; where something was drawn, bottom row first."""
    wipe(gpu)
    gpu.run()
    return gpu.covered()


def pixel(gpu: Gpu, x: int, y: int) -> list[int]:
    """r, g, b, a of one pixel, y from the bottom."""
    return [int(c) for c in gpu.pixels()[y, x]]


def f31(value: float) -> int:
    """1 sign, 7 exponent (bias 63), 23 mantissa bits, one bit above the bottom."""
    bits = int(np.float32(value).view(np.uint32))
    return (bits >> 31 << 30 | (bits >> 23 & 0xFF) - 64 << 23 | bits & 0x7FFFFF) << 1


def floats(*values: float) -> list[int]:
    """Words of single precision."""
    return [int(word) for word in np.array(values, np.float32).view(np.uint32)]


def vertices(gpu: Gpu, positions: Sequence[Sequence[float]], colors: Sequence[Sequence[float]] | None = None) -> int:
    """Positions (x, y) and white or given colours as arrays of the pass-through program; the address of the first."""
    points = np.array([(x, y, -0.5, 1) for x, y in positions], np.float32)
    gpu.attributes(points, np.array(colors if colors is not None else [(1, 1, 1, 1)] * len(points), np.float32))
    gpu.outputs(0x03020100, 0x0B0A0908)
    return gpu._data - (len(points) * 32 + 63 & ~63)


__all__ = [
    "BLACK",
    "COLOR",
    "DEPTH",
    "END",
    "FCRAM",
    "VRAM",
    "WHITE",
    "Gpu",
    "command",
    "core",
    "decoded",
    "drawn",
    "f24",
    "f31",
    "floats",
    "pixel",
    "unexplained",
    "vertices",
    "wipe",
]
