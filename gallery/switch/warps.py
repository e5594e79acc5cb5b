"""
Pixels as lanes of a warp
=========================

A triangle of large pixels three times: coloured by lane, by place in squares of four pixels, and by how full a warp is.
"""

from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.pictures import beside

# Each way leaves a number from 0 to 1 in R4.
WAYS = {
    "lane, 0 to 31": """
    S2R R4, SR_LANEID
    I2F.F32.U32 R4, R4
    FMUL32I R4, R4, 0.032258""",
    "lane within its quad": """
    S2R R4, SR_LANEID
    LOP.AND R4, R4, 0x3
    I2F.F32.U32 R4, R4
    FMUL32I R4, R4, 0.33333""",
    "lanes that are switched on": """
    VOTE.ALL R4, P0, PT
    POPC R4, R4
    I2F.F32.U32 R4, R4
    FMUL32I R4, R4, 0.03125""",
}
COLOR = """
    FADD R0, R4, 0                       // blue, then grey, then orange
    FMUL R1, R4, 0.25
    FADD R1, R1, 0.375
    FADD R2, -R4, 0.875
    MOV32I R3, 0x3f800000
    EXIT
"""
TRIANGLE = [(-0.9, -0.85, 0.5, 1), (0.95, -0.3, 0.5, 1), (-0.2, 0.95, 0.5, 1)]

images = []
for way in WAYS.values():
    canvas = MaxwellCanvas(32, 32)
    canvas.programs(way + COLOR).draw("TRIANGLES", [(*corner, 0, 0, 0, 0) for corner in TRIANGLE])
    images.append(canvas.image())
beside(images, list(WAYS), scale=8).save("warps.png")

# %%
# The pixel program, the stage PIXEL of :method:`SET_PIPELINE_SHADER`, runs in warps of 32 lanes, as kernels do. Four
# lanes in a row are a quad, a square of 2 x 2 pixels; in pocketgpu eight quads make a block of 8 x 4 pixels, and which
# pixels a console puts into a warp is not known. A program asks for its lane by S2R, SR_LANEID, which gives the first
# two pictures. The lanes of a quad look at each other's coordinates, from which a texture gets its level; that is why a
# quad always runs as a whole, even if the triangle covers only one of its pixels. VOTE asks all lanes at once: here
# every lane says yes, and the number of yeses is the number of lanes that run. Inside the triangle it is 32, at its
# edges fewer, so small triangles waste lanes.
