"""
Scissor test
============

A ring drawn without the scissor test, only inside a rectangle, and only outside of it.
"""

from pocketgpu.builder import Canvas, shapes
from pocketgpu.builder.matrices import rotation
from pocketgpu.pictures import beside

LEFT, TOP, RIGHT, BOTTOM = 150, 60, 260, 150  # of the upright screen
MODES = ["off", "keep inside", "keep outside"]

canvas = Canvas()
for mode in MODES:
    canvas.clear()
    canvas.list.depth("greater")
    canvas.lighting({"D0": [(n / 256) ** 30 for n in range(257)]}, ambient=(60, 40, 70))
    canvas.light(0, (2, 4, 5), diffuse=(190, 90, 120), specular=(255, 230, 230))
    # The target is 240 wide: its x counts from the screen's lower edge, its y from the right.
    canvas.list.scissor(240 - BOTTOM, 400 - RIGHT, 239 - TOP, 399 - LEFT, mode=mode)
    canvas.mesh(shapes.torus(1, 0.4), rotation((1, 0.4, 0), -0.8))
    canvas.end_frame()
pictures = [picture.crop((90, 10, 310, 230)) for picture in canvas.images()]
beside(pictures, MODES).save("scissor.png")

# %%
# The scissor test comes before anything else that a fragment does: outside of the rectangle nothing is drawn,
# whatever depth, stencil and alpha say, and what was there stays. :register:`SCISSORTEST_MODE` has two ways that
# count: keep what is inside (3), or what is outside (1), which OpenGL hasn't; codes 0 and 2 are both off.
# :register:`SCISSORTEST_POS` has the lower left corner of the rectangle and :register:`SCISSORTEST_DIM` the upper
# right one, and both pixels belong to it. All numbers count pixels of the render target, not of the upright screen.
# The screen of the 3DS is built in on its side: the target is 240 wide and 400 high, so what a player calls the
# height of the rectangle is its width here. Display transfers and clears don't look at it.
