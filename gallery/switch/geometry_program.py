"""
A geometry program
==================

A ring as it is, with its triangles shrunk, and flying apart: the geometry program makes a new triangle from each one.
"""

from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.maxwell.programs import transformed
from pocketgpu.builder.shapes import torus
from pocketgpu.pictures import beside

# Place (R20 to R31) and normal (R32 to R43) of the three vertices, the middle (R12 to R14) and its normal (R16 to R18).
GEOMETRY = "MOV R3, RZ\n"
for v in range(3):
    GEOMETRY += f"MOV32I R4, {v}\nISBERD R4, [R4]\nALD.128 R{20 + 4 * v}, a[0xa0], R4\n"
    GEOMETRY += f"ALD.128 R{32 + 4 * v}, a[0x80], R4\n"
for k in range(3):
    for to, one in ((12, 20), (16, 32)):
        GEOMETRY += f"FADD R{to + k}, R{one + k}, R{one + 4 + k}\nFADD R{to + k}, R{to + k}, R{one + 8 + k}\n"
        GEOMETRY += f"FMUL32I R{to + k}, R{to + k}, 0.33333\n"
for v in range(3):  # smaller around the middle, then outwards along the normal, then to clip space
    for k in range(3):
        GEOMETRY += f"FADD R{k}, R{20 + 4 * v + k}, -R{12 + k}\nFFMA R{k}, R{k}, c[0x1][0x40], R{12 + k}\n"
        GEOMETRY += f"FFMA R{k}, R{16 + k}, c[0x1][0x44], R{k}\n"
    GEOMETRY += transformed(8, 0) + "AST.128 a[0x70], R8, R3\nAST.128 a[0x80], R16, R3\nOUT.EMIT R3, R3, RZ\n"

images, ways = [], {"as it is": (1, 0), "70 % of the size": (0.7, 0), "moved outwards": (0.7, 0.3)}
for scale, way in ways.values():
    canvas = MaxwellCanvas(240, 240)
    many = canvas.samples(8)
    program = canvas.program("geometry", GEOMETRY + "EXIT", OUTPUT_TOPOLOGY=7, MAX_OUTPUT_VERTEX_COUNT=3)
    canvas.test_depth().constants([*canvas.view.ravel(), scale, way], "geometry")
    model = translation(0, 0, -4.8) @ rotation((1, 0.5, 0), -0.9)
    canvas.mesh(torus(1, 0.45, 24, 14), model, color=(250, 150, 50), geometry=program)
    images.append(canvas.resolve(many).image())
beside(images, list(ways)).save("geometry_program.png")

# %%
# Between the vertices and the raster a program can run once for each primitive, with all its vertices at hand. It reads
# their attributes (ALD, with the places of the vertices from ISBERD), writes words of a new vertex and sends it off
# with OUT.EMIT, as often as its header allows: MAX_OUTPUT_VERTEX_COUNT is three here, and the strip of three vertices
# is a triangle again. This program finds the middle of a triangle and its normal, draws the corners towards the middle
# and moves the triangle along the normal. All three vertices get the normal of the triangle, so each one is of one
# colour, even in the first ring. The program is the stage GEOMETRY of :method:`SET_PIPELINE_SHADER`, and its constants
# are in a group of their own, see :method:`BIND_GROUP_CONSTANT_BUFFER`.
