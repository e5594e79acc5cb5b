"""
Logic operations
================

Sixteen pictures of stripes across and stripes down, one for each way to combine two bits; XOR looks like checks.
"""

from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.facts.maxwell import B197
from pocketgpu.pictures import beside

OPERATIONS = [name for _, name in sorted(B197["SET_LOGIC_OP_FUNC"].fields[0].enum.items())]
STRIPES = [(235, 110, 40), (40, 60, 140), (235, 110, 40), (40, 60, 140)]
OTHERS = [(250, 235, 130), (20, 130, 110), (250, 235, 130), (20, 130, 110)]

images = []
for operation in OPERATIONS:
    canvas = MaxwellCanvas(100, 80)
    for n, color in enumerate(STRIPES):
        canvas.square((10 + 20 * n, 4, 20, 72), color)
    canvas.pb.method("SET_LOGIC_OP", 1).method("SET_LOGIC_OP_FUNC", V=operation)
    for n, color in enumerate(OTHERS):
        canvas.square((10, 4 + 18 * n, 80, 18), color)
    images.append(canvas.image())
beside(images, OPERATIONS, columns=8).save("logic_op.png")

# %%
# Instead of mixing numbers the GPU can combine bits: :method:`SET_LOGIC_OP` turns that on, and blending off, and
# :method:`SET_LOGIC_OP_FUNC` is one of the sixteen functions of two bits. Each bit of the new colour, here of the
# stripes across, is combined with the bit of the target that it falls on, here of the stripes down; the next bit does
# not notice. NOOP leaves the target as it is, COPY writes as usual, CLEAR and SET look at neither. XOR has a use that
# lasts: what is drawn twice with it is gone again, which was the way to move a cursor over a picture. Bits say little
# about how light a colour is, so the results look random. A target of floats has no logic operation.
