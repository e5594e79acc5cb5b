"""The inputs of a group of pixels: interpolated attributes, and the colours that combiners use as sources.

Attributes are planes over two edge functions (primitives/assembly.py); the perspective division uses the plane of 1/w.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.facts.pica_enums import SEMANTIC, TEXENV_SOURCE, TEXTURE_TYPE
from pocketgpu.lanes import F32, I32, Lang, Value
from pocketgpu.pica.core.colors import Color
from pocketgpu.pica.core.layout import TRIANGLE, VERTEX_FLOATS
from pocketgpu.pica.core.registers import State, StateWords
from pocketgpu.pica.fragment.general_words import PROCEDURAL, TEXCOORD_SLOTS, texcoord_slot
from pocketgpu.pica.fragment.lighting import QUATERNION_SLOTS, VIEW_SLOTS
from pocketgpu.pica.primitives.assembly import COLOR_SLOT, DEPTH_SLOT, INVERSE_W_SLOT
from pocketgpu.pica.texture.units import CUBE_TYPES, Ratio, Sampler, cube_axes, cube_face

if TYPE_CHECKING:
    from pocketgpu.pica.fragment.kernel import FragmentDraw

TEXCOORD0_W_SLOT = SEMANTIC.TEXCOORD0_W


class Triangle:
    """The planes of one triangle; each is loaded at its first use, before the pixel loops."""

    def __init__(self, k: Lang, record: Value, slots: set[int]) -> None:
        self.k, self.record = k, record
        # Changes of the edge functions 1 and 2 from pixel to pixel: along x, along rows.
        self.steps = [
            [k.to_f32(k.load(I32, record + (getattr(TRIANGLE, part) + 4 * e))) for part in "AB"] for e in (1, 2)
        ]
        self.planes = {
            slot: [k.load(F32, record + getattr(TRIANGLE, part) + 4 * slot) for part in ("BASE", "D1", "D2")]
            for slot in sorted(slots)
        }

    def at(self, slot: int, e1: Value, e2: Value) -> Value:
        base, d1, d2 = self.planes[slot]
        return base + d1 * e1 + d2 * e2

    def any_plane(self, slot: Value) -> list[Value]:
        """Base and slopes of a plane whose slot is known at run time."""
        at = self.record + self.k.to_i64(slot << 2)
        return [self.k.load(F32, at + getattr(TRIANGLE, part)) for part in ("BASE", "D1", "D2")]

    def any_slopes(self, slot: Value) -> tuple[Value, Value]:
        """`slopes` for a slot known at run time."""
        _, d1, d2 = self.any_plane(slot)
        along_x, along_y = (d1 * self.steps[0][axis] + d2 * self.steps[1][axis] for axis in range(2))
        return along_x, along_y

    def slopes(self, slot: int) -> tuple[Value, Value]:
        """Change of a plane from pixel to pixel along x and along rows."""
        _, d1, d2 = self.planes[slot]
        along_x, along_y = (d1 * self.steps[0][axis] + d2 * self.steps[1][axis] for axis in range(2))
        return along_x, along_y


class ShadedPixels:
    """One group of pixels being shaded; each source of the combiners is computed once, at its first use."""

    def __init__(self, draw: FragmentDraw, triangle: Triangle, e1: Value, e2: Value) -> None:
        self.k, self.draw, self.triangle, self.e1, self.e2 = draw.k, draw, triangle, e1, e2
        self._cache: dict[int, Color] = {}
        self.w = 1.0 / self.plane(INVERSE_W_SLOT)

    def plane(self, slot: int) -> Value:
        return self.triangle.at(slot, self.e1, self.e2)

    def any_plane(self, slot: Value) -> Value:
        """The plane of a slot known at run time."""
        base, d1, d2 = self.triangle.any_plane(slot)
        return base + d1 * self.e1 + d2 * self.e2

    def attribute(self, slot: int) -> Value:
        """A perspective-correct attribute."""
        value = self.plane(slot) * self.w
        self.k.probe(f"input{slot}", value)
        return value

    def depth(self) -> Value:
        draw = self.draw
        d = self.plane(DEPTH_SLOT) * draw.depth_scale + draw.depth_offset
        depth: Value = self.k.branch(draw.state("DEPTHMAP_ENABLE.enable") != 0, lambda: d, lambda: d * self.w)
        self.k.probe("fragment.depth", depth)
        return depth

    def primary(self) -> Color:
        """The interpolated vertex colour."""
        scaled = lambda i: self.attribute(COLOR_SLOT + i) * 255.0
        whole = scaled if self.draw.cuts_vertex_color else lambda i: scaled(i) + 0.5
        byte = lambda i: self.k.to_i32(whole(i), 0.0, 255.0)
        # The mask changes nothing; it shows LLVM that the products of colours are narrow.
        return {ch: byte(i) & 255 for i, ch in enumerate("rgba")}

    def source(self, code: int) -> Color:
        if code not in self._cache:
            self._cache[code] = self._compute(code)
        return self._cache[code]

    def _compute(self, code: int) -> Color:
        k, draw = self.k, self.draw
        if code == TEXENV_SOURCE.VERTEX_COLOR:
            color = self.primary()
        elif code - TEXENV_SOURCE.TEXTURE0 in draw.samplers:
            color = self._texture(code - TEXENV_SOURCE.TEXTURE0)
        elif code == TEXENV_SOURCE.TEXTURE3 and draw.procedural is not None:
            slot = texcoord_slot(draw.state, PROCEDURAL)
            color = draw.procedural.sample(self._ratio(slot), self._ratio(slot + 1))
        elif code in (TEXENV_SOURCE.FRAGMENT_PRIMARY, TEXENV_SOURCE.FRAGMENT_SECONDARY) and draw.lighting is not None:
            texture = lambda unit: self.source(TEXENV_SOURCE.TEXTURE0 + unit)
            lit = draw.lighting.shade(self.plane, self.w, texture)
            self._cache[TEXENV_SOURCE.FRAGMENT_PRIMARY], self._cache[TEXENV_SOURCE.FRAGMENT_SECONDARY] = lit
            color = self._cache[code]
        else:  # disabled, undefined or not supported (reported when the draw was prepared)
            color = dict.fromkeys("rgba", k.splat(0))
        for ch in "rgba":
            k.probe(f"source{code}.{ch}", color[ch])
        return color

    def _texture(self, unit: int) -> Color:
        sampler = self.draw.samplers[unit]
        slot = texcoord_slot(self.draw.state, unit)
        if sampler.kind in CUBE_TYPES:
            return self._cube(sampler)
        if sampler.kind == TEXTURE_TYPE.SHADOW_2D:
            assert self.draw.shadow is not None
            divided = not self.draw.shadow.orthographic
            s, t = (self._ratio(slot + i, TEXCOORD0_W_SLOT if divided else INVERSE_W_SLOT).value for i in range(2))
            return self.draw.shadow.lookup(s, t, self.k.abs(self.attribute(TEXCOORD0_W_SLOT)))
        divisor = TEXCOORD0_W_SLOT if sampler.kind == TEXTURE_TYPE.PROJECTION else INVERSE_W_SLOT
        return sampler.sample(self._ratio(slot, divisor), self._ratio(slot + 1, divisor))

    def _ratio(self, numerator: int, divisor: int = INVERSE_W_SLOT) -> Ratio:
        """The quotient of two planes; by default an attribute."""
        inverse = self.w if divisor == INVERSE_W_SLOT else 1.0 / self.plane(divisor)
        value = self.plane(numerator) * inverse

        def slopes() -> tuple[Value, Value]:
            pairs = zip(self.triangle.slopes(numerator), self.triangle.slopes(divisor), strict=True)
            along_x, along_y = ((n - value * d) * inverse for n, d in pairs)
            return along_x, along_y

        return Ratio(value, slopes)

    def _cube(self, sampler: Sampler) -> Color:
        """Cube map: texture coordinate 0 with its w is a direction; its length has no effect."""
        k, slots = self.k, (TEXCOORD_SLOTS[0], TEXCOORD_SLOTS[0] + 1, TEXCOORD0_W_SLOT)
        face, choice, (x, y, m) = cube_face(k, [self.plane(slot) for slot in slots])
        inverse = 1.0 / m

        def ratio(index: int) -> Ratio:
            quotient = (x, y)[index] * inverse

            def slopes() -> tuple[Value, Value]:
                out = []
                for axis in range(2):
                    change = [k.splat(self.triangle.slopes(slot)[axis]) for slot in slots]
                    axes = cube_axes(k, change, choice)
                    out.append((axes[index] - quotient * axes[2]) * inverse * 0.5)
                return out[0], out[1]

            return Ratio(quotient * 0.5 + 0.5, slopes)

        if self.draw.shadow is not None:
            return self.draw.shadow.lookup(ratio(0).value, ratio(1).value, k.abs(m * self.w), face)
        return sampler.sample(ratio(0), ratio(1), face)


def slots_used(state: State) -> set[int]:
    """Attribute slots that the fragment code of a state may read."""
    if isinstance(state, StateWords):
        return set(range(VERTEX_FLOATS))
    slots = {DEPTH_SLOT, INVERSE_W_SLOT, *range(COLOR_SLOT, COLOR_SLOT + 4)}
    for unit in range(4):
        if state(f"TEXUNIT_CONFIG.unit{unit}_enable"):
            slot = texcoord_slot(state, unit)
            slots |= {slot, slot + 1}
            if unit == 0 and state("TEXUNIT0_PARAM.type") != TEXTURE_TYPE.FLAT:
                slots.add(TEXCOORD0_W_SLOT)
    if state("LIGHTING_ENABLE0.enable"):
        slots |= {*QUATERNION_SLOTS, *VIEW_SLOTS}
    assert max(slots) < VERTEX_FLOATS
    return slots
