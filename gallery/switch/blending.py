"""
Blend equations and factors
===========================

Twelve pairs of an orange disc over a blue one differ in how the colours where both lie are mixed.
"""

import numpy as np

from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.pictures import beside

WAYS = {
    "no blending": None,
    "over": ("SRC_ALPHA", "ONE_MINUS_SRC_ALPHA", "FUNC_ADD"),
    "sum": ("ONE", "ONE", "FUNC_ADD"),
    "lighten": ("SRC_ALPHA", "ONE", "FUNC_ADD"),
    "product": ("DST_COLOR", "ZERO", "FUNC_ADD"),
    "screen": ("ONE", "ONE_MINUS_SRC_COLOR", "FUNC_ADD"),
    "source - target": ("ONE", "ONE", "FUNC_SUBTRACT"),
    "target - source": ("ONE", "ONE", "FUNC_REVERSE_SUBTRACT"),
    "smaller": ("ONE", "ONE", "MIN"),
    "larger": ("ONE", "ONE", "MAX"),
    "inverted": ("ONE_MINUS_DST_COLOR", "ZERO", "FUNC_ADD"),
    "twice the product": ("DST_COLOR", "SRC_COLOR", "FUNC_ADD"),
}
angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)


def disc(x, y, color, alpha):
    """A disc around x, y as a fan, darker at its lower edge."""
    return [
        (x + 0.55 * np.cos(a), y + 0.55 * np.sin(a), 0.5, 1, *(np.array(color) * (0.8 + 0.2 * np.sin(a))), alpha)
        for a in angles
    ]


images = []
for way in WAYS.values():
    canvas = MaxwellCanvas(128, 128, (70, 70, 76))
    canvas.programs().draw("POLYGON", disc(-0.28, 0.2, (0.1, 0.5, 0.9), 1.0))
    if way:
        canvas.blend(*way)
    images.append(canvas.draw("POLYGON", disc(0.28, -0.2, (0.95, 0.62, 0.1), 0.6)).image())
beside(images, list(WAYS), columns=6).save("blending.png")

# %%
# After a pixel program has run, its colour (the source) is mixed with what the target has at that place. Source and
# target are each multiplied with a factor, :method:`SET_BLEND_COLOR_SOURCE_COEFF` and
# :method:`SET_BLEND_COLOR_DEST_COEFF`, and :method:`SET_BLEND_COLOR_OP` says what becomes of the two products: their
# sum, a difference, or with MIN and MAX the smaller or larger of the two colours, for which the factors do not count.
# Here the grey ground and the blue disc are there first, and the orange disc, whose alpha is 0.6, is drawn over them.
# Alpha has methods of its own, which have the same values here. :method:`SET_BLEND` turns blending on for each of the
# eight targets.
