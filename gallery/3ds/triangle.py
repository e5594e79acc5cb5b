"""
A triangle
==========

A triangle with a red, a green and a blue corner; between the corners the colours change evenly.
"""

from pocketgpu.builder import Buffer, Canvas
from pocketgpu.builder.canvas import clip

canvas = Canvas()
corners = [(60, 220, 1, 0, 0), (340, 220, 0, 1, 0), (200, 20, 0, 0.3, 1)]  # x, y, red, green, blue
vertices = [(*clip(x, y), -0.5, 1, *color, 1) for x, y, *color in corners]
canvas.list.attributes(Buffer(canvas.put_floats(vertices), [("f32", 4), ("f32", 4)]))
canvas.show("vertex color")
canvas.list.draw_arrays(3)
canvas.image().save("triangle.png")

# %%
# A vertex program hands on the position and the colour of each corner. The rasteriser finds the pixels between the
# three positions, and gives each pixel a colour of its own: corners that are nearer count more. The first texture
# combiner passes this colour on, because :register:`TEXENV0_SOURCE` names the vertex colour as the source. The screen
# of the console is turned by a quarter, so the render target in :register:`FRAMEBUFFER_DIM` is 240 pixels wide and
# 400 high, and ``clip`` turns the places of the upright picture.
