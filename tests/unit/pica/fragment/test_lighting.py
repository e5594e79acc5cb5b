"""Fragment lighting, against a second reading of the documents: a model that lights one pixel at a time in Python.

Most tests run the unit alone, with vectors and texture colours of their own for each pixel; the last ones draw with
the whole machine. Sources: 3dbrew GPU/Internal Registers ("Fragment lighting registers"); what it leaves open is as the
public software models have it (see the choices).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from pocketgpu.facts.choices import DEFAULTS
from pocketgpu.facts.pica import PICA
from pocketgpu.lanes import F32, I32, Engine, Lang, Type, Value, kernel
from pocketgpu.pica.core.layout import BANK_INDEX, PACKET, PACKET_REGISTERS
from pocketgpu.pica.core.registers import LiveRegisters, StaticRegisters
from pocketgpu.pica.fragment.lighting import QUATERNION_SLOTS, VIEW_SLOTS, Lighting
from pocketgpu.pica.fragment.lighting_state import FIELDS, normal_form, units_read

PIXELS = 64
PACKET_AT, FORM_AT, LIGHTS_AT, TABLES_AT, INPUT, OUTPUT = 0x1000, 0x3000, 0x4000, 0x8000, 0x10000, 0x20000
COLOR_ROWS = 7  # rows of the input: quaternion, view, then r, g, b, a of four texture units
D0, D1, FR, RB, RG, RR, SP, DA = 0, 1, 3, 4, 5, 6, 8, 16
# Where a table's fields start in ABS (one bit higher), SELECT and SCALE.
NIBBLE = {D0: 0, D1: 4, SP: 8, FR: 12, RB: 16, RG: 20, RR: 24}
OFF = {D0: 16, D1: 17, FR: 19, RB: 20, RG: 21, RR: 22}
LAYERS = {
    0: (D0, RR, SP), 1: (FR, RR, SP), 2: (D0, D1, RR), 3: (D0, D1, FR), 4: (D0, D1, RR, RG, RB, SP),
    5: (D0, FR, RR, RG, RB, SP), 6: (D0, D1, FR, RR, SP), 8: tuple(NIBBLE),
}  # fmt: skip
N_H, V_H, N_V, L_N, SPOT, COS_PHI = range(6)
LIGHT_ON_TOP = {"LIGHT0_XY": 0, "LIGHT0_Z": 0x3C00, "LIGHT0_CONFIG": 1, "LIGHTING_CONFIG1": 0xFF00FF00}
UP, AHEAD = (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0)
Color = tuple[int, int, int, int]


def f16(x: float) -> int:
    return int(np.float16(x).view(np.uint16))


def f20(x: float) -> int:
    """1 sign, 7 exponent (bias 63), 12 mantissa bits."""
    bits = int(np.float32(x).view(np.uint32))
    return 0 if bits << 1 == 0 else bits >> 31 << 19 | (bits >> 23 & 0xFF) - 64 << 12 | bits >> 11 & 0xFFF


def gray(level: int) -> int:
    return level | level << 10 | level << 20


def wave(random: np.random.Generator) -> np.ndarray:
    """A smooth table that also joins its ends, with differences that fit."""
    values = np.rint(2048 + random.uniform(200, 1900) * np.sin(np.arange(257) * math.tau / 256 + random.uniform(0, 6)))
    slope = np.rint(np.diff(values) * 2047 / 4095).astype(int)
    return (values[:256].astype(int) | abs(slope) << 12 | (slope < 0) << 23).astype(np.uint32)


# -- the model --------------------------------------------------------------------------------------------------------


def floating(bits: int, exponent: int, mantissa: int) -> float:
    e, m = bits >> mantissa & (1 << exponent) - 1, bits & (1 << mantissa) - 1
    if e == 0:
        return 0.0
    value = math.ldexp(1 + m / (1 << mantissa), e - (1 << exponent - 1) + 1)
    return -value if bits >> exponent + mantissa & 1 else value


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def cross(a: Sequence[float], b: Sequence[float]) -> list[float]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def unit(a: Sequence[float]) -> list[float]:
    size = math.sqrt(dot(a, a))
    return [x / size if size else 0.0 for x in a]


def turn(q: Sequence[float], v: Sequence[float]) -> list[float]:
    q = unit(q)
    inner = [c + q[3] * x for c, x in zip(cross(q[:3], v), v, strict=True)]
    return [x + 2 * c for x, c in zip(v, cross(q[:3], inner), strict=True)]


class Model:
    """One configuration of the unit: register words by name, the 24 tables, and choices that differ."""

    def __init__(self, words: Mapping[str, int], tables: np.ndarray, choices: Mapping[str, str]) -> None:
        self.words, self.tables, self.choices = words, tables, choices
        self.layer = self.bits("LIGHTING_CONFIG0", 4, 4)

    def bits(self, name: str, lo: int, width: int = 1) -> int:
        return self.words.get(name, 0) >> lo & (1 << width) - 1

    def color(self, name: str) -> list[float]:
        width = int(self.choices.get("lighting.color_bits", "10"))
        return [self.bits(name, lo, width) / 255 for lo in (20, 10, 0)]

    def on(self, table: int) -> bool:
        if table == SP:
            return SP in LAYERS[self.layer]
        off = dict(OFF)
        if self.choices.get("lighting.off_bits") == "rr-rg-rb":
            off[RR], off[RB] = 20, 22
        return table in LAYERS[self.layer] and not self.bits("LIGHTING_CONFIG1", off[table])

    def entry(self, table: int, index: int, rest: float) -> float:
        word = int(self.tables[table, index])
        slope = (word >> 12 & 0x7FF) / 2047
        return (word & 0xFFF) / 4095 + rest * (-slope if word >> 23 & 1 else slope)

    def read(self, table: int, x: float) -> float:
        """A table over 0..1."""
        if self.choices.get("lighting.lut") == "nearest":
            return self.entry(table, min(max(int(255 * x), 0), 255), 0)
        index = min(max(math.floor(256 * x), 0), 255)
        return self.entry(table, index, 256 * x - index)

    def look_up(self, table: int, inputs: Sequence[float], two_sided: bool, number: int = 0) -> float:
        at = NIBBLE[table]
        select = self.bits("LIGHTING_LUTINPUT_SELECT", at, 3)
        x = inputs[select] if select < len(inputs) else 0.0
        if not self.bits("LIGHTING_LUTINPUT_ABS", at + 1):
            value = self.read(table + number, abs(x) if two_sided else max(x, 0.0))
        elif self.choices.get("lighting.lut") == "nearest":
            value = self.entry(table + number, min(max(int(127 * x), -128), 127) & 255, 0)
        else:
            index = min(max(math.floor(128 * x), -128), 127)
            value = self.entry(table + number, index & 255, 128 * x - index)
        return value * {0: 1, 1: 2, 2: 4, 3: 8, 6: 0.25, 7: 0.5}[self.bits("LIGHTING_LUTINPUT_SCALE", at, 3)]

    def shade(self, q: Sequence[float], v: Sequence[float], textures: Sequence[Color]) -> list[int]:
        """Primary and secondary colour for a quaternion, a view vector and the colours of the texture units."""
        bits, config0 = self.bits, partial(self.bits, "LIGHTING_CONFIG0")
        normal, tangent = [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]
        bump = [c / 127.5 - 1 for c in textures[config0(22, 2)][:3]]
        if config0(28, 2) == 1:
            normal = bump
            if not config0(30):
                normal[2] = math.sqrt(max(0.0, 1 - bump[0] ** 2 - bump[1] ** 2))
        elif config0(28, 2) == 2:
            tangent = bump
        n, t, eye = turn(q, normal), turn(q, tangent), unit(v)
        shadow = [1.0] * 4
        if config0(0):
            shadow = [(255 - c if config0(18) else c) / 255 for c in textures[config0(24, 2)]]
        diffuse, specular, fresnel = self.color("LIGHTING_AMBIENT"), [0.0] * 3, 1.0
        by_fresnel = self.on(FR) and config0(2, 2)
        total = 0.0
        for k in range(bits("LIGHTING_NUM_LIGHTS", 0, 3) + 1):
            i = bits("LIGHTING_LIGHT_PERMUTATION", 4 * k, 3)
            name = f"LIGHT{i}_"
            places = (("XY", 0), ("XY", 16), ("Z", 0))
            way = [floating(bits(name + word, lo, 16), 5, 10) for word, lo in places]
            if not bits(name + "CONFIG", 0):
                way = [a + b for a, b in zip(way, v, strict=True)]
            distance, to = math.sqrt(dot(way, way)), unit(way)
            half = [a + b for a, b in zip(eye, to, strict=True)]
            h = unit(half)
            sided = bool(bits(name + "CONFIG", 1))
            raw = [bits(f"{name}SPOTDIR_{word}", lo, 13) for word, lo in places]
            spot = [(s - 8192 if s >= 4096 else s) / 2047 for s in raw]
            cos_phi = dot([a - b * dot(n, h) for a, b in zip(h, n, strict=True)], t) if self.layer == 8 else 0.0
            inputs = [dot(n, h), dot(eye, h), dot(n, eye), dot(to, n), dot(to, spot), cos_phi]
            factor = 1.0
            if not bits("LIGHTING_CONFIG1", 24 + i):
                bias, scale = (floating(bits(name + f"ATTENUATION_{p}", 0, 20), 7, 12) for p in ("BIAS", "SCALE"))
                factor = self.read(DA + i, min(max(bias + scale * distance, 0.0), 1.0))
            if self.on(SP) and not bits("LIGHTING_CONFIG1", 8 + i):
                factor *= self.look_up(SP, inputs, sided, i)
            nl = abs(dot(to, n)) if sided else max(dot(to, n), 0.0)
            table = {c: self.look_up(c, inputs, sided) if self.on(c) else 1.0 for c in (*OFF,)}
            reflected = [table[c] if self.on(c) else table[RR] for c in (RR, RG, RB)]
            geometric = min(nl / dot(half, half), 1.0) if dot(half, half) else 0.0
            g0, g1 = (geometric if bits(name + "CONFIG", b) else 1.0 for b in (2, 3))
            dark = [1.0] * 3 if bits("LIGHTING_CONFIG1", i) else shadow[:3]
            hl = 0.0 if config0(27) and nl == 0 else 1.0
            s0, s1, d, a = (self.color(name + c) for c in ("SPECULAR0", "SPECULAR1", "DIFFUSE", "AMBIENT"))
            for c in range(3):
                diffuse[c] += (d[c] * nl * (dark[c] if config0(16) else 1.0) + a[c]) * factor
                shine = s0[c] * table[D0] * g0 + s1[c] * table[D1] * reflected[c] * g1
                specular[c] += shine * hl * factor * (dark[c] if config0(17) else 1.0)
            fresnel = table[FR]
            total += fresnel
        alpha = (total if self.choices.get("lighting.fresnel") == "sum" else fresnel) if by_fresnel else 1.0
        if config0(0) and config0(19):
            alpha *= shadow[3]
        alphas = [alpha if config0(2 + i) else 1.0 for i in range(2)]
        return [int(min(max(c, 0.0), 1.0) * 255 + 1e-9) for c in (*diffuse, alphas[0], *specular, alphas[1])]


# -- the unit alone ---------------------------------------------------------------------------------------------------


@kernel()
def shade(
    k: Lang, *, words: tuple[tuple[int, int], ...], general: bool, used: tuple[int, ...],
    choices: tuple[tuple[str, str], ...],
) -> None:  # fmt: skip
    """Light PIXELS pixels with vectors and colours from INPUT, rows of PIXELS numbers each."""
    packet = k.i64(PACKET_AT)
    live = LiveRegisters(k, packet + PACKET_REGISTERS)
    state = LiveRegisters(k, k.i64(FORM_AT)) if general else StaticRegisters(dict(words))
    lighting = Lighting(k, state, live, packet, set(used), dict(choices), k.i64(LIGHTS_AT))
    rows = {slot: row for row, slot in enumerate((*QUATERNION_SLOTS, *VIEW_SLOTS))}
    for n in k.range(0, PIXELS, k.lanes):

        def read(type: Type, row: int, n: Value = n) -> Value:
            return k.load(type, k.to_i64(n << 2) + (INPUT + 4 * PIXELS * row), lanes=k.lanes)

        def plane(slot: int, read: Callable[..., Value] = read) -> Value:
            return read(F32, rows[slot]) * 0.5  # and w = 2: the unit has to undo the division

        def color(number: int, read: Callable[..., Value] = read) -> dict[str, Value]:
            return {c: read(I32, COLOR_ROWS + 4 * number + i) for i, c in enumerate("rgba")}

        colors = lighting.shade(plane, k.splat(2.0, type=F32), color)
        for i, value in enumerate(c for color in colors for c in color.values()):
            k.store(I32, k.to_i64(n << 2) + (OUTPUT + 4 * PIXELS * i), value)


class Unit:
    """The lighting unit with registers, tables and pixels to be set."""

    def __init__(self, **choices: str) -> None:
        self.words: dict[str, int] = {"LIGHTING_CONFIG0": 0, "LIGHTING_CONFIG1": 0xFF00FF00}
        self.tables = np.zeros((24, 256), np.uint32)
        self.choices = {f"lighting.{name}": value for name, value in choices.items()}
        self.q = np.tile(np.float32(UP), (PIXELS, 1))
        self.v = np.tile(np.float32(AHEAD), (PIXELS, 1))
        self.colors = np.zeros((PIXELS, 4, 4), np.int32)

    def set(self, **words: int) -> None:
        self.words |= words

    def form(self, used: set[int]) -> dict[str, int]:
        registers = StaticRegisters({PICA[name].offset: word for name, word in self.words.items()})
        return normal_form(registers, used, {**DEFAULTS, **self.choices})

    def run(self, evaluator: str = "llvm", general: bool = True, used: tuple[int, ...] = (1, 2)) -> np.ndarray:
        """(PIXELS, 8): primary r, g, b, a and secondary r, g, b, a."""
        words: dict[int, int] = {}
        for name, value in self.form(set(used)).items():
            field = PICA.field(name)
            words[field.register.offset] = words.get(field.register.offset, 0) | value << field.lo
        arena = np.zeros(1 << 18, np.uint8)

        def at(start: int, type: Any = np.uint32) -> np.ndarray:
            return arena[start:].view(type)

        for number, word in words.items():
            at(FORM_AT)[number] = word
        for name, word in self.words.items():
            at(PACKET_AT + PACKET_REGISTERS)[PICA[name].offset] = word
        at(PACKET_AT + PACKET.VERSIONS)[BANK_INDEX["lighting_lut"]] = TABLES_AT
        at(TABLES_AT)[: self.tables.size] = self.tables.ravel()
        vectors = np.concatenate([self.q, self.v], axis=1).astype(np.float32).T
        at(INPUT, np.float32)[: vectors.size] = vectors.ravel()
        colors = self.colors.reshape(PIXELS, 16).T
        at(INPUT + 4 * vectors.size, np.int32)[: colors.size] = colors.ravel()
        static = () if general else tuple(sorted(words.items()))
        run = Engine(arena, evaluator).get(
            shade, words=static, general=general, used=used, choices=tuple(sorted(self.choices.items()))
        )
        run()
        return at(OUTPUT, np.int32)[: 8 * PIXELS].reshape(8, PIXELS).T.copy()

    def one(self, **more: Any) -> tuple[list[int], list[int]]:
        """What the first pixel gets; the same for all, and what the model says."""
        got = self.run(**more)
        if not more:
            assert abs(got - self.expected(slice(1))).max() <= 1
        return got[0, :4].tolist(), got[0, 4:].tolist()

    def expected(self, which: slice = slice(None)) -> np.ndarray:
        model = Model(self.words, self.tables, self.choices)
        pixels = zip(self.q[which].tolist(), self.v[which].tolist(), self.colors[which].tolist(), strict=True)
        return np.array([model.shade(q, v, c) for q, v, c in pixels])

    def aim(self, cosine: float) -> None:
        """Put directional light 0 at an angle to the normal (and to the eye, which is straight above)."""
        self.set(LIGHT0_XY=f16(math.sqrt(1 - cosine * cosine)), LIGHT0_Z=f16(cosine), LIGHT0_CONFIG=1)


def on_top(**choices: str) -> Unit:
    """One white directional light straight above a surface that is seen from straight above; all tables hold 1."""
    lamp = Unit(**choices)
    lamp.set(**LIGHT_ON_TOP, LIGHT0_DIFFUSE=gray(255), LIGHT0_SPECULAR0=gray(255))
    lamp.tables[:] = 4095
    return lamp


def scramble(seed: int) -> Unit:
    """Everything at random, within what the documents define."""
    random = np.random.default_rng(seed)

    def draw(*bounds: int) -> int:
        return int(random.integers(*bounds))

    unit = Unit()
    unit.tables[:] = [wave(random) for _ in range(24)]
    layer = (0, 1, 2, 3, 4, 5, 6, 8)[seed % 8]
    unit.set(
        LIGHTING_CONFIG0=draw(2**32) & 0x5BCF000D | layer << 4 | draw(3) << 28,
        LIGHTING_CONFIG1=draw(2**32) & (draw(2**32) | 0xFF00FFFF) & 0xFFFBFFFF,
        LIGHTING_NUM_LIGHTS=draw(8), LIGHTING_LIGHT_PERMUTATION=draw(2**32) & 0x77777777,
        LIGHTING_AMBIENT=draw(2**30) & gray(31), LIGHTING_LUTINPUT_ABS=draw(2**32) & 0x02222222,
        LIGHTING_LUTINPUT_SELECT=sum(draw(6) << at for at in NIBBLE.values()),
        LIGHTING_LUTINPUT_SCALE=sum((0, 0, 1, 2, 3, 6, 7)[draw(7)] << at for at in NIBBLE.values()),
    )  # fmt: skip
    for i in range(8):
        place = [f16(x) for x in random.uniform(-2, 2, 3)]
        light = {
            "SPECULAR0": draw(2**30) & gray(63), "SPECULAR1": draw(2**30) & gray(63), "DIFFUSE": draw(2**30) & gray(63),
            "AMBIENT": draw(2**30) & gray(15), "XY": place[0] | place[1] << 16, "Z": place[2], "CONFIG": draw(16),
            "SPOTDIR_XY": draw(2**32) & 0x1FFF1FFF, "SPOTDIR_Z": draw(2**13),
            "ATTENUATION_BIAS": f20(random.uniform(-0.2, 0.5)), "ATTENUATION_SCALE": f20(random.uniform(-0.3, 0.3)),
        }  # fmt: skip
        unit.set(**{f"LIGHT{i}_{name}": word for name, word in light.items()})
    unit.q = (random.normal(size=(PIXELS, 4)) * random.uniform(0.3, 2, (PIXELS, 1))).astype(np.float32)
    unit.v = random.uniform(-2, 2, (PIXELS, 3)).astype(np.float32)
    unit.colors = random.integers(0, 256, (PIXELS, 4, 4)).astype(np.int32)
    return unit


@pytest.mark.parametrize("seed", range(48))
def test_random_configurations_match_the_model(seed: int) -> None:
    unit = scramble(seed)
    assert abs(unit.run() - unit.expected()).max() <= 1


@pytest.mark.parametrize("seed", range(100, 116))
def test_specialised_and_general_code_and_both_evaluators_agree(seed: int) -> None:
    unit = scramble(seed)
    used = ((1, 2), (1, 2), (1,), (2,))[seed % 4]
    expected = unit.run(used=used)
    if len(used) == 1:  # the other colour is left out
        half = slice(0, 4) if used == (1,) else slice(4, 8)
        np.testing.assert_array_equal(expected[:, half], unit.run()[:, half])
    for evaluator, general in itertools.product(("llvm", "numpy"), (True, False)):
        np.testing.assert_array_equal(unit.run(evaluator, general, used), expected)


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_uses_its_tables_and_no_others(layer: int) -> None:
    lamp = on_top()
    lamp.set(LIGHT0_SPECULAR0=gray(100), LIGHT0_SPECULAR1=gray(100), LIGHTING_CONFIG0=layer << 4 | 3 << 2)
    lamp.set(LIGHTING_CONFIG1=0)
    plain = lamp.run()[0]
    for table in (*NIBBLE, DA):
        lamp.tables[table] = 2000
        changed = lamp.one()
        lamp.tables[table] = 4095
        assert (plain.tolist() != changed[0] + changed[1]) == (table in (*LAYERS[layer], DA)), table


def test_unknown_layers_have_all_tables() -> None:
    lamp = on_top()
    lamp.set(LIGHTING_CONFIG0=8 << 4, LIGHT0_SPECULAR1=gray(100))
    lamp.tables[RG], lamp.tables[D1] = 1000, 3000
    expected = lamp.run()
    for layer in (7, 9, 15):
        lamp.set(LIGHTING_CONFIG0=layer << 4)
        np.testing.assert_array_equal(lamp.run(), expected)


@pytest.mark.parametrize(
    ("code", "cosine"),
    [(N_H, math.sqrt((1 + 0.6) / 2)), (V_H, math.sqrt((1 + 0.6) / 2)), (N_V, 1.0), (L_N, 0.6), (6, 0.0), (7, 0.0)],
)
def test_inputs_of_a_table(code: int, cosine: float) -> None:
    lamp = on_top()
    lamp.tables[D0] = np.arange(256) * 16 | 8 << 12  # 16 / 4095 an entry is about 8 / 2047
    lamp.aim(0.6)
    lamp.set(LIGHTING_LUTINPUT_SELECT=code)
    assert lamp.run()[0, 4] == pytest.approx(cosine * 255, abs=1.5)


def test_the_sixth_input_needs_the_layer_with_all_tables() -> None:
    lamp = on_top()
    lamp.tables[D0] = np.arange(256) * 16
    lamp.aim(0.6)
    lamp.set(LIGHTING_LUTINPUT_SELECT=COS_PHI, LIGHTING_CONFIG0=8 << 4)
    # What of the half vector lies in the surface, along the tangent.
    assert lamp.one()[1][0] == pytest.approx(255 * math.sqrt((1 - 0.6) / 2), abs=1.5)
    lamp.set(LIGHTING_CONFIG0=0)
    assert lamp.one()[1][0] == 0


def test_without_abs_bit_negative_cosines_count_as_none_unless_two_sided() -> None:
    lamp = on_top()
    lamp.aim(-0.5)
    lamp.set(LIGHTING_LUTINPUT_SELECT=L_N)
    lamp.tables[D0] = np.arange(256)[::-1] * 16
    assert lamp.one()[1][0] == pytest.approx(254, abs=1)  # entry 0
    lamp.set(LIGHT0_CONFIG=3)
    assert lamp.one()[1][0] == pytest.approx(127, abs=1)  # entry 128
    assert lamp.one()[0][0] == pytest.approx(127, abs=1)


def test_with_abs_bit_the_upper_half_of_a_table_is_for_negative_cosines() -> None:
    lamp = on_top()
    lamp.set(LIGHTING_LUTINPUT_SELECT=L_N, LIGHTING_LUTINPUT_ABS=2)
    lamp.tables[D0] = np.arange(256) * 16
    for cosine, entry in ((-0.5, 192), (0.5, 64), (-1.0, 128), (1.0, 127), (-1 / 256, 255)):
        lamp.aim(cosine)
        assert lamp.one()[1][0] == pytest.approx(entry * 16 / 4095 * 255, abs=2), cosine


@pytest.mark.parametrize(("code", "factor"), [(0, 1), (1, 2), (2, 4), (3, 8), (6, 0.25), (7, 0.5)])
def test_scales(code: int, factor: float) -> None:
    lamp = on_top()
    lamp.tables[D0] = 400
    lamp.set(LIGHTING_LUTINPUT_SCALE=code)
    assert lamp.one()[1][0] == int(400 / 4095 * factor * 255)


def test_differences_have_a_sign_and_a_magnitude() -> None:
    lamp = on_top()
    lamp.set(LIGHTING_LUTINPUT_SELECT=L_N)
    lamp.aim(0.5 + 0.75 / 256)
    lamp.tables[D0] = 2000 | 800 << 12
    assert lamp.one()[1][0] == pytest.approx((2000 / 4095 + 0.75 * 800 / 2047) * 255, abs=2.5)
    lamp.tables[D0] = 2000 | 800 << 12 | 1 << 23
    assert lamp.one()[1][0] == pytest.approx((2000 / 4095 - 0.75 * 800 / 2047) * 255, abs=2.5)


def test_a_light_above_gives_its_full_colour() -> None:
    lamp = on_top()
    lamp.set(LIGHT0_DIFFUSE=0x01F << 20 | 0x0FE << 10 | 0x0FF, LIGHT0_Z=f16(3.0), LIGHT0_CONFIG=0)
    for height in (0.1, 0.7, 3.0, 11.0):
        lamp.v[:] = (0, 0, height)
        assert lamp.one()[0] == [0x1F, 0xFE, 0xFF, 255]


def test_positional_lights_are_seen_from_the_surface() -> None:
    """Light and eye are both 1 above a point, but the light is 2 to the side: 45 degrees after 1 more."""
    lamp = on_top()
    lamp.set(LIGHT0_XY=f16(2.0), LIGHT0_Z=0, LIGHT0_CONFIG=0)
    lamp.v[:] = (0, 0, 2)
    assert lamp.one()[0][0] == int(255 * math.sqrt(0.5))


def test_spot_directions_are_stored_negated() -> None:
    lamp = on_top()
    lamp.set(LIGHTING_CONFIG1=0xFF000000, LIGHTING_LUTINPUT_SELECT=SPOT << 8, LIGHT0_SPOTDIR_Z=2047)
    lamp.tables[SP] = np.where(np.arange(256) > 250, 4095, 0)
    assert lamp.one()[0][0] == 255  # shining down, so stored as up
    lamp.set(LIGHT0_SPOTDIR_Z=-2047 & 0x1FFF)
    assert lamp.one()[0][0] == 0
    lamp.set(LIGHTING_CONFIG1=0xFF000100)
    assert lamp.one()[0][0] == 255


def test_distance_attenuation() -> None:
    lamp = on_top()
    lamp.set(LIGHTING_CONFIG1=0x0000FF00, LIGHT0_Z=f16(3.0), LIGHT0_AMBIENT=gray(100), LIGHT0_DIFFUSE=0)
    lamp.set(LIGHT0_ATTENUATION_SCALE=f20(0.125), LIGHT0_ATTENUATION_BIAS=f20(0.25))
    lamp.tables[DA] = np.arange(256)[::-1] * 16
    assert lamp.one()[0][0] == pytest.approx(100 * (255 - 0.625 * 256) * 16 / 4095, abs=1)
    lamp.set(LIGHT0_ATTENUATION_BIAS=f20(2.0))  # beyond the end
    assert lamp.one()[0][0] == 0
    lamp.set(LIGHTING_CONFIG1=0xFF00FF00)
    assert lamp.one()[0][0] == 100


@pytest.mark.parametrize("bit", [4, 8])
def test_geometric_factors(bit: int) -> None:
    lamp = on_top()
    colors = {4: "LIGHT0_SPECULAR0", 8: "LIGHT0_SPECULAR1"}
    lamp.set(LIGHT0_SPECULAR0=0, LIGHT0_SPECULAR1=0)
    lamp.set(**{colors[bit]: gray(255)})
    lamp.aim(0.5)
    assert lamp.one()[1][0] == 255
    lamp.set(LIGHT0_CONFIG=1 | bit)
    assert lamp.one()[1][0] == pytest.approx(255 * 0.5 / 3, abs=1)  # N.L / |H|^2, |H|^2 = 2 + 2 L.V
    lamp.set(LIGHT0_CONFIG=1 | bit ^ 12)
    assert lamp.one()[1][0] == 255


def test_geometric_factor_without_a_half_vector_is_dark() -> None:
    lamp = on_top()
    lamp.set(LIGHT0_CONFIG=7)
    lamp.v[:] = (0, 0, -1)
    lamp.tables[D0] = 4095
    assert lamp.one()[1][0] == 0


def test_highlights_can_be_cut_off_behind_the_horizon() -> None:
    lamp = on_top()
    lamp.aim(-0.25)
    assert lamp.one()[1][0] == 255
    lamp.set(LIGHTING_CONFIG0=1 << 27)
    assert lamp.one()[1][0] == 0
    lamp.set(LIGHT0_CONFIG=3)
    assert lamp.one()[1][0] == 255


def test_normal_maps() -> None:
    lamp = on_top()
    lamp.aim(1.0)
    lamp.set(LIGHTING_CONFIG0=1 << 28 | 2 << 22)
    lamp.colors[:, 2] = (128 + 76, 128, 10, 0)  # x = 0.6; z is made to fit
    assert lamp.one()[0][0] == pytest.approx(255 * 0.8, abs=1)
    lamp.set(LIGHTING_CONFIG0=5 << 28 | 2 << 22)
    assert lamp.one()[0][0] == 0
    lamp.colors[:, 2] = (128, 128, 255, 0)
    assert lamp.one()[0][0] >= 254
    lamp.set(LIGHTING_CONFIG0=5 << 28 | 1 << 22)  # another unit, whose texture is black
    assert lamp.one()[0][0] == 0


def test_tangent_maps() -> None:
    lamp = on_top()
    lamp.aim(0.6)
    lamp.tables[D0] = np.arange(256) * 16
    lamp.set(LIGHTING_LUTINPUT_SELECT=COS_PHI, LIGHTING_CONFIG0=8 << 4 | 2 << 28 | 1 << 22)
    lamp.colors[:, 1] = (128 + 64, 128, 128, 0)
    assert lamp.one()[1][0] == pytest.approx(255 * 0.5 * math.sqrt((1 - 0.6) / 2), abs=2.5)


def test_shadows() -> None:
    lamp = on_top()
    lamp.colors[:, 3] = (51, 102, 0, 153)
    base = 1 | 3 << 24
    bright, white = [255] * 4, [255, 255, 255, 255]
    dark = [51, 102, 0, 255]
    lamp.set(LIGHTING_CONFIG0=base)
    assert lamp.one() == (bright, white)
    lamp.set(LIGHTING_CONFIG0=base | 1 << 16)
    assert lamp.one() == (dark, white)
    lamp.set(LIGHTING_CONFIG0=base | 1 << 17)
    assert lamp.one() == (bright, dark)
    lamp.set(LIGHTING_CONFIG0=base | 3 << 16 | 1 << 18)
    assert lamp.one() == ([204, 153, 255, 255],) * 2
    lamp.set(LIGHTING_CONFIG0=base | 1 << 19 | 2 << 2)
    assert lamp.one() == (bright, [255, 255, 255, 153])
    lamp.set(LIGHTING_CONFIG0=base | 3 << 16, LIGHTING_CONFIG1=0xFF00FF01)  # off for this light
    assert lamp.one() == (bright, white)


def two_lights(**choices: str) -> Unit:
    """Light 5, then light 2, both above; the Fresnel table over L.N tells 1 from 0.5."""
    lamp = Unit(**choices)
    lamp.set(LIGHTING_NUM_LIGHTS=1, LIGHTING_LIGHT_PERMUTATION=0x25, LIGHTING_LUTINPUT_SELECT=L_N << NIBBLE[FR])
    for number, cosine in ((5, 1.0), (2, 0.5)):
        name = f"LIGHT{number}_"
        lamp.set(**{name + "XY": f16(math.sqrt(1 - cosine**2)), name + "Z": f16(cosine), name + "CONFIG": 1})
    lamp.tables[FR] = np.arange(256) * 4
    return lamp


def test_fresnel_is_the_last_lights() -> None:
    lamp = two_lights()
    for which in range(4):
        lamp.set(LIGHTING_CONFIG0=1 << 4 | which << 2)
        alphas = [color[3] for color in lamp.one()]
        assert alphas == [pytest.approx(128 * 4 / 4095 * 255, abs=1) if which >> i & 1 else 255 for i in range(2)]
    lamp.set(LIGHTING_LIGHT_PERMUTATION=0x52)
    assert lamp.one()[0][3] == pytest.approx(255 * 4 / 4095 * 255, abs=1)
    lamp.set(LIGHTING_CONFIG1=0xFF08FF00)
    assert lamp.one()[0][3] == 255


def test_fresnel_of_all_lights_is_a_switch() -> None:
    lamp = two_lights(fresnel="sum")
    lamp.set(LIGHTING_CONFIG0=1 << 4 | 3 << 2)
    assert lamp.one()[0][3] == pytest.approx((128 + 255) * 4 / 4095 * 255, abs=1)


@pytest.mark.parametrize(("choices", "tables"), [({}, (RB, RG, RR)), ({"off_bits": "rr-rg-rb"}, (RR, RG, RB))])
def test_bits_that_switch_tables_off(choices: dict[str, str], tables: tuple[int, ...]) -> None:
    lamp = on_top(**choices)
    lamp.set(LIGHTING_CONFIG0=4 << 4, LIGHT0_SPECULAR0=0, LIGHT0_SPECULAR1=gray(255))
    lamp.tables[RR], lamp.tables[RG], lamp.tables[RB] = 1000, 2000, 3000
    level = {RR: 1000, RG: 2000, RB: 3000}
    for bit, table in zip((20, 21, 22), tables, strict=True):
        lamp.set(LIGHTING_CONFIG1=0xFF00FF00 | 1 << bit)
        red = 4095 if table == RR else level[RR]
        expected = [red, *(red if table == t else level[t] for t in (RG, RB))]
        assert lamp.one()[1][:3] == [int(e / 4095 * 255) for e in expected]


def test_width_of_colours_is_a_switch() -> None:
    for width, expected in (("10", 255), ("8", 0x40)):
        lamp = on_top(color_bits=width)
        lamp.set(LIGHT0_DIFFUSE=gray(0x140))
        assert lamp.one()[0][0] == expected


def test_reading_single_entries_is_a_switch() -> None:
    lamp = on_top(lut="nearest")
    lamp.aim(0.5)
    lamp.tables[D0] = np.arange(256) * 8 | 2047 << 12
    lamp.set(LIGHTING_LUTINPUT_SELECT=L_N)
    assert lamp.one()[1][0] == int(127 * 8 / 4095 * 255)


def test_two_lights_add_up_and_saturate() -> None:
    lamp = on_top()
    lamp.set(LIGHTING_NUM_LIGHTS=1, LIGHT0_DIFFUSE=gray(100), LIGHTING_AMBIENT=gray(3))
    assert lamp.one()[0][:3] == [203] * 3  # the same light twice: the permutation names 0 for both
    lamp.set(LIGHTING_NUM_LIGHTS=7)
    assert lamp.one()[0][:3] == [255] * 3


def test_degenerate_vectors_are_no_direction() -> None:
    lamp = on_top()
    lamp.set(LIGHTING_AMBIENT=gray(9), LIGHT0_Z=0)
    assert lamp.one()[0] == [9, 9, 9, 255]
    lamp = on_top()
    lamp.set(LIGHTING_AMBIENT=gray(9))
    lamp.q[:] = 0
    assert lamp.run()[0, :4].tolist() == [9, 9, 9, 255]


# -- state ------------------------------------------------------------------------------------------------------------


def test_state_forgets_what_changes_no_colour() -> None:
    unit = Unit()
    assert unit.form({0, 3, 15}) == {}
    unit.set(LIGHTING_CONFIG0=1 << 28 | 2 << 22 | 1 << 24)
    assert units_read(unit.form({1})) == {3 + 2}
    unit.set(LIGHTING_CONFIG0=1 | 1 << 16 | 2 << 28 | 2 << 22 | 1 << 24)  # no table asks for the tangent
    assert units_read(unit.form({1})) == {3 + 1}
    unit.set(LIGHTING_CONFIG0=1 | 1 << 17)  # a shadow on highlights, which nobody looks at
    assert units_read(unit.form({1})) == set()
    assert units_read(unit.form({2})) == {3}
    primary = unit.form({1})
    unit.set(LIGHTING_LUTINPUT_SELECT=0x05555055, LIGHTING_LUTINPUT_ABS=0x02222022, LIGHTING_CONFIG1=0xFF7BFF00)
    assert unit.form({1}) == primary  # only the spotlight's table matters
    assert set(primary) <= {*FIELDS, "LIGHTING_CONFIG1.spot_off"}
    unit.set(LIGHTING_ENABLE1=1)
    assert unit.form({1, 2}) == {}


# -- the whole machine ------------------------------------------------------------------------------------------------


def registers(gpu: Any, words: Mapping[str, int], tables: np.ndarray) -> None:
    """Send a configuration of the unit to the machine."""
    gpu.set(LIGHTING_ENABLE0=1, LIGHTING_ENABLE1=0, **words)
    for number, table in enumerate(tables):
        gpu.set(LIGHTING_LUT_INDEX=number << 8)
        gpu.write("LIGHTING_LUT_DATA0", *table[:128].tolist())
        gpu.write("LIGHTING_LUT_DATA7", *table[128:].tolist())


def lit(gpu: Any, corners: Any, quaternions: Any, views: Any, w: float = 1.0) -> None:
    """Draw a strip of corners (x, y) with quaternions and view vectors; texture coordinates 0 and 1 are the places on
    the screen."""
    corners = np.array(corners, np.float32)
    position = np.concatenate([corners * w, np.tile([-0.5 * w, w], (len(corners), 1))], axis=1)
    vectors = [np.broadcast_to(np.array(a, np.float32), (len(corners), np.shape(a)[-1])) for a in (quaternions, views)]
    gpu.attributes(position, *vectors, (corners[:, [0, 1, 0, 1]] + 1) / 2)
    gpu.outputs(0x03020100, 0x07060504, 0x1F141312, 0x0F0E0D0C)
    gpu.set(PRIMITIVE_CONFIG=3 | 1 << 8, RESTART_PRIMITIVE=1)
    gpu.launch(len(corners))


QUAD = [(-1, -1), (1, -1), (-1, 1), (1, 1)]
# Stages that show the primary colour, and the secondary one.
SHOWN = {"primary": (1, 1, 1), "secondary": (2, 2, 2)}


def test_a_quad_through_the_whole_machine(make_gpu: Callable[..., Any]) -> None:
    """One quaternion all over, a view vector that changes, a bump map and a shadow: pixel by pixel as the model."""
    unit = scramble(2)
    unit.set(LIGHTING_CONFIG0=4 << 4 | 1 << 28 | 2 << 22 | 1 << 24 | 1 | 3 << 16)
    random = np.random.default_rng(5)
    bumps, shadows = (random.integers(0, 2**32, (16, 16), dtype=np.uint32) for _ in range(2))
    q, view = (0.1, -0.4, 0.2, 0.8), np.array([(-1, -1, 2), (1, -1, 2), (-1, 1, 2), (1, 1, 2)])
    place = (np.mgrid[:16, :16][::-1] + 0.5) / 8 - 1
    pictures = {}
    for name, evaluator, threads in itertools.product(SHOWN, ("llvm", "numpy"), (1, 3)):
        gpu = make_gpu(16, 16, evaluator=evaluator, threads=threads)
        registers(gpu, unit.words, unit.tables)
        gpu.set(TEXUNIT_CONFIG=0x1006 | 1 << 13)
        gpu.texture(2, bumps)
        gpu.texture(1, shadows)
        gpu.stage(0, sources=SHOWN[name])
        lit(gpu, QUAD, q, view, w=2.0)
        gpu.run()
        pictures[name, evaluator, threads] = gpu.pixels()
        assert not gpu.ids
    model = Model(unit.words, unit.tables, {})
    split = lambda word: [int(word) >> shift & 255 for shift in (24, 16, 8, 0)]  # noqa: E731
    for name, half in (("primary", slice(0, 4)), ("secondary", slice(4, 8))):
        first = pictures[name, "llvm", 1]
        for (shown, _, _), picture in pictures.items():
            if shown == name:
                np.testing.assert_array_equal(picture, first)
        for y, x in itertools.product(range(16), range(16)):
            textures = [[0] * 4, split(shadows[y, x]), split(bumps[y, x]), [0] * 4]
            expected = model.shade(q, (*place[:, y, x].tolist(), 2.0), textures)[half]
            assert abs(first[y, x] - expected).max() <= 1, (name, y, x)


def test_opposite_quaternions_mean_the_same_turn(make_gpu: Callable[..., Any]) -> None:
    """What lies between two turns must not depend on their signs, also where triangles share corners or are clipped."""
    turned = np.array([0.2, 0.1, -0.3, 0.9]) + np.linspace(0, 0.3, 5)[:, None] * [-1, 2, 1, -1]
    signs = np.array([[1], [-1], [-1], [1], [-1]])
    strip = [(-1, -1), (-1, 1), (0, -1), (0, 1), (3, 1)]
    lamp = on_top()
    lamp.set(LIGHTING_LUTINPUT_SELECT=L_N)
    pictures = []
    for quaternions in (turned, signs * turned):
        gpu = make_gpu(16, 16)
        registers(gpu, lamp.words, lamp.tables)
        gpu.stage(0, sources=SHOWN["primary"])
        lit(gpu, strip, quaternions, AHEAD)
        gpu.run()
        pictures.append(gpu.pixels())
    assert (pictures[0][..., 0] > 20).mean() > 0.6
    np.testing.assert_array_equal(*pictures)


def test_unlit_draws_leave_quaternion_semantics_alone(make_gpu: Callable[..., Any]) -> None:
    """The same slots may hold anything while lighting is off; its colours are then zero."""
    gpu = make_gpu(16, 16)
    registers(gpu, {}, np.zeros((0, 256), np.uint32))
    gpu.set(LIGHTING_ENABLE1=1)
    gpu.stage(0, op=2, sources=(1, 2, 2))
    lit(gpu, QUAD, [(1, 0, 0, 0), (-1, 0, 0, 0), (0, 1, 0, 0), (0, -1, 0, 0)], AHEAD)
    gpu.run()
    assert not gpu.pixels().any()
    assert not gpu.ids


def test_tables_of_a_draw_stay_when_the_next_draw_has_others(make_gpu: Callable[..., Any]) -> None:
    gpu = make_gpu(16, 16)
    lamp = on_top()
    lamp.tables[D0] = 2048
    registers(gpu, lamp.words, lamp.tables)
    gpu.stage(0, sources=SHOWN["secondary"])
    lit(gpu, [(-1, -1), (0, -1), (-1, 1), (0, 1)], UP, AHEAD)
    lamp.tables[D0] = 1024
    registers(gpu, lamp.words, lamp.tables)
    lit(gpu, [(0, -1), (1, -1), (0, 1), (1, 1)], UP, AHEAD)
    gpu.run()
    assert (gpu.pixels()[:, :8, 0] == 127).all()
    assert (gpu.pixels()[:, 8:, 0] == 63).all()
