"""
Depth comparisons
=================

Three rings linked in one another, drawn without a depth test, keeping the nearest pixel, and keeping the farthest one.
"""

from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.shapes import torus
from pocketgpu.pictures import beside

COLORS = [(230, 159, 0), (0, 150, 220), (220, 80, 130)]
WAYS = {"no test: the last one": "ALWAYS", "LESS: the nearest one": "LESS", "GREATER: the farthest one": "GREATER"}

images = []
for function in WAYS.values():
    canvas = MaxwellCanvas(240, 220)
    many = canvas.samples(8)
    canvas.test_depth(function)
    canvas.pb.clear_depth(0.0 if function == "GREATER" else 1.0)
    for number, color in enumerate(COLORS):
        turned = rotation((0, 0, 1), number * 2.0944) @ translation(0.55, 0, 0) @ rotation((1, 0.2, 0), 0.9)
        canvas.mesh(torus(0.85, 0.17), translation(0, -0.1, -4.6) @ turned, color=color)
    images.append(canvas.resolve(many).image())
beside(images, list(WAYS)).save("depth.png")

# %%
# Triangles come in any order, but the eye sees the nearest one. The depth buffer keeps, for each sample, how far away
# the pixel is that is shown there. :method:`SET_DEPTH_FUNC` compares a new depth with the one that is stored; if the
# test passes, the colour is written, and with :method:`SET_DEPTH_WRITE` the depth too. With LESS and a buffer cleared
# to 1, the largest depth, the nearest pixel wins, and the rings go through each other as they should. With GREATER and
# 0 the farthest wins, which shows the rings from inside. Without a test what is drawn last covers all before it, even
# within one ring. The depth of a sample is computed from the plane of its triangle before the pixel program runs, so
# the GPU can leave out pixels that nobody will see.
