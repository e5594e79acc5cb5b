"""Random blocks at the end of the pipeline, and how far two outcomes are apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from support.output_case import GRIDS, TARGET_ROOM, Case
from support.slow_formats import decode

from pocketgpu.facts.maxwell.formats import COLOR_TARGET, DEPTH, Component, PixelLayout

FUNCTIONS = [*range(0x200, 0x208), *range(1, 9)]
STENCIL = [0x1E00, 0, 0x1E01, 0x1E02, 0x1E03, 0x150A, 0x8507, 0x8508, *range(1, 9)]
FACTORS = [
    *range(1, 12), *range(14, 20), *range(0x4300, 0x4309), 0x4000, 0x4001, *range(0xC001, 0xC005),
    *range(0xC900, 0xC904),
]  # fmt: skip
EQUATIONS = [0x8006, 0x800A, 0x800B, 0x8007, 0x8008, 1, 2, 3, 4, 5]
COLOR_CODES = [code for code, layout in COLOR_TARGET.items() if layout.bytes]
DEPTH_CODES = [code for code, layout in DEPTH.items() if layout.bytes]
CHANNELS = ("RED", "GREEN", "BLUE", "ALPHA")


class _Chance:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def bit(self, chance: float = 0.5) -> int:
        return int(self.rng.random() < chance)

    def upto(self, limit: int) -> int:
        return int(self.rng.integers(limit))


def random_case(seed: int) -> Case:
    """A case with everything in it that registers can ask for; the same for the same seed."""
    c = _Chance(seed)
    mode = c.pick([0, 0, 0, 1, 2, 3, 6])
    grid = GRIDS[mode]
    width, height = min(64 * grid[0] // c.pick([1, 2, 4]), 64), min(32 * grid[1] // c.pick([1, 2]), 32)
    registers: dict[str, int | float] = {
        "SET_ANTI_ALIAS": mode, "SET_ANTI_ALIAS_ENABLE": c.bit(0.7), "SET_PS_OUTPUT_SAMPLE_MASK_USAGE": c.upto(4),
        "SET_ALPHA_TEST": c.bit(0.2), "SET_ALPHA_FUNC": c.pick(FUNCTIONS), "SET_ALPHA_REF": float(c.rng.random()),
        "SET_ANTI_ALIAS_ALPHA_CONTROL": c.bit(0.2) | c.bit(0.2) << 4, "SET_API_MANDATED_EARLY_Z": c.bit(0.2),
        "SET_ALPHA_TO_COVERAGE_DITHER_CONTROL": c.bit(), "SET_ZPASS_PIXEL_COUNT": c.bit(),
    }  # fmt: skip
    count = 1 + c.upto(3)
    _colours(c, registers, count, width, height)
    if c.bit(0.7):
        _zeta(c, registers, width, height)
    memory = _memory(c, registers, count)
    colours = (c.rng.random((8, 4, 32)) * 1.6 - 0.3).astype(np.float32)
    numbers = c.rng.integers(-3000, 70000, (8, 4, 32)).astype(np.int32).view(np.float32)
    colours = np.where(c.rng.random((8, 4, 32)) < c.pick([0.0, 0.1, 1.0]), numbers, colours)
    masks = c.rng.integers(-1 << 31, 1 << 31, 32).astype(np.int32)
    ballots = [c.pick([0xFFFFFFFF, 0xFFFFFFFF, c.upto(1 << 32), 0]) for _ in range(16)]
    return Case(
        registers, 8 * c.upto(max(width // grid[0] // 8, 1)), 4 * c.upto(max(height // grid[1] // 4, 1)),
        front=bool(c.bit()), outputs=(15, *(c.pick([15, 15, 7, 0]) for _ in range(2))), kills=bool(c.bit(0.3)),
        gives_mask=bool(c.bit(0.2)), killed=c.pick([0, c.upto(1 << 32)]), masks=masks,
        colours=colours, depth=(c.rng.random((16, 32)) * 1.4 - 0.2).astype(np.float32), memory=memory,
        cover=ballots if c.bit() else [0xFFFFFFFF] * 16,
    )  # fmt: skip


def _colours(c: _Chance, registers: dict[str, int | float], count: int, width: int, height: int) -> None:
    for slot in range(count):
        layout = COLOR_TARGET[c.pick(COLOR_CODES)]
        linear, high = c.bit(0.2), c.upto(4)
        high = 0 if layout.bytes * width * height > TARGET_ROOM // 2 else high
        deep = c.upto(2) if layout.bytes * width * 64 <= TARGET_ROOM // 4 else 0
        registers |= {
            f"SET_COLOR_TARGET_FORMAT:{slot}": layout.code, f"SET_COLOR_TARGET_HEIGHT:{slot}": height,
            f"SET_COLOR_TARGET_WIDTH:{slot}": width * layout.bytes if linear else width,
            f"SET_COLOR_TARGET_MEMORY:{slot}": linear << 12 | deep << 8 | high << 4,
            f"SET_CT_WRITE:{slot}": c.pick([0x1111, 0x1111, 0x0111, 0x1000, 0x0101, 0]),
            f"SET_BLEND:{slot}": c.bit(0.6), f"SET_BLEND_PER_TARGET_SEPARATE_FOR_ALPHA:{slot}": c.bit(),
        }  # fmt: skip
    for prefix, index in (("SET_BLEND_", ""), *(("SET_BLEND_PER_TARGET_", f":{slot}") for slot in range(count))):
        for part in ("COLOR", "ALPHA"):
            registers |= {
                f"{prefix}{part}_OP{index}": c.pick(EQUATIONS),
                f"{prefix}{part}_SOURCE_COEFF{index}": c.pick([*FACTORS, 12, 13]),
                f"{prefix}{part}_DEST_COEFF{index}": c.pick(FACTORS),
            }
    registers |= {f"SET_BLEND_CONST_{name}": float(c.rng.random() * 1.5 - 0.25) for name in CHANNELS}
    registers |= {
        "SET_CT_SELECT": count | 0o76543210 << 4, "SET_CT_MRT_ENABLE": c.bit(0.9), "SET_SRGB_WRITE": c.bit(),
        "SET_BLEND_STATE_PER_TARGET": c.bit(), "SET_BLEND_SEPARATE_FOR_ALPHA": c.bit(),
        "SET_LOGIC_OP": c.bit(0.2), "SET_LOGIC_OP_FUNC": 0x1500 + c.upto(16), "SET_BLEND_FLOAT_OPTION": c.bit(),
        "SET_SINGLE_CT_WRITE_CONTROL": c.bit(0.2), "SET_PS_SATURATE": c.upto(1 << 32) if c.bit(0.3) else 0,
        "SET_SAMPLE_MASK": c.bit(0.2) << 4, "SET_COLOR_TARGET_SAMPLE_MASK": c.upto(1 << 16),
    }  # fmt: skip


def _zeta(c: _Chance, registers: dict[str, int | float], width: int, height: int) -> None:
    registers |= {
        "SET_ZT_SELECT": 1, "SET_ZT_FORMAT": c.pick(DEPTH_CODES), "SET_ZT_SIZE_A": width, "SET_ZT_SIZE_B": height,
        "SET_ZT_BLOCK_SIZE": c.upto(3) << 4, "SET_DEPTH_TEST": c.bit(0.7), "SET_DEPTH_WRITE": c.bit(0.7),
        "SET_DEPTH_FUNC": c.pick(FUNCTIONS), "SET_DEPTH_BOUNDS_TEST": c.bit(0.3),
        "SET_DEPTH_BOUNDS_MIN": float(c.rng.random() * 0.5), "SET_DEPTH_BOUNDS_MAX": float(0.5 + c.rng.random() * 0.5),
        "SET_STENCIL_TEST": c.bit(), "SET_TWO_SIDED_STENCIL_TEST": c.bit(),
    }  # fmt: skip
    for face in ("", "BACK_"):
        registers |= {
            f"SET_{face}STENCIL_FUNC": c.pick(FUNCTIONS), f"SET_{face}STENCIL_FUNC_REF": c.upto(256),
            f"SET_{face}STENCIL_FUNC_MASK": c.pick([255, 255, 15, 240]),
            f"SET_{face}STENCIL_MASK": c.pick([255, 255, c.upto(256)]),
        }  # fmt: skip
        registers |= {f"SET_{face}STENCIL_OP_{name}": c.pick(STENCIL) for name in ("FAIL", "ZFAIL", "ZPASS")}


def _memory(c: _Chance, registers: dict[str, int | float], count: int) -> NDArray[np.uint8]:
    """Random bytes; numbers of moderate size where targets hold floats."""
    memory = c.rng.integers(0, 256, (9, TARGET_ROOM), dtype=np.uint8)
    for slot in range(count):
        component = COLOR_TARGET[int(registers[f"SET_COLOR_TARGET_FORMAT:{slot}"])].components[0]
        if component.type == "float":
            memory[slot] = _floats(c, component.width)
    if "SET_ZT_FORMAT" in registers:
        layout = DEPTH[int(registers["SET_ZT_FORMAT"])]
        depth = layout.component("Z")
        if depth is not None and depth.type == "float":
            words = _floats(c, 32).view(np.uint32)
            if layout.bytes == 8:
                words[1::2] = c.rng.integers(0, 1 << 32, len(words) // 2)
            memory[8] = words.view(np.uint8)
    return memory.reshape(-1)


def _floats(c: _Chance, width: int) -> NDArray[np.uint8]:
    if width == 32:
        return c.rng.random(TARGET_ROOM // 4).astype(np.float32).view(np.uint8)
    if width == 16:
        return (c.rng.random(TARGET_ROOM // 2) * 2).astype(np.float16).view(np.uint8)
    return c.rng.integers(0, 0x3C00, TARGET_ROOM // 2).astype(np.uint16).view(np.uint8)


def _apart(component: Component, a: int, b: int) -> float:
    """How many steps two codes are apart; for floats in parts of what f32 or the format can tell."""
    if a == b:
        return 0.0
    if component.type == "float":
        x, y = (decode(component, code, False) for code in (a, b))
        if x == y or (x != x and y != y):
            return 0.0
        places = {32: 17, 16: 10, 11: 6, 10: 5}[component.width]  # blending in f32 loses some where it subtracts
        return float(abs(x - y) / max(abs(x), abs(y), 0.01) * 2**places)
    if component.type == "snorm":
        a, b = (code - ((code >> (component.width - 1)) << component.width) for code in (a, b))
    return abs(a - b) / (1 if component.width <= 16 else 2048)


def distance(case: Case, a: NDArray[np.uint8], b: NDArray[np.uint8]) -> float:
    """The largest distance of any component of any sample; infinity for depth, stencil and what is no target."""
    state, targets = case.state(), a.reshape(9, -1)
    other = b.reshape(9, -1)
    count, worst = state.field("SET_CT_SELECT", "TARGET_COUNT"), 0.0
    if (targets[count:] != other[count:]).any():
        return float("inf")
    for slot in range(count):
        layout: PixelLayout = COLOR_TARGET[state.field("SET_COLOR_TARGET_FORMAT", "V", slot)]
        x, y = (side[slot].reshape(-1, layout.bytes) for side in (targets, other))
        for i in np.nonzero((x != y).any(axis=1))[0]:
            left, right = (int.from_bytes(side[i].tobytes(), "little") for side in (x, y))
            for component in layout.components:
                mask = (1 << component.width) - 1
                codes = left >> component.lo & mask, right >> component.lo & mask
                if component.name not in "RGBA" and codes[0] != codes[1]:
                    return float("inf")
                worst = max(worst, _apart(component, *codes))
    return worst
