"""
A geometry program draws curves
===============================

24 primitives of four points each, and what a geometry program makes of them: strokes of a broad pen.
"""

import numpy as np

from pocketgpu.builder import Canvas, assemble
from pocketgpu.pictures import beside

VERTEX = assemble(".out o0 position\n.out o1 color\nmov o0, v0\nmov o1, v1\nend\n")
CURVE = assemble(""".out o0 position\n.out o1 color
    .constf k(0.0, 1.0, 0.0625, 0.0)\n .constf shares(1.0, 3.0, 3.0, 1.0)\n .constf nib(0.014, 0.012, 0.0, 0.0)
    .consti steps(15, 0, 1, 0)
    .proc point                     ; r0.x: t; c0, c2, c4, c6: the points; c1, c7: colours of the first and the last
        add r0.y, k.y, -r0.x
        mul r1, r0.xxyy, r0.xyxy    ; t t, t s, s t, s s, where s = 1 - t
        mul r2, r1.wwxx, r0.yxyx
        mul r2, shares, r2          ; s s s, 3 s s t, 3 s t t, t t t
        mul r4, c0, r2.x\n mad r4, c2, r2.y, r4\n mad r4, c4, r2.z, r4\n mad r4, c6, r2.w, r4
        mul r6, c1, r0.y\n mad r6, c7, r0.x, r6
    .end
    .proc main
        mov r0, k.x\n call point
        for steps
            mov r5, r4\n mov r7, r6\n add r0.x, k.z, r0.x\n call point
            add o0, nib, r5\n mov o1, r7\n setemit 0\n emit
            add o0, -nib, r5\n mov o1, r7\n setemit 1\n emit
            add o0, nib, r4\n mov o1, r6\n setemit 2, prim\n emit
            add o0, -nib, r4\n mov o1, r6\n setemit 0, prim inv\n emit
        .end
        end\n .end""")

turn = np.arange(24)[:, None] * np.pi / 12 + (0, 1.2, -1.0, 0.4)  # of the four points of each curve
places = np.stack([np.cos(turn) * (0.25, 0.5, 1, 0.95), np.sin(turn) * (0.15, 0.3, 0.6, 0.57)], axis=-1)
points = np.insert(places.reshape(-1, 2), [2, 2], (-0.5, 1), axis=1)
colors = np.insert(0.6 + 0.4 * np.cos(np.add(turn.reshape(-1, 1), (0, 2.1, 4.2))), 3, 1, axis=1)
corner = np.array([(0.03, 0, 0, 0), (-0.03, 0, 0, 0), (0, 0.02, 0, 0)])
dots, curves = Canvas(), Canvas()
for canvas in (dots, curves):
    canvas.show("vertex color").shader(VERTEX)
dots.draw_vertices((points[:, None] + corner).reshape(-1, 4), np.repeat(colors, 3, axis=0))
curves.list.geometry_shader(CURVE, "fixed", outputs=2, vertices=4)
curves.draw_vertices(points, colors, primitive="geometry")
beside([dots.image(), curves.image()], ["the points", "the curves"]).save("geometry_curves.png")

# %%
# A primitive need not be a triangle. In mode "fixed" of :register:`GSH_MISC0` the outputs of a fixed number of
# vertices are collected, here two of four vertices each, and written into uniforms of the geometry unit from c0 on;
# then its program runs. It goes along a Bezier curve in 16 steps: the place is the sum of the four points by the
# shares (1 - t)³, 3 (1 - t)² t, 3 (1 - t) t² and t³, and a nib of fixed direction makes a stroke that is broad one
# way and thin the other way. Each step emits two triangles. :register:`GEOSTAGE_CONFIG` switches the stage on,
# :register:`GSH_INPUTBUFFER_CONFIG` says that inputs go to uniforms, and the draw has the primitive "geometry" of
# :register:`PRIMITIVE_CONFIG`. There is a mode "variable" too, in which an index list has the number of vertices of
# each primitive: programs use it for surfaces whose corners have different numbers of neighbours. The fields of
# GSH_MISC0 are known from one simulator only.
