"""
Alpha test
==========

Trees on flat squares, the nearest drawn first: their empty parts hide farther trees, until the alpha test drops them.
"""

import numpy as np

from pocketgpu.builder import Canvas, patterns, shapes
from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.pictures import beside

y, x = (np.mgrid[:64, :64] + 0.5) / 32 - 1
crown = 0.62 - np.hypot(x, y + 0.25) + 0.35 * (patterns.noise(64, 8, 2) - 0.5)
LEAVES = [(24, 72, 48), (72, 140, 60), (150, 190, 80)]
tree = patterns.ramp(patterns.noise(64, 8, seed=3), LEAVES)
trunk = (np.abs(x) < 0.08) & (y > -0.2)
tree[trunk & (crown < 0.1)] = (104, 72, 52, 255)
tree[..., 3] = np.where(trunk, 255, np.clip(crown * 4, 0, 1) * 255)

VARIANTS = {"no test": None} | {f"greater than {n}": n for n in (0, 127, 250)}
canvas = Canvas((160, 205, 230, 255))
canvas.camera((0, 1.6, 7), (0, 0.8, 0), angle=0.5)
for reference in VARIANTS.values():
    canvas.clear()
    canvas.paint((124, 160, 84, 255))
    canvas.mesh(shapes.plane(30, 30), rotation((1, 0, 0), -np.pi / 2))
    canvas.texture(tree, wrap="clamp to edge")
    canvas.list.depth("greater").blend("source alpha", "1 - source alpha")
    if reference is not None:
        test = {"enable": True, "function": "greater", "reference": reference}
        canvas.list.write("FRAGOP_ALPHA_TEST", **test)
    for x, z in ((-1.1, 2), (1, 1.4), (0, 0), (-2.2, -1), (2.2, -2), (-0.8, -4), (1, -6)):
        canvas.mesh(shapes.plane(2, 2), translation(x, 1, z))
    canvas.end_frame()
beside(canvas.images(), [*VARIANTS], columns=2).save("alpha_test.png")

# %%
# The trees are squares whose texture is empty around the tree: alpha 0. Blending makes these parts invisible, but
# without the test they still write depth, and the depth test then drops all farther trees there. The alpha test
# compares a fragment's alpha, 0 to 255, with the reference in :register:`FRAGOP_ALPHA_TEST`; a fragment that fails
# writes neither colour nor depth nor stencil. With "greater than 0" only the faint edges of the crowns still hide
# something, seen as light rims. Greater than 127 cuts at half, and greater than 250 also cuts leaves off. Trees need
# not be sorted then, as long as half-transparent edges don't count. Which of the tests comes first is a guess, and it
# matters for the stencil buffer only: see :choice:`test.order`.
