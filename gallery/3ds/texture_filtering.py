"""
Texture filtering
=================

A drawing of 16 x 16 texels, drawn twelve times as large: as sharp squares (nearest), and blurred (linear).
"""

from pocketgpu.builder import Box, Canvas, patterns
from pocketgpu.pictures import beside

COLORS = {
    ".": (58, 48, 84), "o": (24, 20, 36), "R": (222, 60, 72), "r": (160, 32, 60),
    "W": (255, 240, 224), "S": (240, 204, 160),
}  # fmt: skip
MUSHROOM = """
    ................
    .....oooooo.....
    ...ooRRRRRRoo...
    ..oRWWRRRRRRRo..
    .oRWWWWRRRWWRRo.
    .oRWWWWRRWWWWRo.
    oRRRWWRRRWWWWRro
    oRRRRRRRRRWWRRro
    oRRRRWWRRRRRRRro
    oRRrrWWrrrrRrrro
    .oooooooooooooo.
    ...oSSoSSoSSo...
    ...oSSoSSoSSo...
    ...oSSSSSSSSo...
    ....oooooooo....
    ................
"""
canvas = Canvas()
for name in ("nearest", "linear"):
    canvas.texture(patterns.drawn(MUSHROOM, COLORS), filter=name, wrap="clamp to edge")
    canvas.quad(Box(104, 24, 296, 216))
    canvas.end_frame()
pictures = [picture.crop((104, 24, 296, 216)) for picture in canvas.images()]
labels = ["mag_filter = nearest", "mag_filter = linear"]
beside(pictures, labels, scale=2).save("texture_filtering.png")

# %%
# Each texel covers 12 x 12 pixels here, so the filter for magnification counts: ``mag_filter`` in
# :register:`TEXUNIT0_PARAM`. With ``nearest`` a pixel has the colour of the texel that it lies in. With ``linear`` it
# has a mix of the four texels whose middles are around it, weighted by distance: in the middle of a texel the colour
# is the texel's own. Which texel a coordinate just below 0 belongs to is the choice :choice:`texture.nearest`. When a
# texture is drawn smaller than it is, ``min_filter`` in the same register counts instead. Programs mix both in one
# frame: smooth for models, sharp for text and drawings. To see a whole recording with one filter, set
# :choice:`texture.filter` to ``nearest`` or ``linear``.
