"""
Queries and conditional rendering
=================================

A sun goes down at a mountain in four pictures, with the number of its samples in sight; without any there is no glow.
"""

import numpy as np

from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.pictures import beside

angles = np.linspace(0, 2 * np.pi, 40)


def disc(x, y, radius, z, middle, edge):
    """A fan around x, y with one colour in the middle and one at the edge."""
    around = [(x + radius * np.cos(a), y + radius * np.sin(a) * 1.5, z, 1, *edge) for a in angles]
    return [(x, y, z, 1, *middle), *around]


MOUNTAIN = [(-1.2, -1), (-0.75, -0.15), (-0.55, -0.3), (-0.1, 0.35), (0.15, 0.05), (0.45, -0.2), (0.6, -0.1), (1.2, -1)]
rows = [(x, y, 0.2, 1, 0.08, 0.07 + 0.1 * (y + 1), 0.16, 1) for at, top in MOUNTAIN for x, y in ((at, top), (at, -1))]
images, labels = [], []
for height in (0.6, 0.35, 0.2, 0.0):
    canvas = MaxwellCanvas(210, 140, (30 + int(70 * height), 60, 100))
    pb = canvas.test_depth().programs().draw("TRIANGLE_STRIP", rows).pb
    pb.method("SET_ZPASS_PIXEL_COUNT", 1).method("CLEAR_REPORT_VALUE", TYPE="ZPASS_PIXEL_CNT")
    sun = -0.12, height
    canvas.draw("TRIANGLE_FAN", disc(*sun, 0.13, 0.5, (1, 0.95, 0.7, 1), (1, 0.8, 0.3, 1)))
    count = canvas.allocate(32)
    pb.report(count, OPERATION="REPORT_ONLY", REPORT="ZPASS_PIXEL_CNT64", four_words=True)
    pb.address("SET_RENDER_ENABLE_A", count).method("SET_RENDER_ENABLE_C", MODE="CONDITIONAL")
    pb.method("SET_DEPTH_FUNC", V="OGL_ALWAYS")
    canvas.blend().draw("TRIANGLE_FAN", disc(*sun, 0.8, 0.1, (1, 0.7, 0.3, 0.75), (1, 0.4, 0.1, 0)))
    images.append(canvas.image())
    labels.append(f"{canvas.memory(count, 8).view('<u8')[0]} samples")
beside(images, labels).save("occlusion.png")

# %%
# The GPU counts what it does: vertices, primitives, runs of programs, and samples that pass the depth test.
# :method:`CLEAR_REPORT_VALUE` sets such a counter to zero, and :method:`SET_REPORT_SEMAPHORE_D` writes its value and
# the time to memory, after all work before it. Here the sun is drawn after the mountain and farther away, and the
# number above each picture is what the counter of samples has written. The glow must lie in front of everything, so the
# depth test cannot hide it. It is drawn with :method:`SET_RENDER_ENABLE_C`, mode CONDITIONAL: the GPU reads the number
# from memory and leaves out draws if it is zero, as in the last picture. No processor has to wait for the number. Games
# do the same with simple boxes around what takes long to draw.
