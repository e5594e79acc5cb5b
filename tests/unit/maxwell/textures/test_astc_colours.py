"""ASTC's colour endpoints against the specification's pseudocode in plain Python, for every mode."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.lanes import I32, Engine, Lang, kernel
from pocketgpu.maxwell.textures.astc_colours import HDR, ends

Colour = tuple[int, ...]
INPUT, WAYS, OUTPUT, COUNT = 4096, 3072, 1 << 16, 256
MAGENTA = (255, 0, 255, 255)


@kernel(8)
def both_ends(k: Lang) -> None:
    """COUNT times eight words at INPUT, and the mode at WAYS, to two colours each at OUTPUT."""
    for start in k.range(0, COUNT, k.lanes):
        at = k.iota() + start
        v = [k.gather(I32, (at << 5) + (INPUT + 4 * n)) for n in range(8)]
        first, second = ends(k, k.gather(I32, (at << 2) + WAYS), v)
        k.scatter(I32, (at << 3) + OUTPUT, first)
        k.scatter(I32, (at << 3) + (OUTPUT + 4), second)


def moved(a: int, b: int) -> tuple[int, int]:
    """bit_transfer_signed(b, a): (offset, base)."""
    b = b >> 1 | a & 0x80
    a = a >> 1 & 0x3F
    return a - 0x40 if a & 0x20 else a, b


def contracted(r: int, g: int, b: int, a: int) -> Colour:
    return (r + b) >> 1, (g + b) >> 1, b, a


def model(mode: int, v: list[int]) -> tuple[Colour, Colour]:
    """KHR_texture_compression_astc_hdr, section C.2.14."""
    if HDR >> mode & 1:
        return MAGENTA, MAGENTA
    if mode in (0, 1):
        low = v[0] if mode == 0 else v[0] >> 2 | v[1] & 0xC0
        high = v[1] if mode == 0 else min(low + (v[1] & 0x3F), 255)
        return (low, low, low, 255), (high, high, high, 255)
    if mode == 4:
        return (v[0], v[0], v[0], v[2]), (v[1], v[1], v[1], v[3])
    if mode in (6, 10):
        scaled = [one * v[3] >> 8 for one in v[:3]]
        alphas = (v[4], v[5]) if mode == 10 else (255, 255)
        return (*scaled, alphas[0]), (*v[:3], alphas[1])
    if mode in (8, 12):
        first, second = (v[0], v[2], v[4], v[6] if mode == 12 else 255), (v[1], v[3], v[5], v[7] if mode == 12 else 255)
        swaps = sum(second[:3]) < sum(first[:3])
        return (contracted(*second), contracted(*first)) if swaps else (first, second)
    offsets, bases = zip(*(moved(v[n + 1], v[n]) for n in (0, 2, 4, 6)), strict=True)
    if mode == 5:
        return (bases[0],) * 3 + (bases[1],), (bases[0] + offsets[0],) * 3 + (bases[1] + offsets[1],)
    first = (*bases[:3], bases[3] if mode == 13 else 255)
    second = (*(b + o for b, o in zip(bases[:3], offsets[:3], strict=True)), bases[3] + offsets[3])
    second = second if mode == 13 else (*second[:3], 255)
    return (contracted(*second), contracted(*first)) if sum(offsets[:3]) < 0 else (first, second)


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_every_mode_gives_the_colours_of_the_specification(evaluator: str) -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 256, (COUNT, 8)).astype(np.int32)
    values[rng.random((COUNT, 8)) < 0.2] = 0
    values[rng.random((COUNT, 8)) < 0.2] = 255
    ways = np.arange(COUNT, dtype=np.int32) % 16
    arena = np.zeros(1 << 17, np.uint8)
    for at, part in ((INPUT, values), (WAYS, ways)):
        arena[at : at + part.nbytes] = part.reshape(-1).view(np.uint8)
    Engine(arena, evaluator).get(both_ends)()
    found = arena[OUTPUT : OUTPUT + 8 * COUNT].reshape(COUNT, 2, 4)
    for way, v, got in zip(ways.tolist(), values.tolist(), found.tolist(), strict=True):
        wanted = [[min(max(part, 0), 255) for part in colour] for colour in model(way, v)]
        assert got == wanted, f"mode {way} of {v}"
