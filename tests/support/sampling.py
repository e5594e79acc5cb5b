"""Kernels of textures called by themselves, and a slow model of what a filtered read gives, lane by lane."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.maxwell.compute.raw_module import Device
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.records import Call, packed
from pocketgpu.maxwell.sass.thread_memory.access import access
from pocketgpu.maxwell.sass.thread_memory.atomics import atomic
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK, LAUNCH, SCRATCH, TEXTURE_KERNELS, VECTOR

LANES = 32
_SHAPES = {"1d": 1, "2d": 2, "3d": 3, "1d_array": 1, "2d_array": 2, "cube": 3, "cube_array": 3}


@lru_cache(maxsize=2)
def bench(evaluator: str) -> Bench:
    """The bench of an evaluator."""
    return Bench(evaluator)


class Bench:
    """One warp's records on a device, without a program."""

    def __init__(self, evaluator: str) -> None:
        self.device = Device(evaluator)
        launcher = self.device.launcher
        self.launch, self.slot = launcher.record, launcher._slots
        words = self._words(self.launch, LAUNCH.size // 4)
        words[:] = 0
        handles = words[:4].view(np.int64)
        handles[:] = self.device.engine.handle(access), self.device.engine.handle(atomic)
        words[LAUNCH.CONSTANTS // 4] = launcher.constants
        words[LAUNCH.TEXTURES // 4] = self.device.textures.book

    def _words(self, at: int, count: int) -> NDArray[np.int32]:
        return self.device.memory.arena[at : at + 4 * count].view(np.int32)

    def vector(self, n: int) -> NDArray[np.int32]:
        return self._words(self.slot + SCRATCH + n * VECTOR, LANES)

    @property
    def faults(self) -> int:
        return int(self._words(self.slot, BLOCK.size // 4)[BLOCK.FAULT_COUNT // 4])

    def call(
        self, number: int, what: int, handles: Any, vectors: dict[int, Any], mask: int = -1, quads: bool = False
    ) -> NDArray[np.int32]:  # fmt: skip
        """Four words a lane, (4, 32), of kernel `number`. vectors: by scratch vector, f32 or integers."""
        textures = self.device.textures
        textures.begin()
        self.device.memory.open_version()
        run = self.device.engine.get(_kernels()[number], **textures._static)
        words = self._words(self.launch, LAUNCH.size // 4)
        words[LAUNCH.QUADS // 4] = int(quads)
        kernels = words[LAUNCH.TEXTURE // 4 :][: 2 * TEXTURE_KERNELS].view(np.int64)
        for one in r.CALLED.get(number, ()):
            kernels[one] = textures.kernel(one)
        self._words(self.slot, BLOCK.size // 4)[:] = 0
        self._words(self.slot + SCRATCH, 16 * LANES)[:] = 0
        self.vector(r.V_HANDLE)[:] = np.broadcast_to(np.array(handles, np.int64), LANES).astype(np.int32)
        for n, v in vectors.items():
            v = np.broadcast_to(np.asarray(v), LANES)
            self.vector(n)[:] = v.astype(np.float32).view(np.int32) if v.dtype.kind == "f" else v.astype(np.int32)
        run(self.launch, self.slot, 0, 0, mask, what, -1)
        textures.check()
        return np.stack([self.vector(r.V_RESULT + n).copy() for n in range(4)])


def _kernels() -> Any:
    from pocketgpu.maxwell.sampling.store import KERNELS

    return KERNELS


def shape_bits(kind: str) -> dict[str, Any]:
    """Bits of a call for a kind of texture."""
    return {
        "dimensions": (Call.DIMENSIONS, _SHAPES[kind]), "cube": (Call.CUBE, int(kind.startswith("cube"))),
        "array": (Call.ARRAY, int(kind.endswith("array"))),
    }  # fmt: skip


def call_of(kind: str, **more: Any) -> int:
    return packed(**shape_bits(kind), **more)


# -- the model --------------------------------------------------------------------------------------------------------
def wrapped(x: int, n: int, mode: str) -> int | None:
    """The texel for a texel number; None for the border."""
    once = mode.startswith("mirror_once")
    if once and x < 0:
        x = -1 - x
    if mode == "wrap":
        return x % n
    if mode == "mirror":
        m = x % (2 * n)
        return min(m, 2 * n - 1 - m)
    if mode in ("clamp", "mirror_once"):
        return min(max(x, 0), n - 1)
    return x if 0 <= x < n else None


def place(c: np.float32, n: int, linear: bool, mode: str, offset: int) -> tuple[int, int]:
    """(texel, 1/256 of one) of a coordinate from 0 to 1."""
    scaled = np.float32(c) * np.float32(n)
    between = np.float32(scaled * np.float32(256) - np.float32(127.5))
    fixed = (math.floor(between) if linear else math.floor(scaled) * 256) + offset * 256
    if mode in ("clamp_gl", "mirror_once_gl"):
        if mode == "mirror_once_gl":
            fixed = max(fixed, -256 - fixed)
        fixed = min(max(fixed, -128), n * 256 - 128) if linear else min(max(fixed, 0), n * 256 - 256)
    return fixed >> 8, fixed & 255


class Model:
    """A texture as arrays of float64: levels (layers, depth, height, width, 4)."""

    def __init__(self, levels: list[NDArray[Any]], modes: tuple[str, str, str], border: Any, linear: bool) -> None:
        self.levels, self.modes, self.border, self.linear = levels, modes, np.array(border, float), linear

    def texel(self, level: int, layer: int, xyz: list[int]) -> NDArray[Any]:
        data = self.levels[level]
        _, depth, height, width, _ = data.shape
        found = [wrapped(v, n, mode) for v, n, mode in zip(xyz, (width, height, depth), self.modes, strict=True)]
        if any(v is None for v in found):
            return self.border
        return data[layer, found[2], found[1], found[0]]

    def on_level(
        self, level: int, layer: int, coordinates: list[np.float32], offsets: tuple[int, int, int] = (0, 0, 0),
        test: Any = None,
    ) -> NDArray[Any]:  # fmt: skip
        """Filtered on one level; test: what to make of each texel before."""
        data = self.levels[level]
        sizes = (data.shape[3], data.shape[2], data.shape[1])
        count = len(coordinates)
        places = [
            place(coordinates[n], sizes[n], self.linear, self.modes[n], offsets[n]) if n < count else (0, 0)
            for n in range(3)
        ]
        total = np.zeros(4)
        for corner in range(1 << count):
            weight, xyz = 1.0, []
            for axis in range(3):
                bit = corner >> axis & 1
                part = places[axis][1]
                weight *= (part if bit else 256 - part) / 256
                xyz.append(places[axis][0] + bit)
            if weight:
                value = self.texel(level, layer, xyz)
                total += weight * (value if test is None else test(value))
        return total

    def read(self, level: float, layer: int, coordinates: list[np.float32], mip: str, **more: Any) -> NDArray[Any]:
        """With a level of detail, in 1/256."""
        last = len(self.levels) - 1
        if mip == "none":
            return self.on_level(0, layer, coordinates, **more)
        if mip == "nearest":
            return self.on_level(min(max(math.floor(level + 0.5), 0), last), layer, coordinates, **more)
        fixed = max(math.floor(level * 256 + 0.5), 0)
        first = min(fixed >> 8, last)
        part = (fixed & 255) / 256 if first < last else 0.0
        upper = self.on_level(first, layer, coordinates, **more)
        return upper if not part else upper * (1 - part) + part * self.on_level(first + 1, layer, coordinates, **more)
