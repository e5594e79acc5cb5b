"""
Projected texture
=================

A floor, a ball and a box in dim light, and with coloured panes thrown on them as by a slide projector.
"""

import numpy as np

from pocketgpu.builder import Canvas, assemble, meshes, patterns, shapes
from pocketgpu.builder.matrices import look_at, perspective, rotation, translation
from pocketgpu.pictures import beside

y, x = (np.mgrid[:64, :64] + 0.5) / 32 - 1
slide = patterns.checks(64, 4, [(255, 170, 60), (90, 170, 255)])
lines = np.minimum(np.abs(2 * x - np.round(2 * x)), np.abs(2 * y - np.round(2 * y))) < 0.08
slide[lines | (np.hypot(x, y) > 0.94)] = (0, 0, 0, 255)
THROW = "dp4 o2.x, c12, r0\ndp4 o2.y, c13, r0\ndp4 o2.z, c14, r0\nend\n"
PROGRAM = assemble(meshes.OUTPUTS + meshes.PLACE + THROW)

eye, target, lantern = (0, 4, 8), (0, 0.4, 0), (-4, 5, 4)
to_world = np.linalg.inv(look_at(eye, target))
lens = perspective(0.45, 1, 1, 20) @ look_at(lantern, (0.2, 0.3, 0)) @ to_world
# Divided by the third, the first two are u and v, 0 to 1.
rows = [(lens[0] + lens[3]) / 2, (lens[1] + lens[3]) / 2, lens[3]]
canvas = Canvas((12, 12, 20, 255))
KINDS = ["disabled", "projection", "2D"]
for kind in KINDS:
    canvas.clear()
    canvas.camera(eye, target, angle=0.5)
    canvas.lighting(ambient=(0, 0, 0))
    canvas.light(0, lantern)
    canvas.texture(slide)
    wrap = {"wrap_s": "clamp to border", "wrap_t": "clamp to border"}
    canvas.list.write("TEXUNIT0_PARAM", type=kind, mag_filter="linear", **wrap)
    dim = ("modulate", "fragment primary color", "constant")
    canvas.list.combiner(0, dim, ("replace", "constant"), color=(60, 60, 84, 255))
    light = ("multiply then add", "texture 0", "fragment primary color", "previous stage")
    canvas.list.combiner(1, light)
    canvas.list.depth("greater").uniforms(12, rows)
    canvas.mesh(shapes.plane(14, 10), rotation((1, 0, 0), -np.pi / 2), program=PROGRAM)
    canvas.mesh(shapes.sphere(0.8, 48, 24), translation(0.9, 0.8, 0.6), program=PROGRAM)
    box = translation(-0.9, 0.6, -0.2) @ rotation((0, 1, 0), 0.6)
    canvas.mesh(shapes.cube(1.2), box, program=PROGRAM)
    canvas.end_frame()
pictures = [picture.crop((40, 10, 360, 240)) for picture in canvas.images()]
beside(pictures, [f"type = {kind}" for kind in KINDS]).save("projected_texture.png")

# %%
# The vertex program computes where each vertex would lie in the picture of a second camera, the lantern, and hands
# that on as texture coordinate 0 with three components. With type = ``projection`` in :register:`TEXUNIT0_PARAM` unit
# 0 divides u and v by w for every fragment, as is done for positions, and the slide lies right on all shapes. With
# type = ``2D`` there is no division: what should be divided by distances of about 7 is not, and the slide shrinks to
# a coin. Only unit 0 gets a third component (:register:`SH_OUTMAP_O2` here). The wrap mode is ``clamp to border``
# with a black border, so nothing is thrown beside the slide. The first combiner stage makes the dim light, the second
# adds the slide times the lantern's diffuse light, so sides that face away stay dark. There are no shadows: panes go
# on in the ball's shade.
