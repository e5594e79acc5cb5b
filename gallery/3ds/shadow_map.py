"""
Shadow maps
===========

A ring, a ball and a block throw shadows: the depths that the sun sees, then no bias, a good one and one too large.
"""

import numpy as np

from pocketgpu.builder import Canvas
from pocketgpu.builder.matrices import UPRIGHT, orthographic, perspective, rotation, translation
from pocketgpu.builder.shapes import cube, plane, sphere, torus
from pocketgpu.pictures import beside

X, Y = (1.0, 0, 0), (0, 1.0, 0)
camera = UPRIGHT @ perspective(0.62, 400 / 240, 2, 20) @ translation(0, 0.1, -8) @ rotation(X, 0.55)
sun = orthographic(-3.2, 3.2, -3.2, 3.2, -4, 5) @ rotation(X, 0.7) @ rotation(Y, 1.45)
OBJECTS = (
    (plane(8, 6), translation(0, -1, 0) @ rotation(X, -np.pi / 2), (0.72, 0.78, 0.66)),
    (torus(0.9, 0.3), translation(-0.9, 0.2, 0) @ rotation(Y, 0.5), (0.98, 0.62, 0.2)),
    (sphere(0.65), translation(1.1, -0.35, 0.9), (0.35, 0.6, 0.95)),
    (cube(1), translation(1.6, -0.5, -1.1) @ rotation(Y, 0.4), (0.85, 0.35, 0.4)),
)


def draw(canvas, view):
    for (vertices, indices), matrix, color in OBJECTS:
        points = np.column_stack([vertices[:, :3], np.ones(len(vertices))]) @ matrix.T
        light = np.maximum(vertices[:, 3:6] @ matrix[:3, :3].T @ sun[2, :3] * -9, 0)
        seen = points @ sun[:3].T * (0.5, 0.5, 1) + (0.5, 0.5, 1)
        canvas.draw_vertices(points @ view.T, np.outer(0.25 + 0.75 * light, color), seen, indices=indices)


def scene(bias):
    canvas = Canvas()
    shadows = canvas.capture.put(b"\xff" * 4 * 256 * 256, region="VRAM")
    canvas.draw_to(shadows, 256, 256)
    black = canvas.paint((0, 0, 0, 255)).write("COLOR_OPERATION", fragment_mode="shadow", line_config=0xE4)
    black.write("DEPTHMAP_SCALE", value=1.0).write("DEPTHMAP_OFFSET", value=1.0)
    draw(canvas, sun)
    canvas.submit().depth("greater").texture(0, shadows, 256, 256, wrap="clamp to edge")
    canvas.list.write("TEXUNIT0_PARAM", type="shadow 2D", shadow=True)
    canvas.list.write("TEXUNIT0_SHADOW", orthographic=True, bias=round(bias * 0x7FFFFF))
    alpha = ("replace", "vertex color")
    canvas.list.combiner(0, ("modulate", "vertex color", "constant"), alpha, color=(90, 96, 150, 255))
    canvas.list.combiner(1, ("interpolate", "vertex color", "previous stage", "texture 0"))
    draw(canvas, camera)
    return canvas.image(), canvas.decoded(shadows, 256, 256)


pictures = [scene(0)[1].getchannel("A").resize((240, 240)), *(scene(bias)[0] for bias in (0, 0.03, 0.15))]
beside(pictures, ["what the sun sees", "no bias", "bias 0.03", "bias 0.15"], columns=2).save("shadow_map.png")

# %%
# The sun is drawn first: with the fragment mode "shadow" of :register:`COLOR_OPERATION` a draw stores no colours, but
# the nearest depth of each pixel in 24 bits and an intensity in 8. The camera's draw binds that picture as texture 0
# of type "shadow 2D" in :register:`TEXUNIT0_PARAM`. Its vertices carry a third coordinate, their own depth as the sun
# sees it; a texel whose stored depth is nearer gives 0, otherwise its intensity, and a combiner mixes shade and light
# by that. A texel of the map covers more than one pixel, so surfaces partly shade themselves. A bias in
# :register:`TEXUNIT0_SHADOW` is taken from the depth: too little leaves stripes, too much lets light through under
# the ring and the block. The sun is so far away that the bit "orthographic" is set; for a near lamp the unit divides
# the coordinates by the depth. Two things are not known: what equal depths give (:choice:`texture.shadow_equal`), and
# if four texels are compared and mixed (:choice:`texture.shadow_filter`).
