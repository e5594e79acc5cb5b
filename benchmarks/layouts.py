"""Copies and conversions of surfaces: gigabytes a second on one thread, by processor time.

Sizes are those of a screen (1280x720, 4 bytes a pixel) and of a large texture (2048x2048), which is more than the
caches hold. A copy of so many bytes by NumPy is measured beside them, in the same turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from common import Report, clock, run, turns

from pocketgpu.lanes import Engine
from pocketgpu.maxwell.memory.blocklinear import Layout
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.memory.surface_copy import SurfaceSide, copy_rect, from_array, to_array

PROMISED = 1.0  # GB/s
A, B = 0x1_0000_0000, 0x2_0000_0000


def cases(memory: GpuMemory, engine: Engine, name: str, width: int, height: int) -> dict[str, Callable[[], object]]:
    """What is measured at one size, by name."""
    row = 4 * width
    layout = Layout(row, height, block_height_log2=4)
    flat = Layout(row, height, block_height_log2=0)
    tiled, other = SurfaceSide(A, layout=layout), SurfaceSide(B, layout=flat)
    linear, pitch = SurfaceSide(B, pitch=row), SurfaceSide(A, pitch=row)
    rows = np.zeros((height, row), np.uint8)
    host = np.zeros_like(rows)

    def moved(source: SurfaceSide, target: SurfaceSide, less: int = 0) -> Callable[[], object]:
        return lambda: copy_rect(memory, engine, source, target, row - less, height - less)

    return {
        f"{name}: pitch to block-linear": moved(linear, tiled),
        f"{name}: block-linear to pitch": moved(tiled, linear),
        f"{name}: block-linear to another block height": moved(tiled, other),
        f"{name}: the same, 3 bytes and 3 rows off": moved(tiled.moved(3, 3), other, 3),
        f"{name}: pitch to pitch": moved(linear, pitch),
        f"{name}: block-linear to an array": lambda: to_array(memory, engine, tiled, row, height),
        f"{name}: an array to block-linear": lambda: from_array(memory, engine, tiled, rows),
        f"{name}: NumPy copy of as many bytes": lambda: np.copyto(host, rows),
    }


def measure(report: Report, arguments: argparse.Namespace) -> None:
    memory = GpuMemory(MIB, 128 * MIB)
    engine = Engine(memory.arena)
    for va in (A, B):
        memory.map(va, 32 * MIB)
        memory.write(va, np.random.default_rng(va).integers(0, 256, 32 * MIB, dtype=np.uint8))
    for name, width, height in (("screen", 1280, 720), ("2048x2048", 2048, 2048)):
        size = 4 * width * height
        work = cases(memory, engine, name, width, height)
        found = turns(arguments.repeat, *(lambda w=w: clock(w) for w in work.values()))
        for what, series in zip(work, found, strict=True):
            target = None if "NumPy" in what else PROMISED
            report.add(what, size / series.median / 1e9, "GB/s", best=size / series.best / 1e9, target=target)
    # Where every address is looked up: pages that do not lie side by side.
    backing = memory.allocate(4 * MIB)
    for page in range(1024):
        memory.map(0x3_0000_0000 + page * 4096, 4096, backing, (page ^ 1) * 4096)
    scattered = SurfaceSide(0x3_0000_0000, layout=Layout(5120, 720, block_height_log2=4))
    source, size = SurfaceSide(B, pitch=5120), 5120 * 720
    (series,) = turns(arguments.repeat, lambda: clock(lambda: copy_rect(memory, engine, source, scattered, 5120, 720)))
    report.add("screen in scattered pages", size / series.median / 1e9, "GB/s", best=size / series.best / 1e9)


if __name__ == "__main__":
    run("layouts", measure, repeat=20)
