"""
Dissolving
==========

A ring dissolves along the spots of a cloudy texture, with a glowing edge, and comes back.
"""

from pocketgpu.builder import Canvas, patterns, shapes
from pocketgpu.builder.matrices import rotation
from pocketgpu.pictures import animate

clouds = patterns.ramp(patterns.noise(64, 8, 2, seed=3), [(0, 0, 0), (255, 255, 255)])
ring = shapes.tiled(shapes.torus(1, 0.4), 3, 2)
RED = ("texture 0", "red")

canvas = Canvas((16, 18, 28, 255))
for limit in range(0, 241, 24):
    canvas.clear()
    canvas.camera((0, 0, 6.2))
    canvas.list.depth("greater")
    canvas.texture(clouds)
    canvas.lighting({"D0": [(n / 256) ** 30 for n in range(257)]}, ambient=(30, 50, 70))
    canvas.light(0, (2, 4, 5), diffuse=(50, 130, 170), specular=(200, 230, 255))
    # Alpha: how far a spot is above the limit, times 4. Where that is little: orange.
    above = ("subtract", RED, "constant")
    same, color = ("replace", "previous stage"), (0, 0, 0, limit)
    canvas.list.combiner(1, same, above, color=color, scale_alpha=4)
    glow = ("interpolate", "previous stage", "constant", ("previous stage", "alpha"))
    canvas.list.combiner(2, glow, color=(255, 150, 40, 255))
    canvas.list.write("FRAGOP_ALPHA_TEST", enable=True, function="greater", reference=0)
    canvas.mesh(ring, rotation((1, 0.3, 0), -0.6))
    canvas.end_frame()
pictures = [picture.crop((112, 42, 288, 198)) for picture in canvas.images()]
animate(pictures + pictures[-2:0:-1], "dissolve.webp", milliseconds=100)

# %%
# The alpha of a fragment need not be the texture's alpha. Here the second combiner stage takes the red of a cloudy
# texture (:register:`TEXENV1_OPERAND`), subtracts a constant that grows from frame to frame, and multiplies the
# result by 4 (:register:`TEXENV1_SCALE`). Where the texture is darker than the constant, alpha is 0, as no stage
# gives less, and the alpha test (:register:`FRAGOP_ALPHA_TEST`, greater than 0) drops the fragment: colour and depth
# stay what they were. The third stage uses the same alpha a second time: it mixes orange and the lit colour by it, so
# a narrow edge glows where the texture is just above the constant. Nothing is blended, so nothing has to be sorted,
# and the back of the ring shows through its holes. The recording has 11 frames, which differ in one constant.
