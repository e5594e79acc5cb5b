"""
The copy engine exchanges colours
=================================

Three balloons in six colourings: a copy has moved the picture and put its red, green and blue into other places.
"""

import numpy as np

from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.pictures import beside

WIDTH, HEIGHT = 144, 144
y, x = np.mgrid[:HEIGHT, :WIDTH]
picture = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
picture[..., 0], picture[..., 1], picture[..., 2], picture[..., 3] = 250 - y // 3, 235 - y // 2, 215 - y // 3, 255
for cx, cy, radius, color in ((46, 50, 30, (220, 40, 40)), (98, 42, 26, (240, 180, 30)), (74, 84, 28, (40, 90, 200))):
    string = (abs(x - cx - (74 - cx) * np.clip((y - cy) / (140 - cy), 0, 1)) < 1) & (y > cy)
    picture[string, :3] = 60
    inside = (x - cx) ** 2 + (y - cy) ** 2 * 0.8 < radius**2
    light = 1.15 - np.hypot(x - cx + radius / 3, y - cy + radius / 3) / radius / 2
    picture[inside, :3] = np.clip(np.array(color) * light[inside][:, None], 0, 255)

# What red, green, blue and alpha of the target get.
WAYS = {"R G B": "XYZW", "B G R": "ZYXW", "G B R": "YZXW", "R R R": "XXXW", "no blue": "XY0W", "R 255 B": "X1ZW"}
images = []
for way in WAYS.values():
    canvas = MaxwellCanvas(WIDTH, HEIGHT)
    canvas.wait().pb.on("DMA copy").copy_rectangle(canvas.rows(picture), canvas.target)
    names = {"0": "CONST_A", "1": "CONST_B"} | {component: f"SRC_{component}" for component in "XYZW"}
    sources = {f"DST_{to}": names[component] for to, component in zip("XYZW", way, strict=True)}
    canvas.pb.method("LINE_LENGTH_IN", WIDTH).method("SET_DST_WIDTH", WIDTH)  # in pixels from here on
    canvas.pb.method("SET_REMAP_CONST_A", 0, 255).method(
        "SET_REMAP_COMPONENTS", **sources, COMPONENT_SIZE="ONE", NUM_SRC_COMPONENTS="FOUR", NUM_DST_COMPONENTS="FOUR"
    )
    canvas.pb.method(
        "LAUNCH_DMA", DATA_TRANSFER_TYPE="NON_PIPELINED", FLUSH_ENABLE=True, REMAP_ENABLE=True, MULTI_LINE_ENABLE=True,
        SRC_MEMORY_LAYOUT="PITCH", DST_MEMORY_LAYOUT="BLOCKLINEAR",
    )
    images.append(canvas.image())
beside(images, list(WAYS), columns=6).save("dma_copy.png")

# %%
# The copy engine, class B0B5, moves bytes and works beside the other engines. It can read rows and write blocks, or the
# other way round, which is how a picture that a processor made becomes a texture. Here it goes from rows
# (:method:`B0B5.PITCH_IN`) to blocks (:method:`B0B5.SET_DST_BLOCK_SIZE`). While REMAP_ENABLE is set in
# :method:`B0B5.LAUNCH_DMA`, it knows what a pixel is: :method:`B0B5.SET_REMAP_COMPONENTS` says how many components one
# has and how large they are, and what each one of the target gets: a component of the source, one of two constants, or
# nothing, so that it stays as it is. With it a program turns BGR into RGB, or fills memory with one word. Lengths then
# count pixels instead of bytes. The engine cannot scale and cannot compute; that is for the 2D engine.
