"""
Skinning
========

A tentacle of six bones: on the left each vertex follows one bone, on the right it mixes two, and the folds disappear.
"""

import numpy as np

from pocketgpu.builder import Canvas, assemble
from pocketgpu.builder.matrices import UPRIGHT, perspective, rotation, translation
from pocketgpu.builder.shapes import plane
from pocketgpu.pictures import animate, beside

PROGRAM = assemble(""".out o0 position\n.out o1 color
    .fvec bones[18], view[4], sun\n .constf k(0.0, 1.0, 0.25, 0.75)
    .proc bone              ; the matrix in the three uniforms from a0.x on
        dp4 r3.x, bones[a0.x], v0\n dp4 r3.y, bones[a0.x+1], v0\n dp4 r3.z, bones[a0.x+2], v0
        dp3 r4.x, bones[a0.x], v1\n dp3 r4.y, bones[a0.x+1], v1\n dp3 r4.z, bones[a0.x+2], v1
    .end
    .proc main              ; v0: place, v1: normal, v2: where two matrices are, and their weights; v3: colour
        mova a0.x, v2.x\n call bone\n mul r0, r3, v2.z\n mul r1, r4, v2.z
        mova a0.x, v2.y\n call bone\n mad r0.xyz, r3, v2.w, r0\n mad r1.xyz, r4, v2.w, r1
        mov r0.w, k.y\n dp4 o0.x, view[0], r0\n dp4 o0.y, view[1], r0\n dp4 o0.z, view[2], r0\n dp4 o0.w, view[3], r0
    dp3 r5.x, sun, r1\n max r5.x, k.x, r5.x\n mov r6, k\n mad r5.x, r5.x, k.w, r6.z\n mul o1, r5.x, v3\n end\n.end""")
vertices, indices = plane(6, 1, 72, 24)
along, around = vertices[:, 0] + 3, vertices[:, 7] * 2 * np.pi
normals = np.column_stack([0 * along, np.cos(around), np.sin(around)])
places = normals * (0.75 - 0.11 * along)[:, None] + np.outer(along, (1, 0, 0))
colors = np.where((along * 4 % 2 < 1)[:, None], (0.95, 0.5, 0.35), (0.55, 0.2, 0.4))
view = UPRIGHT @ perspective(0.62, 400 / 240, 1, 30) @ translation(0, -2.7, -9) @ rotation((0, 0, 1), 1.6)


def draw(time, mixed):
    first = np.clip(np.floor(along - 0.5), 0, 4)
    weight = np.clip(along - 0.5 - first, 0, 1) if mixed else along - 0.5 - first >= 0.5
    bones = [np.eye(4)]
    for k in range(1, 6):
        turn = rotation((0, 0, 1), 0.8 * np.sin(time - k))
        bones.append(bones[-1] @ translation(k, 0, 0) @ turn @ translation(-k, 0, 0))
    canvas = Canvas()
    canvas.show("vertex color").shader(PROGRAM).depth("greater")
    canvas.list.uniforms(0, [*np.concatenate([one[:3] for one in bones]), *view, (0.3, 0.7, 0.6, 0)])
    pair = np.column_stack([3 * first, 3 * first + 3, 1 - weight, weight])
    canvas.draw_vertices(places, normals, pair, colors, indices=indices)
    return canvas.image().crop((60, 0, 340, 240))

frames = [beside([draw(t, False), draw(t, True)], ["one bone", "two, mixed"]) for t in np.arange(12) * np.pi / 6]
animate([one.quantize(64, dither=0) for one in frames], "vertex_skinning.webp", milliseconds=80)

# %%
# Skinning is relative addressing. MOVA turns a component of an attribute into a whole number in the address register
# a0, and ``bones[a0.x+1]`` reads the uniform that lies so far after the first. A matrix takes three of the 96 float
# uniforms, its last row is always the same: so 30 bones fit beside the camera, the lamp and a constant. The attribute
# v2 has the places of two matrices and two weights. The program transforms place and normal by both, by a procedure
# that CALL runs twice, and adds the results up by their weights. On the left one weight is 1 and the other 0: next to
# a joint all vertices jump from one bone to the other, and the tube breaks. Programs send new matrices through
# :register:`VSH_FLOATUNIFORM_INDEX` for each pose, and vertices stay as they are: :register:`ATTRIBBUFFER0_CONFIG1`
# says which attributes a vertex has in memory.
