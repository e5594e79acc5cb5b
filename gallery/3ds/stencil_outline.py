"""
Stencil outline
===============

A blue ring, a larger yellow ring over it, and the same with a stencil test, which leaves a yellow outline.
"""

from pocketgpu.builder import Canvas, shapes
from pocketgpu.builder.matrices import rotation
from pocketgpu.pictures import beside

vertices, indices = shapes.torus(1, 0.4)
larger = vertices.copy()
larger[:, :3] += 0.07 * vertices[:, 3:6]  # along the normals
turn = rotation((1, 0.4, 0), -0.8)

canvas = Canvas()
for function in (None, "always", "not equal"):
    canvas.clear()
    canvas.list.depth("greater")
    test = {"enable": True, "reference": 1, "input_mask": 255}
    canvas.list.write("STENCIL_TEST", function="always", write_mask=255, **test)
    canvas.list.write("STENCIL_OP", fail="keep", z_fail="keep", z_pass="replace")
    canvas.lighting({"D0": [(n / 256) ** 30 for n in range(257)]}, ambient=(40, 60, 90))
    canvas.light(0, (2, 4, 5), diffuse=(40, 130, 190), specular=(200, 220, 255))
    canvas.mesh((vertices, indices), turn)
    if function:
        canvas.list.depth(None, write=False)
        canvas.list.write("STENCIL_TEST", function=function, **test)
        canvas.list.write("STENCIL_OP")
        canvas.paint((255, 200, 40, 255))
        canvas.mesh((larger, indices), turn)
    canvas.end_frame()
pictures = [picture.crop((90, 10, 310, 230)) for picture in canvas.images()]
LABELS = ["ring", "larger ring, always", "larger ring, not equal 1"]
beside(pictures, LABELS).save("stencil_outline.png")

# %%
# The stencil buffer has 8 bits a pixel, beside the 24 bits of depth. The first draw has the test on with "always",
# and ``z_pass`` = replace in :register:`STENCIL_OP`: each pixel that it draws gets the reference, 1. Then the ring is
# drawn again, with its vertices moved out along their normals, in one colour and without depth test. In the middle it
# covers everything. On the right :register:`STENCIL_TEST` asks for "not equal" to 1, so all marked pixels are left
# out and what remains is a line around the ring, and inside its hole. ``input_mask`` says which bits are compared,
# ``write_mask`` which can change. Whether the reference is left or right of "less" and "greater" is a guess,
# :choice:`test.stencil_operands`; for "not equal" it doesn't matter.
