"""
Depth buffers of 16 and 24 bits
===============================

Flat land in a sea: with the near plane close to the eye, 16 bits of depth mix water and land in stripes.
"""

import numpy as np

from pocketgpu.builder import Canvas
from pocketgpu.builder.matrices import UPRIGHT, look_at, perspective
from pocketgpu.builder.patterns import noise, ramp
from pocketgpu.builder.shapes import plane
from pocketgpu.pictures import beside

LAND = [(60, 50, 40, 255), (215, 195, 140, 255), (110, 160, 80, 255), (70, 120, 60, 255), (235, 235, 240, 255)]
vertices, indices = plane(2, 2, 127, 127)
heights = noise(128, 5, 5, seed=6).ravel()
x, z, one = vertices[:, 0] * 90, vertices[:, 1] * 95 - 100, np.ones(len(vertices))
land = np.column_stack([x, 1.6 * (heights - 0.5), z, one])
water = np.column_stack([x, 0 * one, z, one])
colors = ramp(heights, LAND)[:, :3] / 255


def draw(depth_format, near):
    view = UPRIGHT @ perspective(0.55, 400 / 240, near, 300) @ look_at((0, 26, 14), (0, 0, -60))
    canvas = Canvas((190, 215, 235, 255))
    canvas.list.render_target(canvas.target, 240, 400, depth=canvas.depth, depth_format=depth_format)
    canvas.show("vertex color").depth("greater")
    canvas.draw_vertices(land @ view.T, colors, (0, 0, 1), indices=indices)
    canvas.draw_vertices(water @ view.T, (0.2, 0.45, 0.7), (0, 0, 1), indices=indices)
    return canvas.image()


pictures = [draw("D16", 0.05), draw("D24", 0.05), draw("D16", 5), draw("D24", 5)]
labels = ["16 bits, near plane at 0.05", "24 bits, at 0.05", "16 bits, at 5", "24 bits, at 5"]
beside(pictures, labels, columns=2).save("depth_formats.png")

# %%
# :register:`DEPTHBUFFER_FORMAT` gives a depth 16 or 24 bits; D24S8 has 8 bits of stencil beside them. Depth is z
# divided by w, so most of its steps are spent near the eye. With a near plane at 0.05 and a far one at 300, there are
# 21 steps of 16 bits for all that is farther away than 100. Land that rises half a unit over the water falls into the
# same step as the water: then :register:`DEPTH_COLOR_MASK` decides, as "greater" fails for equal depths and the first
# draw stays. 24 bits have 256 times as many steps. The cheaper cure is the near plane: at 5, 16 bits have 2221 steps
# for the same distance, and the lower pictures are nearly alike. A depth buffer of 16 bits takes half the memory.
# Both formats begin with 0, the farthest depth, as :register:`DEPTHMAP_SCALE` is -1 here.
