"""Procedural textures against a scalar model written down again from the documents, and scenes through the machine.

Sources: 3dbrew GPU/Internal Registers (procedural texture registers); arithmetic of public simulators.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from pocketgpu.facts.pica import PICA
from pocketgpu.lanes import F32, I32, I64, Engine, Lang, Value, kernel
from pocketgpu.pica.core.layout import BANK_INDEX, PACKET, PACKET_REGISTERS
from pocketgpu.pica.core.registers import LiveRegisters, StaticRegisters
from pocketgpu.pica.texture.proctex import ProcTex
from pocketgpu.pica.texture.units import Ratio

NOISE, RGB, ALPHA, COLOR, DIFFERENCE = 0, 2, 3, 4, 5
ZERO, EDGE, REPEAT, MIRROR, PULSE = range(5)
TEXTURE3 = 6


# -- the model --------------------------------------------------------------------------------------------------------


def f16(value: float) -> int:
    """1 sign, 5 exponent, 10 mantissa bits, for values that fit."""
    return int(struct.unpack("<H", struct.pack("<e", value))[0])


@dataclass
class Config:
    """What the registers and tables say, as numbers."""

    clamp: tuple[int, int] = (EDGE, EDGE)
    shift: tuple[int, int] = (0, 0)
    functions: tuple[int, int] = (0, 0)
    separate: bool = False
    noise: bool = False
    amplitude: tuple[int, int] = (0, 0)
    phase: tuple[float, float] = (0.0, 0.0)
    frequency: tuple[float, float] = (0.0, 0.0)
    filter: int = 1
    width: int = 255
    offsets: tuple[int, ...] = (0, 0, 0, 0)
    bias: float = 0.0
    levels: tuple[int, int] = (0, 0)
    tables: dict[int, np.ndarray] = field(default_factory=dict)

    @property
    def words(self) -> dict[int, int]:
        """Registers 0A8 to 0AD."""
        u16 = lambda a: a & 0xFFFF  # noqa: E731
        bias = f16(self.bias)
        first = self.clamp[0] | self.clamp[1] << 3 | self.functions[0] << 6 | self.functions[1] << 10
        first |= int(self.separate) << 14 | int(self.noise) << 15 | self.shift[0] << 16 | self.shift[1] << 18
        return {
            0xA8: first | (bias & 0xFF) << 20,
            0xA9: u16(self.amplitude[0]) | f16(self.phase[0]) << 16,
            0xAA: u16(self.amplitude[1]) | f16(self.phase[1]) << 16,
            0xAB: f16(self.frequency[0]) | f16(self.frequency[1]) << 16,
            0xAC: self.filter | self.levels[0] << 3 | self.levels[1] << 7 | self.width << 11 | bias >> 8 << 19,
            0xAD: sum(o << 8 * i for i, o in enumerate(self.offsets)),
        }

    @cached_property
    def contents(self) -> dict[int, list[int]]:
        """All tables, zeros where none was given."""
        sizes = {NOISE: 128, RGB: 128, ALPHA: 128, COLOR: 256, DIFFERENCE: 256}
        return {n: self.tables.get(n, np.zeros(size, np.uint32)).tolist() for n, size in sizes.items()}

    def table(self, number: int) -> list[int]:
        return self.contents[number]


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


def curve(words: Sequence[int], x: float) -> float:
    i = min(int(128 * x), 127)
    return ((words[i] & 0xFFF) + (128 * x - i) * signed(words[i] >> 12 & 0xFFF, 12)) / 4095


def random_1d(k: int) -> int:
    return (k % 9 + 2) * 3 & 15 ^ (0, 4, 10, 8, 4, 9, 7, 12, 5, 15, 13, 14, 11, 15, 2, 11)[k // 9 & 15]


def random_2d(p: int, q: int) -> float:
    a, b = random_1d(p), random_1d(q)
    if a & 3 == 1:
        b += 4
    b ^= (a & 1) * 6
    b = b + 10 + a & 15
    b ^= (10, 2, 15, 8, 0, 7, 4, 5, 5, 13, 2, 6, 13, 9, 3, 14)[a]
    return -1 + 2 * b / 15


def noise(config: Config, u: float, v: float) -> float:
    x = 9 * config.frequency[0] * abs(u + config.phase[0])
    y = 9 * config.frequency[1] * abs(v + config.phase[1])
    i, j = int(x), int(y)
    s, t = x - i, y - j
    words = config.table(NOISE)
    a, b = curve(words, s), curve(words, t)
    low = random_2d(i, j) * (s + t) * (1 - a) + random_2d(i + 1, j) * (s + t - 1) * a
    high = random_2d(i, j + 1) * (s + t - 1) * (1 - a) + random_2d(i + 1, j + 1) * (s + t - 2) * a
    return low * (1 - b) + high * b


def clamped(mode: int, x: float) -> float:
    if mode == ZERO:
        return 0.0 if x > 1 else x
    if mode == REPEAT:
        return x - math.floor(x)
    if mode == MIRROR:
        part = x - math.floor(x)
        return 1 - part if math.floor(x) % 2 else part
    if mode == PULSE:
        return 0.0 if x <= 0.5 else 1.0
    return min(x, 1.0)


def shifted(mode: int, clamp: int, other: float) -> float:
    size = 1.0 if clamp == MIRROR else 0.5
    return size * {0: 0, 1: int(other) // 2 % 2, 2: (int(other) + 1) // 2 % 2}.get(mode, 0)


def mapped(function: int, u: float, v: float) -> float:
    length = math.sqrt(u * u + v * v)
    values = (
        u, u * u, v, v * v, (u + v) / 2, (u * u + v * v) / 2, min(length, 1), min(u, v), max(u, v),
        min(((u + v) / 2 + length) / 2, 1),
    )  # fmt: skip
    return values[function] if function < 10 else 0.0


def row(config: Config, c: float, level: int) -> list[float]:
    """The colour at c of a level, not cut off."""
    first = (*config.offsets, 0xF0, 0xF8, 0xFC, 0xFE)[level]
    index = min(max(first + c * ((config.width >> level) - 1), 0), 255)
    colors, changes = config.table(COLOR), config.table(DIFFERENCE)
    if config.filter % 2 == 0:
        return [float(colors[math.floor(index + 0.5)] >> 8 * i & 255) for i in range(4)]
    n = int(index)
    mixed = [
        (colors[n] >> 8 * i & 255) + (index - n) * 2 * signed(changes[n] >> 8 * i & 255, 8) for i in range(4)
    ]  # fmt: skip
    return [min(max(x, 0.0), 255.0) for x in mixed]


def model(config: Config, u: float, v: float, spread: float = 0.0) -> tuple[int, ...]:
    """The colour at (u, v). spread: sum of the sizes of all four derivatives."""
    u, v = abs(u), abs(v)
    shift = shifted(config.shift[0], config.clamp[0], v), shifted(config.shift[1], config.clamp[1], u)
    if config.noise:
        n = noise(config, u, v)
        u, v = (abs(x + n * a / 4095) for x, a in zip((u, v), config.amplitude, strict=True))
    u, v = clamped(config.clamp[0], u + shift[0]), clamped(config.clamp[1], v + shift[1])
    c = curve(config.table(RGB), mapped(config.functions[0], u, v))
    mips = config.filter // 2 if config.levels[1] else 0
    low, high = config.levels[0], min(config.levels[1], 7)
    footprint = abs(config.width * config.bias) * spread
    lod = math.log2(footprint) if footprint else (0.0 if not config.bias else -99.0)
    lod = min(max(lod, min(low, high)), high)
    if mips == 0:
        color = row(config, c, 0)
    elif mips == 1:
        color = row(config, c, int(lod + 0.5))
    else:
        near, far = row(config, c, int(lod)), row(config, c, min(int(lod) + 1, high))
        color = [a + (b - a) * (lod - int(lod)) for a, b in zip(near, far, strict=True)]
    if config.separate:
        color[3] = min(max(255 * curve(config.table(ALPHA), mapped(config.functions[1], u, v)), 0), 255)
    return tuple(int(x) for x in color)


# -- the unit alone ---------------------------------------------------------------------------------------------------

PACKET_AT, TABLES_AT, INPUT_AT, RESULT_AT = 0x1000, 0x4000, 0x8000, 0xC000


@kernel(count=I32)
def sample_all(k: Lang, count: Value, *, words: tuple[tuple[int, int], ...]) -> None:
    """Sample at `count` points: u and v from INPUT_AT, sizes of the slopes of u and v after them, colours as bytes."""
    packet = k.const(PACKET_AT, I64)
    unit = ProcTex(k, StaticRegisters(dict(words)), LiveRegisters(k, packet + PACKET_REGISTERS), packet)
    for i in k.range(0, count, k.lanes):
        u, v, du, dv = (k.load(F32, k.to_i64((count * part + i) << 2) + INPUT_AT, lanes=k.lanes) for part in range(4))
        zero = du * 0.0
        color = unit.sample(
            Ratio(u, lambda du=du, zero=zero: (du, zero)), Ratio(v, lambda dv=dv, zero=zero: (zero, dv))
        )
        word = color["r"] | (color["g"] << 8) | (color["b"] << 16) | (color["a"] << 24)
        k.store(I32, k.to_i64(i << 2) + RESULT_AT, word)


def run_unit(config: Config, points: np.ndarray, evaluator: str, slopes: Sequence[float] = (0, 0)) -> np.ndarray:
    """Colours (n, 4) of the unit at points (n, 2)."""
    arena = np.zeros(0x10000, np.uint8)
    words = arena.view(np.uint32)
    words[(PACKET_AT + PACKET.VERSIONS) // 4 + BANK_INDEX["proctex_lut"]] = TABLES_AT
    for number, value in config.words.items():
        words[(PACKET_AT + PACKET_REGISTERS) // 4 + number] = value
    tables = np.concatenate([config.table(t) for t in (NOISE, RGB, ALPHA, COLOR, DIFFERENCE)])
    words[TABLES_AT // 4 : TABLES_AT // 4 + len(tables)] = tables
    n = len(points)
    values = np.concatenate([points[:, 0], points[:, 1], np.full(n, slopes[0]), np.full(n, slopes[1])])
    arena[INPUT_AT : INPUT_AT + 16 * n].view(np.float32)[:] = values
    static = {i: w for i, w in config.words.items() if i in (0xA8, 0xAC)}
    if not config.levels[1]:  # the state's normal form knows no levels then
        static[0xAC] &= ~6
    Engine(arena, evaluator).get(sample_all, words=tuple(sorted(static.items())))(n)
    return arena[RESULT_AT : RESULT_AT + 4 * n].reshape(n, 4).astype(int)


def smooth(rng: np.random.Generator, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """Words of a wavy curve between two values, with its own differences."""
    waves = rng.uniform(0.5, 3, 3)[:, None] * np.linspace(0, math.tau, 129) + rng.uniform(0, math.tau, 3)[:, None]
    values = np.sin(waves).sum(axis=0) / 6 + 0.5
    values = np.round((low + (high - low) * values) * 4095).astype(int).clip(0, 4095)
    return (values[:-1] | (np.diff(values) & 0xFFF) << 12).astype(np.uint32)


def random_config(rng: np.random.Generator) -> Config:
    pick = lambda n: int(rng.integers(n))  # noqa: E731
    tables = {NOISE: smooth(rng), RGB: smooth(rng), ALPHA: smooth(rng)}
    # Neighbouring colours differ little, so that an index off by a rounding shows little.
    steps = rng.integers(-9, 10, (256, 4))
    colors = np.abs((np.cumsum(steps, axis=0) + rng.integers(0, 256, 4)) % 510 - 255)
    halves = np.diff(np.concatenate([colors, colors[-1:]]), axis=0) // 2
    pack = lambda a: ((a & 255) << np.array([0, 8, 16, 24])).sum(axis=1).astype(np.uint32)  # noqa: E731
    tables |= {COLOR: pack(colors), DIFFERENCE: pack(halves)}
    return Config(
        clamp=(pick(8), pick(8)), shift=(pick(4), pick(4)), functions=(pick(11), pick(11)),
        separate=bool(pick(2)), noise=bool(pick(2)), amplitude=(pick(16384) - 8192, pick(16384) - 8192),
        phase=tuple(np.float16(rng.uniform(-2, 2, 2)).astype(float)),
        frequency=tuple(np.float16(rng.uniform(0, 2, 2)).astype(float)),
        filter=pick(6), width=pick(256), offsets=tuple(int(o) for o in rng.integers(0, 256, 4)),
        bias=float(np.float16(rng.uniform(-0.1, 0.1))), levels=(pick(10), pick(10)), tables=tables,
    )  # fmt: skip


def allowed(config: Config, u: float, v: float, slopes: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest channels of the model around a point: rounding may put the unit on either side of a step."""
    spread = abs(np.float32(slopes[0])) + abs(np.float32(slopes[1]))
    near = (-2e-5, 0.0, 2e-5)
    found = [model(config, u + a * (1 + abs(u)), v + b * (1 + abs(v)), float(spread)) for a in near for b in near]
    return np.min(found, axis=0) - 1, np.max(found, axis=0) + 1


@pytest.mark.parametrize("seed", range(40))
def test_random_configurations_equal_the_model(seed: int) -> None:
    rng = np.random.default_rng(seed)
    config = random_config(rng)
    points = np.float32(rng.uniform(-3, 3, (64, 2))).astype(float)
    slopes = [float(np.float32(x)) for x in rng.uniform(-2, 2, 2)]
    got = run_unit(config, points, "numpy", slopes)
    bounds = [allowed(config, *p, slopes) for p in points]
    inside = [(low <= c).all() and (c <= high).all() for c, (low, high) in zip(got, bounds, strict=True)]
    exact = [tuple(c) == model(config, *p, abs(slopes[0]) + abs(slopes[1])) for c, p in zip(got, points, strict=True)]
    assert all(inside), config
    assert np.mean(exact) >= 0.95, config


@pytest.mark.parametrize("seed", range(8))
def test_machine_code_gives_the_same_bits(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    config = random_config(rng)
    points = rng.uniform(-4, 4, (128, 2))
    points[:4] = [(np.nan, 1), (np.inf, -np.inf), (1e20, 1e-20), (-0.0, 1)]
    slopes = rng.uniform(-2, 2, 2)
    np.testing.assert_array_equal(run_unit(config, points, "llvm", slopes), run_unit(config, points, "numpy", slopes))


RAMP = np.array([32 * i | 32 << 12 for i in range(127)] + [4064 | 31 << 12], np.uint32)
GREY = np.array([i * 0x01010101 for i in range(256)], np.uint32)


def ramp_config(**more: Any) -> Config:
    """u is the index of a grey ramp."""
    return Config(tables={RGB: RAMP, ALPHA: RAMP, NOISE: RAMP, COLOR: GREY, **more.pop("tables", {})}, **more)


def reds(config: Config, *points: tuple[float, float], **more: Any) -> list[int]:
    padded = np.array([*points, *[(0, 0)] * (-len(points) % 64)], float)
    return [int(c) for c in run_unit(config, padded, "numpy", **more)[: len(points), 0]]


def test_curve_entries_have_a_value_and_a_signed_difference() -> None:
    table = np.zeros(128, np.uint32)
    table[64] = 2000 | (-1000 & 0xFFF) << 12
    table[127] = 1000 | 500 << 12
    config = ramp_config(tables={RGB: table}, filter=0)
    expected = [int(254 * value / 4095 + 0.5) for value in (2000, 2000 - 0.25 * 1000, 1000 + 0.5 * 500, 1500)]
    assert reds(config, (0.5, 0), (64.25 / 128, 0), (127.5 / 128, 0), (1, 0)) == expected


def test_colour_differences_are_signed_halves() -> None:
    change = np.zeros(256, np.uint32)
    change[10] = 100 | (-100 & 255) << 8
    config = ramp_config(tables={DIFFERENCE: change, COLOR: np.full(256, 0x80808080, np.uint32)}, filter=1, width=129)
    # Index 10.5 of 128: half of twice the stored difference.
    low, high = run_unit(config, np.full((64, 2), 10.5 / 128), "numpy")[0, :2]
    assert abs(low - 228) <= 1 and abs(high - 28) <= 1


def test_colours_stay_in_range() -> None:
    config = ramp_config(tables={DIFFERENCE: np.full(256, 0x80807F80, np.uint32)}, filter=1)
    got = run_unit(config, np.stack([np.linspace(0, 1, 64)] * 2, axis=1), "numpy")
    assert got.min() == 0 and got.max() == 255


@pytest.mark.parametrize("filter", [0, 1])
def test_rows_start_at_the_programmed_entry_and_have_the_programmed_width(filter: int) -> None:
    config = ramp_config(filter=filter, width=11, offsets=(100, 0, 0, 0))
    assert reds(config, (0, 0), (0.5, 0), (1, 0)) == [100, 105, 110]
    # Past the end of the table its last entry is repeated, without the difference to the next one.
    assert reds(ramp_config(filter=filter, width=100, offsets=(250, 0, 0, 0)), (1, 0)) == [255]
    tables = {COLOR: GREY ^ 0xFF, DIFFERENCE: np.full(256, 20, np.uint32)}
    assert reds(ramp_config(filter=filter, width=100, offsets=(250, 0, 0, 0), tables=tables), (1, 0)) == [0]


@pytest.mark.parametrize(
    ("level", "first"), [(0, 10), (1, 20), (2, 30), (3, 40), (4, 0xF0), (5, 0xF8), (6, 0xFC), (7, 0xFE)]
)
def test_levels_begin_at_programmed_entries_and_the_upper_ones_at_fixed_ones(level: int, first: int) -> None:
    config = ramp_config(filter=2, width=128, offsets=(10, 20, 30, 40), bias=1.0, levels=(0, 7))
    # A footprint of 2 ** level texels.
    slopes = (2.0**level / 128, 0)
    width = 128 >> level
    assert reds(config, (0, 0), (1, 0), slopes=slopes) == [first, min(first + width - 1, 255)]


def test_level_of_detail_has_a_bias_factor_and_bounds() -> None:
    options: dict[str, Any] = {"filter": 2, "width": 128, "offsets": (10, 20, 30, 40)}
    at = lambda slope, **more: reds(ramp_config(**options, **more), (0, 0), slopes=(slope, 0))[0]  # noqa: E731
    assert at(1 / 128, bias=4.0, levels=(0, 7)) == 30
    assert at(1 / 128, bias=-4.0, levels=(0, 7)) == 30
    assert at(64.0, bias=0.0, levels=(0, 7)) == 10
    assert at(0.0, bias=1.0, levels=(0, 7)) == 10
    assert at(64.0, bias=1.0, levels=(0, 2)) == 30
    assert at(64.0, bias=1.0, levels=(0, 15)) == 0xFE
    assert at(0.0, bias=1.0, levels=(1, 3)) == 20
    assert at(8 / 128, bias=1.0, levels=(0, 0)) == 10


def test_linear_level_mixes_two_rows() -> None:
    config = ramp_config(filter=4, width=128, offsets=(0, 100, 200, 0), bias=1.0, levels=(0, 7))
    assert reds(config, (0, 0), slopes=(2**1.5 / 128, 0))[0] in (149, 150)
    assert reds(config, (0, 0), slopes=(2**0.25 / 128, 0))[0] in (24, 25)


# -- through the machine ----------------------------------------------------------------------------------------------


def program(gpu: Any, config: Config, coordinates: int = 0) -> None:
    """Write registers and tables, and show texture 3."""
    for number, word in config.words.items():
        gpu.write(number, word)
    for table in (NOISE, RGB, ALPHA, COLOR, DIFFERENCE):
        words = config.table(table)
        gpu.set(PROCTEX_LUT=table << 8)
        for first in range(0, len(words), 64):
            gpu.write("PROCTEX_LUT_DATA0", *words[first : first + 64])
    gpu.set(TEXUNIT_CONFIG=0x400 | coordinates << 8)
    gpu.stage(0, sources=(TEXTURE3,) * 3)


def colors(gpu: Any) -> np.ndarray:
    return gpu.pixels()  # type: ignore[no-any-return]


@pytest.fixture
def both(make_gpu: Callable[..., Any]) -> Iterator[Callable[..., np.ndarray]]:
    """Run a scene with both evaluators, check that they agree, give the pixels."""

    def run(scene: Callable[[Any], None], **options: Any) -> np.ndarray:
        results = []
        for evaluator in ("llvm", "numpy"):
            gpu = make_gpu(evaluator=evaluator, **options)
            scene(gpu)
            gpu.run()
            results.append(colors(gpu))
            assert not gpu.ids
        np.testing.assert_array_equal(results[0], results[1])
        return results[0]

    yield run


def centres(scale: float = 1.0) -> np.ndarray:
    return (np.arange(16) + 0.5) / 16 * scale


@pytest.mark.parametrize("seed", range(4))
def test_scene_equals_the_model(both: Callable[..., np.ndarray], seed: int) -> None:
    config = random_config(np.random.default_rng(seed + 50))
    uv = [(0, 0, 1, 1), (2, 0, 1, 1), (0, 3, 1, 1), (2, 3, 1, 1)]

    def scene(gpu: Any) -> None:
        program(gpu, config)
        gpu.quad(uv0=uv)

    got = both(scene)
    slopes = (2 / 16, 3 / 16)
    fits = 0
    for y, v in enumerate(centres(3)):
        for x, u in enumerate(centres(2)):
            low, high = allowed(config, u, v, slopes)
            fits += bool((low <= got[y, x]).all() and (got[y, x] <= high).all())
    assert fits == 256


@pytest.mark.parametrize("coordinates", [0, 1, 2])
def test_unit_3_takes_any_texture_coordinates(both: Callable[..., np.ndarray], coordinates: int) -> None:
    config = ramp_config(filter=0, width=255)

    def scene(gpu: Any) -> None:
        program(gpu, config, coordinates)
        # u of each: across, up, the reverse of across.
        gpu.quad(
            uv0=[(0, 0, 1, 1), (1, 0, 1, 1), (0, 0, 1, 1), (1, 0, 1, 1)],
            uv12=[(0, 0, 1, 0), (0, 0, 0, 0), (1, 0, 1, 0), (1, 0, 0, 0)],
        )

    expected = (centres() * 254 + 0.5).astype(int)
    across = np.tile(expected, (16, 1))
    assert np.abs(both(scene)[..., 0] - (across, across.T, across[:, ::-1])[coordinates]).max() <= 1


def test_disabled_unit_is_transparent_black(make_gpu: Callable[..., Any]) -> None:
    gpu = make_gpu()
    program(gpu, ramp_config())
    gpu.set(TEXUNIT_CONFIG=0)
    gpu.put_color(np.full((16, 16), 0x11223344, np.uint32))
    gpu.quad()
    gpu.run()
    assert (gpu.color_words() == 0).all()


def test_each_draw_sees_its_own_tables(both: Callable[..., np.ndarray]) -> None:
    def scene(gpu: Any) -> None:
        for i, box in enumerate([(-1, -1, 0, 1), (0, -1, 1, 1)]):
            program(gpu, Config(tables={RGB: RAMP, COLOR: np.full(256, (0x01020304, 0x0A0B0C0D)[i], np.uint32)}))
            gpu.quad(box)

    got = both(scene)
    assert (got[:, :8] == (4, 3, 2, 1)).all()
    assert (got[:, 8:] == (0xD, 0xC, 0xB, 0xA)).all()


def test_table_index_counts_its_low_byte_only(make_gpu: Callable[..., Any]) -> None:
    gpu = make_gpu()
    config = ramp_config(filter=0, offsets=(1, 0, 0, 0))
    program(gpu, config)
    # Two words from entry 255 of the colour table: its last and its first entry.
    gpu.set(PROCTEX_LUT=COLOR << 8 | 255)
    gpu.write("PROCTEX_LUT_DATA3", 0xFF0000AA)
    gpu.write("PROCTEX_LUT_DATA7", 0xFF0000BB)
    gpu.quad(uv0=[(0, 0, 1, 1), (2, 0, 1, 1), (0, 0, 1, 1), (2, 0, 1, 1)])
    gpu.run()
    assert gpu.peek("PROCTEX_LUT") == COLOR << 8 | 1
    got = gpu.pixels()[0, :, 0]
    assert got[-1] == 0xAA and got[0] != 0xBB
    gpu.set(PROCTEX5=0)
    gpu.quad(uv0=(0, 0, 1, 1))
    gpu.run()
    assert (gpu.pixels()[..., 0] == 0xBB).all()


def test_curve_index_wraps_in_128_entries(make_gpu: Callable[..., Any]) -> None:
    gpu = make_gpu()
    program(gpu, ramp_config(filter=0, width=255))
    gpu.set(PROCTEX_LUT=RGB << 8 | 128)  # entry 0 again
    gpu.write("PROCTEX_LUT_DATA0", 4095)
    gpu.quad(uv0=(0, 0, 1, 1))
    gpu.run()
    assert (gpu.pixels() == 254).all()


def test_base_level_switch_keeps_to_the_first_row(make_gpu: Callable[..., Any]) -> None:
    config = ramp_config(filter=2, width=128, offsets=(10, 20, 30, 40), bias=1.0, levels=(2, 2))
    found = []
    for value in ("as-programmed", "base"):
        gpu = make_gpu(texture__levels=value)
        program(gpu, config)
        gpu.quad(uv0=(0, 0, 1, 1))
        gpu.run()
        found.append(int(gpu.pixels()[0, 0, 0]))
    assert found == [30, 10]


def test_registers_are_where_the_documents_put_them() -> None:
    names = [f"TEXUNIT3_PROCTEX{i}" for i in range(6)]
    assert [PICA[name].offset for name in names] == [0xA8, 0xA9, 0xAA, 0xAB, 0xAC, 0xAD]
