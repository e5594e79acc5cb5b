"""
Texture wrapping
================

A drawing of a boat and what lies around it: repeated, mirrored, its edge continued, or a border colour.
"""

from pocketgpu.builder import Box, Canvas, patterns
from pocketgpu.pictures import beside

COLORS = {
    ".": (146, 200, 232), "M": (96, 64, 48), "R": (226, 76, 60), "W": (250, 246, 236),
    "B": (140, 92, 56), "~": (36, 104, 168), "-": (120, 180, 222),
}  # fmt: skip
BOAT = """
    ................
    .......M........
    .......MR.......
    .......MRR......
    .......MRRR.....
    ......WMRRRR....
    .....WWMRRRRR...
    ....WWWMRRRRRR..
    ...WWWWM........
    .......M........
    .BBBBBBBBBBBBBB.
    ..BBBBBBBBBBBB..
    ...BBBBBBBBBB...
    ~~~~~~~~~~~~~~~~
    ~~-~~~~-~~~~-~~~
    ~~~~~~~~~~~~~~~~
"""
LOW, HIGH = -0.75, 1.75  # u and v of the corners
AROUND = [(LOW, LOW, 1), (HIGH, LOW, 1), (HIGH, HIGH, 1), (LOW, HIGH, 1)]
MODES = ["repeat", "mirrored repeat", "clamp to edge", "clamp to border"]

canvas = Canvas()
for mode in MODES:
    boat = patterns.drawn(BOAT, COLORS)
    canvas.texture(boat, filter="nearest", wrap=mode, border=(250, 190, 60, 255))
    canvas.quad(Box(80, 0, 320, 240), texture=AROUND)
    canvas.end_frame()
pictures = [picture.crop((80, 0, 320, 240)) for picture in canvas.images()]
beside(pictures, MODES, columns=4).save("texture_wrapping.png")

# %%
# Texture coordinates count the texture as 1, from its lower left corner. The squares above go from -0.75 to 1.75 in
# both directions, so each shows the texture once in the middle and what the wrap mode makes of the rest. The mode
# stands in :register:`TEXUNIT0_PARAM`, for u (``wrap_s``) and v (``wrap_t``) apart. A clamped coordinate takes the
# outermost texel of its side; with ``clamp to border`` it takes the colour of :register:`TEXUNIT0_BORDER_COLOR`, here
# orange. There are four more codes: 4 and 5 repeat to the left of 0, and clamp to the edge or the border above 1;
# codes 6 and 7 repeat. This was measured on a console; :choice:`texture.wrap_4_7` has the other reading.
