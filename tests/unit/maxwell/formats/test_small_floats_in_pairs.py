"""Pairs of floats of 16 bits in words: the same values as one by one, on both evaluators."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.lanes import F32, I32, Engine, Lang, kernel
from pocketgpu.maxwell.formats.small_floats import halves_of

AT, OUT = 8192, 8192 + (1 << 18)


@kernel(lanes=32)
def pairs(k: Lang) -> None:
    for n in k.range(0, 1 << 14, 32):
        words = [k.load(I32, (n << 3) + (AT + 128 * i), 32) for i in range(2)]
        for i, value in enumerate(halves_of(k, words)):
            k.store(F32, (n << 4) + (OUT + 128 * i), value)


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
@pytest.mark.parametrize("mixed", [False, True])
def test_all_floats_of_16_bits(evaluator: str, mixed: bool) -> None:
    """mixed: with infinities and NaNs among the others, else on their own."""
    arena = np.zeros(OUT + (1 << 19), np.uint8)
    codes = np.arange(1 << 16, dtype=np.uint16)
    if mixed:
        np.random.default_rng(1).shuffle(codes)
    arena[AT : AT + codes.nbytes] = codes.view(np.uint8)
    Engine(arena, evaluator).get(pairs)()
    found = arena[OUT : OUT + 4 * len(codes)].view(np.uint32).reshape(-1, 2, 2, 32)
    wanted = codes.reshape(-1, 2, 32, 2)
    rest = wanted.astype(np.uint32)
    special = (rest & 0x7C00) == 0x7C00
    bits = np.where(special, (rest & 0x8000) << 16 | 0x7F800000 | (rest & 0x3FF) << 13, 0)
    bits = np.where(special, bits, wanted.view(np.float16).astype(np.float32).view(np.uint32))
    np.testing.assert_array_equal(found.transpose(0, 1, 3, 2), bits)
