"""
Why vertices have a w
=====================

A tiled floor with places in clip space, with places that are divided by w already, and the same with more triangles.
"""

import numpy as np

from pocketgpu.builder import Canvas
from pocketgpu.builder.matrices import UPRIGHT, look_at, perspective
from pocketgpu.builder.patterns import checks
from pocketgpu.builder.shapes import plane
from pocketgpu.pictures import beside

TILES = checks(64, 4, [(222, 208, 178, 255), (150, 60, 60, 255)])
view = UPRIGHT @ perspective(0.6, 400 / 240, 1, 40) @ look_at((1.2, 1.8, 4.5), (0, 0, -1))


def draw(cells, divided):
    vertices, indices = plane(6, 10, cells, cells)
    lying = np.column_stack([vertices[:, 0], 0 * vertices[:, 0], -vertices[:, 1] - 2, 0 * vertices[:, 0] + 1])
    places = lying @ view.T
    if divided:
        places /= places[:, 3:]
    canvas = Canvas((170, 200, 220, 255))
    canvas.texture(TILES, filter="linear")
    canvas.draw_vertices(places, (1, 1, 1), vertices[:, 6:] * (3, 5), indices=indices)
    return canvas.image()


pictures = [draw(1, False), draw(1, True), draw(8, True)]
beside(pictures, ["x, y, z and w", "divided by w", "divided, 128 triangles"]).save("perspective_correction.png")

# %%
# The rasteriser divides x, y and z by w, the distance from the eye, and it needs w a second time: colours and texture
# coordinates change evenly over a triangle in space, not on the screen. So the set-up makes coefficients of each
# coordinate divided by w and of 1 / w, and each pixel divides one by the other. A program that divides by itself
# leaves w at 1, and everything changes evenly on the screen: along the diagonal two triangles meet that do not fit,
# and the tiles bend. Some early consoles drew like this, and cut floors into many triangles to hide it, as the third
# picture does. What the program writes to the output with the semantic "position" decides (:register:`SH_OUTMAP_O0`);
# :register:`DEPTHMAP_ENABLE` says whether the depth buffer holds z divided by w, or is multiplied by w again.
