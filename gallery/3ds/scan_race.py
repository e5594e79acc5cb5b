"""
A picture that changes during the scan
======================================

Day becomes night while the beam runs from left to right: what it has passed stays day until the next frame.
"""

import numpy as np

from pocketgpu import N3DS
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.pictures import animate

FORMATS = EXTERNAL["PDC0_FORMAT"]["color_format"].values
SHOWN = {
    "PDC0_ADDRESS_A0": {"address": 0x18000000},
    "PDC0_STRIDE": {"stride": 3 * 240},
    "PDC0_FORMAT": {"color_format": FORMATS.RGB8, "scan_doubling": 1},
}
y, x = np.mgrid[0:240, 0:400]
hills = 165 - 24 * np.sin(x / 55) - 9 * np.sin(x / 17 + 1)
disc = np.hypot(x - 290, y - 60) < 26
stars = np.random.default_rng(1).random((240, 400)) > 0.996


def landscape(upper, lower, disc_color, near, star):
    """A framebuffer: RGB8 as the screen reads it, columns from left to right, from below, blue first."""
    part = (y / 200)[..., None]
    pixels = np.array(upper) * (1 - part) + np.array(lower) * part
    pixels[stars] = np.maximum(pixels[stars], star)
    pixels[disc], pixels[y > hills] = disc_color, near
    return np.clip(pixels, 0, 255).astype(np.uint8)[::-1, :, ::-1].transpose(1, 0, 2).tobytes()

day = landscape((70, 140, 230), (215, 235, 250), (255, 240, 150), (70, 140, 60), 0)
night = landscape((4, 6, 30), (50, 40, 90), (235, 235, 215), (14, 28, 30), 255)


def frame(part):
    gpu = N3DS(timing="emulated")
    gpu.memory.write(0x18000000, day)
    for name, fields in SHOWN.items():
        gpu.write_register(EXTERNAL[name].address, EXTERNAL[name].encode(**fields))
    gpu.step_vblank()
    gpu.step_vblank()
    gpu.advance(int(gpu.display_mode("top").frame_cycles * part))
    gpu.memory.write(0x18000000, night)
    gpu.step_vblank()
    return gpu.screens["top"].image

animate([frame(part) for part in np.linspace(0, 1, 15)], "scan_race.webp", milliseconds=120)

# %%
# A machine usually takes no time. With ``timing="emulated"`` it has a clock of 268 million cycles a second, and the
# display controllers scan line by line: a line, which is a column of the upright picture, is read from memory when it
# begins. :register:`PDC0_ADDRESS_A0` says where the framebuffer is, :register:`PDC0_STRIDE` how many bytes lie
# between the lines. Here the bytes of the framebuffer change after a part of the frame: columns that were read before
# show day, all later ones night. Games avoid this tearing with two framebuffers: they draw the next picture into the
# one that is not shown, and write :register:`PDC0_SELECT` or wait for the interrupt of :register:`PDC0_VIRQ` before
# they change it. The controller takes a new selection only at the place in :register:`PDC0_LATCH`. A frame has
# 4,481,136 cycles, and the counters of clocks and lines can be read at any time in :register:`PDC0_HCOUNT` and
# :register:`PDC0_VCOUNT`.
