"""Random registers, vertices and primitives for the raster of Maxwell draws: it ends, stays where it belongs, and gives
the same for any number of threads; now and then the NumPy evaluator gives the same, too.

    python tests/fuzz/raster.py --cases 100000 --seed 1
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

import numpy as np
from numpy.typing import NDArray
from support.fuzz import command
from support.raster_side import Raster, wild, wild_vertices

from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.graphics.programs.headers import LINEAR, PERSPECTIVE

VERTICES = 12
INPUTS = {0x280: PERSPECTIVE, 0x284: LINEAR, 0x300: PERSPECTIVE, 0x304: PERSPECTIVE}
COMPARED = ("samples", "depth", "inputs", "shapes", "come", "gone")


def _draw(
    state: State, vertices: dict[int, NDArray[Any]], primitives: NDArray[Any], flags: int,
    raster: Raster, parts: int = 1, region: int = 1 << 17,
) -> tuple[Any, ...]:  # fmt: skip
    picture = raster.draw(state, vertices, primitives, inputs=INPUTS, flags=flags, parts=parts, region_size=region)
    return tuple(getattr(picture, name) for name in COMPARED)


def run(cases: int, seed: int, first: int = 0, numpy_every: int = 100, threads_every: int = 4) -> Counter[str]:
    """Counts: cases; drew: those that covered a pixel; shared, compared: done again by threads, by NumPy."""
    counts: Counter[str] = Counter()
    fast, slow = Raster(), Raster("numpy")
    for number in range(first, first + cases):
        rng = np.random.default_rng([seed, number])
        state, vertices = wild(rng), wild_vertices(rng, VERTICES)
        primitives = np.arange(VERTICES).reshape(-1, int(rng.integers(1, 4)))
        small = 1 << int(rng.integers(14, 18))
        draw = partial(_draw, state, vertices, primitives, int(rng.integers(0, 16)))
        found = draw(fast)
        counts["cases"] += 1
        counts["drew"] += bool(np.any(found[0]))
        counts["shapes"] += int(found[3])
        again = []
        if number % threads_every == 0:
            counts["shared"] += 1
            again.append(draw(fast, int(rng.integers(2, 6)), small))
        if number % numpy_every == 0:
            counts["compared"] += 1
            again.append(draw(slow))
        for other in again:
            for name, a, b in zip(COMPARED, found, other, strict=True):
                np.testing.assert_array_equal(a, b, err_msg=f"case {number} of seed {seed}: {name}")
    return counts


if __name__ == "__main__":
    command(__doc__, run, "draws")
