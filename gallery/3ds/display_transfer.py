"""
What a display transfer can do
==============================

One picture after eight transfers: plain, upside down, cropped, half as wide, half as large, and in fewer bits.
"""

import numpy as np

from pocketgpu.builder import Canvas
from pocketgpu.builder.shapes import sphere, torus
from pocketgpu.pictures import beside

canvas = Canvas()
source = canvas.capture.allocate(4 * 256 * 192, region="VRAM")
canvas.draw_to(source, 256, 192, depth=canvas.depth)
canvas.show("vertex color")
corners = [(-1, -1, -0.1), (1, -1, -0.1), (-1, 1, -0.1), (1, 1, -0.1)]
sky = [(0.98, 0.75, 0.45)] * 2 + [(0.15, 0.3, 0.65)] * 2
canvas.draw_vertices(corners, sky, (0, 0, 1), primitive="triangle strip")
canvas.list.depth("greater")
SHAPES = (torus(0.4, 0.14), (0.95, 0.45, 0.3), (-0.35, 0.1)), (sphere(0.36), (0.3, 0.75, 0.5), (0.4, -0.3))
for (vertices, indices), color, place in SHAPES:
    light = np.clip(vertices[:, 3:6] @ (-0.5, 0.6, 0.65), 0.15, 1)
    places = vertices[:, :3] * (0.75, 1, -0.3) + (*place, -0.6)
    canvas.draw_vertices(places, np.outer(light, color), (0, 0, 1), indices=indices)
canvas.submit()

WAYS = {
    "plain": (256, 192, "RGB8", {}),
    "flip": (256, 192, "RGB8", {"flip": True}),
    "crop": (160, 192, "RGB8", {"output_width": 160, "crop": True}),
    "scale 2x1": (128, 192, "RGB8", {"scale": "2x1"}),
    "scale 2x2": (128, 96, "RGB8", {"scale": "2x2"}),
    "RGB565": (256, 192, "RGB565", {}),
    "RGB5A1": (256, 192, "RGB5A1", {}),
    "RGBA4": (256, 192, "RGBA4", {}),
}
targets = [canvas.capture.allocate(3 * 256 * 192, region="VRAM") for way in WAYS]
for target, (_, _, format, options) in zip(targets, WAYS.values(), strict=True):
    canvas.capture.transfer(source, target, 256, 192, output_format=format, **options)
pictures = [canvas.decoded(at, *way[:3], "linear") for at, way in zip(targets, WAYS.values(), strict=True)]
beside(pictures, [*WAYS], columns=4).save("display_transfer.png")

# %%
# A display transfer is a unit of its own beside the 3D core: it reads a picture in tiles of 8 x 8 pixels, as the core
# draws it, and writes rows that a screen can show. :register:`PPF_FLAGS` has all that is seen here. "flip" turns the
# picture upside down. "crop" is needed when output rows are shorter than input rows (:register:`PPF_OUTPUT_SIZE` and
# :register:`PPF_INPUT_SIZE`). "scale" averages two or four pixels, which smooths edges of a picture that was drawn
# larger. Formats with fewer bits lose the lowest ones: :choice:`transfer.contract`, measured on a console; the sky
# shows bands. Not every way exists: RGB8 only becomes RGB8 again, and a transfer between formats that the unit does
# not convert never ends (:choice:`transfer.odd_formats`). A write to :register:`PPF_CONTROL` starts it, and an
# interrupt tells the end.
