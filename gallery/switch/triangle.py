"""
A triangle
==========

A triangle with a red, a green and a blue corner; between the corners the colours change evenly.
"""

from pocketgpu.builder.maxwell import MaxwellCanvas

pixel_program = """
    IPA.PASS R4, a[0x7c], RZ    // 1 / w of this pixel
    MUFU.RCP R4, R4
    IPA R0, a[0x80], R4         // red, green and blue between the corners
    IPA R1, a[0x84], R4
    IPA R2, a[0x88], R4
    IPA R3, a[0x8c], R4
    EXIT                        // R0 to R3 are the pixel
"""

canvas = MaxwellCanvas().programs(pixel_program)
canvas.draw("TRIANGLES", [
    # x, y, z, w, red, green, blue, alpha
    (-0.8, -0.8, 0.5, 1, 1, 0, 0, 1),
    (0.8, -0.8, 0.5, 1, 0, 1, 0, 1),
    (0.0, 0.8, 0.5, 1, 0, 0.3, 1, 1),
])  # fmt: skip
canvas.image().save("triangle.png")

# %%
# A vertex program hands on the position and four more numbers of each corner. For each pixel inside, the rasteriser
# starts a thread of the pixel program. ``IPA`` computes a number of the pixel from those of the corners; it needs w of
# the pixel, so that surfaces in perspective look right. The four numbers in R0 to R3 go to the render target. The draw
# itself is two methods: :method:`BEGIN` says that the vertices are triangles, :method:`END` ends it. Between them,
# :method:`SET_VERTEX_ARRAY_START` and :method:`DRAW_VERTEX_ARRAY` say which vertices are drawn.
