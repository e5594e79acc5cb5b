"""
One, two, four and eight samples
================================

The edges of a star get finer steps with more samples for each pixel; a drawn pixel below each star shows their places.
"""

import numpy as np
from PIL import Image, ImageDraw

from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.facts.maxwell.samples import SAMPLE_PLACES
from pocketgpu.pictures import beside

angles = np.linspace(0, 2 * np.pi, 14, endpoint=False) + 0.1
star = [(0, 0, 0.5, 1, 1, 1, 1, 1)] + [
    (r * np.cos(a), r * np.sin(a), 0.5, 1, 0.95, 0.62 + 0.3 * np.sin(a), 0.1, 1)
    for a, r in zip(angles, [0.95, 0.4] * 7, strict=True)
]
star.append(star[1])

images = []
for count in (1, 2, 4, 8):
    canvas = MaxwellCanvas(40, 40)
    many = canvas.samples(count)
    canvas.programs().draw("TRIANGLE_FAN", star).resolve(many)
    picture = Image.new("RGB", (240, 360), (24, 24, 27))
    picture.paste(canvas.image().resize((240, 240), 0))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((64, 248, 174, 358), fill=(40, 48, 64))
    for x, y in SAMPLE_PLACES[count]:
        at = 64 + x * 110 / 16, 248 + y * 110 / 16
        draw.ellipse((at[0] - 5, at[1] - 5, at[0] + 5, at[1] + 5), fill=(230, 159, 0))
    images.append(picture)
beside(images, ["1 sample", "2 samples", "4 samples", "8 samples"]).save("multisampling.png")

# %%
# With multisampling a pixel has several samples, each with a place of its own (the dots below). A triangle covers the
# samples that lie inside it. The pixel program still runs once for each pixel and gives its colour to all covered
# samples, so smooth edges cost memory, but little work. :method:`SET_ANTI_ALIAS` has the number of samples and
# :method:`SET_ANTI_ALIAS_SAMPLE_POSITIONS` their places in sixteenths of a pixel; these are the standard places of
# graphics APIs. In memory the target is as much larger as there are samples: two beside each other, two by two, four by
# two. Before it can be shown it is resolved: here the 2D engine halves it with its linear filter, which mixes the
# samples of each pixel, until it has the size of the picture.
