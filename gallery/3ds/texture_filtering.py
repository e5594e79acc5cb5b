"""
Texture filtering
=================

A drawing of 16 x 16 texels, drawn twelve times as large: as sharp squares (nearest), and blurred (linear).
"""

from pocketgpu.builder import Box, Canvas, patterns
from pocketgpu.pictures import beside

COLORS = {
    ".": (250, 214, 150), "o": (44, 40, 60), "G": (104, 196, 108), "g": (52, 136, 92),
    "R": (222, 112, 72), "r": (168, 76, 56), "W": (250, 250, 240),
}  # fmt: skip
CACTUS = """
    ................
    ......oooo......
    .....oGGgGo.....
    .oo..oGGgGo.....
    oGGo.oGWgGo..oo.
    oGgo.oGGgGo.oGGo
    oGgo.oGGgGo.oGgo
    oGGooGGGgGooGGgo
    .oGGGGGGgGGGGgo.
    ..oooGWGgGoooo..
    .....oGGgGo.....
    ...oooooooooo...
    ...oRRRRRRRRo...
    ....oRrRRrRo....
    ....oRrRRrRo....
    .....oooooo.....
"""
canvas = Canvas()
for name in ("nearest", "linear"):
    canvas.texture(patterns.drawn(CACTUS, COLORS), filter=name, wrap="clamp to edge")
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
