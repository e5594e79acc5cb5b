"""The state of a 3DS in a few lines, from its registers and what they bind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.pica_enums import DEPTH_FORMAT, SCISSOR
from pocketgpu.inspect.model.resources import Program, Texture
from pocketgpu.inspect.model.summary import Summary, listed
from pocketgpu.inspect.n3ds.resources.targets import RegisterWords, Target
from pocketgpu.pica.core.registers import StaticRegisters, field

Registers: TypeAlias = NDArray[np.uint32]
_CHANNELS = ("red", "green", "blue", "alpha")
_ALL_BITS = 0xFF


class _Texts:
    """Registers as texts."""

    def __init__(self, words: Registers) -> None:
        self.words = words
        self.get = StaticRegisters(RegisterWords(words))

    def name(self, of: str) -> str:
        """The name of a field's value."""
        part = field(of)
        raw = self.get(of)
        return part.field.enum.get(raw, f"code {raw}") if part.field.enum is not None else str(raw)

    def number(self, of: str) -> float:
        """The value of a field as a number."""
        part = field(of)
        return float(part.field.decode(int(self.words[part.register.offset])))

    def culling(self) -> str:
        mode = self.name("FACECULLING_CONFIG.mode")
        return "off" if mode.startswith("none") else f"drops {mode}"

    def depth(self) -> str:
        get = self.get
        written = get("DEPTH_COLOR_MASK.depth_write") and get("DEPTHBUFFER_WRITE.depth")
        if not get("DEPTH_COLOR_MASK.depth_test"):
            return "off, written" if written else "off"
        return f"{self.name('DEPTH_COLOR_MASK.depth_function')}, {'written' if written else 'not written'}"

    def stencil(self) -> str:
        if not self.get("STENCIL_TEST.enable"):
            return "off"
        if self.get("DEPTHBUFFER_FORMAT.format") != DEPTH_FORMAT.D24S8:
            return f"off, as {self.name('DEPTHBUFFER_FORMAT.format')} has no stencil"
        # Either bit allows it: the default of the choice test.stencil_write.
        allowed = self.get("DEPTHBUFFER_WRITE.stencil") or self.get("DEPTHBUFFER_WRITE.depth")
        writes = self.get("STENCIL_TEST.write_mask") if allowed else 0
        kept = "" if writes == _ALL_BITS else f"; writes bits {writes:#04x}" if writes else "; not written"
        reference, mask = self.get("STENCIL_TEST.reference"), self.get("STENCIL_TEST.input_mask")
        actions = ", ".join(
            f"{self.name(f'STENCIL_OP.{part}')} if {when}"
            for part, when in (("fail", "it fails"), ("z_fail", "depth fails"), ("z_pass", "both pass"))
        )
        return f"{self.name('STENCIL_TEST.function')} with {reference}, mask {mask:#04x}: {actions}{kept}"

    def blending(self) -> str:
        get = self.get
        written = [name for name in _CHANNELS if get("COLORBUFFER_WRITE.mask") and get(f"DEPTH_COLOR_MASK.{name}")]
        masked = "" if len(written) == len(_CHANNELS) else f"; writes {', '.join(written) or 'no colour'}"
        if not get("COLOR_OPERATION.blend_enable"):
            operation = self.name("LOGIC_OP.op")
            return f"{'off' if operation == 'copy' else f'logic operation {operation}'}{masked}"
        rgb, alpha = (
            f"{self.name(f'BLEND_FUNC.equation_{part}')}: {self.name(f'BLEND_FUNC.src_{part}')}, "
            f"{self.name(f'BLEND_FUNC.dst_{part}')}"
            for part in ("rgb", "alpha")
        )
        return f"{rgb}{'' if alpha == rgb else f'; alpha {alpha}'}{masked}"

    def scissor(self) -> str:
        mode = self.get("SCISSORTEST_MODE.mode")
        if mode not in (SCISSOR.INSIDE, SCISSOR.OUTSIDE):
            return "off"
        x1, y1, x2, y2 = (self.get(f"SCISSORTEST_{name}") for name in ("POS.x1", "POS.y1", "DIM.x2", "DIM.y2"))
        empty = "nothing, " if mode == SCISSOR.INSIDE and (x2 < x1 or y2 < y1) else ""
        return f"keeps {empty}{'' if mode == SCISSOR.INSIDE else 'what is outside of '}{x1}, {y1} to {x2}, {y2}"

    def viewport(self) -> str:
        width, height = (2 * self.number(f"VIEWPORT_{side}.value") for side in ("WIDTH", "HEIGHT"))
        x, y = (int(self.number(f"VIEWPORT_XY.{axis}")) for axis in "xy")
        return f"{width:g} by {height:g} pixels at {x}, {y}"


def summary_of(
    words: Registers, target: Target | None, textures: Iterable[Texture], programs: Iterable[Program]
) -> Summary:
    """The summary of registers (0x300 words), and of what they bind."""
    texts = _Texts(words)
    return Summary({
        "culling": texts.culling(), "depth": texts.depth(), "stencil": texts.stencil(), "blending": texts.blending(),
        "scissor": texts.scissor(), "viewport": texts.viewport(), "targets": "none" if target is None else str(target),
        "textures": listed(one for one in textures if one.facts.enabled),
        "programs": listed(f"{one.unit} {one.digest}, {one.size}" for one in programs),
    })  # fmt: skip


__all__ = ["summary_of"]
