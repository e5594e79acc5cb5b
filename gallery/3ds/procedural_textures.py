"""
Procedural textures
===================

Six balls of wood, marble, lava, brick, felt with dots and camouflage; no picture is stored anywhere.
"""

import numpy as np

from pocketgpu.builder import Canvas
from pocketgpu.builder.shapes import sphere
from pocketgpu.pictures import beside

at = np.arange(129) / 128
SINE, SAW = 0.5 - 0.5 * np.cos(at * 10 * np.pi), at * 9 % 1
BRICK, DOT = np.clip((0.94 - at) * 40, 0, 1), np.clip((0.62 - at) * 30, 0, 1)
MIRROR, ROUND, MOST = "mirrored repeat", "sqrt(u^2 + v^2)", "max(u, v)"
MATERIALS = {  # colours; function of u and v, curve, clamp, shift; scale, amplitude and frequency of the noise
    "wood": ([(92, 48, 22), (166, 100, 52), (204, 146, 88)], ROUND, SAW, "edge", "none", 0.9, 0.07, 0.5),
    "marble": ([(36, 48, 58), (178, 190, 190), (245, 240, 232)], "u", SINE, "edge", "none", 0.9, 0.3, 0.45),
    "lava": ([(40, 8, 8), (150, 20, 8), (250, 110, 10), (255, 240, 120)], "u", SINE, "edge", "none", 0.2, 0.7, 1.6),
    "brick": ([(196, 184, 168), (170, 66, 44)], MOST, BRICK, MIRROR, "odd", 6, 0.02, 1.0),
    "felt": ([(20, 70, 110), (250, 220, 120)], ROUND, DOT, MIRROR, "none", 9, 0, 0),
    "camouflage": ([(44, 54, 32), (92, 100, 52), (150, 136, 90), (64, 48, 32)], "v", at, "edge", "none", 0.4, 1, 2.2),
}

vertices, indices = sphere(1, 64, 48)
places = vertices[:, [1, 0, 2]] * (0.8, -0.48, -0.4) + (0, 0, -0.5)
light = np.clip(vertices[:, 3:6] @ (-0.45, 0.55, 0.7), 0.12, 1)[:, None] * (1, 1, 1)


def draw(colors, function, curve, clamp, shift, scale, amplitude, frequency):
    canvas = Canvas()
    cl = canvas.list.depth("greater")
    cl.procedural_table("rgb map", curve).procedural_table("noise", at * at * (3 - 2 * at))
    cl.procedural_table("color", [(*one, 255) for one in np.repeat(colors, 16, axis=0)])
    cl.write("TEXUNIT3_PROCTEX0", u_clamp=clamp, v_clamp=clamp, u_shift=shift, rgb_function=function, noise=True)
    cl.write("TEXUNIT3_PROCTEX1", amplitude=amplitude).write("TEXUNIT3_PROCTEX2", amplitude=amplitude)
    cl.write("TEXUNIT3_PROCTEX3", u_frequency=frequency, v_frequency=frequency)
    cl.write("TEXUNIT3_PROCTEX4", filter="nearest", width=16 * len(colors)).write("TEXUNIT3_PROCTEX5")
    cl.write("TEXUNIT_CONFIG", unit3_enable=True)
    cl.combiner(0, ("modulate", "texture 3 (procedural)", "vertex color"), ("replace", "vertex color"))
    canvas.draw_vertices(places, light, (vertices[:, :2] + 1) * scale / 2, indices=indices)
    return canvas.image().crop((100, 20, 300, 220))


beside([draw(*one) for one in MATERIALS.values()], [*MATERIALS], columns=3).save("procedural_textures.png")

# %%
# Texture unit 3 has no picture: it computes a colour from two coordinates. First noise moves them, as far as the
# amplitudes in :register:`TEXUNIT3_PROCTEX1` and :register:`TEXUNIT3_PROCTEX2` say; its cells become smaller with the
# frequencies of :register:`TEXUNIT3_PROCTEX3`. Then they are shifted and clamped, and a function of
# :register:`TEXUNIT3_PROCTEX0` makes one number of the two: the distance from a corner makes rings of wood and round
# dots, the larger of the two makes bricks, and a shift in every second row sets these off. The number goes through a
# curve of 128 entries, here a saw, a sine or a step, and chooses one of the colours of a table of 256. All tables are
# sent through :register:`PROCTEX_LUT`. Marble and lava differ only in colours and numbers. A change of the noise's
# phase moves a whole texture, and that is one register.
