"""
Render to texture
=================

A cube that shows itself on each of its sides, with smaller and smaller cubes inside of the cubes.
"""

from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.maxwell.programs import MESH_VALUES, SHADE
from pocketgpu.builder.shapes import cube

COLORS = [(200, 70, 60), (240, 190, 90), (70, 160, 110), (90, 180, 220), (250, 235, 200), (60, 90, 160), (24, 32, 48)]
BRIGHT = MESH_VALUES + "FMUL R7, R7, 0.5\nFADD R7, R7, 0.5\nTEX R0, R8, RZ, 0x0, 2D, 0xf\n" + SHADE

canvas = MaxwellCanvas(400, 400).clear((250, 220, 120))
for color in COLORS:
    canvas.color = color
    many = canvas.samples(4)
    canvas.test_depth().texture(canvas.target)  # what was drawn before this cube
    model = translation(0, 0, -4.6) @ rotation((1, 0, 0), 0.5) @ rotation((0, 1, 0), 0.55)
    canvas.mesh(cube(), model, pixel=BRIGHT).resolve(many)
canvas.image().save("render_to_texture.png")

# %%
# A colour target and a texture can be the same memory. :method:`SET_COLOR_TARGET_A` has the address for drawing, a
# texture header of eight words has it for reading, and both say that the pixels are block-linear. Seven cubes are drawn
# here one after the other, each with the picture of the one before on all its sides, so the last one shows six more
# inside of each other. Between a draw and the next one, which reads its pixels, the pushbuffer needs
# :method:`WAIT_FOR_IDLE`, as several draws can be under way at once. Programs name a texture by a handle, the numbers
# of a header and of a sampler, which lies in the constant buffer of :method:`SET_BINDLESS_TEXTURE`. Shadow maps,
# mirrors and effects on the whole picture work like this.
