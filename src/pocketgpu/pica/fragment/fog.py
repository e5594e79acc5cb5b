"""Fog: mixes in a colour by depth, through a table of 128 values and differences.

Source: 3dbrew GPU/Internal Registers ("Fog registers"); the truncation toward zero after mixing is a choice
(fog.arithmetic).
"""

from __future__ import annotations

from collections.abc import Callable

from pocketgpu.facts.pica_enums import FOG_MODE
from pocketgpu.lanes import F32, I32, Lang, Value
from pocketgpu.pica.core.colors import Color, constant_color
from pocketgpu.pica.core.layout import BANK_INDEX, PACKET
from pocketgpu.pica.core.registers import Flag, LiveRegisters, State, field

ENTRIES = 128
_SCALE = 1.0 / 2047.0


class Fog:
    """Fog of one draw; does nothing unless the state enables it."""

    def __init__(self, k: Lang, state: State, live: LiveRegisters, packet: Value, choices: dict[str, str]) -> None:
        self.k = k
        self.enabled: Flag = state("TEXENV_UPDATE_BUFFER.fog_mode") == FOG_MODE.FOG
        self.flip: Flag = state("TEXENV_UPDATE_BUFFER.z_flip") != 0
        self.rounds = choices.get("fog.arithmetic") == "float"
        self.color = constant_color(k, live, "FOG_COLOR", "rgb")
        self.table = k.load(I32, packet + (PACKET.VERSIONS + 4 * BANK_INDEX["fog_lut"]))

    def factor(self, depth: Value) -> Value:
        """The share of the fragment's own colour (1: no fog) at a depth of 0..1."""
        k = self.k
        position = k.branch(self.flip, lambda: 1.0 - depth, lambda: depth) * float(ENTRIES)
        entry = k.to_i32(position, 0, ENTRIES - 1)
        word = k.gather(I32, (entry << 2) + self.table)
        value, slope = (field(f"FOG_LUT_DATA0.{part}") for part in ("value", "difference"))
        base = k.to_f32(word.bits(value.lo, value.width))
        change = k.to_f32(word.bits(slope.lo, slope.width, signed=True))
        return k.clamp((base + (position - k.to_f32(entry)) * change) * _SCALE, 0.0, 1.0)

    def apply(self, color: Color, depth: Callable[[], Value]) -> Color:
        """The colour after fog, if fog is enabled; alpha stays."""
        mixed = lambda: tuple(self._mixed(color, depth())[ch] for ch in "rgb")
        rgb = self.k.branch(self.enabled, mixed, lambda: tuple(color[ch] for ch in "rgb"))
        return {**color, **dict(zip("rgb", rgb, strict=True))}

    def _mixed(self, color: Color, depth: Value) -> Color:
        k = self.k
        keep = self.factor(k.clamp(depth, 0.0, 1.0))
        k.probe("fog.depth", depth)
        k.probe("fog.keep", keep)
        half = k.splat(0.5 if self.rounds else 0.0, type=F32)
        out = dict(color)
        for ch in "rgb":
            mixed = keep * k.to_f32(color[ch]) + (1.0 - keep) * k.to_f32(self.color[ch])
            out[ch] = k.to_i32(mixed + half, 0.0, 255.0)
            k.probe(f"fog.{ch}", out[ch])
        return out
