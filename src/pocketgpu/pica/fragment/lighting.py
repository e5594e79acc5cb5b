"""Fragment lighting: the primary and secondary colour of pixels under up to eight lights.

The code is specialised by the used tables, their inputs and ranges, bump and shadow maps (`lighting_state.py` selects
these fields of the registers). Everything else about a light is data: it is decoded once per draw into a record of
floats, and its flags are branches in the loop over the lights. As in the other stages, `state(...)` gives Python
numbers in specialised code and run-time scalars in general code.

Colours are summed in units of 1/255, so the final conversion only truncates. Vectors are divided by their lengths, not
multiplied by reciprocals, because a light straight above a surface must give full brightness.

Source: 3dbrew GPU/Internal Registers ("Fragment lighting registers"); the index and interpolation of tables, the
geometric factor and the Fresnel alpha as the public software models have them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pocketgpu.facts.pica_enums import BUMP_MODE, FRESNEL, LIGHT_LUT, SEMANTIC, TEXENV_SOURCE
from pocketgpu.lanes import F32, I32, Lang, Value, Var
from pocketgpu.pica.core.colors import Color
from pocketgpu.pica.core.layout import BANK_INDEX, LIGHT_SIZE, PACKET
from pocketgpu.pica.core.registers import (
    FLOAT_SHAPES,
    Flag,
    LiveRegisters,
    State,
    field,
    narrow_float,
    part,
    register_id,
)
from pocketgpu.pica.fragment.light_terms import (
    CONFIG,
    DIRECTIONAL,
    DISTANCE,
    ENTRIES,
    GEOMETRIC0,
    GEOMETRIC1,
    RECORD,
    SHADOW,
    SPOT,
    TWO_SIDED,
    Light,
    LitPixels,
    TablePlace,
    Terms,
    place,
)
from pocketgpu.pica.fragment.lighting_state import SELECTED, off_field
from pocketgpu.pica.fragment.vectors import Vector, length, rotate

QUATERNION_SLOTS = tuple(SEMANTIC.number(f"QUATERNION_{axis}") for axis in "XYZW")
VIEW_SLOTS = tuple(SEMANTIC.number(f"VIEW_{axis}") for axis in "XYZ")
LIGHTS = 8

_SYMBOLS = {name: name.upper() for name in ("d0", "d1", "fr", "rb", "rg", "rr")} | {"sp": "SP0", "da": "DA0"}
TABLES = {name: LIGHT_LUT.number(symbol) for name, symbol in _SYMBOLS.items()}
"""Numbers of the tables; spotlight and distance have eight each, one per light, of which this is the first."""

_VALUE, _DIFFERENCE = (field(f"LIGHTING_LUT_DATA0.{name}") for name in ("value", "difference"))


class Lighting:
    """The unit for one draw. used: sources that the combiners read. choices: choices that differ from the defaults.
    lights: arena offset of LIGHTS records of LIGHT_SIZE bytes that only this call writes."""

    def __init__(
        self, k: Lang, state: State, live: LiveRegisters, packet: Value, used: set[int], choices: Mapping[str, str],
        lights: Value,
    ) -> None:  # fmt: skip
        self.k, self.live, self.lights = k, live, lights
        self.get: State = lambda name: state(f"LIGHTING_CONFIG0.{name}")
        self.general = isinstance(self.get("fresnel"), Value)
        self.primary = TEXENV_SOURCE.FRAGMENT_PRIMARY in used
        self.secondary = TEXENV_SOURCE.FRAGMENT_SECONDARY in used
        self.nearest = choices.get("lighting.lut") == "nearest"
        self.fresnel_sum = choices.get("lighting.fresnel") == "sum"
        self.color_bits = 8 if choices.get("lighting.color_bits") == "8" else 10
        self.part: dict[str, Flag] = {name: state(off_field(name)) == 0 for name in SELECTED}
        self.select = {name: state(f"LIGHTING_LUTINPUT_SELECT.{name}") for name in SELECTED}
        self.signed: dict[str, Flag] = {name: state(f"LIGHTING_LUTINPUT_ABS.{name}") != 0 for name in SELECTED}
        self.contents = k.load(I32, packet + (PACKET.VERSIONS + 4 * BANK_INDEX["lighting_lut"]))
        self.count = live("LIGHTING_NUM_LIGHTS.count") + 1
        # A scale code is a power of two, with a sign: X0_25 and X0_5 are -2 and -1.
        width = field("LIGHTING_LUTINPUT_SCALE.d0").width
        scales = {name: live(f"LIGHTING_LUTINPUT_SCALE.{name}").bits(0, width, signed=True) for name in SELECTED}
        self.scale = {name: k.bits_f32((code + 127) << 23) for name, code in scales.items()}
        self.ambient = self._color(live.word("LIGHTING_AMBIENT"))
        order, off = live.word("LIGHTING_LIGHT_PERMUTATION"), live.word("LIGHTING_CONFIG1")
        for n in k.range(0, self.count):
            self._decode(k.to_i64(n * LIGHT_SIZE) + lights, (order >> (n << 2)) & (LIGHTS - 1), off)

    # -- before the pixels --------------------------------------------------------------------------------------------
    def _color(self, word: Value) -> Vector:
        """r, g, b of a light colour, where 255 is full brightness."""
        places = [field(f"LIGHTING_AMBIENT.{name}").lo for name in "rgb"]
        return [self.k.to_f32(word.bits(lo, self.color_bits)) for lo in places]

    def _decode(self, at: Value, number: Value, off: Value) -> None:
        """Write the record of light `number`."""
        k = self.k
        word = lambda name: self.live.word((number << 4) + register_id(f"LIGHT0_{name}"))

        def bits(name: str) -> Value:
            f = field(f"LIGHT0_{name}")
            value: Value = word(name.partition(".")[0]).bits(f.lo, f.width, signed=f.type.startswith("fixed"))
            return narrow_float(k, value, *FLOAT_SHAPES[f.type]) if f.type in FLOAT_SHAPES else value

        def put(name: str, *values: Value) -> None:
            for i, value in enumerate(values):
                k.store(value.type, at + (getattr(RECORD, name) + 4 * i), value)

        position = [bits(name) for name in ("XY.x", "XY.y", "Z.z")]
        size, divisor = length(k, position)
        put("POSITION", *position)
        put("UNIT", *(x / divisor for x in position))
        put("LENGTH", size)
        spot = [bits(name) for name in ("SPOTDIR_XY.x", "SPOTDIR_XY.y", "SPOTDIR_Z.z")]
        put("SPOT", *(k.to_f32(x) * (1.0 / 2047.0) for x in spot))
        for name in ("SPECULAR0", "SPECULAR1", "DIFFUSE", "AMBIENT"):
            put(name, *self._color(word(name)))
        put("BIAS", bits("ATTENUATION_BIAS.value"))
        put("SCALE", bits("ATTENUATION_SCALE.value"))
        flags = word("CONFIG").bits(0, len(CONFIG))
        for flag, name in ((SHADOW, "shadow_off"), (SPOT, "spot_off"), (DISTANCE, "distance_off")):
            f = field(f"LIGHTING_CONFIG1.{name}")
            bit = (off.bits(f.lo, f.width) >> number) & 1
            flags = flags | ((1 - bit) * flag)
        # max(x, x * side) is then the absolute value (two-sided) or max(x, 0), without a select per pixel.
        put("SIDE", k.select((flags & TWO_SIDED) != 0, -1.0, 0.0))
        put("FLAGS", flags)
        put("NUMBER", number)

    # -- tables -------------------------------------------------------------------------------------------------------
    def _fetch(self, at: Value, where: TablePlace) -> Value:
        """A value of the table at arena offset `at`: a value of 12 bits, and a difference as sign and magnitude."""
        k, (whole, *fraction) = self.k, where
        word = k.gather(I32, (whole << 2) + at)
        result = k.to_f32(part(word, _VALUE)) * (1.0 / 4095.0)
        if fraction:
            magnitude = k.to_f32(word.bits(_DIFFERENCE.lo, _DIFFERENCE.width - 1)) * (1.0 / 2047.0)
            difference = k.bits_f32(k.bits_i32(magnitude) | ((word << 8) & -0x80000000))
            result = result + fraction[0] * difference
        return result

    def _own(self, light: Light) -> Value:
        """Byte offset of a light's tables from those of the first light."""
        return self.k.load(I32, light.at + RECORD.NUMBER) * (4 * ENTRIES)

    def _look_up(self, name: str, terms: Terms, otherwise: Value) -> Value:
        """The value from a table; `otherwise` if the table is unused."""
        k = self.k

        def look() -> Value:
            where = terms.place(self.select[name], self.signed[name], self.nearest)
            at = self.contents + 4 * ENTRIES * TABLES[name]
            if name == "sp":
                at = at + self._own(terms.light)
            value = self._fetch(at, where) * self.scale[name]
            k.probe(f"lighting.lut.{name}", value)
            return value

        value: Value = k.branch(self.part[name], look, lambda: otherwise)
        return value

    # -- pixels -------------------------------------------------------------------------------------------------------
    def shade(self, plane: Callable[[int], Value], w: Value, texture: Callable[[int], Color]) -> tuple[Color, Color]:
        """The primary and the secondary colour of a group of pixels.

        plane: an attribute divided by w; w: the factor to undo that; texture: the colour of a texture unit.
        """
        k, fresnel = self.k, self.get("fresnel")
        quaternion = [plane(slot) for slot in QUATERNION_SLOTS]  # its length has no effect, so w is not needed
        normal, tangent = self._axes(quaternion, texture)
        surface = LitPixels(k, normal, tangent, [plane(slot) * w for slot in VIEW_SLOTS])
        for what, vector in (("normal", normal), ("tangent", tangent), ("view", surface.view)):
            for axis, component in zip("xyz", vector, strict=True):
                k.probe(f"lighting.{what}.{axis}", component)
        shadow = self._shadow(texture)
        spread = lambda v: k.splat(v, type=F32)
        diffuse = [k.var(spread(c)) for c in self.ambient] if self.primary else []
        specular = [k.var(spread(0.0)) for _ in "rgb"] if self.secondary else []
        by_fresnel: Flag = self.part["fr"] & (fresnel != 0)
        alpha = k.var(k.branch(by_fresnel & self.fresnel_sum, lambda: spread(0.0), lambda: spread(1.0)))
        for n in k.range(0, self.count):
            light = Light(k, k.to_i64(n * LIGHT_SIZE) + self.lights)
            terms, distance = self._towards(surface, light)
            k.probe("lighting.light", n)
            k.probe("lighting.distance", distance)
            self._add(terms, distance, shadow, diffuse, specular)
            for _ in k.when(by_fresnel):
                for _ in k.when(True if self.fresnel_sum else n == self.count - 1):
                    value = self._look_up("fr", terms.inside(), spread(1.0))
                    alpha.value = alpha.value + value if self.fresnel_sum else value
        result = alpha.value
        if shadow is not None:
            a = shadow[3]
            result = k.branch(self.get("shadow_alpha") != 0, lambda: result * a, lambda: result)
        colors = []
        for bit, sums in ((FRESNEL.PRIMARY_ALPHA, diffuse), (FRESNEL.SECONDARY_ALPHA, specular)):
            channels = [v.value for v in sums] or [spread(0.0)] * 3
            channels.append(k.branch((fresnel & bit) != 0, lambda: result * 255.0, lambda: spread(255.0)))
            colors.append({ch: k.to_i32(v, 0.0, 255.0) for ch, v in zip("rgba", channels, strict=True)})
        return colors[0], colors[1]

    def _unit(self, name: str, texture: Callable[[int], Color]) -> tuple[Value, ...]:
        """r, g, b, a of the texture unit that a field names."""
        number = self.get(name)
        channels = lambda unit: tuple(texture(unit)[ch] for ch in "rgba")
        if isinstance(number, int):
            return channels(number)
        units = [channels(unit) for unit in range(4)]  # sampled here, outside of the branch
        found: tuple[Value, ...] = self.k.switch(number, [lambda u=u: u for u in units])  # type: ignore[misc]
        return found

    def _axes(self, quaternion: Vector, texture: Callable[[int], Color]) -> tuple[Vector, Vector]:
        """Normal and tangent in the space of the lights; a bump map gives one of them in surface space."""
        k, mode = self.k, self.get("bump_mode")
        one = k.splat(1.0, type=F32)
        across, up = (one, None, None), (None, None, one)
        bump: Vector = []
        if self.general or mode:
            bump = [k.to_f32(c) * (1.0 / 127.5) - 1.0 for c in self._unit("bump_unit", texture)[:3]]

        def turned(normal: Sequence[Value | None], tangent: Sequence[Value | None]) -> tuple[Value, ...]:
            return (*rotate(k, quaternion, normal), *rotate(k, quaternion, tangent))

        def by_normal() -> tuple[Value, ...]:
            x, y, z = bump
            rest = lambda: k.sqrt(k.max(one - x * x - y * y, 0.0))
            return turned([x, y, k.branch(self.get("bump_keep_z") != 0, lambda: z, rest)], across)

        plain = lambda: turned(up, across)
        ways = {"NONE": plain, "BUMP_MAP": by_normal, "TANGENT_MAP": lambda: turned(up, bump)}
        axes = k.switch(mode, [*BUMP_MODE.in_order(ways), plain])
        return list(axes[:3]), list(axes[3:])

    def _shadow(self, texture: Callable[[int], Color]) -> tuple[Value, ...] | None:
        """Shadow factors r, g, b, a from 0 (dark) to 1; None without shadows."""
        k = self.k
        if not self.general and not self.get("shadow"):
            return None
        color = self._unit("shadow_unit", texture)
        color = k.branch(self.get("shadow_invert") != 0, lambda: tuple(255 - c for c in color), lambda: color)
        bright = (k.splat(1.0, type=F32),) * 4
        factors: Callable[[], tuple[Value, ...]] = lambda: tuple(k.to_f32(c) * (1.0 / 255.0) for c in color)
        shadow: tuple[Value, ...] = k.branch(self.get("shadow") != 0, factors, lambda: bright)
        return shadow

    def _towards(self, surface: LitPixels, light: Light) -> tuple[Terms, Value]:
        """The vector products of a light, and its distance."""
        k = self.k

        def near() -> tuple[Value, ...]:
            to_light = [p + v for p, v in zip(light.three("POSITION"), surface.to_eye, strict=True)]
            size, divisor = length(k, to_light)
            return (*(x / divisor for x in to_light), size)

        def far() -> tuple[Value, ...]:
            return tuple(k.splat(v, type=F32) for v in (*light.three("UNIT"), light.one("LENGTH")))

        *toward, distance = k.branch(light.has(DIRECTIONAL), far, near)
        return Terms(k, surface, light, toward, self.general), distance

    def _attenuation(self, terms: Terms, distance: Value) -> Value:
        """The attenuation factor of distance and spotlight."""
        k, light = self.k, terms.light
        one = k.splat(1.0, type=F32)
        factor = k.var(one)
        for _ in k.when(light.has(DISTANCE)):
            x = k.clamp(distance * light.one("SCALE") + light.one("BIAS"), 0.0, 1.0)
            at = self.contents + 4 * ENTRIES * TABLES["da"] + self._own(light)
            factor.value = self._fetch(at, place(k, x, self.nearest))
        for _ in k.when(self.part["sp"]):
            for _ in k.when(light.has(SPOT)):
                factor.value = factor.value * self._look_up("sp", terms.inside(), one)
        return factor.value

    def _darkness(self, which: str, light: Light, shadow: tuple[Value, ...] | None) -> tuple[Value, ...] | None:
        """The shadow factors r, g, b for the primary or the secondary colour of a light."""
        chosen: Flag = self.get(f"shadow_{which}") != 0
        if shadow is None or chosen is False:
            return None
        bright = (self.k.splat(1.0, type=F32),) * 3
        left: tuple[Value, ...] = self.k.branch(light.has(SHADOW) & chosen, lambda: shadow[:3], lambda: bright)
        return left

    def _add(
        self, terms: Terms, distance: Value, shadow: tuple[Value, ...] | None, diffuse: list[Var], specular: list[Var]
    ) -> None:
        """Add one light to the sums."""
        k, light, ln = self.k, terms.light, terms.ln
        nl = k.max(ln, ln * light.side)
        # Inputs that are needed in any case are computed here, so that the branches below can share them.
        for name in SELECTED if specular and not self.general else ():
            if name not in ("sp", "fr") and self.part[name]:
                terms.place(self.select[name], self.signed[name], self.nearest)
        factor = self._attenuation(terms, distance)
        for name, value in (("l_n", ln), ("diffuse", nl), ("attenuation", factor)):
            k.probe(f"lighting.{name}", value)
        if diffuse:
            dark = self._darkness("primary", light, shadow)
            for i, (color, ambient) in enumerate(zip(light.three("DIFFUSE"), light.three("AMBIENT"), strict=True)):
                shine = nl * color if dark is None else nl * color * dark[i]
                diffuse[i].value = diffuse[i].value + (shine + ambient) * factor
        if specular:
            dark = self._darkness("secondary", light, shadow)
            lit = lambda: k.select(nl == 0.0, 0.0, factor)
            strength = k.branch(self.get("clamp_highlights") != 0, lit, lambda: factor)
            lobes = self._lobes(terms, nl)
            for name, value in zip(("specular0", "specular1.r", "specular1.g", "specular1.b"), lobes, strict=True):
                k.probe(f"lighting.{name}", value)
            colors = zip(light.three("SPECULAR0"), light.three("SPECULAR1"), strict=True)
            for i, (color0, color1) in enumerate(colors):
                shine = (lobes[0] * color0 + lobes[1 + i] * color1) * strength
                specular[i].value = specular[i].value + (shine if dark is None else shine * dark[i])

    def _lobes(self, terms: Terms, nl: Value) -> tuple[Value, ...]:
        """Factors of specular colour 0 (one for all channels) and of specular colour 1 (r, g, b)."""
        k, light = self.k, terms.light
        one = k.splat(1.0, type=F32)
        first, second = self._look_up("d0", terms, one), self._look_up("d1", terms, one)
        red = self._look_up("rr", terms, one)
        reflected = [self._look_up(name, terms, red) for name in ("rg", "rb")]
        lobes = (first, second * red, *(second * r for r in reflected))

        def shaded() -> tuple[Value, ...]:
            square = terms.inside().half_square
            geometric = k.select(square > 0.0, k.min(nl / square, 1.0), 0.0)
            chosen = [k.select(light.has(flag), geometric, one) for flag in (GEOMETRIC0, GEOMETRIC1)]
            return (lobes[0] * chosen[0], *(lobe * chosen[1] for lobe in lobes[1:]))

        result: tuple[Value, ...] = k.branch(light.has(GEOMETRIC0 | GEOMETRIC1), shaded, lambda: lobes)
        return result


__all__ = ["QUATERNION_SLOTS", "VIEW_SLOTS", "Lighting"]
