"""
Cube map
========

A mirror ball and a mirror ring show the landscape around them, which is the six pictures of one cube map.
"""

import numpy as np

from pocketgpu.builder import Canvas, assemble, meshes, patterns, shapes
from pocketgpu.builder.matrices import look_at, rotation, translation
from pocketgpu.pictures import beside

t, s = 1 - (np.mgrid[:256, :256] + 0.5) / 128  # of the texels of a side, top row first
s, i, faces = -s, 1 + 0 * s, []
SIDES = ((i, -t, -s), (-i, -t, s), (s, i, t), (s, -i, -t), (s, -t, i), (-s, -t, -i))
for x, y, z in SIDES:
    up = y / np.sqrt(x * x + y * y + z * z)
    face = patterns.ramp(up * 1.6, [(255, 226, 180), (130, 190, 240), (40, 96, 190)])
    ground = sum(np.floor(c / np.minimum(y, -0.02)) for c in (x, z))
    bright = 1 - 0.35 * (ground % 2) * np.clip(-6 * up, 0, 1)
    face[up < 0] = bright[up < 0, None] * (110, 150, 90, 255)
    face[(up > 0) & (up < 0.1 + 0.08 * np.sin(6 * np.arctan2(x, z)))] = (92, 84, 120, 255)
    faces.append(face)
# From the eye's directions to the world's.
AROUND = "dp3 o2.x, c12, r6\ndp3 o2.y, c13, r6\ndp3 o2.z, c14, r6\nend\n"
SKY = assemble(f"{meshes.OUTPUTS}{meshes.PLACE}mov r6, r0\n{AROUND}")
MIRROR = assemble(f"""{meshes.OUTPUTS}{meshes.PLACE}{meshes.NORMAL}
    dp3 r5, r2, r0               ; the direction from the eye, reflected
    mul r5, r5, r2
    add r5, r5, r5
    add r6, r0, -r5
    {AROUND}""")
canvas, eye = Canvas(), (1.5, 0.6, 4.5)
addresses = [canvas.capture.put_texture(face) for face in faces]
canvas.camera(eye, (0, 0.1, 0))
canvas.list.texture(0, addresses[0], 256, 256, wrap="clamp to edge")
canvas.list.write("TEXUNIT0_PARAM", type="cube", mag_filter="linear", min_filter="linear")
for number, address in enumerate(addresses[1:], 2):  # 22 bits of address / 8; the upper ones are those of face +X
    canvas.list.write(f"TEXUNIT0_ADDR{number}", address=address >> 3 & 0x3FFFFF)
canvas.show("texture 0")
canvas.list.uniforms(12, np.linalg.inv(look_at(eye, (0, 0.1, 0)))[:3])
canvas.mesh(shapes.cube(20), translation(*eye), program=SKY)
canvas.list.depth("greater")
canvas.mesh(shapes.sphere(0.9, 64, 32), translation(-1, 0, 0), program=MIRROR)
place = translation(1.2, 0, 0) @ rotation((1, 1, 0), 0.6)
canvas.mesh(shapes.torus(0.8, 0.3, 64, 32), place, program=MIRROR)
beside([canvas.image()], scale=2).save("cube_map.png")

# %%
# With type = ``cube`` in :register:`TEXUNIT0_PARAM` texture unit 0 takes texture coordinate 0 as a direction: its
# largest component chooses one of six faces, the other two divided by it the place on it. The first face is at
# :register:`TEXUNIT0_ADDR`, the others at :register:`TEXUNIT0_ADDR2` to :register:`TEXUNIT0_ADDR6`, all of one size
# and format. The landscape in the background is the map itself, drawn on a large cube around the eye. For ball and
# ring the vertex program works out the normal from the quaternion, reflects the direction from the eye in it, and
# turns it into the world; between vertices the direction is interpolated, and its length doesn't matter. Faces have
# to fit at their edges, as each one is filtered alone: there may be a line where two meet. Reflections don't show
# other shapes, only the map.
