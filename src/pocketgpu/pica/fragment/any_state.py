"""General fragment code: draws any state, because it reads all settings at run time.

It is available at once for every state while specialised code is still being compiled, and produces the same bits.
There are two: shadow textures, shadow maps, gas and 32x32 blocks are *rare*, and only one of them has these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.facts.pica_enums import TEXENV_SOURCE
from pocketgpu.lanes import I32, Lang, Value
from pocketgpu.pica.core.colors import Color
from pocketgpu.pica.core.layout import PACKET
from pocketgpu.pica.core.registers import StateWords
from pocketgpu.pica.fragment.combiners_general import CHANNELS, SOURCES, GeneralCombiners
from pocketgpu.pica.fragment.general_words import TEXCOORD_SLOTS
from pocketgpu.pica.fragment.lighting import Lighting
from pocketgpu.pica.fragment.state import FIELDS, KEY_IDS
from pocketgpu.pica.primitives.assembly import INVERSE_W_SLOT
from pocketgpu.pica.texture.general import fill_textures
from pocketgpu.pica.texture.proctex import ProcTex
from pocketgpu.pica.texture.units import Ratio

if TYPE_CHECKING:
    from pocketgpu.pica.fragment.kernel import FragmentDraw
    from pocketgpu.pica.fragment.sources import ShadedPixels

STATE_PLACE = {int(number): 4 * i for i, number in enumerate(KEY_IDS)}
"""Byte offset of each state register in PACKET.STATE."""


def state_words(k: Lang, packet: Value) -> StateWords:
    """The state of a packet, read at run time."""
    return StateWords(k, packet + PACKET.STATE, STATE_PLACE, FIELDS)


class AnyState:
    """The colour sources and combiners of one draw. rare: with shadow textures."""

    def __init__(
        self, draw: FragmentDraw, state: StateWords, choices: dict[str, str], lights: Value, rare: bool
    ) -> None:
        self.rare = rare
        self.k, self.draw, self.state, self.choices = draw.k, draw, state, choices
        k, live = draw.k, draw.live
        self.sources = k.array(4 * SOURCES, I32)
        self.combiners = GeneralCombiners(k, state.word, live, choices)
        used = {TEXENV_SOURCE.FRAGMENT_PRIMARY, TEXENV_SOURCE.FRAGMENT_SECONDARY}
        self.lighting = Lighting(k, state, live, draw.packet, used, choices, lights)
        self.procedural = ProcTex(k, state, live, draw.packet)

    def _put(self, code: int, color: Color) -> None:
        for i, ch in enumerate(CHANNELS):
            self.sources[4 * code + i] = color[ch]

    def texture(self, unit: Value | int) -> Color:
        """A texture unit's colour; also stored in the array of sources."""
        code = unit + TEXENV_SOURCE.TEXTURE0
        first = code << 2 if isinstance(code, Value) else 4 * code
        return {ch: self.sources[first + i] for i, ch in enumerate(CHANNELS)}

    def colors(self, pixels: ShadedPixels) -> Color:
        """The colours after the combiners for a group of pixels."""
        k, state = self.k, self.state
        self._put(TEXENV_SOURCE.VERTEX_COLOR, pixels.primary())
        fill_textures(pixels, self.draw.packet, self.sources, self.choices, self.rare)
        for _ in k.when(state("TEXUNIT_CONFIG.unit3_enable") != 0):
            slot = k.i32(TEXCOORD_SLOTS[0])
            for number, first in enumerate(TEXCOORD_SLOTS):
                slot = k.select(state("TEXUNIT_CONFIG.unit3_coordinates") == number, first, slot)
            s, t = (self._ratio(pixels, slot + i) for i in range(2))
            self._put(TEXENV_SOURCE.TEXTURE3, self.procedural.sample(s, t))
        for _ in k.when(state("LIGHTING_ENABLE0.enable") != 0):
            lit = self.lighting.shade(pixels.plane, pixels.w, self.texture)
            for name, color in zip(("FRAGMENT_PRIMARY", "FRAGMENT_SECONDARY"), lit, strict=True):
                self._put(TEXENV_SOURCE.number(name), color)
        return self.combiners.run(self.sources)

    @staticmethod
    def _ratio(pixels: ShadedPixels, slot: Value) -> Ratio:
        """A perspective-correct attribute whose slot is known at run time."""
        value = pixels.any_plane(slot) * pixels.w

        def slopes() -> tuple[Value, Value]:
            triangle = pixels.triangle
            pairs = zip(triangle.any_slopes(slot), triangle.slopes(INVERSE_W_SLOT), strict=True)
            along_x, along_y = ((n - value * d) * pixels.w for n, d in pairs)
            return along_x, along_y

        return Ratio(value, slopes)
