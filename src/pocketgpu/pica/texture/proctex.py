"""Texture unit 3 (procedural textures): colours computed from coordinates, by noise, curves and a colour table.

The unit reads no guest memory: FIFO registers fill its five tables, and each draw has its own version of them.
Coordinates are shifted, moved by noise, clamped to 0..1 and combined into one number by a function; a curve and a row
of colours give the result. Alpha can have its own function and curve.

Undocumented: where results are truncated (as in one simulator), codes 5-7 of the clamp modes (treated as 1), entries
outside of the colour table (the end entries repeat), how the level of detail rounds (to the nearest).

Source: 3dbrew GPU/Internal Registers ("Procedural Texture registers"); the arithmetic from public simulators, whose
noise was compared with a console.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pocketgpu.facts.pica_enums import PROCTEX_CLAMP, PROCTEX_MAP, PROCTEX_SHIFT, PROCTEX_TABLE
from pocketgpu.lanes import I32, Lang, Value
from pocketgpu.lanes.elementary import quick_log2 as log2
from pocketgpu.pica.core.colors import Color
from pocketgpu.pica.core.layout import BANK_INDEX, PACKET, PROCTEX_TABLES
from pocketgpu.pica.core.registers import FLOAT_SHAPES, LiveRegisters, State, field, narrow_float
from pocketgpu.pica.texture.units import LEVELS, PROCTEX_LINEAR, Ratio

NOISE, RGB_CURVE, ALPHA_CURVE = PROCTEX_TABLE.NOISE, PROCTEX_TABLE.RGB_MAP, PROCTEX_TABLE.ALPHA_MAP
COLORS, DIFFERENCES = PROCTEX_TABLE.COLOR, PROCTEX_TABLE.COLOR_DIFFERENCE
CURVE_ENTRIES, COLOR_ENTRIES = (PROCTEX_TABLES[table][1] for table in (RGB_CURVE, COLORS))
# First entries of levels 4 to 7 in the colour table, as register bytes; those of levels 0 to 3 are programmed.
FIXED_OFFSETS = 0xFEFCF8F0
# Sixteen numbers of four bits each for scrambling the noise's coordinates.
SCRAMBLE_FIRST = (0, 4, 10, 8, 4, 9, 7, 12, 5, 15, 13, 14, 11, 15, 2, 11)
SCRAMBLE_SECOND = (10, 2, 15, 8, 0, 7, 4, 5, 5, 13, 2, 6, 13, 9, 3, 14)
_FAR = float(1 << 30)
_REGISTER = "TEXUNIT3_PROCTEX"


def _nibble(k: Lang, numbers: Sequence[int], index: Value) -> Value:
    """numbers[index] for an index of 0-15, from two constant words."""
    low, high = (sum(n << 4 * i for i, n in enumerate(numbers[8 * half : 8 * half + 8])) for half in range(2))
    return k.select(index < 8, k.splat(low), k.splat(high)).lsr((index & 7) << 2) & 15


def _scramble(k: Lang, n: Value) -> tuple[Value, Value]:
    """The first scrambling step: four bits from lattice coordinate n, and from n + 1."""
    ninth = k.udiv(n, 9)
    rest = n - ninth * 9
    carry = rest == 8
    low = (rest * 3 + 6) & 15
    following = k.select(carry, 6, (low + 3) & 15)
    pair = ((low, ninth), (following, ninth + k.select(carry, 1, 0)))
    near, far = (a ^ _nibble(k, SCRAMBLE_FIRST, b & 15) for a, b in pair)
    return near, far


def _gradient(k: Lang, a: Value, b: Value) -> Value:
    """-1 to 1 from the scrambled coordinates of a lattice point."""
    b = b + k.select((a & 3) == 1, 4, 0)
    b = b ^ ((a & 1) * 6)
    b = ((b + a + 10) & 15) ^ _nibble(k, SCRAMBLE_SECOND, a)
    return k.to_f32(b) * 2.0 / 15.0 - 1.0


class ProcTex:
    """The procedural unit for one draw; constants are loaded before the fragment loops."""

    def __init__(self, k: Lang, state: State, live: LiveRegisters, packet: Value) -> None:
        self.k, self.state = k, state
        self.tables = k.load(I32, packet + (PACKET.VERSIONS + 4 * BANK_INDEX["proctex_lut"]))
        self.amplitude, self.phase, self.frequency = [], [], []
        for number, axis in ((1, "u"), (2, "v")):
            amplitude = live(f"{_REGISTER}{number}.amplitude")
            self.amplitude.append(k.to_f32(amplitude) / 4095.0)
            self.phase.append(live.float(f"{_REGISTER}{number}.phase"))
            self.frequency.append(live.float(f"{_REGISTER}3.{axis}_frequency") * 9.0)
        self.width, self.offsets = live(f"{_REGISTER}4.width"), live.word(f"{_REGISTER}5")
        self.lowest, self.highest = live(f"{_REGISTER}4.min_level"), k.min(live(f"{_REGISTER}4.max_level"), LEVELS - 1)
        low = f"{_REGISTER}0.lod_bias_low"
        bias = (live(f"{_REGISTER}4.lod_bias_high") << field(low).width) | live(low)
        self.bias = narrow_float(k, bias, *FLOAT_SHAPES["f16"])

    def _get(self, name: str) -> Value | int:
        value: Value | int = self.state(f"{_REGISTER}{name}")
        return value

    # -- tables -----------------------------------------------------------------------------------------------------
    def _entry(self, table: int, index: Value) -> Value:
        return self.k.gather(I32, (index << 2) + (self.tables + 4 * PROCTEX_TABLES[table][0]))

    def curve(self, table: int, x: Value) -> Value:
        """A curve of 128 values and differences at x."""
        k = self.k
        position = x * float(CURVE_ENTRIES)
        index = k.to_i32(position, 0, CURVE_ENTRIES - 1)
        word = self._entry(table, index)
        value, change = (field(f"PROCTEX_LUT_DATA0.{name}") for name in ("value", "difference"))
        start = k.to_f32(word.bits(value.lo, value.width))
        slope = k.to_f32(word.bits(change.lo, change.width, signed=True))
        return (start + (position - k.to_f32(index)) * slope) / 4095.0

    # -- coordinates ------------------------------------------------------------------------------------------------
    def noise(self, u: Value, v: Value) -> Value:
        """Smooth noise between lattice points."""
        k = self.k
        whole, part = [], []
        for x, frequency, phase in zip((u, v), self.frequency, self.phase, strict=True):
            x = frequency * k.abs(x + phase)
            whole.append(k.to_i32(x, 0, _FAR))
            part.append(x - k.to_f32(whole[-1]))
        (x0, x1), (y0, y1) = (_scramble(k, n) for n in whole)
        weight_x, weight_y = (self.curve(NOISE, p) for p in part)
        slope = part[0] + part[1]
        mix = lambda a, b, f: a + (b - a) * f
        near = mix(_gradient(k, x0, y0) * slope, _gradient(k, x1, y0) * (slope - 1.0), weight_x)
        far = mix(_gradient(k, x0, y1) * (slope - 1.0), _gradient(k, x1, y1) * (slope - 2.0), weight_x)
        return mix(near, far, weight_y)

    def _shift(self, axis: str, other: Value) -> Value:
        """The shift of a coordinate: applied in every second step of the other one."""
        k = self.k
        step = k.select(self._get(f"0.{axis}_clamp") == PROCTEX_CLAMP.MIRRORED_REPEAT, k.f32(1.0), k.f32(0.5))
        whole = k.to_i32(other, 0, _FAR)
        odd = lambda n: k.to_f32((n >> 1) & 1) * step
        none = lambda: k.to_f32(k.splat(0))
        cases = {"NONE": none, "ODD": lambda: odd(whole), "EVEN": lambda: odd(whole + 1)}
        result: Value = k.switch(self._get(f"0.{axis}_shift"), [*PROCTEX_SHIFT.in_order(cases), none])
        return result

    def _clamp(self, axis: str, x: Value) -> Value:
        """A coordinate of 0 or more, clamped to 0..1."""
        k = self.k

        def mirrored() -> Value:
            whole = k.floor(x)
            return k.select((k.to_i32(whole, 0, _FAR) & 1) == 1, 1.0 - (x - whole), x - whole)

        edge = lambda: k.min(x, 1.0)
        cases: dict[str, Callable[[], Value]] = {
            "ZERO": lambda: k.select(x > 1.0, 0.0, x),
            "EDGE": edge,
            "REPEAT": lambda: x - k.floor(x),
            "MIRRORED_REPEAT": mirrored,
            "PULSE": lambda: k.select(x <= 0.5, k.splat(0.0, x.lanes, x.type), 1.0),
        }
        result: Value = k.switch(self._get(f"0.{axis}_clamp"), [*PROCTEX_CLAMP.in_order(cases), edge])
        return result

    def coordinates(self, u: Value, v: Value) -> tuple[Value, Value]:
        """Texture coordinates as inputs of the functions."""
        k = self.k
        u, v = k.abs(u), k.abs(v)
        shift_u, shift_v = self._shift("u", v), self._shift("v", u)

        def shaken() -> tuple[Value, Value]:
            n = self.noise(u, v)
            return k.abs(u + n * self.amplitude[0]), k.abs(v + n * self.amplitude[1])

        u, v = k.branch(self._get("0.noise") != 0, shaken, lambda: (u, v))
        return self._clamp("u", u + shift_u), self._clamp("v", v + shift_v)

    def function(self, name: str, u: Value, v: Value) -> Value:
        """The function ("rgb_function" or "alpha_function") that combines two numbers; undefined codes give 0."""
        k = self.k
        length = lambda: k.sqrt(u * u + v * v)
        cases: dict[str, Callable[[], Value]] = {
            "U": lambda: u,
            "U2": lambda: u * u,
            "V": lambda: v,
            "V2": lambda: v * v,
            "ADD": lambda: (u + v) * 0.5,
            "ADD2": lambda: (u * u + v * v) * 0.5,
            "SQRT2": lambda: k.min(length(), 1.0),
            "MIN": lambda: k.min(u, v),
            "MAX": lambda: k.max(u, v),
            "RMAX": lambda: k.min(((u + v) * 0.5 + length()) * 0.5, 1.0),
        }
        result: Value = k.switch(self._get(f"0.{name}"), [*PROCTEX_MAP.in_order(cases), lambda: u * 0.0])
        return result

    # -- colours ----------------------------------------------------------------------------------------------------
    def _colors(self, c: Value, width: Value, first: Value) -> tuple[Value, ...]:
        """The four channels (floats, 0-255) at c in a row of `width` colours."""
        k = self.k
        index = k.clamp(k.to_f32(first) + c * k.to_f32(width - 1), 0.0, COLOR_ENTRIES - 1.0)
        channels = lambda word: [word.bits(8 * i, 8) for i in range(4)]

        def linear() -> tuple[Value, ...]:
            entry = k.to_i32(index, 0, COLOR_ENTRIES - 1)
            fraction = (index - k.to_f32(entry)) * 2.0  # the table holds half of the difference
            change = self._entry(DIFFERENCES, entry)
            changes = [change.bits(8 * i, 8, signed=True) for i in range(4)]
            starts = channels(self._entry(COLORS, entry))
            mixed = (k.to_f32(a) + fraction * k.to_f32(d) for a, d in zip(starts, changes, strict=True))
            return tuple(k.clamp(x, 0.0, 255.0) for x in mixed)

        def nearest() -> tuple[Value, ...]:
            entry = k.to_i32(index + 0.5, 0, COLOR_ENTRIES - 1)
            return tuple(k.to_f32(x) for x in channels(self._entry(COLORS, entry)))

        result: tuple[Value, ...] = k.branch((self._get("4.filter") & PROCTEX_LINEAR) != 0, linear, nearest)
        return result

    def _at_level(self, c: Value, level: Value) -> tuple[Value, ...]:
        k = self.k
        offsets = k.select(level < 4, self.offsets, FIXED_OFFSETS)
        first = offsets.lsr((level & 3) << 3) & 0xFF
        return self._colors(c, k.splat(self.width) >> level, first)

    def level_of_detail(self, u: Ratio, v: Ratio) -> Value:
        """The level of the colour table, within the programmed limits."""
        k = self.k
        (ux, uy), (vx, vy) = u.slopes(), v.slopes()
        spread = (k.abs(ux) + k.abs(uy)) + (k.abs(vx) + k.abs(vy))
        lod = log2(k, spread * k.abs(k.to_f32(self.width) * self.bias))
        lod = k.select(self.bias == 0.0, 0.0, lod)
        top = k.to_f32(self.highest)
        return k.clamp(lod, k.min(k.to_f32(self.lowest), top), top)

    def _row(self, c: Value, u: Ratio, v: Ratio) -> tuple[Value, ...]:
        k = self.k

        def base() -> tuple[Value, ...]:
            return k.splat(0), k.to_f32(k.splat(0))

        def nearest_level() -> tuple[Value, ...]:
            return k.to_i32(self.level_of_detail(u, v) + 0.5, 0, LEVELS - 1), k.to_f32(k.splat(0))

        def two_levels() -> tuple[Value, ...]:
            lod = self.level_of_detail(u, v)
            level = k.to_i32(lod, 0, LEVELS - 1)
            return level, lod - k.to_f32(level)

        levels = self._get("4.filter") >> 1
        level, fraction = k.switch(levels, [base, nearest_level, two_levels])
        fine = self._at_level(c, level)

        def mixed() -> tuple[Value, ...]:
            coarse = self._at_level(c, k.min(level + 1, self.highest))
            return tuple(a + (b - a) * fraction for a, b in zip(fine, coarse, strict=True))

        result: tuple[Value, ...] = k.branch(levels > 1, mixed, lambda: fine)
        return result

    def sample(self, u: Ratio, v: Ratio) -> Color:
        """The colour at texture coordinates u, v: channels 0-255."""
        k = self.k
        x, y = self.coordinates(u.value, v.value)
        c = self.curve(RGB_CURVE, self.function("rgb_function", x, y))
        for name, value in (("u", x), ("v", y), ("c", c)):
            k.probe(f"proctex.{name}", value)
        channels = [k.to_i32(value, 0, 255) for value in self._row(c, u, v)]

        def separate() -> Value:
            return k.to_i32(self.curve(ALPHA_CURVE, self.function("alpha_function", x, y)) * 255.0, 0, 255)

        channels[3] = k.branch(self._get("0.separate_alpha") != 0, separate, lambda: channels[3])
        for ch, value in zip("rgba", channels, strict=True):
            k.probe(f"texture3.{ch}", value)
        return dict(zip("rgba", channels, strict=True))


__all__ = ["ProcTex"]
