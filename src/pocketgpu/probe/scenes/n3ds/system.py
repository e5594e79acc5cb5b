"""Scenes of the system software: which requests of programs it refuses, and what it tells them."""

from __future__ import annotations

from typing import Final

from pocketgpu.builder.gx import memory_fill, texture_copy
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.formats import BY_NAME
from pocketgpu.facts.gsp import MEMORY_FILL
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.n3ds.bands import Bands, word_of
from pocketgpu.probe.scenes.n3ds.canvas import BLUE, LIGHT, ORANGE, RIGHT, WIDTH, Color

_NOTHING: Final = 0x0E800000
"""Between the heap and the stack, where a program has nothing and the GPU no memory: a console that fills it all the
same harms neither the program nor another one. Source: 3dbrew Memory layout."""
_FORMAT: Final = "RGBA8"
_MISALIGNED: Final = 4
"""No multiple of 8."""


def _fill(bands: Bands, left: int, right: int, color: Color, skipped: int = 0) -> tuple[int, int, int, int]:
    """A fill of some columns, for `memory_fill`; skipped: bytes at its start."""
    return bands.at(left) + skipped, bands.at(right), word_of(color, _FORMAT), BY_NAME[_FORMAT].bits


@scene("gsp.alignment")
def _() -> Made:
    """A program asks for a fill from an address that is no multiple of 8. The right band stays dark, as gsp refuses
    (check), or becomes orange (ignore)."""
    bands = Bands(_FORMAT)
    bands.capture.gx(memory_fill(_fill(bands, RIGHT.left, RIGHT.right, ORANGE, _MISALIGNED)))
    return bands.made(interrupts=True)


@scene("gsp.untranslatable")
def _() -> Made:
    """A program asks for two fills, the first one of an address that the GPU cannot reach. The right band stays
    dark, as gsp refuses both (refuse), or becomes orange by the second (zero)."""
    bands = Bands(_FORMAT)
    fill = _fill(bands, RIGHT.left, RIGHT.right, ORANGE)
    command = list(memory_fill(fill, fill))
    for word, address in (("start0", _NOTHING), ("end0", _NOTHING + bands.line)):
        command[MEMORY_FILL.word(word)] = address
    bands.capture.gx(command)
    return bands.made(interrupts=True)


@scene("gsp.double_fill")
def _() -> Made:
    """A program asks for two fills at once. It is told the end of both units (both), or only of the first one (first).
    There is nothing to be seen."""
    bands, middle = Bands(_FORMAT), (RIGHT.left + RIGHT.right) // 2
    first, second = _fill(bands, RIGHT.left, middle, ORANGE), _fill(bands, middle, RIGHT.right, LIGHT)
    bands.capture.gx(memory_fill(first, second))
    return bands.made(interrupts=True, pictures=False)


@scene("gsp.swap_time")
def _() -> Made:
    """A program leaves gsp a blue framebuffer and asks for a copy; in the next frame it leaves an orange one, and asks
    for nothing. The screen becomes orange (vblank), or stays blue, as gsp looks only after copies (transfer)."""
    bands = Bands()
    capture, orange = bands.capture, bands.another(ORANGE)
    bands.fill(0, WIDTH, BLUE)
    unused = capture.allocate(bands.line, region="VRAM")
    capture.swap("top", bands.start).gx(texture_copy(orange, unused, bands.line)).end_frame()
    capture.swap("top", orange).end_frame()
    return bands.looked_at(registers=(EXTERNAL["PDC0_ADDRESS_A0"].address,))
