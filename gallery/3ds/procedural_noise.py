"""
Noise in procedural textures
============================

Rings that noise bends: its amplitude grows to the right, its frequency downward; the last row has a hard table.
"""

import numpy as np

from pocketgpu.builder import Box, Canvas
from pocketgpu.pictures import beside

at = np.arange(129) / 128
SMOOTH, HARD = at * at * (3 - 2 * at), np.where(at < 0.5, 0.0, 1.0)
RINGS = 0.5 - 0.5 * np.cos(at * 16 * np.pi)
COLORS = np.linspace((16, 30, 70, 255), (250, 170, 90, 255), 64).astype(int)


def draw(amplitude, frequency, table):
    canvas = Canvas()
    cl = canvas.list.procedural_table("rgb map", RINGS).procedural_table("noise", table)
    cl.procedural_table("color", COLORS)
    cl.write("TEXUNIT3_PROCTEX0", u_clamp="edge", v_clamp="edge", rgb_function="sqrt(u^2 + v^2)", noise=True)
    cl.write("TEXUNIT3_PROCTEX1", amplitude=amplitude, phase=3.0)
    cl.write("TEXUNIT3_PROCTEX2", amplitude=amplitude, phase=7.0)
    cl.write("TEXUNIT3_PROCTEX3", u_frequency=frequency, v_frequency=frequency)
    cl.write("TEXUNIT3_PROCTEX4", filter="linear", width=64).write("TEXUNIT3_PROCTEX5")
    cl.write("TEXUNIT_CONFIG", unit3_enable=True)
    canvas.show("texture 3 (procedural)")
    canvas.quad(Box(0, 0, 200, 120), texture=((0, 0, 1), (1.2, 0, 1), (1.2, 0.72, 1), (0, 0.72, 1)))
    return canvas.image().crop((0, 0, 200, 120))


ROWS = (0.5, SMOOTH), (1.5, SMOOTH), (1.5, HARD)
pictures = [draw(amplitude, *row) for row in ROWS for amplitude in (0, 0.05, 0.15, 0.4)]
labels = [f"amplitude {amplitude}, frequency {row[0]}" for row in ROWS for amplitude in (0, 0.05, 0.15, 0.4)]
beside(pictures, labels, columns=4).quantize(48, dither=0).save("procedural_noise.png")

# %%
# Noise of texture unit 3 is a lattice of gradients, which the unit scrambles out of the coordinates: the same places
# always get the same noise, and no table of random numbers is needed. Between the corners of the lattice it mixes by
# a curve of 128 entries, the table "noise" of :register:`PROCTEX_LUT`. With a smooth curve the rings bend softly;
# with a step in the middle, as in the last row, they break along the lattice. What comes out is multiplied by an
# amplitude and added to a coordinate before anything else happens to it: :register:`TEXUNIT3_PROCTEX1` has amplitude
# and phase for u, :register:`TEXUNIT3_PROCTEX2` for v. The phase moves the lattice, so a change in each frame makes
# it flow. :register:`TEXUNIT3_PROCTEX3` has the frequencies; the bit "noise" of :register:`TEXUNIT3_PROCTEX0`
# switches all on. One unit of frequency is nine cells of the lattice for each unit of a coordinate.
