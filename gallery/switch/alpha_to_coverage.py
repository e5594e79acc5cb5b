"""
Alpha to coverage
=================

Three green bands with alpha from 0 at the left to 1 at the right: solid, in nine steps, and as a fine pattern of dots.
"""

from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.maxwell.programs import COLORED
from pocketgpu.pictures import beside

WAYS = {"alpha is not used": (0, 0), "alpha to coverage": (1, 0), "alpha to coverage with dithering": (1, 1)}
LEAF, LIGHT_LEAF = (0.2, 0.6, 0.25), (0.6, 0.9, 0.35)

images = []
for on, dither in WAYS.values():
    canvas = MaxwellCanvas(160, 32, (60, 40, 90))
    many = canvas.samples(8)
    canvas.pb.method("SET_ANTI_ALIAS_ALPHA_CONTROL", ALPHA_TO_COVERAGE=on)
    canvas.pb.method("SET_ALPHA_TO_COVERAGE_DITHER_CONTROL", dither)
    corners = [(*LIGHT_LEAF, 0), (*LIGHT_LEAF, 1), (*LEAF, 0), (*LEAF, 1)]
    canvas.shaded((8, 4, 144, 24), corners, COLORED)
    images.append(canvas.resolve(many).image())
beside(images, list(WAYS), columns=1, scale=4).save("alpha_to_coverage.png")

# %%
# Blending needs triangles in the order of their distance, which leaves and fences do not have. Alpha to coverage, a
# field of :method:`SET_ANTI_ALIAS_ALPHA_CONTROL`, makes alpha a number of samples instead: with eight samples a pixel
# and an alpha of a half, four samples get the colour and four keep the ground. The depth test then works for each
# sample as for solid shapes, so the order does not count. Eight samples can only show nine steps, which are clearly
# seen in the second band. With :method:`SET_ALPHA_TO_COVERAGE_DITHER_CONTROL` pixels beside each other round
# differently, in a pattern that repeats, and the steps become a fine grid. There is no blending here: the mixed colours
# appear when the samples are resolved at the end.
