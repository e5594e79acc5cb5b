"""Fragment lighting: the primary and secondary colour of pixels under up to eight lights.

The unit is specialised by what shapes its code: which tables take part, their inputs and ranges, bump and shadow maps
(`normal_form` cuts that out of the registers). Everything that belongs to one light is data: it is decoded once per
draw into a record of floats, and its flags are branches inside the loop over the lights.

Colours are summed in units of 1/255, so that the end of the sums is just cutting off the fraction. Vectors are divided
by their lengths, not multiplied with reciprocals, because a light straight above a surface has to give full brightness.

Source: 3dbrew GPU/Internal Registers ("Fragment lighting registers"); the index and interpolation of tables, the
geometric factor and the Fresnel alpha as the public software models have them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..lanes import F32, I32, Lang, Value
from .combiners import FRAGMENT_PRIMARY, FRAGMENT_SECONDARY, TEXTURE0, Color, sources_used
from .layout import BANK_INDEX, LIGHT_SIZE, PACKET, Struct
from .registers import LiveRegisters, StaticRegisters, field, narrow_float, register_id

QUATERNION_SLOTS = tuple(range(4, 8))
VIEW_SLOTS = tuple(range(18, 21))
LIGHTS = 8
ENTRIES = 256
Vector = list[Value]

TABLES = {"d0": 0, "d1": 1, "fr": 3, "rb": 4, "rg": 5, "rr": 6, "sp": 8, "da": 16}
"""Numbers of the tables; those of the spotlight and of the distance are the first of eight, one for each light."""
LAYERS = {
    0: "d0 rr sp da", 1: "fr rr sp da", 2: "d0 d1 rr da", 3: "d0 d1 fr da", 4: "d0 d1 rr rg rb sp da",
    5: "d0 fr rr rg rb sp da", 6: "d0 d1 fr rr sp da",
}  # fmt: skip
"""Tables of each LIGHTING_CONFIG0.layer; 8, and the codes that nobody knows, have them all."""
ALL_LAYERS = 8
# Inputs of a table, by their codes.
N_H, V_H, N_V, L_N, SPOT, COS_PHI, NOTHING = range(7)
BUMP_NONE, BUMP_NORMAL, BUMP_TANGENT = range(3)

# Choices that no register holds travel in a word beside the registers.
OPTIONS = 0x400
_LIT, _NEAREST, _FRESNEL_SUM, _NARROW_COLORS, _FIRST_TABLE = range(5)

_SHARED = (
    "shadow", "fresnel", "shadow_primary", "shadow_secondary", "shadow_invert", "shadow_alpha", "bump_unit",
    "shadow_unit", "clamp_highlights", "bump_mode", "bump_keep_z",
)  # fmt: skip
_SELECTED = ("d0", "d1", "sp", "fr", "rb", "rg", "rr")
FIELDS = (
    *(f"LIGHTING_CONFIG0.{name}" for name in (*_SHARED, "layer")),
    *(f"LIGHTING_CONFIG1.{name}_off" for name in _SELECTED if name != "sp"),
    *(f"LIGHTING_LUTINPUT_{part}.{name}" for part in ("ABS", "SELECT") for name in _SELECTED),
)
"""Register fields that can shape the code of lit fragments."""

# One light as the loop reads it, in the order of the permutation. UNIT and LENGTH belong to directional lights.
RECORD = Struct(
    "POSITION:3", "UNIT:3", "LENGTH", "SPOT:3", "SPECULAR0:3", "SPECULAR1:3", "DIFFUSE:3", "AMBIENT:3",
    "BIAS", "SCALE", "SIDE", "FLAGS", "NUMBER",
)  # fmt: skip
assert RECORD.size <= LIGHT_SIZE
_DIRECTIONAL, _TWO_SIDED, _GEOMETRIC0, _GEOMETRIC1, _SHADOW, _SPOT, _DISTANCE = (1 << i for i in range(7))


# -- state --------------------------------------------------------------------------------------------------------------
def tables_used(get: Callable[[str], int], swapped: bool) -> set[str]:
    """Tables that the layer has and that are not switched off. swapped: bits 20 and 22 change places."""
    found = set(LAYERS.get(get("LIGHTING_CONFIG0.layer"), " ".join(TABLES)).split())
    other = {"rr": "rb", "rb": "rr"} if swapped else {}
    off = {n for n in _SELECTED if n != "sp" and get(f"LIGHTING_CONFIG1.{other.get(n, n)}_off")}
    return found - off


def normal_form(get: Callable[[str], int], used: set[int], switches: Mapping[str, str]) -> dict[int, int]:
    """The static words of the lighting unit for a draw whose combiners read the sources `used`.

    `get` gives raw register fields. Empty when the draw is not lit.
    """
    primary, secondary = FRAGMENT_PRIMARY in used, FRAGMENT_SECONDARY in used
    if get("LIGHTING_ENABLE1.disable") or not (primary or secondary):
        return {}
    shared = {name: get(f"LIGHTING_CONFIG0.{name}") for name in _SHARED}
    tables = tables_used(get, switches["lighting.off_bits"] == "rr-rg-rb")
    if not secondary:
        tables -= {"d0", "d1", "rr", "rg", "rb"}
    shared["fresnel"] &= (1 if primary else 0) | (2 if secondary else 0)
    shadow_alpha = shared["shadow"] and shared["shadow_alpha"] and shared["fresnel"]
    if not shared["fresnel"]:
        tables -= {"fr"}
    elif "fr" not in tables and not shadow_alpha:
        shared["fresnel"] = 0
    shared["shadow_primary"] &= int(primary)
    shared["shadow_secondary"] &= int(secondary)
    shared["shadow_alpha"] = int(bool(shadow_alpha))
    if not (shared["shadow"] and (shared["shadow_primary"] or shared["shadow_secondary"] or shadow_alpha)):
        for name in ("shadow", "shadow_primary", "shadow_secondary", "shadow_alpha", "shadow_invert", "shadow_unit"):
            shared[name] = 0
    selects = {n: get(f"LIGHTING_LUTINPUT_SELECT.{n}") for n in _SELECTED if n in tables}
    for name, code in selects.items():
        if code > COS_PHI or (code == COS_PHI and get("LIGHTING_CONFIG0.layer") != ALL_LAYERS):
            selects[name] = NOTHING
    if shared["bump_mode"] == BUMP_TANGENT and COS_PHI not in selects.values():  # nobody asks for the tangent
        shared["bump_mode"] = BUMP_NONE
    if shared["bump_mode"] not in (BUMP_NORMAL, BUMP_TANGENT):
        shared["bump_mode"] = shared["bump_unit"] = 0
    if shared["bump_mode"] != BUMP_NORMAL:
        shared["bump_keep_z"] = 0
    if not secondary:
        shared["clamp_highlights"] = 0

    words: dict[int, int] = {}

    def put(name: str, value: int) -> None:
        f = field(name)
        words[f.register.offset] = words.get(f.register.offset, 0) | (value << f.lo)

    for name, value in shared.items():
        put(f"LIGHTING_CONFIG0.{name}", value)
    for name, code in selects.items():
        put(f"LIGHTING_LUTINPUT_SELECT.{name}", code)
        put(f"LIGHTING_LUTINPUT_ABS.{name}", get(f"LIGHTING_LUTINPUT_ABS.{name}"))
    words[OPTIONS] = (
        (1 << _LIT)
        | ((switches["lighting.lut"] == "nearest") << _NEAREST)
        | ((switches["lighting.fresnel"] == "sum") << _FRESNEL_SUM)
        | ((switches["lighting.color_bits"] == "8") << _NARROW_COLORS)
        | sum(1 << (_FIRST_TABLE + i) for i, name in enumerate(TABLES) if name in tables)
    )
    return words


def is_lit(state: StaticRegisters) -> bool:
    """Whether fragments of a state (in normal form) need the lighting unit."""
    return OPTIONS in state.words


def units_read(words: Mapping[int, int]) -> set[int]:
    """Combiner sources that lighting itself reads: the bump map and the shadow."""
    get = StaticRegisters(words)
    units = set()
    if get("LIGHTING_CONFIG0.bump_mode"):
        units.add(TEXTURE0 + get("LIGHTING_CONFIG0.bump_unit"))
    if get("LIGHTING_CONFIG0.shadow"):
        units.add(TEXTURE0 + get("LIGHTING_CONFIG0.shadow_unit"))
    return units


# -- vectors ------------------------------------------------------------------------------------------------------------
def dot(a: Sequence[Value], b: Sequence[Value]) -> Value:
    """a·b, summed from the first component on."""
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total


def length(k: Lang, a: Sequence[Value]) -> tuple[Value, Value]:
    """(length, the same or 1 where it is zero: what to divide by)."""
    square = dot(a, a)
    size = k.sqrt(square)
    return size, k.select(square > 0.0, size, 1.0)


def unit(k: Lang, a: Sequence[Value]) -> Vector:
    """The vector with length 1; a vector without a length stays zero."""
    _, divisor = length(k, a)
    return [x / divisor for x in a]


def rotate(k: Lang, q: Sequence[Value], v: Sequence[Value | None]) -> Vector:
    """A vector turned by a quaternion x, y, z, w of any length. None stands for a component that is zero.

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


# -- the unit -----------------------------------------------------------------------------------------------------------
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
    """What all lights have in common at a group of pixels. normal, tangent and view have length 1; view goes from the
    surface to the eye, and `way` is the same before its length was taken away."""

    def __init__(self, k: Lang, normal: Vector, tangent: Vector, way: Vector, inputs: set[int]) -> None:
        self.normal, self.tangent, self.way = normal, tangent, way
        self.view = unit(k, way)
        self.nv = dot(normal, self.view) if inputs & {N_H, N_V, COS_PHI} else None
        self.nt = dot(normal, tangent) if COS_PHI in inputs else None


class _Terms:
    """Products of vectors for one light at a group of pixels, each computed when first asked for."""

    def __init__(self, k: Lang, surface: _Surface, light: _Light, l: Vector) -> None:
        self.k, self.surface, self.light, self.l = k, surface, light, l
        self.known: dict[Any, Any] = {}

    def inside(self) -> _Terms:
        """The same for the body of a branch: what is computed there is not known outside."""
        inner = _Terms(self.k, self.surface, self.light, self.l)
        inner.known = dict(self.known)
        return inner

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    @property
    def ln(self) -> Value:
        return self._once("ln", lambda: dot(self.l, self.surface.normal))  # type: ignore[no-any-return]

    @property
    def half(self) -> Vector:
        return self._once("half", lambda: [a + b for a, b in zip(self.surface.view, self.l, strict=True)])  # type: ignore[no-any-return]

    @property
    def half_square(self) -> Value:
        return self._once("square", lambda: dot(self.half, self.half))  # type: ignore[no-any-return]

    @property
    def half_length(self) -> Value:
        k, square = self.k, self.half_square
        return self._once("length", lambda: k.select(square > 0.0, k.sqrt(square), 1.0))  # type: ignore[no-any-return]

    def value(self, code: int) -> Value:
        """The input that a SELECT code names."""
        return self._once(("input", code), lambda: self._value(code))  # type: ignore[no-any-return]

    def _value(self, code: int) -> Value:
        surface = self.surface
        if code == N_H:
            assert surface.nv is not None
            return (self.ln + surface.nv) / self.half_length
        if code == V_H:
            return dot(surface.view, self.half) / self.half_length
        if code == N_V:
            assert surface.nv is not None
            return surface.nv
        if code == L_N:
            return self.ln
        if code == SPOT:
            return dot(self.l, self.light.three("SPOT"))
        if code == COS_PHI:
            assert surface.nt is not None
            return dot(self.half, surface.tangent) / self.half_length - surface.nt * self.value(N_H)
        return self.k.splat(0.0, type=F32)

    def place(self, code: int, signed: bool, nearest: bool) -> tuple[Value, Value | None]:
        """(entry of a table, how far to the next) for an input that is taken as it is, or without its sign."""
        return self._once(("place", code, signed), lambda: self._place(self.value(code), signed, nearest))  # type: ignore[no-any-return]

    def _place(self, x: Value, signed: bool, nearest: bool) -> tuple[Value, Value | None]:
        k = self.k
        if not signed:
            return entry_of(k, k.max(x, x * self.light.side), nearest)
        if nearest:
            return k.to_i32(x * 127.0, -128, 127) & (ENTRIES - 1), None
        scaled = x * 128.0
        whole = k.to_i32(k.floor(scaled), -128, 127)
        return whole & (ENTRIES - 1), scaled - k.to_f32(whole)


def entry_of(k: Lang, x: Value, nearest: bool) -> tuple[Value, Value | None]:
    """Entry, and how far to the next, of a table over 0..1."""
    if nearest:
        return k.to_i32(x * 255.0, 0, 255), None
    scaled = x * 256.0
    whole = k.to_i32(scaled, 0, 255)
    return whole, scaled - k.to_f32(whole)


class Lighting:
    """The unit for one draw. `lights`: arena offset of LIGHTS records of LIGHT_SIZE bytes that are this kernel's own."""

    def __init__(self, k: Lang, state: StaticRegisters, live: LiveRegisters, packet: Value, lights: Value) -> None:
        self.k, self.live, self.lights = k, live, lights
        self.get = lambda name: state(f"LIGHTING_CONFIG0.{name}")
        used, options = sources_used(state), state.words[OPTIONS]
        self.primary, self.secondary = FRAGMENT_PRIMARY in used, FRAGMENT_SECONDARY in used
        self.nearest, self.fresnel_sum = bool(options >> _NEAREST & 1), bool(options >> _FRESNEL_SUM & 1)
        self.color_bits = 8 if options >> _NARROW_COLORS & 1 else 10
        self.tables = {name for i, name in enumerate(TABLES) if options >> (_FIRST_TABLE + i) & 1}
        selected = self.tables & set(_SELECTED)
        self.select = {name: state(f"LIGHTING_LUTINPUT_SELECT.{name}") for name in selected}
        self.signed = {name: bool(state(f"LIGHTING_LUTINPUT_ABS.{name}")) for name in selected}
        self.contents = k.to_i64(k.load(I32, packet + (PACKET.VERSIONS + 4 * BANK_INDEX["lighting_lut"])))
        self.count = live("LIGHTING_NUM_LIGHTS.count") + 1
        # A scale code is a power of two: 0 to 3 up, and 6 and 7 (-2 and -1) down.
        scales = {n: live(f"LIGHTING_LUTINPUT_SCALE.{n}").bits(0, 3, signed=True) for n in sorted(selected)}
        self.scale = {name: k.bits_f32((code + 127) << 23) for name, code in scales.items()}
        self.ambient = self._color(live.word("LIGHTING_AMBIENT"))
        order = live.word("LIGHTING_LIGHT_PERMUTATION")
        off = live.word("LIGHTING_CONFIG1")
        for n in k.range(0, self.count):
            self._decode(k.to_i64(n * LIGHT_SIZE) + lights, (order >> (n << 2)) & 7, off)

    # -- before the pixels --------------------------------------------------------------------------------------------
    def _color(self, word: Value) -> Vector:
        """r, g, b of a light colour, where 255 is full brightness."""
        places = {name: field(f"LIGHTING_AMBIENT.{name}").lo for name in "rgb"}
        return [self.k.to_f32(word.bits(places[name], self.color_bits)) for name in "rgb"]

    def _decode(self, at: Value, number: Value, off: Value) -> None:
        """Write the record of light `number`."""
        k = self.k
        word = lambda name: self.live.word((number << 4) + register_id(f"LIGHT0_{name}"))

        def bits(name: str) -> Value:
            f = field(f"LIGHT0_{name}")
            return word(name.partition(".")[0]).bits(f.lo, f.width, signed=f.type.startswith("fixed"))

        def put(name: str, values: Sequence[Value]) -> None:
            for i, value in enumerate(values):
                k.store(value.type, at + (getattr(RECORD, name) + 4 * i), value)

        position = [narrow_float(k, bits(name), 5, 10) for name in ("XY.x", "XY.y", "Z.z")]
        size, divisor = length(k, position)
        put("POSITION", position)
        put("UNIT", [x / divisor for x in position])
        put("LENGTH", [size])
        spot = [bits(name) for name in ("SPOTDIR_XY.x", "SPOTDIR_XY.y", "SPOTDIR_Z.z")]
        put("SPOT", [k.to_f32(x) * (1.0 / 2047.0) for x in spot])
        for name in ("SPECULAR0", "SPECULAR1", "DIFFUSE", "AMBIENT"):
            put(name, self._color(word(name)))
        for name in ("BIAS", "SCALE"):
            put(name, [narrow_float(k, bits(f"ATTENUATION_{name}.value"), 7, 12)])
        flags = word("CONFIG").bits(0, 4)
        for flag, name in ((_SHADOW, "shadow_off"), (_SPOT, "spot_off"), (_DISTANCE, "distance_off")):
            f = field(f"LIGHTING_CONFIG1.{name}")
            bit = (off.bits(f.lo, f.width) >> number) & 1
            flags = flags | ((1 - bit) * flag)
        # With this factor max(x, x * side) is the absolute value, or no less than 0, without a choice for each pixel.
        put("SIDE", [k.select((flags & _TWO_SIDED) != 0, -1.0, 0.0)])
        put("FLAGS", [flags])
        put("NUMBER", [number])

    # -- tables -------------------------------------------------------------------------------------------------------
    def _fetch(self, at: Value, place: tuple[Value, Value | None], scale: Value | None = None) -> Value:
        """A value of the table at arena offset `at`: 12 bits of value, and a difference with sign and magnitude."""
        k, (whole, fraction) = self.k, place
        word = k.gather(I32, k.to_i64(whole << 2) + at)
        result = k.to_f32(word & 0xFFF) * (1.0 / 4095.0)
        if fraction is not None:
            magnitude = k.to_f32(word.bits(12, 11)) * (1.0 / 2047.0)
            difference = k.bits_f32(k.bits_i32(magnitude) | ((word << 8) & -0x80000000))
            result = result + fraction * difference
        return result if scale is None else result * scale

    def _look_up(self, name: str, terms: _Terms) -> Value:
        place = terms.place(self.select[name], self.signed[name], self.nearest)
        at = self.contents + 4 * ENTRIES * TABLES[name]
        if name == "sp":
            at = at + self._own(terms.light)
        return self._fetch(at, place, self.scale[name])

    def _own(self, light: _Light) -> Value:
        """Where the tables of a light lie behind the first light's."""
        number = self.k.load(I32, light.at + RECORD.NUMBER)
        return self.k.to_i64(number * (4 * ENTRIES))

    # -- pixels -------------------------------------------------------------------------------------------------------
    def shade(self, plane: Callable[[int], Value], w: Value, texture: Callable[[int], Color]) -> tuple[Color, Color]:
        """The primary and the secondary colour of a group of pixels.

        plane: an attribute divided by w; w: what to multiply it with; texture: the colour of a texture unit.
        """
        k = self.k
        quaternion = [plane(slot) for slot in QUATERNION_SLOTS]  # its length does not matter, so neither does w
        normal, tangent = self._axes(quaternion, texture)
        surface = _Surface(k, normal, tangent, [plane(slot) * w for slot in VIEW_SLOTS], set(self.select.values()))
        for axis, n in zip("xyz", normal, strict=True):
            k.probe(f"lighting.normal.{axis}", n)
        shadow = self._shadow(texture)
        spread = lambda v: k.splat(v, type=F32)
        diffuse = [k.var(spread(c)) for c in self.ambient] if self.primary else []
        specular = [k.var(spread(0.0)) for _ in "rgb"] if self.secondary else []
        fresnel = k.var(spread(0.0 if self.fresnel_sum else 1.0)) if "fr" in self.tables else None
        for n in k.range(0, self.count):
            light = _Light(k, k.to_i64(n * LIGHT_SIZE) + self.lights)
            terms, distance = self._towards(surface, light)
            self._add(terms, distance, shadow, diffuse, specular)
            if fresnel is not None:
                for _ in k.when(True if self.fresnel_sum else n == self.count - 1):
                    value = self._look_up("fr", terms.inside())
                    fresnel.value = fresnel.value + value if self.fresnel_sum else value
        alpha = fresnel.value if fresnel is not None else spread(1.0)
        if shadow is not None and self.get("shadow_alpha"):
            alpha = alpha * shadow[3]
        colors = []
        for bit, sums in ((1, diffuse), (2, specular)):
            channels = [v.value for v in sums] or [spread(0.0)] * 3
            channels.append(alpha * 255.0 if self.get("fresnel") & bit else spread(255.0))
            colors.append({ch: k.to_i32(v, 0.0, 255.0) for ch, v in zip("rgba", channels, strict=True)})
        return colors[0], colors[1]

    def _axes(self, quaternion: Vector, texture: Callable[[int], Color]) -> tuple[Vector, Vector]:
        """Normal and tangent in the space of the lights; bump maps give one of them, in the surface's own space."""
        k, mode = self.k, self.get("bump_mode")
        one = k.splat(1.0, type=F32)
        normal: list[Value | None] = [None, None, one]
        tangent: list[Value | None] = [one, None, None]
        if mode:
            color = texture(self.get("bump_unit"))
            bump = [k.to_f32(color[ch]) * (1.0 / 127.5) - 1.0 for ch in "rgb"]
            if mode == BUMP_TANGENT:
                tangent = [*bump]
            else:
                if not self.get("bump_keep_z"):
                    rest = one - bump[0] * bump[0] - bump[1] * bump[1]
                    bump[2] = k.sqrt(k.max(rest, 0.0))
                normal = [*bump]
        wanted = COS_PHI in self.select.values()
        return rotate(k, quaternion, normal), rotate(k, quaternion, tangent) if wanted else [one, one, one]

    def _shadow(self, texture: Callable[[int], Color]) -> Vector | None:
        """Shadow factors r, g, b, a from 0 (dark) to 1."""
        if not self.get("shadow"):
            return None
        color = texture(self.get("shadow_unit"))
        invert = self.get("shadow_invert")
        return [self.k.to_f32(255 - color[ch] if invert else color[ch]) * (1.0 / 255.0) for ch in "rgba"]

    def _towards(self, surface: _Surface, light: _Light) -> tuple[_Terms, Value]:
        """The direction to a light (as terms), and its distance."""
        k = self.k

        def near() -> tuple[Value, ...]:
            way = [p + v for p, v in zip(light.three("POSITION"), surface.way, strict=True)]
            size, divisor = length(k, way)
            return (*(x / divisor for x in way), size)

        def far() -> tuple[Value, ...]:
            return tuple(k.splat(v, type=F32) for v in (*light.three("UNIT"), light.one("LENGTH")))

        *direction, distance = k.branch(light.has(_DIRECTIONAL), far, near)
        return _Terms(k, surface, light, direction), distance

    def _attenuation(self, terms: _Terms, distance: Value) -> Value:
        """What distance and spotlight leave of a light."""
        k, light = self.k, terms.light
        factor = k.var(k.splat(1.0, type=F32))
        for _ in k.when(light.has(_DISTANCE)):
            place = k.clamp(distance * light.one("SCALE") + light.one("BIAS"), 0.0, 1.0)
            at = self.contents + 4 * ENTRIES * TABLES["da"] + self._own(light)
            factor.value = self._fetch(at, entry_of(k, place, self.nearest))
        if "sp" in self.tables:
            for _ in k.when(light.has(_SPOT)):
                factor.value = factor.value * self._look_up("sp", terms.inside())
        return factor.value

    def _add(
        self, terms: _Terms, distance: Value, shadow: Vector | None, diffuse: Sequence[Any], specular: Sequence[Any]
    ) -> None:
        """Add one light to the sums."""
        k, light, ln = self.k, terms.light, terms.ln
        nl = k.max(ln, ln * light.side)
        # Inputs that are needed anyhow are computed here, so that what follows in branches can share them.
        for name in sorted(self.tables & {"d0", "d1", "rr", "rg", "rb"}):
            terms.place(self.select[name], self.signed[name], self.nearest)
        factor = self._attenuation(terms, distance)
        dark: Vector | None = None
        if shadow is not None and (self.get("shadow_primary") or self.get("shadow_secondary")):
            bright = k.splat(1.0, type=F32)
            lit = (bright, bright, bright)
            dark = list(k.branch(light.has(_SHADOW), lambda: tuple(shadow[:3]), lambda: lit))
        if diffuse:
            for i, (color, ambient) in enumerate(zip(light.three("DIFFUSE"), light.three("AMBIENT"), strict=True)):
                shine = nl * color
                if dark is not None and self.get("shadow_primary"):
                    shine = shine * dark[i]
                diffuse[i].value = diffuse[i].value + (shine + ambient) * factor
        if specular:
            if self.get("clamp_highlights"):
                factor = k.select(nl == 0.0, 0.0, factor)
            lobes = self._lobes(terms, nl)
            colors = zip(light.three("SPECULAR0"), light.three("SPECULAR1"), strict=True)
            for i, (color0, color1) in enumerate(colors):
                shine = (lobes[0] * color0 + lobes[1 + i] * color1) * factor
                if dark is not None and self.get("shadow_secondary"):
                    shine = shine * dark[i]
                specular[i].value = specular[i].value + shine

    def _lobes(self, terms: _Terms, nl: Value) -> list[Value]:
        """Factors of specular colour 0 (one for all channels) and of specular colour 1 (r, g, b)."""
        k, light = self.k, terms.light
        one = k.splat(1.0, type=F32)
        first = self._look_up("d0", terms) if "d0" in self.tables else one
        second = self._look_up("d1", terms) if "d1" in self.tables else one
        red = self._look_up("rr", terms) if "rr" in self.tables else one
        reflected = [self._look_up(n, terms) if n in self.tables else red for n in ("rg", "rb")]
        lobes = [first, second * red, *(second * r for r in reflected)]

        def shaded() -> tuple[Value, ...]:
            square = terms.inside().half_square
            geometric = k.select(square > 0.0, k.min(nl / square, 1.0), 0.0)
            chosen = [k.select(light.has(flag), geometric, one) for flag in (_GEOMETRIC0, _GEOMETRIC1)]
            return (lobes[0] * chosen[0], *(lobe * chosen[1] for lobe in lobes[1:]))

        return list(k.branch(light.has(_GEOMETRIC0 | _GEOMETRIC1), shaded, lambda: tuple(lobes)))


__all__ = ["FIELDS", "QUATERNION_SLOTS", "VIEW_SLOTS", "Lighting", "is_lit", "normal_form", "units_read"]
