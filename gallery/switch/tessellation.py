"""
Tessellation
============

The same hill with ripples six times, made of one patch each: with levels from 1 to 32 the mesh gets finer and rounder.
"""

from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.maxwell.programs import COLORED, FLAT, transformed
from pocketgpu.pictures import beside

EVALUATION = f"""
    S2R R3, SR_LANEID
    ALD.O.64 R0, a[0x2f0], R3            // u and v: the place in the patch, 0 to 1
    FADD R0, R0, -0.5
    FADD R1, R1, -0.5
    FMUL R4, R0, R0
    FFMA R4, R1, R1, R4                  // squared distance from the middle
    FMUL R5, R4, 48
    RRO.SINCOS R5, R5
    MUFU.COS R5, R5
    FMUL R6, R4, -3
    FADD.SAT R6, R6, 1
    FMUL R5, R5, R6                      // ripples that get smaller outside
    FMUL R2, R5, 0.125                   // the height
    {transformed(8, 0)}AST.128 a[0x70], R8
    FADD R4, R5, 0.5                     // a colour by height: yellow, red, blue
    FADD R6, -R5, 0.25
    AST.128 a[0x80], R4
    EXIT
"""
LEVELS = [f"TESSELLATION_LOD_{name}" for name in ("U0_OR_DENSITY", "V0_OR_DETAIL", "U1_OR_W0", "V1")]
images, counts = [], (1, 2, 4, 8, 16, 32)
for count in counts:
    canvas = MaxwellCanvas(230, 140)
    many, evaluation = canvas.samples(8), canvas.program("evaluation", EVALUATION)
    pb = canvas.test_depth("LEQUAL").vertices([[0] * 8]).pb.method("SET_PATCH", 1)
    pb.method("SET_TESSELLATION_PARAMETERS", DOMAIN_TYPE="QUAD", OUTPUT_PRIMITIVES="TRIANGLES_CCW")
    for name in (*LEVELS, "TG_LOD_INTERIOR_U", "TG_LOD_INTERIOR_V"):
        pb.method(f"SET_{name}", float(count))
    model = translation(0, 0.06, -1.45) @ rotation((1, 0, 0), -0.95) @ rotation((0, 0, 1), 0.6)
    canvas.constants(canvas.view @ model, "evaluation").constants((0.04, 0.05, 0.1, 1.0))
    for mode, pixel in (("FILL", COLORED), ("LINE", FLAT)):
        pb.method("SET_FRONT_POLYGON_MODE", mode).method("SET_BACK_POLYGON_MODE", mode)
        canvas.programs(pixel, evaluation=evaluation).draw_these("PATCH", 1)
    images.append(canvas.resolve(many).image())
beside(images, [f"level {count}" for count in counts], columns=3).save("tessellation.png")

# %%
# A patch has a fixed number of vertices, :method:`SET_PATCH`, and no shape of its own. The tessellator cuts a square, a
# triangle or a set of lines into small pieces, as :method:`SET_TESSELLATION_PARAMETERS` says, and the evaluation
# program gets two numbers for each new vertex, u and v, which say where in the patch it lies. The program makes a
# position of them: here it bends the square into a hill and reads no vertex at all. Each edge of the square and its
# inside have a level of their own. A control program can compute them for each patch, so that near parts get more
# triangles; without one they come from :method:`SET_TESSELLATION_LOD_U0_OR_DENSITY` and its neighbours. The edges are a
# second draw with :method:`SET_FRONT_POLYGON_MODE` LINE.
