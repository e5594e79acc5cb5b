"""Scenes of the 2D engine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pocketgpu.probe.model.registry import scene
from pocketgpu.probe.model.scene import Made
from pocketgpu.probe.scenes.switch.canvas import BLUE, FAR_APART, LEFT, ORANGE, RIGHT, SceneCanvas, pixels

_HALF = 32


@scene("twod.pitch_overrun")
def _() -> Made:
    """Lines of a pitch source are blue, then orange. The left square shows all of it. The right one shows it from the
    middle of its lines on, beyond their end: orange, then blue of the next line (next-line), or all orange (clamp)."""
    canvas = SceneCanvas()
    width, height = 2 * _HALF, _HALF
    source = canvas.rows(pixels(*[[BLUE] * _HALF + [ORANGE] * _HALF] * (height + 1)))
    source = replace(source, height=height)
    canvas.show(source, LEFT).show(source, RIGHT, (_HALF, 0, width, height))
    return canvas.made()


@scene("twod.weights")
def _() -> Made:
    """A bilinear blit between two pixels, with colours for which equal weights give light blue, and any more of the
    second one orange. At the left that has 1/128 more, at the right less than 1/256: orange (exact) or light blue
    (8-bits)."""
    canvas = SceneCanvas()
    texels = np.array([FAR_APART], np.float32)
    source = canvas.rows(texels, "RF32_GF32_BF32_AF32")
    for rectangle, (start, size) in ((LEFT, (1 / 128, 0.0)), (RIGHT, (1 / 1024, 1 / 512))):
        canvas.wait().pb.on("2D").blit(source, canvas.target, (1 + start, 0, size, 1), rectangle, filter="BILINEAR")
    return canvas.made()


@scene("twod.and_operations")
def _() -> Made:
    """An orange source, whose right half has an alpha of 0, is copied to the left by SRCCOPY and to the right by
    SRCCOPY_AND: there its right half is missing (alpha), or not (plain)."""
    canvas = SceneCanvas()
    solid, clear = (pixels(*[[ORANGE] * _HALF] * _HALF, alpha=alpha) for alpha in (255, 0))
    source = canvas.rows(np.concatenate([solid, clear], axis=1))
    for rectangle, operation in ((LEFT, "SRCCOPY"), (RIGHT, "SRCCOPY_AND")):
        canvas.wait().pb.on("2D").blit(source, canvas.target, None, rectangle, operation=operation)
    return canvas.made()
