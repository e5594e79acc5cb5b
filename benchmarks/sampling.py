"""Texture reads of the Switch's GPU: millions a second on one thread, by processor time.

A warp of 32 pixels, 8 x 4 of them, reads a texture of 256x256 texels again and again through the kernels that shaders
call. A read is one lane's; filters take up to eight texels for it, anisotropic ones many times that.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from common import Report, clock, run, turns

from pocketgpu import Texture
from pocketgpu.lanes import I32, I64, Lang, Value, kernel
from pocketgpu.maxwell.compute.raw_module import Device
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.records import CALLED, Call, packed
from pocketgpu.maxwell.sass.thread_memory.work import LAUNCH, SCRATCH, TEXTURE_KERNELS, VECTOR

SIZE, COUNT = 256, 2000


@kernel(lanes=32, function=I64, launch=I32, slot=I32, what=I32, count=I32)
def repeat(k: Lang, function: Value, launch: Value, slot: Value, what: Value, count: Value) -> None:
    """Call a kernel of textures many times, all lanes, with the first handle of constant bank 0."""
    zero, everyone = k.i32(0), k.i32(-1)
    for _ in k.range(0, count):
        k.invoke(function, launch, slot, zero, zero, everyone, what, zero)


class Warp:
    """Records for calls of kernels without a program."""

    def __init__(self) -> None:
        self.device = Device()
        launcher = self.device.launcher
        self.launch, self.constants = launcher.record, launcher.constants
        self.slot = launcher.record + (64 << 20)
        words = self._words(self.launch, LAUNCH.size // 4)
        words[LAUNCH.CONSTANTS // 4] = self.constants
        words[LAUNCH.TEXTURES // 4] = self.device.textures.book
        words[LAUNCH.QUADS // 4] = 1

    def _words(self, at: int, count: int) -> Any:
        return self.device.memory.arena[at : at + 4 * count].view(np.int32)

    def work(self, texture: Texture, number: int, what: int, vectors: dict[int, Any]) -> Callable[[], object]:
        """What makes COUNT calls."""
        handle = texture.handle(self.device)
        textures, call = self.device.textures, self.device.engine.get(repeat)
        function, kernels = textures.kernel(number), self._words(self.launch + LAUNCH.TEXTURE, 2 * TEXTURE_KERNELS)
        for one in CALLED.get(number, ()):
            kernels.view(np.int64)[one] = textures.kernel(one)

        def go() -> None:
            self._words(self.constants, 1)[0] = handle
            for n, v in vectors.items():
                v = np.broadcast_to(np.asarray(v), 32)
                bits = v.astype(np.float32).view(np.int32) if v.dtype.kind == "f" else v
                self._words(self.slot + SCRATCH + n * VECTOR, 32)[:] = bits
            call(function, self.launch, self.slot, what, COUNT)

        return go


def levels(size: int, dtype: Any) -> list[Any]:
    """Random texels of all levels."""
    rng = np.random.default_rng(size)
    sizes = [size >> n for n in range(size.bit_length())]
    return [rng.integers(0, 256, (side, side, 4)).astype(dtype) for side in sizes]


def call_of(lod: int, **more: Any) -> int:
    return packed(dimensions=(Call.DIMENSIONS, 2), lod=(Call.LOD, lod), **more)


def measure(report: Report, arguments: argparse.Namespace) -> None:
    warp, colours, floats = Warp(), levels(SIZE, np.uint8), levels(SIZE, np.float32)
    lane = np.arange(32)
    x, y = (lane & 1) + 2 * (lane >> 2 & 3), (lane >> 1 & 1) + 2 * (lane >> 4)
    one_to_one = {r.V_X: (x + 20.3) / SIZE, r.V_Y: (y + 7.7) / SIZE, r.V_LOD: 0.5}
    smaller = {r.V_X: (x + 20.3) * 1.5 / SIZE, r.V_Y: (y + 7.7) * 1.5 / SIZE}
    tilted = {r.V_X: (x + 20.3) / SIZE, r.V_Y: (y + 7.7) * 8 / SIZE}
    common: dict[str, Any] = {"normalized": True, "address": "wrap"}
    unorm: dict[str, Any] = {**common, "numbers": "unorm"}
    smooth = {"filter": "linear", "mip_filter": "linear"}
    odd = np.random.default_rng(1).integers(0, 256, (200, 200, 4)).astype(np.uint8)
    cases = {
        "RGBA8, nearest": (Texture(colours[0], **unorm), r.ZERO, one_to_one),
        "RGBA8, bilinear": (Texture(colours[0], **unorm, filter="linear"), r.ZERO, one_to_one),
        "RGBA8, bilinear, 200x200": (Texture(odd, **unorm, filter="linear"), r.ZERO, one_to_one),
        "RGBA8, trilinear, level given": (Texture(colours, **unorm, **smooth), r.LEVEL, one_to_one),
        "RGBA8, trilinear, level from quads": (Texture(colours, **unorm, **smooth), r.AUTO, smaller),
        "RGBA8, bilinear with a border": (
            Texture(colours[0], **{**unorm, "address": "border"}, filter="linear"), r.ZERO, one_to_one,
        ),
        "RGBA8 sRGB, trilinear": (Texture(colours, **unorm, **smooth, srgb=True), r.AUTO, smaller),
        "RGBA32F, trilinear": (Texture(floats, **common, **smooth), r.AUTO, smaller),
        "RGBA8, 8 times anisotropic": (Texture(colours, **unorm, **smooth, anisotropy=8), r.AUTO, tilted),
    }  # fmt: skip
    work = {name: warp.work(t, r.SAMPLE, call_of(lod), vectors) for name, (t, lod, vectors) in cases.items()}
    work["fetch"] = warp.work(Texture(colours[0], **unorm), r.FETCH, call_of(r.ZERO), {r.V_X: x, r.V_Y: y})
    work["gather"] = warp.work(Texture(colours[0], **unorm), r.GATHER, call_of(r.ZERO), one_to_one)
    found = turns(arguments.repeat, *(lambda w=w: clock(w) for w in work.values()))
    for what, series in zip(work, found, strict=True):
        reads = 32 * COUNT / 1e6
        report.add(what, reads / series.median, "Mread/s", best=reads / series.best)


if __name__ == "__main__":
    run("sampling", measure, repeat=15)
