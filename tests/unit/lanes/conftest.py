"""Runs a kernel under both evaluators on equal memory and holds them to the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pocketgpu.lanes import Engine, Kernel

ARENA_BYTES = 1 << 19
CANONICAL_NAN = 0x7FC00000


@pytest.fixture(scope="package", autouse=True)
def own_kernel_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The language is tested with what this run compiles, not with what an earlier one left."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POCKETGPU_CACHE", str(tmp_path_factory.mktemp("kernels")))
        yield


def canonical(words: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """f32 bit patterns with every NaN replaced by one: which NaN arithmetic gives is outside the contract."""
    return np.where(words & 0x7FFFFFFF > 0x7F800000, np.uint32(CANONICAL_NAN), words)


class Both:
    """Both engines, each with an arena of its own."""

    def __init__(self) -> None:
        self.arenas = {name: np.zeros(ARENA_BYTES, np.uint8) for name in ("llvm", "numpy")}
        self.engines = {name: Engine(arena, name) for name, arena in self.arenas.items()}
        self.fill(np.random.default_rng(1).integers(0, 256, ARENA_BYTES - 4096, np.uint8), 4096)

    def fill(self, data: np.ndarray[Any, Any], at: int) -> None:
        """The same bytes at the same offset of both arenas."""
        flat = np.ascontiguousarray(data).view(np.uint8).ravel()
        for arena in self.arenas.values():
            arena[at : at + len(flat)] = flat

    def run(self, kernel: Kernel, *args: Any, floats: tuple[int, int] = (0, 0), **static: Any) -> None:
        """Run under both; all memory must agree, up to the kind of NaN in the byte range `floats`."""
        for engine in self.engines.values():
            engine.get(kernel, **static)(*args)
        self.compare(floats)

    def compare(self, floats: tuple[int, int] = (0, 0)) -> None:
        machine, oracle = (self.arenas[name].view(np.uint32).copy() for name in ("llvm", "numpy"))
        part = slice(floats[0] // 4, floats[1] // 4)
        for words in (machine, oracle):
            words[part] = canonical(words[part])
        bad = np.flatnonzero(machine != oracle)
        if len(bad):
            shown = "\n".join(f"  {4 * i:#x}: llvm {machine[i]:08x}, numpy {oracle[i]:08x}" for i in bad[:8])
            raise AssertionError(f"{len(bad)} words differ\n{shown}")

    def read(self, dtype: Any, at: int, count: int) -> np.ndarray[Any, Any]:
        """`count` elements at byte `at` (of either arena: they have been compared)."""
        return self.arenas["llvm"][at : at + count * np.dtype(dtype).itemsize].view(dtype)


@pytest.fixture
def both() -> Both:
    return Both()


@pytest.fixture(params=["llvm", "numpy"])
def evaluator(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def engine(evaluator: str) -> Engine:
    return Engine(np.zeros(ARENA_BYTES, np.uint8), evaluator)
