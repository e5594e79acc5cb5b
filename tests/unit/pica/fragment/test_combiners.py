"""The six combiner stages against an integer model written from the documents, over random colours.

Source: 3dbrew GPU/Internal Registers ("Texture environment registers"); truncation after console tests by the public
models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

# General code draws any state, specialised code one: both must match the models here.
pytestmark = pytest.mark.parametrize("tier", ["specialised", "general"], indirect=True)

SIZE = 32
PRIMARY, FRAGMENT0, FRAGMENT1, TEXTURE0, TEXTURE1, TEXTURE2, TEXTURE3, BUFFER, CONSTANT, PREVIOUS = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    13,
    14,
    15,
)
RGB_OPERANDS = {0: "rgb", 2: "aaa", 4: "rrr", 8: "ggg", 0xC: "bbb"}
ALPHA_OPERANDS = {0: "a", 2: "r", 4: "g", 6: "b"}
Color = np.ndarray  # (..., 4) integers 0-255


@dataclass(frozen=True)
class Stage:
    """A stage as the registers describe it; alpha_* are the alpha part's."""

    op: int = 0
    sources: Sequence[int] = (PREVIOUS,) * 3
    operands: Sequence[int] = (0,) * 3
    scale: int = 0
    alpha_op: int = 0
    alpha_sources: Sequence[int] = (PREVIOUS,) * 3
    alpha_operands: Sequence[int] = (0,) * 3
    alpha_scale: int = 0
    constant: int = 0


def combine(op: int, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """One channel before the scale."""
    return {
        0: a, 1: a * b // 255, 2: np.minimum(255, a + b), 3: np.clip(a + b - 128, 0, 255),
        4: (a * c + b * (255 - c)) // 255,
        5: np.maximum(0, a - b), 8: np.minimum(255, (a * b + 255 * c) // 255), 9: np.minimum(255, a + b) * c // 255,
    }[op]  # fmt: skip


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Over the last axis (r, g, b); each product is cut toward zero."""
    products = (2 * a - 255) * (2 * b - 255) + 128
    return np.clip(np.trunc(products / 256).astype(np.int64).sum(axis=-1), 0, 255)


def operand(color: Color, code: int, table: Mapping[int, str]) -> np.ndarray:
    value = color[..., ["rgba".index(c) for c in table[code & ~1]]]
    return 255 - value if code & 1 else value


def model(stages: Sequence[Stage], inputs: Mapping[int, Color], buffer_color: Color, update: int) -> Color:
    """All stages; `update` is the register TEXENV_UPDATE_BUFFER."""
    shape = inputs[PRIMARY].shape
    zero = np.zeros(shape, np.int64)
    previous = inputs[PRIMARY]
    results: list[Color] = []
    stored = [zero, np.broadcast_to(buffer_color, shape)]  # what stages 0 and 1 read
    for k, stage in enumerate(stages):
        if k >= 2:
            fresh = stored[k - 1].copy()
            if k - 2 < 4:
                if update >> 8 + k - 2 & 1:
                    fresh[..., :3] = results[k - 2][..., :3]
                if update >> 12 + k - 2 & 1:
                    fresh[..., 3] = results[k - 2][..., 3]
            stored.append(fresh)
        constant = np.broadcast_to([stage.constant >> 8 * i & 0xFF for i in range(4)], shape).astype(np.int64)
        sources = {**inputs, BUFFER: stored[k], CONSTANT: constant, PREVIOUS: previous}
        colors = [operand(sources[s], o, RGB_OPERANDS) for s, o in zip(stage.sources, stage.operands, strict=True)]
        alphas = [
            operand(sources[s], o, ALPHA_OPERANDS)
            for s, o in zip(stage.alpha_sources, stage.alpha_operands, strict=True)
        ]
        if stage.op in (6, 7):
            rgb = np.repeat(dot(colors[0], colors[1])[..., None], 3, axis=-1)
        else:
            rgb = combine(stage.op, *colors)
        alpha = rgb[..., :1] if stage.op == 7 else combine(stage.alpha_op, *alphas)
        factor = lambda code: {0: 1, 1: 2, 2: 4, 3: 1}[code]  # noqa: E731
        previous = np.minimum(
            255, np.concatenate([rgb * factor(stage.scale), alpha * factor(stage.alpha_scale)], axis=-1)
        )
        results.append(previous)
    return previous


class Bench:
    """Random textures in units 0 to 2 and a machine that shows the last stage's result."""

    def __init__(self, gpu: Any, seed: int, primary: Sequence[int] = (200, 100, 50, 25)) -> None:
        self.gpu, self.primary = gpu, primary
        gpu.target(SIZE, SIZE)
        random = np.random.default_rng(seed)
        self.inputs: dict[int, Color] = {PRIMARY: np.broadcast_to(np.array(primary), (SIZE, SIZE, 4)).astype(np.int64)}
        for unit in range(3):
            colors = random.integers(0, 256, (SIZE, SIZE, 4))
            colors[random.random(colors.shape) < 0.1] = 255
            colors[random.random(colors.shape) < 0.1] = 0
            self.inputs[TEXTURE0 + unit] = colors
            gpu.texture(unit, (colors << np.array([24, 16, 8, 0])).sum(axis=-1).astype(np.uint32))
        for code in (FRAGMENT0, FRAGMENT1, TEXTURE3):
            self.inputs[code] = np.zeros((SIZE, SIZE, 4), np.int64)
        gpu.set(TEXUNIT_CONFIG=0x1007)

    def show(self, *stages: Stage, update: int = 0, buffer_color: int = 0) -> Color:
        """The picture; stages that are not given pass the previous result on."""
        gpu = self.gpu
        for i, s in enumerate((*stages, *[Stage()] * (6 - len(stages)))):
            gpu.stage(
                i,
                s.op,
                s.sources,
                s.operands,
                s.scale,
                (s.alpha_op, s.alpha_sources, s.alpha_operands, s.alpha_scale),
                s.constant,
            )
        gpu.set(TEXENV_UPDATE_BUFFER=update, TEXENV_BUFFER_COLOR=buffer_color)
        gpu.quad(color=np.array(self.primary) / 255)
        gpu.run()
        return gpu.pixels()

    def check(self, *stages: Stage, update: int = 0, buffer_color: int = 0) -> None:
        """The picture equals the model's."""
        padded = (*stages, *[Stage()] * (6 - len(stages)))
        expected = model(padded, self.inputs, np.array([buffer_color >> 8 * i & 0xFF for i in range(4)]), update)
        got = self.show(*stages, update=update, buffer_color=buffer_color)
        wrong = np.argwhere(got != expected)
        assert not len(wrong), (stages, wrong[0], got[tuple(wrong[0])], expected[tuple(wrong[0])])


@pytest.fixture
def bench(gpu: Any) -> Bench:
    return Bench(gpu, 1)


UNITS = (TEXTURE0, TEXTURE1, TEXTURE2)


# -- operations -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
@pytest.mark.parametrize("scale", [0, 1, 2, 3])
def test_operations_match_the_model(bench: Bench, op: int, scale: int) -> None:
    alpha = op if op not in (6, 7) else 1
    bench.check(Stage(op, UNITS, (0, 0, 0), scale, alpha, UNITS, (0, 0, 0), scale))


@pytest.mark.parametrize("op", [0, 1, 2, 3, 4, 5, 8, 9])
def test_alpha_has_its_own_operation_sources_and_scale(bench: Bench, op: int) -> None:
    bench.check(Stage(1, UNITS, (0, 0, 0), 0, op, UNITS[::-1], (0, 0, 0), (op + 1) % 3))


def test_every_pair_of_values_is_modulated_exactly(make_gpu: Callable[..., Any]) -> None:
    """256 x 256 products: a * b / 255, cut."""
    gpu = make_gpu(256, 256)
    a, b = np.meshgrid(np.arange(256), np.arange(256))
    for unit, values in enumerate((a, b)):
        gpu.texture(unit, (values * 0x01010101).astype(np.uint32))
    gpu.set(TEXUNIT_CONFIG=0x1003)
    gpu.stage(0, 1, (TEXTURE0, TEXTURE1, 0))
    gpu.quad()
    gpu.run()
    assert (gpu.pixels() == (a * b // 255)[..., None]).all()


@pytest.mark.parametrize("op", range(10, 16))
def test_undefined_operations_give_zero(bench: Bench, op: int) -> None:
    assert (bench.show(Stage(op, UNITS, alpha_op=op, alpha_sources=UNITS)) == 0).all()


def test_values_by_hand(gpu: Any) -> None:
    def one(op: int, a: int, b: int, c: int = 0, scale: int = 0) -> int:
        for i, value in enumerate((a, b, c)):  # stages 0-2 leave a in the buffer, b as previous ...
            gpu.texture(i, np.full((8, 8), value * 0x01010101, np.uint32))
        gpu.set(TEXUNIT_CONFIG=0x11007)
        gpu.stage(0, op, UNITS, (0, 0, 0), scale)
        gpu.quad()
        gpu.run()
        return int(gpu.pixels()[3, 3, 1])

    assert [one(1, 128, 128), one(1, 255, 255), one(1, 255, 7)] == [64, 255, 7]
    assert [one(0, 200, 0, scale=1), one(0, 100, 0, scale=1), one(0, 63, 0, scale=2)] == [255, 200, 252]
    assert [one(3, 128, 100), one(3, 0, 100), one(3, 255, 255)] == [100, 0, 255]
    assert [one(9, 200, 200, 128), one(8, 200, 200, 200)] == [128, 255]
    assert [one(4, 255, 0, 128), one(4, 10, 20, 255)] == [128, 10]


# -- operands and sources ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4, 5, 8, 9, 0xC, 0xD])
@pytest.mark.parametrize("place", range(3))
def test_colour_operands(bench: Bench, code: int, place: int) -> None:
    operands = [0, 0, 0]
    operands[place] = code
    bench.check(Stage(4, UNITS, operands, 0, 0, UNITS))


@pytest.mark.parametrize("code", range(8))
@pytest.mark.parametrize("place", range(3))
def test_alpha_operands(bench: Bench, code: int, place: int) -> None:
    operands = [0, 0, 0]
    operands[place] = code
    bench.check(Stage(0, UNITS, (0, 0, 0), 0, 4, UNITS, operands))


def test_first_alpha_operand_stands_at_bit_12(gpu: Any) -> None:
    """One minus alpha, written as a word."""
    gpu.stage(0, 0, (PRIMARY,) * 3)
    gpu.write(0xC1, 1 << 12)
    gpu.quad(color=(1, 0, 0, 0.2))
    gpu.run()
    assert (gpu.color_words() == 0xFF0000CC).all()
    gpu.write(0xC1, 1 << 16)
    gpu.quad(color=(1, 0, 0, 0.2))
    gpu.run()
    assert (gpu.color_words() == 0xFF000033).all()


@pytest.mark.parametrize(
    "source", [PRIMARY, FRAGMENT0, FRAGMENT1, TEXTURE0, TEXTURE1, TEXTURE2, TEXTURE3, CONSTANT, PREVIOUS, BUFFER]
)
@pytest.mark.parametrize("stage", [0, 1, 2, 5])
def test_sources_in_every_kind_of_stage(bench: Bench, source: int, stage: int) -> None:
    """Fragment colours are zero with lighting off, and so is a unit that is off; stage 0 has no buffer yet."""
    before = [Stage(1, (TEXTURE0, TEXTURE1, 0), (0, 0, 0), 0, 1, (TEXTURE1, TEXTURE2, 0))] * stage
    bench.check(
        *before, Stage(0, (source,) * 3, (0, 0, 0), 0, 0, (source,) * 3, constant=0x80402010), update=0xFF00,
        buffer_color=0x11223344,
    )  # fmt: skip


def test_previous_in_the_first_stage_is_the_vertex_colour(gpu: Any) -> None:
    gpu.stage(0, 0, (PREVIOUS,) * 3)
    gpu.quad(color=(0.2, 0.4, 0.6, 0.8))
    gpu.run()
    assert (gpu.pixels() == [51, 102, 153, 204]).all()


def test_constants_have_red_in_the_low_byte(gpu: Any) -> None:
    for stage in range(6):
        gpu.stage(stage, 0, (CONSTANT,) * 3, constant=0x04030201 + 0x10101010 * stage)
    gpu.quad()
    gpu.run()
    assert (gpu.pixels() == [0x51, 0x52, 0x53, 0x54]).all()


# -- the buffer -------------------------------------------------------------------------------------------------------


def test_a_stage_reads_the_buffer_as_the_one_before_the_last_left_it(gpu: Any) -> None:
    """Stage 0 (updates on) makes 10, stage 1 makes 20 from the register's 77, stage 2 sees stage 0's 10."""
    constant = lambda v: v * 0x01010101  # noqa: E731
    seen = []
    for reader in range(1, 5):
        for stage in range(6):
            gpu.stage(stage, 0, (CONSTANT,) * 3, constant=constant(10 * (stage + 1)))
        gpu.stage(reader, 0, (BUFFER,) * 3)
        for stage in range(reader + 1, 6):
            gpu.stage(stage, 0, (PREVIOUS,) * 3)
        gpu.set(TEXENV_UPDATE_BUFFER=0xFF00, TEXENV_BUFFER_COLOR=constant(77))
        gpu.quad()
        gpu.run()
        seen.append(int(gpu.pixels()[0, 0, 0]))
    assert seen == [77, 10, 20, 30]


@pytest.mark.parametrize("update", [0x0000, 0x0100, 0x1000, 0x0F00, 0xF000, 0x2400, 0x8100, 0xFF00])
def test_update_bits_belong_to_the_first_four_stages(bench: Bench, update: int) -> None:
    stages = [
        Stage(2, (TEXTURE0 + i % 3, BUFFER, 0), (0, 0, 0), 0, 3, (TEXTURE0 + (i + 1) % 3, BUFFER, 0)) for i in range(6)
    ]
    bench.check(*stages, update=update, buffer_color=0x40302010)


def test_random_chains_of_six_stages_match_the_model(gpu: Any) -> None:
    random = np.random.default_rng(2024)
    bench = Bench(gpu, 5)
    sources = [
        PRIMARY,
        FRAGMENT0,
        FRAGMENT1,
        TEXTURE0,
        TEXTURE1,
        TEXTURE2,
        TEXTURE3,
        BUFFER,
        CONSTANT,
        PREVIOUS,
        PREVIOUS,
        TEXTURE0,
    ]

    def three(values: Sequence[int]) -> tuple[int, ...]:
        return tuple(int(v) for v in random.choice(values, 3))

    for _ in range(30):
        stages = [
            Stage(
                int(random.integers(0, 10)), three(sources), three([0, 0, 0, 1, 2, 3, 4, 5, 8, 9, 0xC, 0xD]),
                int(random.integers(0, 4)),
                int(random.choice([0, 1, 2, 3, 4, 5, 8, 9])), three(sources), three(range(8)), int(random.integers(0,
                4)),
                int(random.integers(0, 1 << 32)),
            )
            for _ in range(6)
        ]  # fmt: skip
        bench.check(*stages, update=int(random.integers(0, 256)) << 8, buffer_color=int(random.integers(0, 1 << 32)))
