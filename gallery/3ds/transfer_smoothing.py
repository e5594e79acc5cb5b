"""
Smooth edges by a transfer
==========================

Thin spokes, seen through a magnifying glass: drawn as they are, and drawn two and four times as large and averaged.
"""

import numpy as np

from pocketgpu.builder import Canvas
from pocketgpu.pictures import beside

angles = np.repeat(np.arange(72) * np.pi / 36, 3) + np.tile((0, 0.01, -0.01), 72)
radius = np.tile((0.25, 1.6, 1.6), 72)
places = np.column_stack([radius * np.cos(angles), radius * np.sin(angles) * 0.6, 0 * radius - 0.5])
colors = 0.6 + 0.4 * np.cos(angles[:, None] * 3 + (0, 2, 4))


def draw(across, down, scale):
    """The screen's picture, drawn so many times as wide and high in memory, which is turned against the screen."""
    canvas, width, height = Canvas(), 240 * across, 400 * down
    large = canvas.capture.allocate(4 * width * height, region="VRAM")
    canvas.capture.clear(large, width, height, 0x181C28FF)
    canvas.draw_to(large, width, height)
    canvas.show("vertex color")
    canvas.draw_vertices(places, colors, (0, 0, 1))
    canvas.submit()
    shown = canvas.capture.allocate(3 * 240 * 400, region="VRAM")
    canvas.capture.transfer(large, shown, width, height, scale=scale).show("top", shown).end_frame()
    return canvas.image().crop((200, 20, 320, 110))


pictures = [draw(1, 1, "none"), draw(2, 1, "2x1"), draw(2, 2, "2x2")]
beside(pictures, ["as it is", "2x1", "2x2"], scale=3).save("transfer_smoothing.png")

# %%
# The 3D core has no multisampling: a pixel is inside of a triangle or not. A display transfer can smooth edges
# instead. The program draws into a target that is twice as wide, or twice as wide and high, and the field "scale" of
# :register:`PPF_FLAGS` averages two pixels of a row, or four of a square, on the way to the screen. Memory is turned
# against the screen by 90 degrees, so the mode "2x1" makes each column of the upright picture twice as fine: edges
# that lie flat become smooth, steep ones keep their steps. :register:`PPF_INPUT_SIZE` and :register:`PPF_OUTPUT_SIZE`
# have the sizes before scaling. The price is memory and time: a target of 480 x 800 takes 1.5 MB, a quarter of video
# memory, and each pixel that is shown is drawn four times. Pictures of 16 bits are averaged too; in which width is
# not known (:choice:`transfer.average_bits`).
