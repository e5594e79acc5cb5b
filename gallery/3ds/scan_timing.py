"""
A frame of both screens, clock by clock
=======================================

The time of one frame as an area: pictures, porches in grey, sync pulses in blue, and the line of the interrupt in pink.
"""

import numpy as np
from PIL import Image

from pocketgpu.builder import Canvas
from pocketgpu.builder.matrices import rotation
from pocketgpu.builder.shapes import torus
from pocketgpu.pica.pdc import display_mode
from pocketgpu.pictures import beside

COLORS = {"sync": (40, 90, 190), "back porch": (120, 120, 128), "front porch": (84, 84, 92), "picture": (0, 0, 0)}

canvas = Canvas((90, 150, 140, 255))
canvas.list.depth("greater")
canvas.lighting(ambient=(70, 60, 60))
canvas.light(0, (2, 3, 4), diffuse=(255, 200, 120))
for step in range(7):
    canvas.mesh(torus(0.9, 0.3), rotation((1, 0.3, 0), step / 3) @ np.diag([1, 1, 1, 1.0 + step % 2]))
shown = np.asarray(canvas.image())


def chart(screen):
    """Lines from left to right, clocks of a line upward: as the pixels lie on the screen."""
    mode = display_mode(screen, {})
    clocks = np.array([mode.at_clock(clock) for clock in range(mode.clocks)])
    pixels = np.zeros((mode.clocks, mode.lines, 3), np.uint8)
    for line in range(mode.lines):
        at_line = mode.at_line(line)
        for name, color in COLORS.items():
            pixels[clocks == name, line] = color if at_line == "picture" else COLORS[at_line]
    first, left = (next(s.start for s in spans if s.name == "picture") for spans in (mode.horizontal, mode.vertical))
    width, start = mode.height, (400 - mode.height) // 2
    pixels[first : first + 240, left : left + width] = shown[::-1, start : start + width]
    pixels[:, mode.v_irq[0]] = (255, 60, 160)
    return Image.fromarray(pixels[::-1]), f"{screen}: {mode.refresh:.2f} Hz, {mode.lines} lines of {mode.clocks} clocks"


charts = [chart("top"), chart("bottom")]
beside([picture for picture, _ in charts], [label for _, label in charts]).save("scan_timing.png")

# %%
# A display controller counts clocks and lines. :register:`PDC0_HTOTAL` is the last clock of a line and
# :register:`PDC0_VTOTAL` the last line of a frame: 451 clocks and 414 lines make 186,714 clocks. A clock takes 24
# cycles of the processor, so there are 59.83 frames a second. Each further register is the count at which a phase
# begins. The screens are mounted on their side: a line is a column of the picture, and its first pixel is the lowest.
# The pixels of the upper screen take 240 clocks of 400 lines, about half of the time. The lower screen has 320 lines,
# and begins 80 lines later, so both end together. The interrupt of :register:`PDC0_VIRQ` comes at line 402 above and
# 404 below, when the last pixel is out: programs wait for it and then change the framebuffer. New addresses are taken
# at the place in :register:`PDC0_LATCH` (:choice:`display.latch`).
