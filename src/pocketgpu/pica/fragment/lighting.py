"""Fragment lighting: the primary and secondary colour of pixels under up to eight lights.

The code is specialised by the used tables, their inputs and ranges, bump and shadow maps (`normal_form` selects these
fields of the registers). Everything else about a light is data: it is decoded once per draw into a record of floats,
and its flags are branches in the loop over the lights. As in the other stages, `state(...)` gives Python numbers in
specialised code and run-time scalars in general code.

Colours are summed in units of 1/255, so the final conversion only truncates. Vectors are divided by their lengths, not
multiplied by reciprocals, because a light straight above a surface must give full brightness.

Source: 3dbrew GPU/Internal Registers ("Fragment lighting registers"); the index and interpolation of tables, the
geometric factor and the Fresnel alpha as the public software models have them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pocketgpu.facts.pica import PICA
from pocketgpu.facts.pica_enums import (
    BUMP_MODE,
    FRESNEL,
    LIGHT_LAYER,
    LIGHT_LUT,
    LIGHT_LUT_INPUT,
    SEMANTIC,
    TEXENV_SOURCE,
)
from pocketgpu.lanes import F32, I32, Lang, Value, Var
from pocketgpu.pica.core.colors import Color
from pocketgpu.pica.core.layout import BANK_INDEX, LIGHT_SIZE, PACKET
from pocketgpu.pica.core.registers import (
    FLOAT_SHAPES,
    Flag,
    LiveRegisters,
    Number,
    State,
    field,
    narrow_float,
    part,
    register_id,
)
from pocketgpu.struct_words import Struct

QUATERNION_SLOTS = tuple(SEMANTIC.number(f"QUATERNION_{axis}") for axis in "XYZW")
VIEW_SLOTS = tuple(SEMANTIC.number(f"VIEW_{axis}") for axis in "XYZ")
LIGHTS = 8
ENTRIES = 256
Vector = list[Value]

_SYMBOLS = {name: name.upper() for name in ("d0", "d1", "fr", "rb", "rg", "rr")} | {"sp": "SP0", "da": "DA0"}
TABLES = {name: LIGHT_LUT.number(symbol) for name, symbol in _SYMBOLS.items()}
"""Numbers of the tables; spotlight and distance have eight each, one per light, of which this is the first."""
SELECTED = ("d0", "d1", "sp", "fr", "rb", "rg", "rr")
"""The tables that can be disabled and that have a selectable input: all but the distance tables."""
_LAYERS = {
    "CONFIG0": "d0 rr sp", "CONFIG1": "fr rr sp", "CONFIG2": "d0 d1 rr", "CONFIG3": "d0 d1 fr",
    "CONFIG4": "d0 d1 rr rg rb sp", "CONFIG5": "d0 fr rr rg rb sp", "CONFIG6": "d0 d1 fr rr sp",
}  # fmt: skip
LAYERS = {LIGHT_LAYER.number(symbol): tables.split() for symbol, tables in _LAYERS.items()}
"""Tables of each LIGHTING_CONFIG0.layer; CONFIG7 and unknown codes have all."""
NOTHING = max(LIGHT_LUT_INPUT) + 1
"""The input of a table with an unknown code: any code after the last valid one."""

_SHARED = (
    "shadow", "fresnel", "shadow_primary", "shadow_secondary", "shadow_invert", "shadow_alpha", "bump_unit",
    "shadow_unit", "clamp_highlights", "bump_mode", "bump_keep_z",
)  # fmt: skip


def _off(table: str) -> str:
    return f"LIGHTING_CONFIG1.{'spot' if table == 'sp' else table}_off"


FIELDS = (
    "LIGHTING_ENABLE0.enable",
    "LIGHTING_ENABLE1.disable",
    *(f"LIGHTING_CONFIG0.{name}" for name in (*_SHARED, "layer")),
    *(_off(name) for name in SELECTED if name != "sp"),
    *(f"LIGHTING_LUTINPUT_{part}.{name}" for part in ("ABS", "SELECT") for name in SELECTED),
)
"""Register fields that can affect the code of lit fragments."""

_VALUE, _DIFFERENCE = (field(f"LIGHTING_LUT_DATA0.{name}") for name in ("value", "difference"))

# One light for the loop, in the order of the permutation. UNIT and LENGTH are for directional lights.
RECORD = Struct(
    "POSITION:3", "UNIT:3", "LENGTH", "SPOT:3", "SPECULAR0:3", "SPECULAR1:3", "DIFFUSE:3", "AMBIENT:3",
    "BIAS", "SCALE", "SIDE", "FLAGS", "NUMBER",
)  # fmt: skip
assert RECORD.size <= LIGHT_SIZE
_CONFIG = PICA["LIGHT0_CONFIG"].fields
_DIRECTIONAL, _TWO_SIDED, _GEOMETRIC0, _GEOMETRIC1 = (part.mask for part in _CONFIG)
_SHADOW, _SPOT, _DISTANCE = (1 << len(_CONFIG) + i for i in range(3))


# -- state -------------------------------------------------------------------------------------------------------------
def normal_form(get: State, used: set[int], choices: Mapping[str, str]) -> dict[str, int]:
    """The fields of FIELDS that affect the code of a draw whose combiners read the sources `used`; others are 0.

    LIGHTING_ENABLE0.enable is set if the draw is lit. A table is used unless its bit of LIGHTING_CONFIG1 is set,
    whatever the layer; the bits of tables without effect on a colour are set too.
    """
    primary, secondary = TEXENV_SOURCE.FRAGMENT_PRIMARY in used, TEXENV_SOURCE.FRAGMENT_SECONDARY in used
    if get("LIGHTING_ENABLE1.disable") or not (primary or secondary):
        return {}
    shared = {name: get(f"LIGHTING_CONFIG0.{name}") for name in _SHARED}
    tables = set(LAYERS.get(get("LIGHTING_CONFIG0.layer"), SELECTED))
    # A choice: bits 20 and 22 may be exchanged.
    other = {"rr": "rb", "rb": "rr"} if choices["lighting.off_bits"] == "rr-rg-rb" else {}
    tables -= {name for name in SELECTED if name != "sp" and get(_off(other.get(name, name)))}
    if not secondary:
        tables -= {"d0", "d1", "rr", "rg", "rb"}
        shared["clamp_highlights"] = 0
    shared["fresnel"] &= (FRESNEL.PRIMARY_ALPHA if primary else 0) | (FRESNEL.SECONDARY_ALPHA if secondary else 0)
    shared["shadow_primary"] &= int(primary)
    shared["shadow_secondary"] &= int(secondary)
    shared["shadow_alpha"] &= int(shared["shadow"] and shared["fresnel"] > 0)
    if not shared["fresnel"]:
        tables -= {"fr"}
    elif "fr" not in tables and not shared["shadow_alpha"]:
        shared["fresnel"] = 0
    if not (shared["shadow"] and (shared["shadow_primary"] or shared["shadow_secondary"] or shared["shadow_alpha"])):
        shared |= {name: 0 for name in _SHARED if name.startswith("shadow")}
    selects = {name: get(f"LIGHTING_LUTINPUT_SELECT.{name}") for name in SELECTED if name in tables}
    for name, code in selects.items():
        layer = get("LIGHTING_CONFIG0.layer")
        if code >= NOTHING or (code == LIGHT_LUT_INPUT.CP and layer != LIGHT_LAYER.CONFIG7):
            selects[name] = NOTHING
    tangent = LIGHT_LUT_INPUT.CP in selects.values()
    if shared["bump_mode"] != BUMP_MODE.BUMP_MAP and not (shared["bump_mode"] == BUMP_MODE.TANGENT_MAP and tangent):
        shared["bump_mode"] = shared["bump_unit"] = 0
    if shared["bump_mode"] != BUMP_MODE.BUMP_MAP:
        shared["bump_keep_z"] = 0

    form = {f"LIGHTING_CONFIG0.{name}": value for name, value in shared.items()} | {"LIGHTING_ENABLE0.enable": 1}
    for name in SELECTED:
        if name in tables:
            form[f"LIGHTING_LUTINPUT_SELECT.{name}"] = selects[name]
            form[f"LIGHTING_LUTINPUT_ABS.{name}"] = get(f"LIGHTING_LUTINPUT_ABS.{name}")
        else:
            form[_off(name)] = 0xFF if name == "sp" else 1
    return form


def units_read(form: Mapping[str, int]) -> set[int]:
    """Combiner sources that lighting itself reads: the bump map and the shadow."""
    get = lambda name: form.get(f"LIGHTING_CONFIG0.{name}", 0)
    pairs = (("bump_mode", "bump_unit"), ("shadow", "shadow_unit"))
    return {TEXENV_SOURCE.TEXTURE0 + get(unit) for enable, unit in pairs if get(enable)}


# -- vectors -----------------------------------------------------------------------------------------------------------
def dot(a: Sequence[Value], b: Sequence[Value]) -> Value:
    """a·b, summed from the first component on."""
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total


def length(k: Lang, a: Sequence[Value]) -> tuple[Value, Value]:
    """(length, divisor): the divisor is the length, or 1 where it is zero."""
    square = dot(a, a)
    size = k.sqrt(square)
    return size, k.select(square > 0.0, size, 1.0)


def unit(k: Lang, a: Sequence[Value]) -> Vector:
    """The vector with length 1; a zero vector stays zero."""
    _, divisor = length(k, a)
    return [x / divisor for x in a]


def rotate(k: Lang, q: Sequence[Value], v: Sequence[Value | None]) -> Vector:
    """A vector rotated by a quaternion x, y, z, w of any length. None: the component is zero.

    2 (q·v) q + (w² - q·q) v + 2 w (q x v), divided by the squared length of the quaternion.
    """
    *xyz, w = q
    square = dot(xyz, xyz)
    size = square + w * w
    size = k.select(size > 0.0, size, 1.0)
    inner: Value | None = None
    for a, b in zip(xyz, v, strict=True):
        if b is not None:
            inner = a * b if inner is None else inner + a * b
    assert inner is not None
    along, own = inner * 2.0, w * w - square
    out = []
    for i in range(3):
        j, m = (i + 1) % 3, (i + 2) % 3
        total = along * xyz[i]
        same, left, right = v[i], v[m], v[j]
        if same is not None:
            total = total + own * same
        across: Value | None = None
        if left is not None:
            across = xyz[j] * left
        if right is not None:
            across = -(xyz[m] * right) if across is None else across - xyz[m] * right
        if across is not None:
            total = total + across * (w * 2.0)
        out.append(total / size)
    return out


# -- the unit ----------------------------------------------------------------------------------------------------------
class _Light:
    """The scalars of one light, from its record."""

    def __init__(self, k: Lang, at: Value) -> None:
        self.k, self.at = k, at
        self.flags = k.load(I32, at + RECORD.FLAGS)
        self.side = self.one("SIDE")

    def one(self, name: str) -> Value:
        return self.k.load(F32, self.at + getattr(RECORD, name))

    def three(self, name: str) -> Vector:
        return [self.k.load(F32, self.at + (getattr(RECORD, name) + 4 * i)) for i in range(3)]

    def has(self, flag: int) -> Value:
        return (self.flags & flag) != 0


class _Surface:
    """What all lights share at a group of pixels. normal, tangent and view have length 1; view points from the surface
    to the eye, and `to_eye` is view before normalisation."""

    def __init__(self, k: Lang, normal: Vector, tangent: Vector, to_eye: Vector) -> None:
        self.normal, self.tangent, self.to_eye = normal, tangent, to_eye
        self.view = unit(k, to_eye)
        self.nv, self.nt = dot(normal, self.view), dot(normal, tangent)


class _Terms:
    """Products of vectors for one light at a group of pixels, each computed at its first use.

    toward: the direction to the light. General code computes all inputs of tables at once, because it does not know
    which ones the tables use.
    """

    def __init__(self, k: Lang, surface: _Surface, light: _Light, toward: Vector, general: bool) -> None:
        self.k, self.surface, self.light, self.toward = k, surface, light, toward
        self.known: dict[Any, Any] = {}
        self._inputs = [self.value(code) for code in range(NOTHING)] if general else []

    def inside(self) -> _Terms:
        """A copy for the body of a branch: values computed there do not exist outside."""
        inner = _Terms(self.k, self.surface, self.light, self.toward, False)
        inner.known, inner._inputs = dict(self.known), self._inputs
        return inner

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    @property
    def ln(self) -> Value:
        value: Value = self._once("ln", lambda: dot(self.toward, self.surface.normal))
        return value

    @property
    def half(self) -> Vector:
        view = self.surface.view
        value: Vector = self._once("half", lambda: [a + b for a, b in zip(view, self.toward, strict=True)])
        return value

    @property
    def half_square(self) -> Value:
        value: Value = self._once("square", lambda: dot(self.half, self.half))
        return value

    @property
    def half_length(self) -> Value:
        k, square = self.k, self.half_square
        value: Value = self._once("length", lambda: k.select(square > 0.0, k.sqrt(square), 1.0))
        return value

    def value(self, code: Number) -> Value:
        """The input that a SELECT code names."""
        value: Value
        if isinstance(code, int):
            value = self._once(("input", code), lambda: self._value(code))
        else:
            zero = self.k.splat(0.0, type=F32)
            value = self.k.switch(code, [lambda v=v: v for v in (*self._inputs, zero)])  # type: ignore[misc]
        return value

    def _value(self, code: int) -> Value:
        surface = self.surface
        if code == LIGHT_LUT_INPUT.NH:
            return (self.ln + surface.nv) / self.half_length
        if code == LIGHT_LUT_INPUT.VH:
            return dot(surface.view, self.half) / self.half_length
        if code == LIGHT_LUT_INPUT.NV:
            return surface.nv
        if code == LIGHT_LUT_INPUT.LN:
            return self.ln
        if code == LIGHT_LUT_INPUT.SP:
            return dot(self.toward, self.light.three("SPOT"))
        if code == LIGHT_LUT_INPUT.CP:
            return dot(self.half, surface.tangent) / self.half_length - surface.nt * self.value(LIGHT_LUT_INPUT.NH)
        return self.k.splat(0.0, type=F32)

    def place(self, code: Number, signed: Flag, nearest: bool) -> _Place:
        """The position of an input in a table, signed or unsigned."""
        x = self.value(code)
        make: Callable[[], _Place] = lambda: self.k.branch(
            signed, lambda: signed_place(self.k, x, nearest), lambda: place(self.k, x_or_zero(), nearest)
        )
        x_or_zero = lambda: self.k.max(x, x * self.light.side)
        if isinstance(code, int) and isinstance(signed, bool):
            found: _Place = self._once(("place", code, signed), make)
            return found
        return make()


_Place = tuple[Value, ...]
"""The index of a table entry, and the fraction toward the next entry (absent for nearest lookups)."""


def place(k: Lang, x: Value, nearest: bool) -> _Place:
    """The position of x in a table over 0..1."""
    if nearest:
        return (k.to_i32(x * 255.0, 0, ENTRIES - 1),)
    scaled = x * float(ENTRIES)
    whole = k.to_i32(scaled, 0, ENTRIES - 1)
    return whole, scaled - k.to_f32(whole)


def signed_place(k: Lang, x: Value, nearest: bool) -> _Place:
    """The position of x in a table over -1..1, which stores the negative half last."""
    if nearest:
        return (k.to_i32(x * 127.0, -128, 127) & (ENTRIES - 1),)
    scaled = x * (ENTRIES / 2)
    whole = k.to_i32(k.floor(scaled), -128, 127)
    return whole & (ENTRIES - 1), scaled - k.to_f32(whole)


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
        self.part: dict[str, Flag] = {name: state(_off(name)) == 0 for name in SELECTED}
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
        flags = word("CONFIG").bits(0, len(_CONFIG))
        for flag, name in ((_SHADOW, "shadow_off"), (_SPOT, "spot_off"), (_DISTANCE, "distance_off")):
            f = field(f"LIGHTING_CONFIG1.{name}")
            bit = (off.bits(f.lo, f.width) >> number) & 1
            flags = flags | ((1 - bit) * flag)
        # max(x, x * side) is then the absolute value (two-sided) or max(x, 0), without a select per pixel.
        put("SIDE", k.select((flags & _TWO_SIDED) != 0, -1.0, 0.0))
        put("FLAGS", flags)
        put("NUMBER", number)

    # -- tables -------------------------------------------------------------------------------------------------------
    def _fetch(self, at: Value, where: _Place) -> Value:
        """A value of the table at arena offset `at`: a value of 12 bits, and a difference as sign and magnitude."""
        k, (whole, *fraction) = self.k, where
        word = k.gather(I32, (whole << 2) + at)
        result = k.to_f32(part(word, _VALUE)) * (1.0 / 4095.0)
        if fraction:
            magnitude = k.to_f32(word.bits(_DIFFERENCE.lo, _DIFFERENCE.width - 1)) * (1.0 / 2047.0)
            difference = k.bits_f32(k.bits_i32(magnitude) | ((word << 8) & -0x80000000))
            result = result + fraction[0] * difference
        return result

    def _own(self, light: _Light) -> Value:
        """Byte offset of a light's tables from those of the first light."""
        return self.k.load(I32, light.at + RECORD.NUMBER) * (4 * ENTRIES)

    def _look_up(self, name: str, terms: _Terms, otherwise: Value) -> Value:
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
        surface = _Surface(k, normal, tangent, [plane(slot) * w for slot in VIEW_SLOTS])
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
            light = _Light(k, k.to_i64(n * LIGHT_SIZE) + self.lights)
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

    def _towards(self, surface: _Surface, light: _Light) -> tuple[_Terms, Value]:
        """The vector products of a light, and its distance."""
        k = self.k

        def near() -> tuple[Value, ...]:
            to_light = [p + v for p, v in zip(light.three("POSITION"), surface.to_eye, strict=True)]
            size, divisor = length(k, to_light)
            return (*(x / divisor for x in to_light), size)

        def far() -> tuple[Value, ...]:
            return tuple(k.splat(v, type=F32) for v in (*light.three("UNIT"), light.one("LENGTH")))

        *toward, distance = k.branch(light.has(_DIRECTIONAL), far, near)
        return _Terms(k, surface, light, toward, self.general), distance

    def _attenuation(self, terms: _Terms, distance: Value) -> Value:
        """The attenuation factor of distance and spotlight."""
        k, light = self.k, terms.light
        one = k.splat(1.0, type=F32)
        factor = k.var(one)
        for _ in k.when(light.has(_DISTANCE)):
            x = k.clamp(distance * light.one("SCALE") + light.one("BIAS"), 0.0, 1.0)
            at = self.contents + 4 * ENTRIES * TABLES["da"] + self._own(light)
            factor.value = self._fetch(at, place(k, x, self.nearest))
        for _ in k.when(self.part["sp"]):
            for _ in k.when(light.has(_SPOT)):
                factor.value = factor.value * self._look_up("sp", terms.inside(), one)
        return factor.value

    def _darkness(self, which: str, light: _Light, shadow: tuple[Value, ...] | None) -> tuple[Value, ...] | None:
        """The shadow factors r, g, b for the primary or the secondary colour of a light."""
        chosen: Flag = self.get(f"shadow_{which}") != 0
        if shadow is None or chosen is False:
            return None
        bright = (self.k.splat(1.0, type=F32),) * 3
        left: tuple[Value, ...] = self.k.branch(light.has(_SHADOW) & chosen, lambda: shadow[:3], lambda: bright)
        return left

    def _add(
        self, terms: _Terms, distance: Value, shadow: tuple[Value, ...] | None, diffuse: list[Var], specular: list[Var]
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

    def _lobes(self, terms: _Terms, nl: Value) -> tuple[Value, ...]:
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
            chosen = [k.select(light.has(flag), geometric, one) for flag in (_GEOMETRIC0, _GEOMETRIC1)]
            return (lobes[0] * chosen[0], *(lobe * chosen[1] for lobe in lobes[1:]))

        result: tuple[Value, ...] = k.branch(light.has(_GEOMETRIC0 | _GEOMETRIC1), shaded, lambda: lobes)
        return result


__all__ = ["FIELDS", "QUATERNION_SLOTS", "VIEW_SLOTS", "Lighting", "normal_form", "units_read"]
