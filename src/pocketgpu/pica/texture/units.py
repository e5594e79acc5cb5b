"""Texture units 0-2: from coordinates to colours.

Textures have been decoded to rows of 0xRRGGBBAA words, bottom row first, levels in sequence, then cube faces in
sequence (cache.py). So the sampler has one format and one layout for all textures of the guest.

The level of detail uses exact derivatives: coordinates are quotients of two planes over the triangle, so no
neighbouring pixels are needed. Source: 3dbrew GPU/Internal Registers ("Texture unit registers"); wrap codes 4-7, LOD
and filter precision are not documented (see the choices).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pocketgpu.facts.pica_enums import FILTER, PROCTEX_FILTER, TEXTURE_TYPE, WRAP
from pocketgpu.lanes import I32, Lang, Value
from pocketgpu.lanes.elementary import quick_log2 as log2
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import PACKET
from pocketgpu.pica.core.registers import Flag, LiveRegisters, Number, State, field

Color = dict[str, Value]
FRACTION_BITS = 8
ONE = 1 << FRACTION_BITS
_HALF = 0x00800080
_ONES = 0x01000100
_EVEN = 0x00FF00FF
_LIMIT = float(1 << 30)
LEVELS = 8
SHADOW_TYPES = (TEXTURE_TYPE.SHADOW_2D, TEXTURE_TYPE.SHADOW_CUBE)
CUBE_TYPES = (TEXTURE_TYPE.CUBE, TEXTURE_TYPE.SHADOW_CUBE)
SAMPLED_TYPES = (TEXTURE_TYPE.FLAT, TEXTURE_TYPE.PROJECTION, *SHADOW_TYPES, TEXTURE_TYPE.CUBE)
"""Types for which a unit outputs colours; for all others it outputs none."""
BORDER_MODES = (WRAP.CLAMP_TO_BORDER, WRAP.BORDER_ABOVE)
PROCTEX_LINEAR = PROCTEX_FILTER.LINEAR
"""The bit of a filter code of unit 3 that mixes neighbours; the bits above it select the filter between levels."""


def _repeat(k: Lang, c: Value, size: Value, power_of_two: Flag) -> Value:
    """c modulo size, in 0..size-1."""

    def general() -> Value:
        positive = c - k.udiv(c, size) * size
        below = -1 - c
        negative = size - 1 - (below - k.udiv(below, size) * size)
        return k.select(c >= 0, positive, negative)

    result: Value = k.branch(power_of_two, lambda: c & (size - 1), general)
    return result


def wrap(k: Lang, c: Value, size: Value, mode: Number, power_of_two: Flag) -> tuple[Value, Value]:
    """Apply a wrap code to a texel coordinate; returns (coordinate, mask of the lanes with the border colour)."""
    nowhere = c != c
    edge = lambda: k.clamp(c, 0, size - 1)
    outside = lambda: ~c.below(size)

    def mirrored() -> Value:
        m = _repeat(k, c, size + size, power_of_two)
        return k.min(m, size + size - 1 - m)

    repeat = lambda: _repeat(k, c, size, power_of_two)
    cases: dict[str, Callable[[], tuple[Value, Value]]] = {
        "CLAMP_TO_EDGE": lambda: (edge(), nowhere),
        "CLAMP_TO_BORDER": lambda: (edge(), outside()),
        "REPEAT": lambda: (repeat(), nowhere),
        "MIRRORED_REPEAT": lambda: (mirrored(), nowhere),
        "EDGE_ABOVE": lambda: (k.select(c < 0, repeat(), edge()), nowhere),
        "BORDER_ABOVE": lambda: (repeat(), c >= size),
        "REPEAT_6": lambda: (repeat(), nowhere),
        "REPEAT_7": lambda: (repeat(), nowhere),
    }
    x, border = k.switch(mode, WRAP.in_order(cases))
    return x, border


def mix(a: Value, b: Value, f: Value) -> Value:
    """a + (b - a) * f / 256 of two 8-bit numbers in the halves of a word, rounded."""
    k, f = a.k, f | (f << 16)
    return ((k.mul_halves(a, _ONES - f) + k.mul_halves(b, f) + _HALF).lsr(8)) & _EVEN


@dataclass
class Ratio:
    """A coordinate that is a quotient of two planes: its value, and a function for its slopes along x and y."""

    value: Value
    slopes: Callable[[], tuple[Value, Value]]


@dataclass
class FaceLevel:
    """One level of one face per lane: size, and the word offset of its first texel."""

    width: Value
    height: Value
    first: Value


class Sampler:
    """Texture unit `unit` for one draw: sizes, wrap and filter modes, loaded before the fragment loops.

    Modes are either known while tracing or read at run time (see fragment/output.py).
    """

    @dataclass
    class Settings:
        """The register fields; `mipmapped` False means that only level 0 can be used."""

        wrap_s: Number
        wrap_t: Number
        mag: Flag
        min: Flag
        trilinear: Flag
        mipmapped: Flag
        kind: Number
        power_of_two: Flag
        truncates: bool = False
        """Coordinates of texels are truncated toward 0 (texture.nearest)."""

    def __init__(
        self, k: Lang, unit: int, state: State, live: LiveRegisters, packet: Value, power_of_two: Flag,
        choices: Mapping[str, str],
    ) -> None:  # fmt: skip
        name = f"TEXUNIT{unit}"
        settings = self.Settings(
            wrap_s=state(f"{name}_PARAM.wrap_s"), wrap_t=state(f"{name}_PARAM.wrap_t"),
            mag=state(f"{name}_PARAM.mag_filter") == FILTER.LINEAR,
            min=state(f"{name}_PARAM.min_filter") == FILTER.LINEAR,
            trilinear=state(f"{name}_PARAM.mip_filter") == FILTER.LINEAR, mipmapped=state(f"{name}_LOD.max_level") != 0,
            kind=state(f"{name}_PARAM.type") if unit == 0 else TEXTURE_TYPE.FLAT, power_of_two=power_of_two,
            truncates=choices.get("texture.nearest") == "truncate",
        )  # fmt: skip
        at = lambda word, size=1: packet + (getattr(PACKET, word) + 4 * size * unit)
        load = lambda word: k.load(I32, at(word))
        self.settings(
            k, unit, settings, lambda register: live.word(f"{name}_{register}"), load("TEXTURES"),
            at("LEVELS", LEVELS), load("FACES"), load("TOP_LEVELS"),
        )  # fmt: skip

    def settings(
        self, k: Lang, unit: int, settings: Settings, word: Callable[[str], Value], base: Value, table: Value,
        face_words: Value, highest: Value,
    ) -> None:  # fmt: skip
        """Load the settings, the data of the unit's registers (`word` by name) and of the decoded texture."""
        self.k, self.unit, self.truncates = k, unit, settings.truncates
        self.power_of_two, self.kind = settings.power_of_two, settings.kind
        self.wrap_s, self.wrap_t = settings.wrap_s, settings.wrap_t
        self.mag, self.min = settings.mag, settings.min
        self.trilinear, self.mipmapped = settings.trilinear, settings.mipmapped
        self.mixed: Flag = self.mag ^ self.min
        """The two filters differ, so the level of detail decides for each pixel."""
        self.base, self.table, self.face_words, self.highest = k.to_i64(base), table, face_words, highest
        bits = lambda name: word(name.partition(".")[0]).bits(
            (f := field(f"TEXUNIT0_{name}")).lo, f.width, signed=f.type == "sint" or f.type.startswith("fixed")
        )
        self.width, self.height = bits("DIM.width"), bits("DIM.height")
        self.bias = k.to_f32(bits("LOD.bias")) * (1.0 / 256.0)
        self.lowest = bits("LOD.min_level")
        border = word("BORDER_COLOR")
        # The register has R in its low byte, our words have it in the high byte.
        self.border = (border << 24) | ((border & 0xFF00) << 8) | (border.lsr(8) & 0xFF00) | border.lsr(24)

    # -- texels -----------------------------------------------------------------------------------------------------
    def _fetch(self, level: FaceLevel, x: tuple[Value, Value], y: tuple[Value, Value]) -> Value:
        k = self.k
        number = y[0] * level.width + x[0] + level.first
        texel = k.gather(I32, k.to_i64(number << 2) + self.base)
        for name, value in (
            ("width", level.width),
            ("height", level.height),
            ("x", x[0]),
            ("y", y[0]),
            ("word", texel),
        ):
            k.probe(f"texture{self.unit}.texel.{name}", value)
        bordered: Flag = False
        for mode in (self.wrap_s, self.wrap_t):
            for code in BORDER_MODES:
                bordered = bordered | (mode == code)
        result: Value = k.branch(bordered, lambda: k.select(x[1] | y[1], self.border, texel), lambda: texel)
        return result

    def _wrap(self, level: FaceLevel, s: Value, t: Value) -> tuple[tuple[Value, Value], tuple[Value, Value]]:
        k = self.k
        return (
            wrap(k, s, level.width, self.wrap_s, self.power_of_two),
            wrap(k, t, level.height, self.wrap_t, self.power_of_two),
        )

    def _texel(self, c: Value, size: Value, linear: Value | bool) -> Value:
        """Texel coordinate in 1/256; `linear` lanes have the filter's half-texel shift, others a zero fraction."""
        k = self.k
        scaled = c * k.to_f32(size)
        fixed = lambda: k.to_i32(k.floor(scaled * float(ONE) - ONE / 2), -_LIMIT, _LIMIT)
        near = lambda: self.texel_number(scaled) << FRACTION_BITS
        if isinstance(linear, bool):
            return fixed() if linear else near()
        return k.select(linear, fixed(), near())

    def texel_number(self, scaled: Value) -> Value:
        """The texel of a coordinate in units of texels."""
        k = self.k
        return k.to_i32(scaled if self.truncates else k.floor(scaled), -_LIMIT / ONE, _LIMIT / ONE)

    def _nearest(self, level: FaceLevel, s: Value, t: Value) -> tuple[Value, Value]:
        x, y = (self._texel(c, size, False) >> FRACTION_BITS for c, size in ((s, level.width), (t, level.height)))
        word = self._fetch(level, *self._wrap(level, x, y))
        return word & _EVEN, word.lsr(8) & _EVEN

    def _four(self, level: FaceLevel, s: Value, t: Value, linear: Value | bool) -> tuple[Value, Value]:
        """Four texels mixed by the fractions, which are zero in lanes that are not linear."""
        k, top = self.k, lambda w: w.lsr(8) & _EVEN
        u, v = self._texel(s, level.width, linear), self._texel(t, level.height, linear)
        fs, ft = u & (ONE - 1), v & (ONE - 1)
        k.probe(f"texture{self.unit}.fraction.s", fs)
        k.probe(f"texture{self.unit}.fraction.t", ft)
        x, y = u >> FRACTION_BITS, v >> FRACTION_BITS
        (s0, t0), (s1, t1) = self._wrap(level, x, y), self._wrap(level, x + 1, y + 1)
        near, right, up, both = (self._fetch(level, a, b) for a, b in ((s0, t0), (s1, t0), (s0, t1), (s1, t1)))
        low = mix(mix(near & _EVEN, right & _EVEN, fs), mix(up & _EVEN, both & _EVEN, fs), ft)
        high = mix(mix(top(near), top(right), fs), mix(top(up), top(both), fs), ft)
        return low, high

    def _at_level(self, level: FaceLevel, s: Value, t: Value, magnified: Value | None) -> tuple[Value, Value]:
        """The colour of one level as (green and alpha, red and blue), two 16-bit halves per word."""
        k = self.k

        def alike() -> tuple[Value, Value]:
            return k.branch(self.mag, lambda: self._four(level, s, t, True), lambda: self._nearest(level, s, t))

        if magnified is None:
            return alike()
        # The filters differ, so one of the two is linear.
        linear = lambda: k.select(self.mag, magnified, ~magnified)
        return k.branch(self.mixed, lambda: self._four(level, s, t, linear()), alike)

    def _level(self, number: Value | None, face: Value | None) -> FaceLevel:
        k = self.k
        first = face * self.face_words if face is not None else k.splat(0)
        if number is None:
            return FaceLevel(self.width, self.height, first)
        offsets = k.gather(I32, k.to_i64(number << 2) + self.table)
        return FaceLevel(k.splat(self.width) >> number, k.splat(self.height) >> number, first + offsets)

    # -- level of detail --------------------------------------------------------------------------------------------
    def _lod(self, s: Ratio, t: Ratio) -> Value:
        """log2 of the larger texel footprint along x or y, plus the bias."""
        k = self.k
        width, height = k.to_f32(self.width), k.to_f32(self.height)
        (sx, sy), (tx, ty) = s.slopes(), t.slopes()
        span = k.max(k.max(k.abs(sx) * width, k.abs(sy) * width), k.max(k.abs(tx) * height, k.abs(ty) * height))
        return log2(k, span) + self.bias

    def sample(self, s: Ratio, t: Ratio, face: Value | None = None) -> Color:
        """The texel colour at (s, t) of a cube face, or of the only face: channels 0-255."""
        k = self.k
        for name, ratio in (("s", s), ("t", t)):
            k.probe(f"texture{self.unit}.{name}", ratio.value)
        if face is not None:
            k.probe(f"texture{self.unit}.face", face)

        def base(magnified: Value | None) -> tuple[Value, Value]:
            return self._at_level(self._level(None, face), s.value, t.value, magnified)

        def by_detail() -> tuple[Value, Value]:
            lod = self._lod(s, t)
            k.probe(f"texture{self.unit}.lod", lod)
            magnified = lod <= 0.0
            levels = lambda: self._levels(lod, s.value, t.value, face, magnified)
            return k.branch(self.mipmapped, levels, lambda: base(magnified))

        low, high = k.branch(self.mipmapped | self.mixed, by_detail, lambda: base(None))
        channels = {"r": high.lsr(16), "g": low.lsr(16), "b": high & 0xFF, "a": low & 0xFF}
        for ch, value in channels.items():
            k.probe(f"texture{self.unit}.{ch}", value)
        return channels

    def _levels(self, lod: Value, s: Value, t: Value, face: Value | None, magnified: Value) -> tuple[Value, Value]:
        """One level, or two mixed."""
        k = self.k
        top, low_limit = k.to_f32(self.highest), k.to_f32(k.min(self.lowest, self.highest))
        lod = k.min(k.max(lod, low_limit), top)
        at = lambda number: self._at_level(self._level(number, face), s, t, magnified)

        def nearest() -> tuple[Value, Value]:
            return at(k.min(k.to_i32(lod + 0.5, 0, LEVELS - 1), self.highest))

        def between() -> tuple[Value, Value]:
            fixed = k.to_i32(lod * float(ONE), 0, (LEVELS - 1) * ONE)
            number, fraction = fixed >> FRACTION_BITS, fixed & (ONE - 1)
            k.probe(f"texture{self.unit}.fraction.level", fraction)
            fine, coarse = at(number), at(k.min(number + 1, self.highest))
            return mix(fine[0], coarse[0], fraction), mix(fine[1], coarse[1], fraction)

        return k.branch(self.trilinear, between, nearest)


# -- cube maps --------------------------------------------------------------------------------------------------------
def cube_face(k: Lang, direction: list[Value]) -> tuple[Value, list[Value], list[Value]]:
    """(face number, [x, y, m], choice masks): the face that a direction points at, and the coordinates there.

    Faces +X, -X, +Y, -Y, +Z, -Z; s = 0.5 * x/m + 0.5, t = 0.5 * y/m + 0.5 with the signed major coordinate m.
    """
    u, v, w = direction
    au, av, aw = k.abs(u), k.abs(v), k.abs(w)
    on_x = (au > av) & (au > aw)
    on_y = ~on_x & (av > aw)
    positive = k.select(on_x, u, k.select(on_y, v, w)) > 0.0
    face = k.select(on_x, 0, k.select(on_y, 2, 4)) + k.select(positive, 0, 1)
    return face, [on_x, on_y, positive], cube_axes(k, direction, [on_x, on_y, positive])


def cube_axes(k: Lang, direction: list[Value], choice: list[Value]) -> list[Value]:
    """x, y and m of the chosen face as linear functions of the direction (so they also map its slopes)."""
    u, v, w = direction
    on_x, on_y, positive = choice
    pick = lambda a, b, c: k.select(on_x, a, k.select(on_y, b, c))
    signed = lambda a: k.select(positive, a, -a)
    x = pick(-w, signed(u), u)
    y = pick(signed(-v), w, signed(-v))
    return [x, y, pick(u, v, w)]


__all__ = ["LEVELS", "Ratio", "Sampler", "cube_axes", "cube_face", "wrap"]
