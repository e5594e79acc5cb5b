"""Whatever headers, samplers, handles and registers hold: an end, and the same bits from both evaluators.

The oracle checks every access against the bounds of the arena.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.sampling import Bench, bench

from pocketgpu.facts.maxwell.headers import TIC, TSC
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.records import Call, SurfaceCall
from pocketgpu.maxwell.sampling.store import Pools

BASE, SIZE, COUNT = 0x20_0000_0000, 1 << 20, 32
TEXELS = BASE + (1 << 16)
ROUNDS = 10


def header(rng: np.random.Generator) -> bytes:
    """A header: random bits, made likelier to be one that means something."""
    words = rng.integers(0, 1 << 32, 8, dtype=np.uint64).tolist()
    if rng.random() < 0.1:
        return np.array(words, "<u4").tobytes()
    version = int(rng.choice([0, 2, 3, 3, 3, 3, 4]))
    form = TIC[{0: "1D", 2: "PITCH", 3: "BL", 4: "BLCK"}[version]]
    codes = [0x01, 0x03, 0x04, 0x08, 0x09, 0x0F, 0x15, 0x18, 0x1B, 0x1D, 0x21, 0x24, 0x29, 0x2F]
    address = TEXELS + int(rng.integers(0, 64)) * 512
    values: dict[str, Any] = {"HEADER_VERSION": version, "COMPONENTS": int(rng.choice(codes))}
    kind = int(rng.choice([1, 2, 2, 3, 4, 7]))
    values |= {f"{c}_DATA_TYPE": kind for c in "RGBA"}
    values |= {f"{c}_SOURCE": int(rng.choice([0, 2, 3, 4, 5, 6, 7])) for c in "XYZW"}
    values |= {"ADDRESS_BITS47TO32": address >> 32}
    if version == 0:
        values |= {
            "ADDRESS_BITS31TO0": address & 0xFFFFFFFF, "WIDTH_MINUS_ONE_BITS31TO16": 0,
            "WIDTH_MINUS_ONE_BITS15TO0": int(rng.integers(0, 4000)),
        }  # fmt: skip
    elif version == 2:
        values |= {"ADDRESS_BITS31TO5": address >> 5 & 0x7FFFFFF, "PITCH_BITS20TO5": int(rng.integers(0, 64))}
    else:
        levels = int(rng.integers(0, 16))
        values |= {
            "ADDRESS_BITS31TO9": address >> 9 & 0x7FFFFF, "MAX_MIP_LEVEL": levels,
            "RES_VIEW_MIN_MIP_LEVEL": int(rng.integers(0, 3)), "RES_VIEW_MAX_MIP_LEVEL": int(rng.integers(0, 16)),
            "GOBS_PER_BLOCK_HEIGHT": int(rng.integers(0, 6)), "GOBS_PER_BLOCK_DEPTH": int(rng.integers(0, 6)),
            "TILE_WIDTH_IN_GOBS": 0, "MULTI_SAMPLE_COUNT": int(rng.choice([0, 0, 0, 1, 2, 3, 6])),
        }  # fmt: skip
    if version:
        values |= {
            "TEXTURE_TYPE": int(rng.integers(0, 9)), "WIDTH_MINUS_ONE": int(rng.integers(0, 40)),
            "HEIGHT_MINUS_ONE": int(rng.integers(0, 40)), "DEPTH_MINUS_ONE": int(rng.integers(0, 6)),
        }  # fmt: skip
    return np.array(form.pack({k: v for k, v in values.items() if k in form}, words), "<u4").tobytes()


def sampler(rng: np.random.Generator) -> bytes:
    words = rng.integers(0, 1 << 32, 8, dtype=np.uint64).tolist()
    values = {"MAG_FILTER": int(rng.choice([1, 2, 2, 5])), "MIN_FILTER": int(rng.integers(0, 4))}
    return np.array(TSC.pack(values, words), "<u4").tobytes()


def floats(rng: np.random.Generator) -> NDArray[np.int32]:
    """Coordinates of all sorts."""
    usual = rng.uniform(-2, 3, 32).astype(np.float32).view(np.int32)
    wild = rng.integers(-(1 << 31), 1 << 31, 32).astype(np.int32)
    whole = rng.integers(-5, 50, 32).astype(np.int32)
    special = rng.choice(np.array([0, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3F800000, 1], np.uint32), 32).view(np.int32)
    pick = rng.choice(4, 32, p=[0.6, 0.1, 0.2, 0.1])
    return np.choose(pick, [usual, wild, whole, special]).astype(np.int32)


class Guest:
    """The same memory on both benches."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.headers = b"".join(header(rng) for _ in range(COUNT))
        self.samplers = b"".join(sampler(rng) for _ in range(COUNT))
        self.data = rng.integers(0, 256, SIZE - (1 << 16), dtype=np.uint8).tobytes()

    def put(self, one: Bench) -> None:
        memory = one.device.memory
        if memory.mapping_at(BASE) is None:
            memory.map(BASE, SIZE)
        memory.write(BASE, self.headers)
        memory.write(BASE + 4096, self.samplers)
        memory.write(TEXELS, self.data)
        one.device.textures.pools = Pools(BASE, COUNT - 1, BASE + 4096, COUNT - 1)


def random_call(rng: np.random.Generator) -> tuple[int, int]:
    """(kernel, word of the call): any bits."""
    number = int(rng.choice([r.SAMPLE, r.SAMPLE, r.SAMPLE, r.FETCH, r.GATHER, r.QUERY, r.SURFACE, r.SURFACE]))
    what = int(rng.integers(0, 1 << 30))
    if number == r.SURFACE:
        low, _ = SurfaceCall.ACTION
        what = what & ~(3 << low) | int(rng.integers(0, 3)) << low
    elif rng.random() < 0.7:
        what &= ~(1 << Call.HALVES[0] | 7 << Call.OFFSETS[0])
    return number, what


@pytest.mark.parametrize("seed", range(4))
def test_anything_ends_and_is_the_same_on_both(seed: int) -> None:
    rng, guest = np.random.default_rng(seed), Guest(seed)
    benches = [bench(name) for name in ("llvm", "numpy")]
    pools = [one.device.textures.pools for one in benches]
    try:
        for one in benches:
            guest.put(one)
        for _ in range(ROUNDS):
            number, what = random_call(rng)
            handles = rng.integers(0, COUNT + 1, 32) | rng.integers(0, COUNT, 32) << 20
            if rng.random() < 0.7:
                handles[:] = handles[0]
            vectors = {n: floats(rng) for n in range(1, 12)}
            mask = int(rng.choice([-1, rng.integers(-(1 << 31), 1 << 31)]))
            quads = bool(rng.integers(2))
            results = [one.call(number, what, handles, vectors, mask, quads) for one in benches]
            lanes = [lane for lane in range(32) if mask >> lane & 1]
            words = [_without_nan_payloads(found[:, lanes]) for found in results]
            np.testing.assert_array_equal(*words, err_msg=f"kernel {number}, what {what:#x}")
            assert benches[0].faults == benches[1].faults
        left = [one.device.memory.read(BASE, SIZE) for one in benches]
        assert left[0] == left[1]
    finally:
        for one, before in zip(benches, pools, strict=True):
            one.device.textures.pools = before


def _without_nan_payloads(words: NDArray[np.int32]) -> NDArray[np.uint32]:
    """Which NaN an operation gives is the host's business."""
    found = words.view(np.uint32).copy()
    found[(found & 0x7FFFFFFF) > 0x7F800000] = 0x7FFFFFFF
    return found
