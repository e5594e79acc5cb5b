"""Scenes of textures: filters, levels, formats, coordinates outside, and shadow maps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.pica_enums import WRAP
from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.n3ds.canvas import (
    BLACK,
    BLUE,
    DARK,
    LEFT,
    LIGHT,
    ORANGE,
    RIGHT,
    SCREEN,
    Box,
    Color,
    SceneCanvas,
)

_SIDE = 8
"""Texels of most textures on a side."""


_HUES = 4
"""Colours of a texture of columns."""


def _plain(color: Color, side: int = _SIDE) -> NDArray[np.uint8]:
    return np.full((side, side, 4), color, np.uint8)


def _columns(*colors: Color) -> NDArray[np.uint8]:
    """A texture with columns of these colours, from left to right."""
    return np.tile(np.repeat(np.array(colors, np.uint8), _SIDE // len(colors), axis=0), (_SIDE, 1, 1))


def _span(left: float, right: float) -> list[tuple[float, float, float]]:
    """Texture coordinates of a box from u = `left` to `right`, and over all of v."""
    return [(left, 0, 1), (right, 0, 1), (right, 1, 1), (left, 1, 1)]


@scene("texture.filter")
def _() -> Made:
    """A small chequered texture is enlarged. The left square asks for "nearest", the right one for "linear". Each gets
    what it asks for (as-programmed), or both are sharp (nearest), or both are smooth (linear)."""
    canvas = SceneCanvas()
    fields = np.add.outer(np.arange(_SIDE), np.arange(_SIDE)) % 2
    for box, filter in ((LEFT, "nearest"), (RIGHT, "linear")):
        canvas.texture(np.array([BLUE, ORANGE], np.uint8)[fields], filter=filter)
        canvas.quad(box)
    return canvas.made()


@scene("texture.levels")
def _() -> Made:
    """A blue texture, whose smaller level is orange, is drawn much reduced. The left square has no smaller levels:
    blue. The right one has them: orange (as-programmed), or blue (base)."""
    canvas = SceneCanvas()
    side = 2 * _SIDE
    address = canvas.capture.put_texture(_plain(BLUE, side), levels=[_plain(ORANGE)])
    canvas.show("texture 0")
    for box, levels in ((LEFT, 1), (RIGHT, 2)):
        canvas.list.texture(0, address, side, side, filter="nearest", levels=levels)
        canvas.quad(box, texture=np.multiply(_span(0, 1), (100, 100, 1)))
    return canvas.made()


@scene("texture.expand")
def _() -> Made:
    """A texture's red is 4 of 31, which becomes 33 of 255 (replicate), or 32 (scale). The left square is orange because
    that is more than 31. The right one is orange if it is more than 32, else blue."""
    canvas = SceneCanvas()
    canvas.texture(_plain((4 << 3, 0, 0, 255)), "RGB565", filter="nearest")
    for box, most in ((LEFT, 31), (RIGHT, 32)):
        canvas.by_red(most, BLUE, ORANGE)
        canvas.quad(box)
    return canvas.made()


@scene("texture.null_address")
def _() -> Made:
    """Orange means that a texture is opaque. The left square has a black one in memory. The right one has address 0,
    which is opaque black, orange (black), or read although no memory is there, blue (read)."""
    canvas = SceneCanvas()
    canvas.texture(_plain(BLACK), filter="nearest")
    canvas.by_source(("texture 0", "alpha"), BLUE, ORANGE)
    canvas.quad(LEFT)
    canvas.list.texture(0, 0, _SIDE, _SIDE, filter="nearest")
    canvas.quad(RIGHT)
    return canvas.made()


@scene("texture.nearest")
def _() -> Made:
    """A texture is blue in its left half and orange in its right half, and repeats. The left square shows it half a
    texel inside of its left edge: blue. The right one shows it half a texel outside: the texel before, orange (floor),
    or the first texel, blue (truncate)."""
    canvas = SceneCanvas()
    canvas.texture(_columns(BLUE, ORANGE), filter="nearest", wrap="repeat")
    for box, u in ((LEFT, 0.5), (RIGHT, -0.5)):
        canvas.quad(box, texture=_span(u / _SIDE, u / _SIDE))
    return canvas.made()


@scene("texture.wrap_4_7")
def _() -> Made:
    """Four rows show a texture of four colours under wrap codes 4 to 7, and what lies to its left and right; the border
    is white. All repeat to the left, and have edge, border, repeat and repeat to the right (own). Or they are like
    codes 0 to 3: edge, border, repeat and mirrored repeat on both sides (as-0-3)."""
    canvas = SceneCanvas()
    address = canvas.capture.put_texture(_columns(BLUE, DARK, BLACK, ORANGE))
    canvas.show("texture 0")
    codes = (WRAP.EDGE_ABOVE, WRAP.BORDER_ABOVE, WRAP.REPEAT_6, WRAP.REPEAT_7)
    for row, code in enumerate(codes):
        cell = SCREEN.part(0, 1, row, len(codes))
        canvas.list.texture(
            0, address, _SIDE, _SIDE, filter="nearest", wrap=(WRAP[code], "clamp to edge"), border=LIGHT
        )
        strip = Box(20, cell.top + 8, 380, cell.bottom - 8)
        for column in range(3 * _HUES):
            # The middle of the first one of two texels of a colour, whatever the filter and the way of rounding.
            u = column / _HUES - 1 + 0.5 / _SIDE
            canvas.quad(strip.part(column, 3 * _HUES), texture=(u, 0.5 + 0.5 / _SIDE, 1))
    return canvas.made()


# -- shadow maps -------------------------------------------------------------------------------------------------------
_DEPTHS = (1 << 24) - 1
"""Steps of a depth in a shadow map from 0 to 1."""
_LIT = 255


def _shadow_texel(depth: int) -> Color:
    """A texel of a shadow map as a colour: the depth from its highest byte on is alpha, blue and green."""
    low, middle, high = depth.to_bytes(3, "little")
    return _LIT, low, middle, high


def _shadow_map(canvas: SceneCanvas, *depths: int, bias: int = 0) -> None:
    """Draw orange where a shadow map of columns with these depths lights, else blue. bias: in steps."""
    canvas.texture(_columns(*map(_shadow_texel, depths)), filter="nearest", wrap="clamp to edge")
    canvas.list.write("TEXUNIT0_PARAM", wrap_s=WRAP.CLAMP_TO_EDGE, type="shadow 2D", shadow=True)
    canvas.list.write("TEXUNIT0_SHADOW", orthographic=True, bias=bias // 2)
    canvas.by_source("texture 0", BLUE, ORANGE)


def _looked_from(depth: int, part: float = 1.0) -> NDArray[np.float64]:
    """Texture coordinates of a box, over a part of the map around its middle; the third is a depth."""
    corners = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return np.array([(0.5 + part * x / 2, 0.5 + part * y / 2, (depth + 0.5) / _DEPTHS) for x, y in corners])


@scene("texture.shadow_equal")
def _() -> Made:
    """A shadow map has depth 1000. The left square has depth 999 and is lit: orange. The right one has depth 1000: lit,
    orange (lit), or in shadow, blue (dark)."""
    canvas = SceneCanvas()
    _shadow_map(canvas, 1000)
    for box, depth in ((LEFT, 999), (RIGHT, 1000)):
        canvas.quad(box, texture=_looked_from(depth))
    return canvas.made()


@scene("texture.shadow_filter")
def _() -> Made:
    """A shadow map lights on its left half, orange, and not on its right half, blue. The right square shows it
    enlarged: the edge between both is sharp (nearest), or soft (linear). The left square is painted without a map."""
    canvas = SceneCanvas()
    canvas.fill(LEFT.part(0, 2), ORANGE)
    canvas.fill(LEFT.part(1, 2), BLUE)
    _shadow_map(canvas, _DEPTHS, 0)
    canvas.quad(RIGHT, texture=_looked_from(1000, 0.5))
    return canvas.made()


@scene("texture.shadow_bias")
def _() -> Made:
    """A shadow map has depth 1000, and both squares have depth 100. The left one has no bias and is lit: orange. The
    right one has a bias of 200, which leads below 0: to 0, orange (clamp), or to a very large depth, blue (wrap)."""
    canvas = SceneCanvas()
    for box, bias in ((LEFT, 0), (RIGHT, 200)):
        _shadow_map(canvas, 1000, bias=bias)
        canvas.quad(box, texture=_looked_from(100))
    return canvas.made()
