"""
Fill, lines and points
======================

The same ring filled, as a net of lines, as points, and as a net whose back sides, in orange, are points.
"""

from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.maxwell.programs import MESH_VALUES, SHADE
from pocketgpu.builder.shapes import torus
from pocketgpu.pictures import beside

# Fronts are blue in light, backs are orange.
SIDES = MESH_VALUES + """
    FMNMX R7, R7, 1, PT
    IPA.PASS R4, a[0x3fc], RZ            // 0 at the back of a triangle
    ISETP.NE.AND P0, PT, R4, RZ, PT
    @P0 MOV32I R0, 0x3e4ccccd
    @P0 MOV32I R2, 0x3f666666
    @!P0 MOV32I R7, 0x3f800000
""" + SHADE

WAYS = {
    "FILL": ("FILL", "FILL"),
    "LINE": ("LINE", "LINE"),
    "POINT, size 3": ("POINT", "POINT"),
    "LINE in front, POINT at the back": ("LINE", "POINT"),
}
images = []
for front, back in WAYS.values():
    canvas = MaxwellCanvas(220, 200)
    many = canvas.samples(8)
    pb = canvas.test_depth().pb.method("SET_FRONT_POLYGON_MODE", front).method("SET_BACK_POLYGON_MODE", back)
    pb.method("SET_POINT_SIZE", 3.0).method("SET_LINE_WIDTH_FLOAT", 1.0)
    model = translation(0, 0, -3.5) @ rotation((1, 0.35, 0), -0.8)
    canvas.mesh(torus(0.95, 0.4, 28, 14), model, color=(230, 159, 0), pixel=SIDES)
    images.append(canvas.resolve(many).image())
beside(images, list(WAYS)).save("polygon_modes.png")

# %%
# A triangle need not be filled. :method:`SET_FRONT_POLYGON_MODE` and :method:`SET_BACK_POLYGON_MODE` choose for each
# side whether its area, its edges or its corners are drawn; the last picture has one mode for each: the far half of the
# tube, which shows its back (orange), has only points. Which side is the front follows from the order of the corners on
# the screen, :method:`OGL_SET_FRONT_FACE`. Lines are :method:`SET_LINE_WIDTH_FLOAT` wide and points have
# :method:`SET_POINT_SIZE`, both in pixels. They pass through the same pixel program, depth test and samples as filled
# triangles, and an edge that two triangles share is drawn twice. Culling, :method:`OGL_SET_CULL`, comes before all this
# and would remove one side altogether.
