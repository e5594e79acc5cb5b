"""
Fog and how it is rounded
=========================

A misty valley with the fog cut off to whole numbers, the same computed with floats, and in white where they differ.
"""

import numpy as np
from PIL import ImageChops

from pocketgpu.builder import Canvas, patterns, shapes
from pocketgpu.builder.matrices import rotation
from pocketgpu.pictures import beside

NEAR, FAR = 1.0, 60.0
depth = np.arange(129) / 128
distance = FAR * NEAR / (depth * (FAR - NEAR) + NEAR)
vertices, indices = shapes.plane(80, 80, 40, 40)
hills = 9 * patterns.noise(41, 6, 2, seed=4).ravel()
vertices[:, 2] = hills * np.clip(np.abs(vertices[:, 0]) / 16, 0.05, 1)  # a valley along y

canvas = Canvas((236, 206, 190, 255))
canvas.camera((0, 4, 30), (0, 3, 0), near=NEAR, far=FAR)
canvas.list.depth("greater")
canvas.texture(patterns.checks(64, 2, [(40, 84, 60), (72, 120, 60)]))
canvas.list.write("TEXENV_UPDATE_BUFFER", fog_mode="fog")
canvas.list.write("FOG_COLOR", r=236, g=206, b=190)
canvas.list.fog_table(np.exp(-distance / 32))
canvas.mesh(shapes.tiled((vertices, indices), 16, 16), rotation((1, 0, 0), -np.pi / 2))

VALUES = ["truncate", "float"]
pictures = [canvas.image(switches={"fog.arithmetic": value}) for value in VALUES]
grey = ImageChops.difference(*pictures).convert("L")
pictures.append(grey.point(lambda value: 255 * (value > 0)))
labels = [*(f"fog.arithmetic = {value}" for value in VALUES), "different"]
beside(pictures, labels).save("fog_rounding.png")

# %%
# Fog, turned on by :register:`TEXENV_UPDATE_BUFFER`, mixes two colours: share x colour + (1 - share) x
# :register:`FOG_COLOR`, where the share comes from a table (:register:`FOG_LUT_DATA0`). The result is seldom a whole
# number of 255. What the GPU does with the rest is not documented, and renderers differ: one cuts it off, another
# computes with floats and lets the target round. Here this is the choice :choice:`fog.arithmetic`; ``truncate`` is the
# default, and ``switches=`` of ``Canvas.image`` or ``--set`` of the commands takes the other value. No eye sees the
# difference of one step of 255, but a comparison of pictures does: white pixels have it, about half of the ground, in
# waves where the share passes the next step. The sky is the clear colour and was never drawn.
