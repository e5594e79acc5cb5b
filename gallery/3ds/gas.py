"""
Gas
===

A cloud of 60 puffs, coloured by its density, by its light, and more transparent; without the guess there is nothing.
"""

import numpy as np

from pocketgpu.builder import Box, Canvas
from pocketgpu.pictures import beside

circle = [(0.0, 0.0)] + [(np.cos(a), np.sin(a)) for a in np.linspace(0, 2 * np.pi, 33)]
random = np.random.default_rng(9)
puffs = random.normal((0, -0.05, 0.2), (0.3, 0.2, 0.07), (60, 3))
colors = np.array([(236, 240, 246), (250, 250, 252), (255, 250, 240), (246, 232, 214), (222, 200, 190), (184, 164, 172),
                   (140, 126, 150), (104, 98, 130), (84, 82, 116)])
steps = np.round(np.diff(colors, axis=0) * 127 / 255).astype(int)
table = np.concatenate([np.abs(steps) | (steps < 0) * 128, colors[:8]])


def draw(opacity, color, choice="density"):
    canvas = Canvas((44, 120, 190, 255))
    sums = canvas.capture.put(bytes(4 * 512 * 256), region="VRAM")
    canvas.draw_to(sums, 512, 256)
    canvas.show("vertex color").write("COLOR_OPERATION", fragment_mode="gas", line_config=0xE4)
    canvas.list.write("GAS_DELTAZ_DEPTH", function="always")
    for x, y, size in puffs:
        places = [(x + size * a, y + size * b * 1.5, -0.5, 1) for a, b in circle]
        canvas.draw_vertices(places, [(0.2, 0, 0)] + [(0, 0, 0)] * 33, (0, 0, 1), primitive="triangle fan")
    canvas.submit()
    canvas.list.write("GAS_LUT_INDEX").fifo("GAS_LUT_DATA", (table @ (1, 0x100, 0x10000)).tolist())
    canvas.list.write("GAS_ACCMAX", value=1 / 620).write("GAS_ATTENUATION", value=opacity)
    canvas.list.write("GAS_LIGHT_XY", minimum=0, maximum=255, attenuation=255)
    canvas.list.write("GAS_LIGHT_Z_COLOR", lut_input=color)
    canvas.list.write("TEXENV_UPDATE_BUFFER", fog_mode="gas", shading_density="plain density")
    canvas.list.texture(0, sums, 512, 256, filter="nearest").blend("source alpha", "1 - source alpha")
    canvas.show("texture 0")
    canvas.quad(Box(0, 0, 400, 240))
    return canvas.image(switches={"gas.hypothesis": choice})


pictures = [draw(5, "density"), draw(5, "light factor"), draw(1.5, "density"), draw(5, "density", "none")]
beside(pictures, ["by density", "by light", "more transparent", "gas.hypothesis=none"], columns=2).save("gas.png")

# %%
# Gas is a cloud without a surface. First its puffs are drawn with the fragment mode "gas" of
# :register:`COLOR_OPERATION`: the red of each fragment is a density, and the target adds them up, one sum plain and
# one weighted by the distance to the depth buffer (:register:`GAS_DELTAZ_DEPTH`). Then the target is bound as texture
# 0, and with the fog mode "gas" of :register:`TEXENV_UPDATE_BUFFER` the sum, times :register:`GAS_ACCMAX`, chooses
# one of eight colours that go through :register:`GAS_LUT_DATA`; :register:`GAS_ATTENUATION` makes it opaque. Instead
# the light that gets through, by :register:`GAS_LIGHT_XY` and :register:`GAS_LIGHT_Z`, can choose the colour.
# Registers and tables are documented, the arithmetic is not: it is a guess, which has to be asked for by the choice
# :choice:`gas.hypothesis`. Without it gas is transparent black, as in the last picture, and each use is reported as
# an event.
