"""Early depth: a cache of its own that only saves work, so its registers store and change nothing in pictures.

Source: 3dbrew GPU/Internal Registers (EARLYDEPTH registers).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from pocketgpu.facts.pica import PICA

REGISTERS = {
    "EARLYDEPTH_FUNC": 0x61, "EARLYDEPTH_TEST1": 0x62, "EARLYDEPTH_CLEAR": 0x63, "EARLYDEPTH_DATA": 0x6A,
    "EARLYDEPTH_TEST2": 0x118,
}  # fmt: skip


def test_registers_store_what_is_written(gpu: Any) -> None:
    for name, number in REGISTERS.items():
        assert PICA[name].offset == number
        gpu.write(name, 0xC0FFE0 + number & 0xFF)
    gpu.run()
    for number in REGISTERS.values():
        assert gpu.peek(0x10401000 + 4 * number) == 0xC0FFE0 + number & 0xFF
    assert not gpu.ids


def scene(gpu: Any, depth_function: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    gpu.put_depth(rng.integers(0, 1 << 24, (16, 16)).astype(np.uint32))
    gpu.set(DEPTH_COLOR_MASK=0x1F01 | depth_function << 4)
    for i in range(3):
        gpu.quad(z=-0.2 - 0.25 * i, color=(i / 3, 0.5, 1, 1))
    gpu.run()
    return gpu.color_words(), gpu.depth_words()


@pytest.mark.parametrize("depth_function", [4, 6])
def test_pictures_do_not_depend_on_them(make_gpu: Callable[..., Any], depth_function: int) -> None:
    plain = scene(make_gpu(), depth_function)
    for function, clear in product(range(4), (0, 0xFFFFFF)):
        gpu = make_gpu()
        gpu.set(EARLYDEPTH_FUNC=function, EARLYDEPTH_TEST1=1, EARLYDEPTH_TEST2=1, EARLYDEPTH_DATA=clear)
        gpu.set(EARLYDEPTH_CLEAR=1)
        for expected, got in zip(plain, scene(gpu, depth_function), strict=True):
            np.testing.assert_array_equal(got, expected)
        assert not gpu.ids
