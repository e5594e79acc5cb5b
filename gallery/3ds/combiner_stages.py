"""
Combiner stages
===============

A stone ring after each of four combiner stages: stone, then moss, then light, then a highlight.
"""

from pocketgpu.builder import Canvas, patterns, shapes
from pocketgpu.builder.matrices import rotation
from pocketgpu.pictures import beside

GREYS = [(84, 78, 84), (160, 148, 140), (206, 194, 178)]
STONE = patterns.ramp(patterns.noise(64, 8, 2), GREYS)
SPOTS = patterns.noise(64, 4, 2, seed=5) * 5 - 2.2
MOSS = patterns.ramp(SPOTS, [(0, 0, 0), (255, 255, 255)])
GLOSS = [(n / 256) ** 24 for n in range(257)]
STAGES = {
    "0: replace": ("replace", "texture 0"),
    "1: interpolate": ("interpolate", "constant", "previous stage", ("texture 1", "red")),
    "2: modulate": ("modulate", "previous stage", "fragment primary color"),
    "3: add": ("add", "previous stage", "fragment secondary color"),
}
canvas = Canvas()
stone, moss = (canvas.capture.put_texture(picture) for picture in (STONE, MOSS))
ring = shapes.tiled(shapes.torus(1, 0.45), 4, 2)
for count in range(1, len(STAGES) + 1):
    canvas.clear()
    canvas.list.depth("greater")
    canvas.list.texture(0, stone, 64, 64).texture(1, moss, 64, 64)
    canvas.lighting({"D0": GLOSS}, inputs={"d0": "N.H"}, ambient=(70, 64, 90))
    canvas.light(0, (3, 5, 5), diffuse=(200, 190, 160), specular=(220, 220, 200))
    for stage, operation in enumerate([*STAGES.values()][:count]):
        alpha = ("replace", "texture 0")
        canvas.list.combiner(stage, operation, alpha, color=(66, 112, 40, 255))
    canvas.mesh(ring, rotation((1, 0.3, 0), -0.6))
    canvas.end_frame()
pictures = [picture.crop((85, 20, 315, 220)) for picture in canvas.images()]
beside(pictures, [*STAGES], columns=4).save("combiner_stages.png")

# %%
# Six stages follow each other, and each has an operation and up to three sources for colour, and others for alpha.
# Stage 0 takes texture 0 as it is. Stage 1 mixes a constant green into it: ``interpolate`` takes the first source
# where the third is 1 and the second where it is 0, and the third is the red of texture 1, a map of where moss grows
# (:register:`TEXENV1_OPERAND` says that red counts). Stage 2 multiplies by the diffuse light, stage 3 adds the
# highlight: results of lighting are sources like any other, in :register:`TEXENV2_SOURCE` and
# :register:`TEXENV3_SOURCE`. Stages that have nothing to do pass the previous stage on. Results are cut to 0 to 255
# after every stage, so the highlight can't be taken back later; whether stages compute with integers is the choice
# :choice:`combiner.arithmetic`.
