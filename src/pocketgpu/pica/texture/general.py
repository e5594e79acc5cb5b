"""Texture units 0-2 with settings read at run time: one piece of sampling code for all units, kinds and filters.

Nearest sampling is bilinear sampling with zero fractions. One level is two levels of which the second is unused. So a
single sequence of operations gives the same bits as all specialised code (units.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pocketgpu.facts.pica_enums import SEMANTIC, TEXENV_SOURCE, TEXTURE_TYPE
from pocketgpu.lanes import I32, Array, Value
from pocketgpu.pica.core.layout import PACKET, UNIT, UNIT_SIZE
from pocketgpu.pica.core.registers import Flag, Number, register_id
from pocketgpu.pica.primitives.assembly import INVERSE_W_SLOT
from pocketgpu.pica.texture.shadow import ShadowLookup
from pocketgpu.pica.texture.units import (
    FRACTION_BITS,
    LEVELS,
    ONE,
    SHADOW_TYPES,
    Ratio,
    Sampler,
    cube_axes,
    cube_face,
    mix,
)

if TYPE_CHECKING:
    from pocketgpu.pica.fragment.sources import ShadedPixels

UNITS = 3


class GeneralSampler(Sampler):
    """A unit whose number and settings are run-time values; `record` is its UNIT record in the packet."""

    def __init__(self, pixels: ShadedPixels, packet: Value, unit: Value, truncates: bool) -> None:
        k, live = pixels.k, pixels.draw.live
        record = packet + k.to_i64(unit * UNIT_SIZE) + PACKET.UNITS
        get = lambda name: k.load(I32, record + getattr(UNIT, name))
        at = lambda name, size=1: packet + k.to_i64(unit * (4 * size)) + getattr(PACKET, name)
        first = get("FIRST_REGISTER")
        word = lambda name: live.word(first + (register_id(f"TEXUNIT0_{name}") - register_id("TEXUNIT0_BORDER_COLOR")))
        self.settings(
            k, 0, self.Settings(
                wrap_s=get("WRAP_S"), wrap_t=get("WRAP_T"), mag=get("MAG") != 0, min=get("MIN") != 0,
                trilinear=get("TRILINEAR") != 0, mipmapped=get("MIPMAPPED") != 0, kind=get("KIND"),
                power_of_two=get("POWER_OF_TWO") != 0, truncates=truncates,
            ),
            word, k.load(I32, at("TEXTURES")), at("LEVELS", LEVELS), k.load(I32, at("FACES")),
            k.load(I32, at("TOP_LEVELS")),
        )  # fmt: skip
        self.slot = get("SLOT")
        self.enabled = get("ENABLED") != 0

    def sample_any(self, s: Ratio, t: Ratio, face: Value) -> tuple[Value, Value]:
        """The colour as (green and alpha, red and blue), two 16-bit halves per word."""
        k = self.k
        lod = k.branch(self.mipmapped | self.mixed, lambda: self._lod(s, t), lambda: k.splat(0.0, type=s.value.type))
        linear = k.select(lod <= 0.0, k.splat(self.flag(self.mag)), k.splat(self.flag(self.min))) != 0
        top, low_limit = k.to_f32(self.highest), k.to_f32(k.min(self.lowest, self.highest))
        lod = k.min(k.max(lod, low_limit), top)
        fixed = k.to_i32(lod * float(ONE), 0, (LEVELS - 1) * ONE)
        single = k.min(k.to_i32(lod + 0.5, 0, LEVELS - 1), self.highest)
        both = self.trilinear & self.mipmapped
        number = k.select(both, fixed >> FRACTION_BITS, k.select(self.mipmapped, single, 0))
        fraction = fixed & (ONE - 1)
        low, high = k.var(k.splat(0)), k.var(k.splat(0))
        for step in k.range(0, k.select(both, 2, 1)):
            level = self._level(k.min(number + step, self.highest), face)
            a, b = self._four(level, s.value, t.value, linear)
            low.value = k.select(step == 0, a, mix(low.value, a, fraction))
            high.value = k.select(step == 0, b, mix(high.value, b, fraction))
        return low.value, high.value

    def flag(self, value: Value | bool) -> Value:
        """A scalar 0 or 1."""
        return self.k.select(value, self.k.i32(1), self.k.i32(0))


def fill_textures(
    pixels: ShadedPixels, packet: Value, sources: Array, choices: Mapping[str, str], shadows: bool
) -> None:
    """Store the colours of all enabled units in the array of combiner sources. shadows: also of shadow textures."""
    k = pixels.k
    for unit in k.range(0, UNITS):
        enabled = k.load(I32, packet + k.to_i64(unit * UNIT_SIZE) + (PACKET.UNITS + UNIT.ENABLED)) != 0
        for _ in k.when(enabled):
            sampler = GeneralSampler(pixels, packet, unit, choices.get("texture.nearest") == "truncate")
            lookup = None
            if shadows:
                lookup = ShadowLookup(k, pixels.draw.state, pixels.draw.live, sampler, choices)
            cubes = [TEXTURE_TYPE.CUBE, *([TEXTURE_TYPE.SHADOW_CUBE] if shadows else [])]
            cube = k.select(_among(sampler.kind, cubes), 1, 0)
            flat = lambda: _flat(pixels, sampler, lookup)
            s, t, sx, sy, tx, ty, face = k.switch(cube, [flat, lambda: _cube(pixels)])

            def sampled() -> tuple[Value, Value]:
                return sampler.sample_any(Ratio(s, lambda: (sx, sy)), Ratio(t, lambda: (tx, ty)), face)

            def compared() -> tuple[Value, Value]:
                assert lookup is not None
                light = lookup.lookup(s, t, _shadow_depth(pixels, sampler), face)["r"]
                return (light << 16) | light, (light << 16) | light

            low, high = k.branch(_among(sampler.kind, SHADOW_TYPES), compared, sampled) if shadows else sampled()
            for i, channel in enumerate((high.lsr(16), low.lsr(16), high & 0xFF, low & 0xFF)):
                sources[((unit + TEXENV_SOURCE.TEXTURE0) << 2) + i] = channel


def _among(kind: Number, kinds: Iterable[int]) -> Flag:
    """Whether a texture is of one of these kinds."""
    found: Flag = False
    for one in kinds:
        found = found | (kind == one)
    return found


def _shadow_depth(pixels: ShadedPixels, sampler: GeneralSampler) -> Value:
    """The depth to compare with a shadow texture."""

    def cube() -> Value:
        slots = (SEMANTIC.TEXCOORD0_U, SEMANTIC.TEXCOORD0_V, SEMANTIC.TEXCOORD0_W)
        _, _, (_, _, m) = cube_face(pixels.k, [pixels.plane(slot) for slot in slots])
        return m

    k = pixels.k
    flat = lambda: pixels.plane(SEMANTIC.TEXCOORD0_W)
    major: Value = k.branch(sampler.kind == TEXTURE_TYPE.SHADOW_CUBE, cube, flat)
    return k.abs(major * pixels.w)


def _flat(pixels: ShadedPixels, sampler: GeneralSampler, lookup: ShadowLookup | None) -> tuple[Value, ...]:
    """Coordinates of 2D and projected textures, their slopes, and face 0."""
    k = pixels.k
    divided: Flag = sampler.kind == TEXTURE_TYPE.PROJECTION
    if lookup is not None:
        divided = divided | ((sampler.kind == TEXTURE_TYPE.SHADOW_2D) & (lookup.orthographic ^ True))
    divisor = k.select(divided, SEMANTIC.TEXCOORD0_W, INVERSE_W_SLOT)
    inverse = 1.0 / pixels.any_plane(divisor)
    values, slopes = [], []
    for i in range(2):
        value = pixels.any_plane(sampler.slot + i) * inverse
        pairs = zip(pixels.triangle.any_slopes(sampler.slot + i), pixels.triangle.any_slopes(divisor), strict=True)
        values.append(value)
        slopes += [(n - value * d) * inverse for n, d in pairs]
    return (*values, *slopes, k.splat(0))


def _cube(pixels: ShadedPixels) -> tuple[Value, ...]:
    """Coordinates on a cube's face, their slopes, and the face."""
    k, slots = pixels.k, (SEMANTIC.TEXCOORD0_U, SEMANTIC.TEXCOORD0_V, SEMANTIC.TEXCOORD0_W)
    face, choice, (x, y, m) = cube_face(k, [pixels.plane(slot) for slot in slots])
    inverse = 1.0 / m
    values, slopes = [], []
    for index, axis_value in enumerate((x, y)):
        quotient = axis_value * inverse
        values.append(quotient * 0.5 + 0.5)
        for axis in range(2):
            change = [k.splat(pixels.triangle.slopes(slot)[axis]) for slot in slots]
            axes = cube_axes(k, change, choice)
            slopes.append((axes[index] - quotient * axes[2]) * inverse * 0.5)
    return (*values, *slopes, face)
