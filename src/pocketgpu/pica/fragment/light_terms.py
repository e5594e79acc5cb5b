"""What lighting knows of one light at a group of pixels: its record, products of vectors, and places in tables.

A light's registers are decoded once per draw into a RECORD. `Terms` computes what tables can have as their inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pocketgpu.facts.pica import PICA
from pocketgpu.facts.pica_enums import LIGHT_LUT_INPUT
from pocketgpu.lanes import F32, I32, Lang, Value
from pocketgpu.pica.core.layout import LIGHT_SIZE
from pocketgpu.pica.core.registers import Flag, Number
from pocketgpu.pica.fragment.lighting_state import NOTHING
from pocketgpu.pica.fragment.vectors import Vector, dot, unit
from pocketgpu.struct_words import Struct

ENTRIES = 256
"""Entries of a table."""

# One light for the loop, in the order of the permutation. UNIT and LENGTH are for directional lights.
RECORD = Struct(
    "POSITION:3", "UNIT:3", "LENGTH", "SPOT:3", "SPECULAR0:3", "SPECULAR1:3", "DIFFUSE:3", "AMBIENT:3",
    "BIAS", "SCALE", "SIDE", "FLAGS", "NUMBER",
)  # fmt: skip
assert RECORD.size <= LIGHT_SIZE
CONFIG = PICA["LIGHT0_CONFIG"].fields
DIRECTIONAL, TWO_SIDED, GEOMETRIC0, GEOMETRIC1 = (part.mask for part in CONFIG)
SHADOW, SPOT, DISTANCE = (1 << len(CONFIG) + i for i in range(3))


class Light:
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


class LitPixels:
    """What all lights share at a group of pixels. normal, tangent and view have length 1; view points from the surface
    to the eye, and `to_eye` is view before normalisation."""

    def __init__(self, k: Lang, normal: Vector, tangent: Vector, to_eye: Vector) -> None:
        self.normal, self.tangent, self.to_eye = normal, tangent, to_eye
        self.view = unit(k, to_eye)
        self.nv, self.nt = dot(normal, self.view), dot(normal, tangent)


class Terms:
    """Products of vectors for one light at a group of pixels, each computed at its first use.

    toward: the direction to the light. General code computes all inputs of tables at once, because it does not know
    which ones the tables use.
    """

    def __init__(self, k: Lang, surface: LitPixels, light: Light, toward: Vector, general: bool) -> None:
        self.k, self.surface, self.light, self.toward = k, surface, light, toward
        self.known: dict[Any, Any] = {}
        self._inputs = [self.value(code) for code in range(NOTHING)] if general else []

    def inside(self) -> Terms:
        """A copy for the body of a branch: values computed there do not exist outside."""
        inner = Terms(self.k, self.surface, self.light, self.toward, False)
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

    def place(self, code: Number, signed: Flag, nearest: bool) -> TablePlace:
        """The position of an input in a table, signed or unsigned."""
        x = self.value(code)
        make: Callable[[], TablePlace] = lambda: self.k.branch(
            signed, lambda: signed_place(self.k, x, nearest), lambda: place(self.k, x_or_zero(), nearest)
        )
        x_or_zero = lambda: self.k.max(x, x * self.light.side)
        if isinstance(code, int) and isinstance(signed, bool):
            found: TablePlace = self._once(("place", code, signed), make)
            return found
        return make()


TablePlace = tuple[Value, ...]
"""The index of a table entry, and the fraction toward the next entry (absent for nearest lookups)."""


def place(k: Lang, x: Value, nearest: bool) -> TablePlace:
    """The position of x in a table over 0..1."""
    if nearest:
        return (k.to_i32(x * 255.0, 0, ENTRIES - 1),)
    scaled = x * float(ENTRIES)
    whole = k.to_i32(scaled, 0, ENTRIES - 1)
    return whole, scaled - k.to_f32(whole)


def signed_place(k: Lang, x: Value, nearest: bool) -> TablePlace:
    """The position of x in a table over -1..1, which stores the negative half last."""
    if nearest:
        return (k.to_i32(x * 127.0, -128, 127) & (ENTRIES - 1),)
    scaled = x * (ENTRIES / 2)
    whole = k.to_i32(k.floor(scaled), -128, 127)
    return whole & (ENTRIES - 1), scaled - k.to_f32(whole)


__all__ = [
    "CONFIG", "DIRECTIONAL", "DISTANCE", "ENTRIES", "GEOMETRIC0", "GEOMETRIC1", "RECORD", "SHADOW", "SPOT", "TWO_SIDED",
    "Light", "LitPixels", "TablePlace", "Terms", "place", "signed_place",
]  # fmt: skip
