"""
The 2D engine
=============

A small robot of 16 x 16 pixels, enlarged with hard and with soft pixels, turned upside down, cut, and in grey.
"""

import numpy as np

from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.patterns import drawn
from pocketgpu.pictures import beside

ROBOT = """
    .......yy....... .......yy....... .......ss....... ...ssssssssss... ..ssssssssssss.. ..sswwwsswwwss..
    ..sswbbsswbbss.. ..sswbbsswbbss.. ..ssssssssssss.. o.ssyyyyyyyyss.o o.sssyyyyyysss.o oossssssssssssoo
    ...ssssssssss... ....ss....ss.... ....ss....ss.... ...yyy....yyy...
"""
COLORS = {".": (24, 32, 48, 255), "s": (110, 170, 190, 255), "w": (255, 255, 255, 255), "b": (40, 60, 160, 255)}
robot = drawn("\n".join(ROBOT.split()), COLORS | {"y": (250, 200, 60, 255), "o": (230, 110, 50, 255)})
robot = (robot * np.linspace(1, 0.6, 16)[:, None, None]).astype(np.uint8)

WAYS = {
    "POINT": {"filter": "POINT"},
    "BILINEAR": {"filter": "BILINEAR"},
    "upside down": {"flip": True},
    "a part": {"source_rectangle": (2, 4, 6, 6)},
    "through one byte": {},
}
images = []
for way, options in WAYS.items():
    canvas = MaxwellCanvas(160, 160)
    source = canvas.rows(robot)
    if way.endswith("one byte"):
        small = canvas.surface(16, 16, "R8")
        canvas.pb.on("2D").blit(source, small)
        source = small
    canvas.wait().pb.on("2D").blit(source, canvas.target, target_rectangle=(0, 0, 160, 160), **options)
    images.append(canvas.image())
beside(images, list(WAYS)).save("blit.png")

# %%
# The 2D engine, class 902D, copies rectangles without any program, and is the only engine of the GPU beside the 3D
# engine that scales and changes formats. The source here is a picture in rows, as a processor writes it, and the target
# is block-linear: :method:`902D.SET_SRC_MEMORY_LAYOUT` and :method:`902D.SET_DST_MEMORY_LAYOUT` say so. For every pixel
# of the target it steps through the source by :method:`902D.SET_PIXELS_FROM_MEMORY_DU_DX_FRAC`, a number with 32 bits
# after the point; a tenth of a pixel here, a negative step down turns the picture over. The filter, POINT or BILINEAR,
# is a field of :method:`902D.SET_PIXELS_FROM_MEMORY_SAMPLE_MODE`. The last picture went through a surface with one byte
# for each pixel, which this engine takes for brightness: red is kept and comes back as grey. Drivers use the engine to
# clear, to fill, and to mix the samples of a target.
