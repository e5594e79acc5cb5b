"""Floats of 16 bits that kernels make: machine code, the oracle and NumPy's own conversion agree, with any instruction
of the processor or none."""

from __future__ import annotations

import numpy as np

from pocketgpu.lanes import F32, I32, Engine, Lang, kernel
from pocketgpu.lanes.target import Target, making_for
from pocketgpu.maxwell.formats.small_floats import float_to

IN, OUT = 0x1000, 0x8000
_EDGES = [0x0000, 0x0001, 0x03FF, 0x0400, 0x3C00, 0x7BFF, 0x7C00]


@kernel(16)
def halves(k: Lang) -> None:
    """All numbers of the input as floats of 16 bits."""
    for n in k.range(0, 256):
        at = k.to_i64(n << 6)
        k.store(I32, at + OUT, float_to(k, k.load(F32, at + IN, 16), 16))


def _inputs() -> np.ndarray:
    """Numbers at and beside the middles between floats of 16 bits, of both signs, infinities, NaNs, and any bits."""
    middles = np.array([0x33000000, 0x477FF000, 0x387FE000, 0x38000000, 0x3F801000, 0x00000001], np.uint32)
    middles = np.concatenate([middles, np.array(_EDGES, np.uint16).view(np.float16).astype(np.float32).view(np.uint32)])
    near = (middles[:, None] + np.arange(-2, 3, dtype=np.int64)).reshape(-1).astype(np.uint32)
    special = np.array([0x7F800000, 0x7FC00000, 0x7F800001, 0x7FFFFFFF], np.uint32)
    rng = np.random.default_rng(6)
    scaled = (rng.normal(size=2048) * 2.0 ** rng.integers(-26, 18, 2048)).astype(np.float32).view(np.uint32)
    found = np.concatenate([near, near | 0x80000000, special, special | 0x80000000, scaled])
    return np.concatenate([found, rng.integers(0, 1 << 32, 4096 - len(found), np.uint32)])


def test_floats_of_16_bits_are_the_nearest() -> None:
    values, results = _inputs(), []
    for evaluator in ("llvm", "numpy"):
        arena = np.zeros(0x10000, np.uint8)
        arena[IN : IN + values.nbytes] = values.view(np.uint8)
        Engine(arena, evaluator).get(halves)()
        results.append(arena[OUT : OUT + values.nbytes].view(np.uint32).copy())
    with np.errstate(all="ignore"):
        expected = values.view(np.float32).astype(np.float16).view(np.uint16)
    nan = np.isnan(values.view(np.float32))
    expected = np.where(nan, values >> 16 & 0x8000 | 0x7E00, expected).astype(np.uint32)
    for found in results:
        assert found.tolist() == expected.tolist()


def test_only_processors_with_the_instruction_use_it() -> None:
    for level, has in (("x86-64-v2", False), ("x86-64-v3", True), ("x86-64-v4", True)):
        with making_for(Target.of_level(level)):
            assert Target.of_level(level).halves == has
            assert ("fptrunc" in halves.trace(16, {})) == has
