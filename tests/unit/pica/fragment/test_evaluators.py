"""Small scenes under both evaluators, both tiers and several threads: memory, events and counts are the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

MOV, ADD, MUL, DP4, EX2, LG2, RCP, RSQ, MOVA, LOOP, FLR = (
    0x13,
    0x00,
    0x08,
    0x02,
    0x05,
    0x06,
    0x0E,
    0x0F,
    0x12,
    0x29,
    0x0B,
)


def vertices(seed: int, count: int, spread: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random clip positions, colours and texture coordinates."""
    random = np.random.default_rng(seed)
    w = random.uniform(0.5, 3, (count, 1))
    flat = random.uniform(-spread, spread, (count, 2)) * w
    position = np.concatenate([flat, random.uniform(-0.9, -0.1, (count, 1)) * w, w], axis=1)
    return position, random.uniform(-0.2, 1.2, (count, 4)), random.uniform(-2, 2, (count, 4))


def noise(seed: int, width: int, height: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 32, (height, width), np.uint64).astype(np.uint32)


def textured(gpu: Any) -> None:
    """Bilinear texture, blending, depth test."""
    gpu.texture(0, noise(1, 16, 8), linear=True, wrap=(3, 0))
    gpu.set(TEXUNIT_CONFIG=0x1001, COLOR_OPERATION=0x00E40100, BLEND_FUNC=0x76760000, DEPTH_COLOR_MASK=0x1F61)
    gpu.stage(0, 1, (3, 0, 0))
    position, color, uv = vertices(1, 30)
    gpu.draw(position, color, uv)
    gpu.run()


def stencilled(gpu: Any) -> None:
    gpu.put_depth(noise(2, 16, 16))
    gpu.set(
        STENCIL_TEST=0xF3A57F01 | 4 << 4,
        STENCIL_OP=0x643,
        DEPTH_COLOR_MASK=0x1F41,
        FRAGOP_ALPHA_TEST=0x4061,
        SCISSORTEST_MODE=1,
    )
    gpu.set(SCISSORTEST_POS=0x00030003, SCISSORTEST_DIM=0x00090007, LOGIC_OP=6 ^ 13)
    position, color, _ = vertices(2, 21)
    gpu.draw(position, color, mode=2)
    gpu.run()


def clipped(gpu: Any) -> None:
    gpu.set(
        FRAGOP_CLIP=1, FRAGOP_CLIP_DATA0=gpu.f24(0.5), FRAGOP_CLIP_DATA1=gpu.f24(-0.25), FRAGOP_CLIP_DATA3=gpu.f24(0.25)
    )
    position, color, _ = vertices(3, 24, spread=3.0)
    position[:, 2] *= np.random.default_rng(5).uniform(-1, 2.5, 24)
    gpu.draw(position, color, mode=1)
    gpu.run()


def indexed(gpu: Any) -> None:
    position, color, _ = vertices(4, 300)
    random = np.random.default_rng(4)
    gpu.set(FACECULLING_CONFIG=1)
    gpu.draw(position, color, indices=random.integers(0, 300, 33))
    gpu.draw(position, color, indices=random.integers(100, 120, 33), wide=False, mode=1)
    gpu.run()


def odd_numbers(gpu: Any) -> None:
    """Positions, colours and coordinates that are NaN, infinite or huge."""
    gpu.texture(0, noise(6, 24, 8), linear=True, wrap=(2, 1))
    gpu.set(TEXUNIT_CONFIG=0x1001)
    gpu.stage(0, 2, (3, 0, 0))
    position, color, uv = vertices(6, 36)
    random = np.random.default_rng(6)
    for array in (position, color, uv):
        where = random.random(array.shape) < 0.08
        array[where] = random.choice([np.nan, np.inf, -np.inf, 1e30, -1e30, 1e-40, 0.0, -0.0], where.sum())
    gpu.draw(position, color, uv)
    gpu.run()


def program(gpu: Any) -> None:
    """Loops, address registers and the transcendental instructions."""
    for number in range(20):
        gpu.uniform(number, *(np.random.default_rng(number).uniform(0.1, 1, 4)))
    gpu.set(VSH_INTUNIFORM_I0=3 | 2 << 8 | 2 << 16)
    code = [
        gpu.op(MOV, "r0", "c0"), gpu.flow(LOOP, to=4), gpu.op(MUL, "r1", "c1", "v1", index=3), gpu.op(EX2, "r2", "r1"),
        gpu.op(ADD, "r0", "r0", "r2"), gpu.op(LG2, "r3", "r0"), gpu.op(RSQ, "r4", "r0", desc=1), gpu.op(RCP, "r5",
        "v1"),
        gpu.op(MUL, "r6", "r3", "r4"), gpu.op(FLR, "r7", "r5"), gpu.op(ADD, "o1", "r6", "r7"), gpu.op(MOV, "o0", "v0"),
    ]  # fmt: skip
    position, color, _ = vertices(7, 30)
    gpu.draw(position, color)
    at = max(i for i, w in enumerate(gpu.list) if w == 0x000F025E) - 1
    rest, gpu.list = gpu.list[at:], gpu.list[:at]
    gpu.program(code, [gpu.descriptor(), gpu.descriptor("xz", "yxwz")])
    gpu.list += rest
    gpu.run()


def formats(gpu: Any) -> None:
    """Every colour and depth format, several targets in one list."""
    for form in range(5):
        gpu.target(16, 16, color=form, depth=(3, 2, 0, 3, 2)[form], flip=form % 2)
        gpu.set(COLORBUFFER_LOC=0x18000000 + 0x1000 * form >> 3, DEPTHBUFFER_LOC=0x18200000 + 0x1000 * form >> 3)
        gpu.set(DEPTH_COLOR_MASK=0x1F40 | 0x1000, COLOR_OPERATION=0x00E40100, BLEND_FUNC=0x76540201)
        position, color, _ = vertices(8 + form, 12)
        gpu.draw(position, color)
    gpu.run()


def levels(gpu: Any) -> None:
    """Levels with both filters, border colours, a size that is no power of two."""
    gpu.memory.write(0x21000000, noise(9, 64, 64).tobytes() * 2)
    gpu.write(0x81, 0x80FF4020, 40 << 16 | 24, 0x01001504, 0x00010040 | 1 << 24, 0x21000000 >> 3, each=True)
    gpu.set(TEXUNIT_CONFIG=0x1001)
    gpu.stage(0, 0, (3, 0, 0))
    gpu.quad(uv0=[(-1, -1, 1, 1), (2.3, 0, 1, 1), (0, 1.9, 1, 1), (1.5, 1.5, 1, 1)])
    gpu.run()


def combined(gpu: Any) -> None:
    """Three textures through six stages, fog."""
    for unit in range(3):
        gpu.texture(unit, noise(20 + unit, 8, 8), wrap=(unit + 1, 2))
    gpu.set(TEXUNIT_CONFIG=0x1007, TEXENV_BUFFER_COLOR=0x40506070, FOG_COLOR=0x203040)
    for stage in range(6):
        gpu.stage(
            stage,
            (1, 7, 4, 3, 8, 9)[stage],
            (3 + stage % 3, 13, 15),
            (stage, 1, 0),
            stage % 3,
            constant=0x11223344 * stage,
        )
    gpu.set(TEXENV_UPDATE_BUFFER=0xFF05)
    gpu.write("FOG_LUT_INDEX", 0)
    for i in range(128):
        gpu.write("FOG_LUT_DATA0", (i * 13 % 2048) << 13 | (i * 77 & 0x1FFF))
    position, color, uv = vertices(10, 24)
    gpu.draw(position, color, uv, np.roll(uv, 1, axis=1))
    gpu.run()


def immediate(gpu: Any) -> None:
    gpu.set(PRIMITIVE_CONFIG=3 | 1 << 8, RESTART_PRIMITIVE=1)
    gpu.inputs(2)
    gpu.outputs(0x03020100, 0x0B0A0908)
    position, color, _ = vertices(11, 10)
    gpu.set(FIXEDATTRIB_INDEX=15)
    for p, c in zip(position.tolist(), color.tolist(), strict=True):
        gpu.write(0x233, *gpu.packed(*p), *gpu.packed(*c))
    gpu.run()


def transfers(gpu: Any) -> None:
    """A fill, display transfers of several kinds and a texture copy."""
    gpu.memory.write(0x20800000, noise(12, 64, 64).tobytes())
    for register, value in (
        ("START", 0x18100000 >> 3),
        ("END", 0x18100050 >> 3),
        ("VALUE", 0xABCDEF),
        ("CONTROL", 0x101),
    ):
        gpu.poke(f"PSC0_{register}", value)
    gpu.poke("PPF_INPUT_ADDRESS", 0x20800000 >> 3)
    for i, (flags, width, height) in enumerate(
        [
            (0x0000, 32, 16),
            (0x1000, 24, 16),
            (0x2301, 16, 16),
            (0x01004002, 32, 8),
            (0x02002220, 16, 16),
            (0x0005, 16, 8),
            (0x4422, 8, 8),
        ]
    ):
        gpu.poke("PPF_OUTPUT_ADDRESS", 0x18180000 + 0x4000 * i >> 3)
        gpu.poke("PPF_OUTPUT_SIZE", height << 16 | width)
        gpu.poke("PPF_INPUT_SIZE", 16 << 16 | 32)
        gpu.poke("PPF_FLAGS", flags)
        gpu.poke("PPF_CONTROL", 1)
    for register, value in (
        ("OUTPUT_ADDRESS", 0x18300000 >> 3), ("FLAGS", 8), ("COPY_SIZE", 512), ("COPY_INPUT", 0x00010002),
        ("COPY_OUTPUT", 0x00030001),
        ("CONTROL", 1),
    ):  # fmt: skip
        gpu.poke(f"PPF_{register}", value)


SCENES = [textured, stencilled, clipped, indexed, odd_numbers, program, formats, levels, combined, immediate, transfers]


def outcome(gpu: Any, scene: Callable[[Any], None]) -> tuple[Any, ...]:
    """Everything that a scene leaves."""
    scene(gpu)
    memory, stats = gpu.memory, gpu.n3ds.stats
    pages = np.flatnonzero(memory.page_versions).tolist()
    assert pages
    contents = {p: memory.arena[p << 12 : (p + 1) << 12].tobytes() for p in pages}
    counts = (stats.draws, stats.triangles, stats.fragments, stats.vertices)
    return contents, counts, list(gpu.events)


@pytest.mark.parametrize("scene", SCENES, ids=lambda f: f.__name__)
def test_evaluators_tiers_and_numbers_of_threads_agree(
    make_gpu: Callable[..., Any], scene: Callable[[Any], None]
) -> None:
    first = outcome(make_gpu(), scene)
    if scene is not transfers:
        assert first[1][2] > 0, "the scene draws nothing"
    others: list[dict[str, Any]] = [{"tier": "general", "threads": 2}, {"tier": "specialised", "threads": 3}]
    others += [{"evaluator": "numpy"}, {"evaluator": "numpy", "tier": "general"}, {}]
    for options in others:
        other = outcome(make_gpu(**options), scene)
        assert other[1:] == first[1:], options
        different = [hex(p << 12) for p in first[0] if other[0].get(p) != first[0][p]]
        assert not different, options
        assert other[0].keys() == first[0].keys()
