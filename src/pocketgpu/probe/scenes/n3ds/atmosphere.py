"""Scenes of fog and gas, which come after the combiners: they are drawn into a small target that is then a texture."""

from __future__ import annotations

import numpy as np

from pocketgpu.facts.formats import BY_NAME
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.n3ds.canvas import BLUE, HEIGHT, LEFT, ORANGE, RIGHT, SCREEN, WIDTH, Box, SceneCanvas

_SIDE = 64
_BYTES = _SIDE * _SIDE * BY_NAME["RGBA8"].bits // 8
_FOG_ENTRIES = 128
_GAS_COLORS = 8
_CLOUDS, _CLOUD = 3, 60
"""How many clouds there are, and the density of each."""
_LINES = 0x0E4
"""COLOR_OPERATION.line_config that draws every line."""


def _small_target(canvas: SceneCanvas) -> int:
    """Draw into a target of its own from here on; its address."""
    address = canvas.capture.allocate(_BYTES, region="VRAM")
    canvas.capture.clear(address, _SIDE, _SIDE)
    canvas.draw_to(address, _SIDE, _SIDE)
    return address


@scene("fog.arithmetic")
def _() -> Made:
    """Fog leaves 100.6 of a colour of 200, which becomes 100 (truncate), or 101 (float). The left square is orange
    because that is more than 99. The right one is orange if it is more than 100, else blue."""
    canvas = SceneCanvas()
    address = _small_target(canvas)
    canvas.list.write("FOG_COLOR").fog_table(np.full(_FOG_ENTRIES + 1, 100.6 / 200))
    canvas.list.write("TEXENV_UPDATE_BUFFER", fog_mode="fog")
    canvas.fill(SCREEN, (200, 200, 200, 255))
    canvas.submit()
    canvas.list.texture(0, address, _SIDE, _SIDE, filter="nearest")
    canvas.show("texture 0")
    for box, most in ((LEFT, 99), (RIGHT, 100)):
        canvas.by_red(most, BLUE, ORANGE)
        canvas.quad(box)
    return canvas.made()


@scene("gas.hypothesis")
def _() -> Made:
    """Three clouds of gas, one inside of the other, cover the right square. It is black (none), or has rings in colours
    of the left square, which go from thin to dense gas (density)."""
    canvas = SceneCanvas()
    colors = np.linspace(BLUE, ORANGE, _GAS_COLORS).astype(int).tolist()
    for number, color in enumerate(colors):
        canvas.fill(LEFT.part(0, 1, number, len(colors)), tuple(color))
    canvas.submit()
    address = _small_target(canvas)
    canvas.list.write("COLOR_OPERATION", fragment_mode="gas", line_config=_LINES)
    canvas.list.write("GAS_DELTAZ_DEPTH", function="always")
    for number in range(_CLOUDS):
        edge = (number * WIDTH // 8, number * HEIGHT // 8)
        canvas.fill(Box(edge[0], edge[1], WIDTH - edge[0], HEIGHT - edge[1]), (_CLOUD, 0, 0, 255))
    canvas.submit()
    # The table: differences to the next colour, which are 0, then the colours.
    words = [int.from_bytes(bytes(color[:3]), "little") for color in colors]
    canvas.list.write("GAS_LUT_INDEX").fifo("GAS_LUT_DATA", [0] * len(words) + words)
    # Each density is inside of a colour, not at the edge of one.
    canvas.list.write("GAS_ACCMAX", value=1 / (_CLOUD * (_CLOUDS + 0.5))).write("GAS_ATTENUATION", value=1.0)
    canvas.list.write("GAS_LIGHT_Z_COLOR", lut_input="density")
    canvas.list.write("TEXENV_UPDATE_BUFFER", fog_mode="gas", shading_density="plain density")
    canvas.list.texture(0, address, _SIDE, _SIDE, filter="nearest")
    canvas.show("texture 0")
    canvas.quad(RIGHT)
    return canvas.made()
