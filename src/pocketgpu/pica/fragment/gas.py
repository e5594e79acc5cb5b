"""Gas: clouds whose density is accumulated in one pass and coloured in another.

Registers, table and triggers are documented. What the unit computes is not, and no public simulator draws it. So the
arithmetic is one choice, `gas.hypothesis`, and every use of gas is reported:

"none"     nothing is accumulated, and shaded gas is transparent black (as in one simulator).

"density"  a guess from the registers' names, so that there is a picture to compare with recordings:

  * Accumulation (fragment mode 1): a pixel of the colour buffer holds two sums of 16 bits, the plain density in the
    low half and the depth density in the high half; both saturate at 65535. A fragment adds the red channel of the
    combiners. For the depth density it is scaled by the distance to the value in the depth buffer, times DELTAZ, up to
    1. With the depth function "always" it counts in full, with "never" not at all. The depth test applies; no other
    test and no write mask does.
  * Colouring (fog mode 7): texture unit 0 has the sums; x is the one that TEXENV_UPDATE_BUFFER selects, times ACCMAX,
    up to 1. The table is a row of eight colours with differences in 1/127. Its index is x, or how lit the gas is:
    LIGHT_XY plus LIGHT_Z times its direction, where each goes from its maximum to its minimum as x times its
    attenuation goes from 0 to 1. Alpha is x times GAS_ATTENUATION, up to 1.
  * GAS_ACCMAX_FEEDBACK keeps the written value.

Source: 3dbrew GPU/Internal Registers (registers GPUREG_GAS_*), a driver library for the form of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pocketgpu.facts.pica_enums import DEPTH_CLASS, DEPTH_FORMAT, FOG_MODE, GAS_LUT_INPUT, SHADING_DENSITY
from pocketgpu.lanes import I32, Lang, Value
from pocketgpu.pica.core.colors import Color
from pocketgpu.pica.core.layout import BANK_INDEX, PACKET
from pocketgpu.pica.core.registers import Flag, LiveRegisters, State

COLORS = 8
_FULL = 0xFFFF
_DEPTH = 0xFFFFFF


class Gas:
    """Gas of one draw; `base` is the colour buffer's arena offset."""

    def __init__(
        self, k: Lang, state: State, live: LiveRegisters, packet: Value, base: Value, choices: Mapping[str, str]
    ) -> None:
        self.k, self.base, self.live = k, base, live
        self.shading: Flag = state("TEXENV_UPDATE_BUFFER.fog_mode") == FOG_MODE.GAS
        self.guessing = choices.get("gas.hypothesis") == "density"
        self.table = k.load(I32, packet + (PACKET.VERSIONS + 4 * BANK_INDEX["gas_lut"]))
        self.depth_density = live("TEXENV_UPDATE_BUFFER.shading_density") == SHADING_DENSITY.DEPTH
        self.writes: Flag = state("COLORBUFFER_WRITE.mask") != 0
        # One step of the depth buffer relative to its range.
        bits_16 = state("DEPTHBUFFER_FORMAT.format") == DEPTH_FORMAT.D16
        self.step = k.select(bits_16, k.f32(1.0 / 0xFFFF), k.f32(1.0 / 0xFFFFFF))

    # -- accumulation -----------------------------------------------------------------------------------------------
    def accumulate(self, mask: Value, density: Value, incoming: Value, word: Value, number: Value) -> None:
        """Add fragments (density 0-255, integer depth, depth buffer word) to consecutive texels from `number` on."""
        if not self.guessing:
            return
        k, live = self.k, self.live
        place = k.to_i64(number << 2) + self.base
        kind, scale = live("GAS_DELTAZ_DEPTH.function"), k.to_f32(live("GAS_DELTAZ_DEPTH.delta_z")) * (1.0 / 256.0)
        ahead = k.to_f32(incoming - (word & _DEPTH)) * self.step
        ahead = k.select(kind == DEPTH_CLASS.GREATER, ahead, -ahead)
        part = k.clamp(ahead * scale, 0.0, 1.0)
        part = k.select(kind == DEPTH_CLASS.ALWAYS, 1.0, k.select(kind == DEPTH_CLASS.NEVER, 0.0, part))
        for _ in k.when(self.writes):
            old = k.load(I32, place, lanes=k.lanes)
            plain = k.min((old & _FULL) + density, _FULL)
            deep = k.min(old.lsr(16) + k.to_i32(k.to_f32(density) * part, 0.0, 255.0), _FULL)
            k.store(I32, place, plain | (deep << 16), mask)

    # -- colouring --------------------------------------------------------------------------------------------------
    def apply(self, color: Color, texture: Callable[[], Color]) -> Color:
        """The colour of gas where the state wants it, or else `color`."""
        shaded = lambda: tuple(self.shade(texture)[ch] for ch in "rgba")
        found = self.k.branch(self.shading, shaded, lambda: tuple(color[ch] for ch in "rgba"))
        return dict(zip("rgba", found, strict=True))

    def shade(self, texture: Callable[[], Color]) -> Color:
        """The colour of gas; `texture` reads unit 0."""
        k, live = self.k, self.live
        if not self.guessing:
            return dict.fromkeys("rgba", k.splat(0))
        sums = texture()
        density = k.select(self.depth_density, (sums["r"] << 8) | sums["g"], (sums["b"] << 8) | sums["a"])
        x = k.clamp(k.to_f32(density) * live.float("GAS_ACCMAX.value"), 0.0, 1.0)
        byte = lambda name: k.to_f32(live(name)) * (1.0 / 255.0)

        def brightness(register: str) -> Value:
            low, high = byte(f"{register}.minimum"), byte(f"{register}.maximum")
            return high + (low - high) * k.clamp(x * byte(f"{register}.attenuation"), 0.0, 1.0)

        light = brightness("GAS_LIGHT_XY") + brightness("GAS_LIGHT_Z") * byte("GAS_LIGHT_Z_COLOR.direction")
        by_light = live("GAS_LIGHT_Z_COLOR.lut_input") == GAS_LUT_INPUT.LIGHT_FACTOR
        position = k.select(by_light, k.clamp(light, 0.0, 1.0), x) * float(COLORS)
        entry = k.to_i32(position, 0, COLORS - 1)
        fraction = position - k.to_f32(entry)
        at = (entry << 2) + self.table
        change, start = k.gather(I32, at), k.gather(I32, at + 4 * COLORS)
        out: Color = {"a": k.to_i32(x * live.float("GAS_ATTENUATION.value") * 255.0, 0.0, 255.0)}
        for i, ch in enumerate("rgb"):
            size = k.to_f32(change.bits(8 * i, 7)) * (255.0 / 127.0)
            slope = k.select(change.bits(8 * i + 7, 1) == 1, -size, size)
            out[ch] = k.to_i32(k.to_f32(start.bits(8 * i, 8)) + fraction * slope, 0.0, 255.0)
        for ch in "rgba":
            k.probe(f"gas.{ch}", out[ch])
        return out


__all__ = ["Gas"]
