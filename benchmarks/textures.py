"""Decoding compressed textures: millions of texels a second on one thread, by processor time.

Random blocks of a 1024x1024 texture or a little more, to arrays. They use every path of a decoder in every vector: BC7
has equally many blocks of each mode, ASTC legal ones only. Real textures are easier.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from common import Report, clock, run, turns
from numpy.typing import NDArray

from pocketgpu.facts.maxwell.formats import TEXTURE, PixelLayout
from pocketgpu.maxwell.formats.arrays import decode
from pocketgpu.maxwell.textures import blocks

SIZE = 1024


def draw(layout: PixelLayout, rows: int, columns: int) -> NDArray[np.uint8]:
    """Random blocks, uint8 (rows, columns, bytes)."""
    rng = np.random.default_rng(layout.code)
    count = rows * columns
    found = rng.integers(0, 256, (count, layout.bytes), dtype=np.uint8)
    if layout.name == "BC7U":
        found[:, 0] = (found[:, 0].astype(int) << 1 | 1) << np.arange(count) % 8
    if layout.name.startswith("ASTC"):
        more = rng.integers(0, 256, (50_000, 1, layout.bytes), dtype=np.uint8)
        texels = blocks.texels(more, layout, blocks.codec(layout))[:: layout.block[1], 0]
        legal = more[(texels != [1, 0, 1, 1]).any(1), 0]
        found = legal[rng.integers(0, len(legal), count)]
    return found.reshape(rows, columns, layout.bytes)


def measure(report: Report, arguments: argparse.Namespace) -> None:
    layouts = [layout for layout in TEXTURE.values() if layout.compressed]
    sizes: dict[str, int] = {}
    work: dict[str, Callable[[], object]] = {}
    for layout in layouts:
        wide, high = layout.block
        rows, columns = -(-SIZE // high), -(-SIZE // wide)
        data, codec = draw(layout, rows, columns), blocks.codec(layout)
        sizes[layout.name] = rows * high * columns * wide
        work[layout.name] = lambda data=data, layout=layout, codec=codec: blocks.texels(data, layout, codec)
    linear = TEXTURE.named("BC7U")
    flat = draw(linear, SIZE // 4, SIZE // 4).reshape(SIZE // 4, -1)
    sizes["BC7U, sRGB to linear floats"] = SIZE * SIZE
    work["BC7U, sRGB to linear floats"] = lambda: decode(flat, linear, srgb=True)
    found = turns(arguments.repeat, *(lambda w=w: clock(w) for w in work.values()))
    for what, series in zip(work, found, strict=True):
        size = sizes[what]
        report.add(what, size / series.median / 1e6, "Mtexel/s", best=size / series.best / 1e6)


if __name__ == "__main__":
    run("textures", measure, repeat=10)
