"""
An outline with the stencil
===========================

A blue ring, the same one hidden by a thicker flat ring in yellow, and the yellow one cut to an outline of the blue one.
"""

from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.maxwell.programs import FLAT
from pocketgpu.builder.shapes import torus
from pocketgpu.pictures import beside

MODEL = translation(0, 0, -3.8) @ rotation((1, 0.4, 0), -0.8)


def drawn(outline: bool, function: str):
    """The picture of a ring, and perhaps of a thicker one where a comparison of the stencil with 1 passes."""
    canvas = MaxwellCanvas(240, 200)
    many = canvas.samples(8)
    pb = canvas.test_depth().pb.method("SET_STENCIL_TEST", 1).method("SET_STENCIL_FUNC_REF", 1)
    pb.method("SET_STENCIL_FUNC", V="OGL_ALWAYS").method("SET_STENCIL_OP_ZPASS", V="OGL_REPLACE")
    canvas.mesh(torus(0.9, 0.42), MODEL, color=(0, 140, 210))
    if outline:
        pb.method("SET_STENCIL_FUNC", V=f"OGL_{function}").method("SET_STENCIL_OP_ZPASS", V="OGL_KEEP")
        pb.method("SET_DEPTH_FUNC", V="OGL_ALWAYS")
        canvas.mesh(torus(0.9, 0.5), MODEL, color=(240, 170, 30), pixel=FLAT)
    return canvas.resolve(many).image()


images = [drawn(False, "ALWAYS"), drawn(True, "ALWAYS"), drawn(True, "NOTEQUAL")]
beside(images, ["one ring", "a thicker one over it", "where the stencil is not 1"]).save("stencil.png")

# %%
# The stencil is a byte for each sample, beside the depth. :method:`SET_STENCIL_FUNC` compares it with
# :method:`SET_STENCIL_FUNC_REF`, and what becomes of it is said for three cases: the comparison fails, the depth test
# fails, or both pass, see :method:`SET_STENCIL_OP_ZPASS`. Here the first draw passes everywhere and makes the stencil 1
# where the ring is. The second draw, a thicker ring in one colour, passes only where the stencil is not equal to 1:
# around the first ring and in its hole, so an outline is left. The depth test lets all of it pass (ALWAYS), as in the
# second picture. Shadows, mirrors and windows to another place are made in the same way: one draw marks pixels, and
# later ones ask for the mark.
